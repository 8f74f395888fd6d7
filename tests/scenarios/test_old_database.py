"""Databases of version 0.x, as a crash and a slow Slack left them: all of it is read and goes on.

How they were made: `tests/fixtures/old_databases/README.md`. They are never made again.
"""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

import bot.store.tables
import core.store.tables
from bot.landing.receivers import LandedRecord, Landing
from bot.slack.ids import board_key
from bot.slack.install.tokens import Cipher, Tokens, token_tables
from bot.store.records import ChannelSettings, Organisations, Reminders
from bot.store.search import DebateWords
from bot.testing import BotSpec, Message, Team, key_of, quick_workspace, running_bot
from bot.views.board import board
from core.debate.log import RecordedEvent, fold
from core.debate.people import Place
from core.debate.state import Debate, Status
from core.debate.verdict import DecisionKind, OutcomeKind
from core.ports import DebateFilter
from core.store.database import Database
from core.store.debates import SqlDebateStore
from slack_on_loopback import WorkspaceConfig, run_workspace
from tests.postgres import PostgresForTests

FOLDER = Path(__file__).parents[1] / "fixtures" / "old_databases"


@dataclass(frozen=True)
class OldDatabase:
    """A database of 0.x, and the local Slack that holds what it says was posted."""

    url: str
    slack: Path
    #: Ids of its debates and what else a test has to know, by name.
    note: Mapping[str, Any]

    @property
    def config(self) -> WorkspaceConfig:
        """What the local Slack is started with."""
        return replace(quick_workspace(), state_file=self.slack)


