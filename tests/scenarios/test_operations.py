"""What whoever runs the bot relies on: figures, readiness, and that damage stays where it is."""

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from bot.app import running
from bot.operations.doctor.examine import running_findings
from bot.operations.doctor.findings import as_text
from bot.settings import BotSettings
from bot.testing import BotSpec, Team, quick_workspace, running_bot, team_at_work
from core.testing import ScriptedProvider
from slack_on_loopback import PersonRefusal, run_workspace
from tests.locked import locked
from tests.security.sending import without_socket_mode


async def fetch(address: str, *, seconds: float = 30) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=seconds) as client:
        return await client.get(address)


def figures_of(team: Team) -> str:
    assert team.moot.figures is not None
    return f"{team.moot.figures.address}/metrics"


def value(text: str, name: str) -> float:
    """The value of one line of Prometheus's format."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return float(line.rpartition(" ")[2])


async def test_figures_tell_what_a_debate_did() -> None:
    async with team_at_work() as team:
        debate = await team.wait_for_end(await team.debate("Kafka or PostgreSQL?"))
        answer = await fetch(figures_of(team))
    text = answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert value(text, "moot_debates_started_total") == 1
    assert value(text, 'moot_debates_ended_total{status="concluded"}') == 1
    assert value(text, 'moot_turns_total{act="proposal",outcome="done"}') == 6  # two rounds
    assert value(text, 'moot_tokens_total{kind="input"}') == debate.usage.input_tokens
    assert value(text, "moot_outbox_depth") == 0
    assert value(text, "moot_outbox_age_seconds") == 0
    assert value(text, "moot_event_lag_seconds_count") == debate.seq
    assert value(text, "moot_debates_running") == 0


async def test_errors_of_slack_are_counted() -> None:
    async with team_at_work() as team:
        team.workspace.faults.server_error("chat.update", times=2)
        await team.wait_for_end(await team.debate("Kafka or PostgreSQL?"))
        text = (await fetch(figures_of(team))).text
    assert value(text, 'moot_slack_errors_total{reason="Unknown"}') == 2


async def test_a_bot_is_ready_only_while_slack_is_there() -> None:
    async with team_at_work() as team:
        ready = await fetch(f"{team.moot.http.address}/ready")
        assert (ready.status_code, ready.json()) == (200, {"ready": True})
        team.workspace.uninstall()
        await team.workspace.cut_sockets()
        await team.workspace.wait_for(lambda: not team.workspace.connected)
        assert (await fetch(f"{team.moot.http.address}/ready")).status_code == 503


async def test_health_notices_that_nothing_can_be_written(tmp_path: Path) -> None:
    async with (
        run_workspace(quick_workspace()) as workspace,
        running_bot(workspace, database=tmp_path / "moot.db") as team,
    ):
        address = f"{team.moot.http.address}/health"
        assert (await fetch(address)).status_code == 200
        async with locked(tmp_path / "moot.db"):
            await asyncio.sleep(2.1)  # an answer is good for two seconds
            answer = await fetch(address)
        assert (answer.status_code, answer.json()["database"]) == (503, "down")
        await asyncio.sleep(2.1)
        assert (await fetch(address)).status_code == 200


@pytest.mark.parametrize("replaced", [False, True])
async def test_health_notices_that_the_database_file_is_another_one(
    tmp_path: Path, *, replaced: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "moot.db"
    async with (
        run_workspace(quick_workspace()) as workspace,
        running_bot(workspace, database=database) as team,
    ):
        database.rename(tmp_path / "moved.db")
        if replaced:
            database.write_bytes((tmp_path / "moved.db").read_bytes())
        answer = await fetch(f"{team.moot.http.address}/health")
        figures = (await fetch(figures_of(team))).text
        environment = BotSettings(moot_port=team.moot.http.port)
        text = as_text(await running_findings(environment))
    assert (answer.status_code, answer.json()["database"]) == (503, "down")
    assert value(figures, 'moot_health{part="database"}') == 0
    assert value(figures, 'moot_health{part="slack"}') == 1
    assert text.startswith("✗ running bot: says: database down\n")
    logged = "".join(capfd.readouterr())
    assert "not healthy" in logged
    assert "deleted or replaced" in logged


async def test_health_notices_that_slack_takes_the_token_no_more() -> None:
    async with team_at_work(config=without_socket_mode(), spec=BotSpec(http=True)) as team:
        team.workspace.uninstall()
        answer = await fetch(f"{team.moot.http.address}/health")
    assert (answer.status_code, answer.json()["token"]) == (503, "refused")


async def test_a_slack_that_does_not_answer_is_no_refused_token() -> None:
    async with team_at_work(config=without_socket_mode(), spec=BotSpec(http=True)) as team:
        team.workspace.faults.server_error("auth.test", times=None)
        assert (await fetch(f"{team.moot.http.address}/health")).status_code == 200


async def test_the_public_port_tells_no_figures() -> None:
    async with team_at_work() as team:
        assert (await fetch(f"{team.moot.http.address}/metrics")).status_code == 404


async def test_the_signing_secret_of_another_app_is_told_by_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with run_workspace(without_socket_mode()) as workspace:
        parts = BotSpec(http=True).parts(workspace, tmp_path / "moot.db")
        parts = replace(parts, slack=replace(parts.slack, signing_secret="0" * 32))
        async with running(parts) as moot:
            assert not await workspace.use_http(f"{moot.http.address}/slack/events")
            with pytest.raises(PersonRefusal, match="failed"):
                await workspace.command("dana", "general", "/debate", "Kafka or SQS?")
            health = await fetch(f"{moot.http.address}/health")
    assert "not made with SLACK_SIGNING_SECRET" in "".join(capfd.readouterr())
    # Not down: else whoever reaches the port could take it out of service.
    assert health.status_code == 200


class SlowlyLoaded(ScriptedProvider):
    """Remembers that it was loaded."""

    is_loaded = False

    async def load(self) -> None:
        self.is_loaded = True


async def test_a_bot_that_is_ready_has_loaded_what_its_models_take() -> None:
    provider = SlowlyLoaded()
    async with team_at_work(spec=BotSpec(provider=provider)) as team:
        assert team.moot.http.is_ready
        assert provider.is_loaded
        assert provider.requests == []
