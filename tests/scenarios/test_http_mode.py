"""HTTP mode: only signed requests, replays without effect, no bodies in the logs."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import aiohttp
import pytest
from structlog.testing import capture_logs

from bot.app import running
from bot.settings import SlackAccess
from bot.testing import BotSpec, Team, quick_workspace, running_bot
from core.debate.state import Status
from core.debate.turn import Act
from core.errors import ConfigurationBroken
from core.ports import DebateFilter
from core.testing import ScriptedProvider
from slack_on_loopback import run_workspace
from tests.security.sending import FORM, a_command, http_team, post, signed

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"


@pytest.fixture
async def team(models: ScriptedProvider) -> AsyncGenerator[Team]:
    async with http_team(BotSpec(provider=models, http=True)) as team:
        yield team


async def test_a_whole_debate_works_over_signed_requests(team: Team, models: ScriptedProvider):
    models.hold(Act.CRITIQUE)
    board = await team.debate(QUESTION)
    await team.say("Two people only.", board, user="alex")
    await team.wait_for_log(board, lambda debate: debate.notes)
    models.let_go()
    debate = await team.wait_for_end(board)
    assert debate.status is Status.CONCLUDED
    assert [note.text for note in debate.notes] == ["Two people only."]


async def test_a_request_played_back_starts_nothing_more(team: Team):
    body = urlencode(a_command(team, QUESTION, trigger_id="1.2.replayed"))
    headers = signed(team, body)
    with capture_logs() as logs:
        first = await post(team, body, headers)
        second = await post(team, body, headers)
    assert "request refused" not in [line["event"] for line in logs]
    assert first[0] == 200
    assert second == (200, "")
    await team.workspace.wait_for(lambda: team.workspace.messages(team.channel))
    assert len(await team.moot.store.find(DebateFilter())) == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"X-Slack-Request-Timestamp": "soon"}, "no number"),
        ({"X-Slack-Request-Timestamp": "²"}, "a digit that is no number"),
        ({"X-Slack-Request-Timestamp": ""}, "empty"),
        ({"X-Slack-Request-Timestamp": "1"}, "too old"),
        ({"X-Slack-Signature": "v0=0000"}, "wrong signature"),
        ({"X-Slack-Signature": ""}, "no signature"),
    ],
)
async def test_what_slack_did_not_sign_is_refused(
    team: Team, changes: dict[str, str], why: str, capfd: pytest.CaptureFixture[str]
):
    body = urlencode(a_command(team, QUESTION, trigger_id=f"1.2.{why}"))
    with capture_logs() as logs:
        answers = [await post(team, body, {**signed(team, body), **changes}) for _ in range(2)]
    assert [status for status, _ in answers] == [401, 401]
    levels = [line["log_level"] for line in logs if line["event"] == "request refused"]
    assert levels == ["warning", "debug"]
    assert not await team.moot.store.find(DebateFilter())
    assert "1.2." not in "".join(capfd.readouterr())


async def test_health_says_what_works(team: Team):
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{team.moot.http.address}/health") as answer,
    ):
        report = json.loads(await answer.text())
    assert answer.status == 200
    assert (report["status"], report["database"], report["slack"]) == ("ok", "ok", "ok")


async def test_without_a_signing_secret_the_bot_does_not_start(tmp_path: Path):
    async with run_workspace(quick_workspace()) as workspace:
        parts = BotSpec().parts(workspace, tmp_path / "moot.db")
        unsigned = SlackAccess(bot_token=workspace.bot_token, api_url=workspace.api_url)
        with pytest.raises(ConfigurationBroken, match="signing secret"):
            async with running(replace(parts, slack=unsigned)):
                pass


async def test_refused_tokens_are_told_in_words(tmp_path: Path):
    async with run_workspace(quick_workspace()) as workspace:
        workspace.revoke_token()
        with pytest.raises(ConfigurationBroken, match="refuses SLACK_BOT_TOKEN"):
            async with running_bot(workspace, database=tmp_path / "moot.db"):
                pass


async def test_a_port_that_is_taken_is_told_in_words(team: Team, tmp_path: Path):
    port = int(team.moot.http.address.rpartition(":")[2])
    parts = BotSpec(http=True).parts(team.workspace, tmp_path / "other.db")
    for change, words in (
        ({"moot_port": port}, f"Port {port} is in use"),
        ({"moot_host": "192.0.2.1", "moot_behind_tls": True}, "Change MOOT_HOST or MOOT_PORT"),
    ):
        environment = parts.environment.model_copy(update=change)
        with pytest.raises(ConfigurationBroken, match=words):
            async with running(replace(parts, environment=environment)):
                pass


async def test_slacks_check_of_the_certificate_is_answered_without_a_signature(team: Team):
    headers = {"Content-Type": FORM}
    assert (await post(team, "ssl_check=1&token=abc", headers))[0] == 200
    assert await team.moot.store.find(DebateFilter()) == []