@pytest.fixture(params=["sqlite", "postgres"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> OldDatabase:
    """A copy of the database on SQLite, then of the one on PostgreSQL."""
    kind = str(request.param)
    slack = tmp_path / "slack.json"
    slack.write_bytes(_unpacked(f"{kind}_slack.json.gz"))
    note = json.loads((FOLDER / f"{kind}.json").read_text(encoding="utf-8"))
    if kind == "sqlite":
        (tmp_path / "moot.db").write_bytes(_unpacked("sqlite.db.gz"))
        return OldDatabase(f"sqlite+aiosqlite:///{tmp_path}/moot.db", slack, note)
    server: PostgresForTests = request.getfixturevalue("postgres")
    url = server.fresh_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_unpacked("postgres.sql.gz"))
    return OldDatabase(url.replace("postgresql://", "postgresql+psycopg://"), slack, note)


def _unpacked(name: str) -> bytes:
    return gzip.decompress((FOLDER / name).read_bytes())


async def test_everything_in_it_is_read(old: OldDatabase):
    place = Place(surface="slack", workspace=old.note["workspace"], channel=old.note["channel"])
    database = await Database.open(old.url)
    try:
        await core.store.tables.prepare(database)
        await bot.store.tables.prepare(database)
        store = SqlDebateStore(database)
        entries = await store.find(DebateFilter(workspace=place.workspace))
        debates = {entry.debate_id: fold(await store.events(entry.debate_id)) for entry in entries}
        settings = await ChannelSettings(database).get(place)
        hits = await DebateWords(database).find(
            place.workspace, [place.channel], "split monolith", 5
        )
        dates = await Reminders(database).due(datetime(2100, 1, 1, tzinfo=UTC))
        cipher = Cipher([old.note["key"]])
        tokens_in = partial(
            Tokens,
            "A0CLIENT",
            organisations=Organisations(database),
            cipher=cipher,
            rotator=AsyncTokenRotator(client_id="A0CLIENT", client_secret="-"),
            client=AsyncWebClient,
        )
        async with token_tables(old.url, tokens_in) as (tokens, _):
            second = await tokens.async_find_bot(enterprise_id="E0MADEUP", team_id="T0SECOND")
    finally:
        await database.close()

    ended, put_off, failed, parked, running = (
        debates[old.note[name]] for name in ("ended", "put_off", "failed", "parked", "running")
    )
    assert len(debates) == 5
    assert ended.acceptance
    assert ended.outcome
    assert ended.outcome.kind is OutcomeKind.HELD
    assert put_off.decision
    assert put_off.decision.kind is DecisionKind.REVISIT
    assert (failed.status, failed.verdict) == (Status.FAILED, None)
    assert parked.is_asking(1)
    assert running.status is Status.RUNNING
    assert [note.text for note in running.notes] == ["We are five people."]
    assert (settings.choices.rounds, settings.keep_pinned) == (2, True)
    assert [hit.debate_id for hit in hits] == [running.id]
    assert put_off.id in [reminder.debate_id for reminder in dates]
    assert second
    assert second.bot_token == "xoxb-made-up-second"


@dataclass
class Records:
    """A place outside Slack that takes everything it is still owed of one debate."""

    debate_id: str
    name: str = "records"
    failure_text: str = ""
    taken: list[int] = field(default_factory=list[int])

    def wants(self, debate: Debate, recorded: RecordedEvent) -> bool:
        """What is new it does not want."""
        del recorded
        return debate.id == self.debate_id

    async def check(self) -> str:
        """It is there."""
        return "It is there."

    async def deliver(self, landing: Landing) -> LandedRecord:
        """Remember which event came."""
        self.taken.append(landing.recorded.seq)
        return LandedRecord()


async def test_what_was_unsent_is_sent_once_and_debates_go_on(old: OldDatabase):
    note = old.note
    records = Records(note["ended"])
    spec = BotSpec(rounds=1, receivers=(records,))
    async with (
        run_workspace(old.config) as workspace,
        running_bot(workspace, database=old.url, spec=spec) as team,
    ):
        there = keys_in(team)
        running = await team.wait_for_end(note["running_board"])
        await team.say("1: About a thousand a day.", note["parked_board"])
        parked = await team.wait_for_end(note["parked_board"])
        await workspace.wait_for(lambda: len(records.taken) == 2)
        await team.wait_until_sent()

        thread = team.thread(note["running_board"])
        texts = [str(message["text"]) for message in every_message(team)]
        assert [running.verdict is not None, parked.verdict is not None] == [True, True]
        assert [answer.text for answer in parked.answers.values()] == ["About a thousand a day."]
        # Each unsent post is there once, what may have been there already, too.
        unsent = sorted(text for text in texts if text.startswith("Unsent: "))
        assert unsent == [
            "Unsent: files.",
            "Unsent: in_doubt_and_lost.",
            "Unsent: in_doubt_and_there.",
            "Unsent: put_back.",
            "Unsent: urgent.",
            "Unsent: waiting.",
        ]
        # Edits have no rows any more: the boards show what their debates have come to.
        for name in ("ended", "put_off"):
            debate = fold(await team.moot.store.events(note[name]))
            text = board_of(team, note[name])["text"]
            assert text.startswith(board(debate).text.partition("\n")[0])
        keys = keys_in(team)
        assert len(set(keys)) == len(keys)
        assert set(there) <= set(keys)
        assert [reaction["name"] for reaction in thread[0].get("reactions", ())] == ["eyes"]
        assert "Unsent: word." in team.ephemeral_texts()
        assert board_of(team, note["ended"])["ts"] in workspace.pins(team.channel)
        # What was landing is landed again, what had landed or died is not.
        landings = note["landings"]
        assert sorted(records.taken) == [landings["sending"], landings["waiting"]]


def every_message(team: Team) -> list[Message]:
    """All messages of the channel and its threads."""
    roots = team.workspace.messages(team.channel)
    threads = [team.thread(str(root["ts"])) for root in roots]
    by_time = {str(message["ts"]): message for thread in threads for message in thread}
    return [by_time[ts] for ts in sorted(by_time)]


def keys_in(team: Team) -> list[str]:
    """Keys of all posts of the bot."""
    return [key for message in every_message(team) if (key := key_of(message))]


def board_of(team: Team, debate_id: str) -> Message:
    """A debate's board."""
    return next(
        message for message in every_message(team) if key_of(message) == board_key(debate_id)
    )
