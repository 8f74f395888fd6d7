"""What whoever runs the bot relies on: figures, readiness, and that damage stays where it is."""

import sqlite3
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from bot.testing import quick_workspace, running_bot, team_at_work
from core.errors import StoreError
from core.models import Status
from slack_on_loopback import run_workspace


async def fetch(address: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as client:
        return await client.get(address)


def value(text: str, name: str) -> float:
    """The value of one line of Prometheus's format."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return float(line.rpartition(" ")[2])


async def test_figures_tell_what_a_debate_did() -> None:
    async with team_at_work() as team:
        debate = await team.wait_for_end(await team.debate("Kafka or PostgreSQL?"))
        answer = await fetch(f"{team.moot.http.address}/metrics")
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
        text = (await fetch(f"{team.moot.http.address}/metrics")).text
    assert value(text, 'moot_slack_errors_total{reason="Unknown"}') == 2


async def test_a_bot_is_ready_only_while_slack_is_there() -> None:
    async with team_at_work() as team:
        ready = await fetch(f"{team.moot.http.address}/ready")
        assert (ready.status_code, ready.json()) == (200, {"ready": True})
        team.workspace.uninstall()
        await team.workspace.cut_sockets()
        await team.workspace.wait_for(lambda: not team.workspace.connected)
        assert (await fetch(f"{team.moot.http.address}/ready")).status_code == 503


async def test_a_damaged_row_stops_its_own_debate_only(tmp_path: Path) -> None:
    database = tmp_path / "moot.db"
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=database) as team:
            board = await team.debate("Kafka or PostgreSQL?")
            damaged = (await team.wait_for_end(board)).id
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("UPDATE events SET body = '{' WHERE debate_id = ?", (damaged,))
            connection.execute("UPDATE debates SET status = 'running' WHERE id = ?", (damaged,))
        async with running_bot(workspace, database=database) as team:
            with pytest.raises(StoreError, match="damaged"):
                await team.moot.store.events(damaged)
            debate = await team.wait_for_end(await team.debate("Tabs or spaces?", user="alex"))
            assert debate.status is Status.CONCLUDED
            assert (await team.moot.health.report()).healthy
