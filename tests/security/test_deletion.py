"""What is deleted is gone: no byte of the database, its log, a later backup or our logs has it."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bot.log import set_up_logs
from bot.settings import LogFormat, LogLevel
from bot.testing import BotSpec, Team, key_of, quick_workspace, running_bot
from core.models import Act, Clarifying
from core.ports import ModelRequest
from core.testing import ScriptedProvider
from slack_on_loopback import run_workspace
from tests.command_line import moot, process_kept
from tests.scenarios.test_clarifications import asking, card_of

#: A word for each place that people and models write to; each is in a sentence of its own.
QUESTION, NOTE, ANSWER = "wombatcanary", "quokkacanary", "numbatcanary"
PROPOSAL, VERDICT = "bilbycanary", "potoroocanary"
CANARIES = (QUESTION, NOTE, ANSWER, PROPOSAL, VERDICT)
STAYS = "marimbastays"


def script(request: ModelRequest) -> str:
    """A plausible reply with a canary in it."""
    reply = asking(request)
    if request.act is Act.SYNTHESIS:
        return reply.replace("PostgreSQL", f"PostgreSQL {VERDICT}")
    return f"{reply}\n\n{PROPOSAL}" if request.act is Act.PROPOSAL else reply


def holding(folder: Path, words: tuple[str, ...] = CANARIES) -> dict[str, list[str]]:
    """File → the words that stand in it, whatever their case or encoding."""
    found = dict[str, list[str]]()
    for path in folder.iterdir():
        content = path.read_bytes().lower()
        there = [
            word
            for word in words
            if any(word.encode(code) in content for code in ("utf-8", "utf-16-le"))
        ]
        if there:
            found[path.name] = there
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder of the database, in which every log line of the test is too."""
    made = tmp_path / "data"
    made.mkdir()
    with process_kept(), (made / "moot.log").open("w", encoding="utf-8") as log:
        set_up_logs(LogLevel.DEBUG, LogFormat.JSON, stream=log)
        yield made


async def debate_with_canaries(team: Team) -> None:
    """Hold a debate in which everything that can be written has a canary."""
    board = await team.debate(f"Kafka or PostgreSQL as our {QUESTION} queue?")
    await card_of(team, board)
    for said in (f"1: {ANSWER} people", f"2: a {ANSWER}", f"3: some {ANSWER}", f"Ask {NOTE}."):
        await team.say(said, board)
    await team.wait_for_end(board)
    await team.type(f"search {QUESTION}")
    assert key_of(team.thread(board)[0]).partition("/")[0] in team.told()[-1]


async def told(*words: str, database: Path) -> None:
    """Run a command of Moot on a database."""
    env = {"MOOT_DATABASE": str(database)}
    ended = await asyncio.to_thread(moot, *words, folder=database.parents[1], env=env)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("removed", [False, True], ids=["purged", "app removed, then purged"])
async def test_no_word_is_left_in_any_byte(folder: Path, *, removed: bool) -> None:
    database = folder / "moot.db"
    spec = BotSpec(
        provider=ScriptedProvider(script, latency=0.1),
        rounds=1,
        clarifying=Clarifying(enabled=True, wait_seconds=60),
    )
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=database, spec=spec) as team:
            await debate_with_canaries(team)
            if removed:
                workspace.uninstall()
                await asyncio.sleep(0.5)
        assert holding(folder) == {"moot.db": list(CANARIES)}  # never in the log

        await told("purge", "--workspace", workspace.state.team_id, "--yes", database=database)
        assert holding(folder) == {}
        async with AsyncExitStack() as going_on:
            if not removed:
                again = running_bot(workspace, database=database, spec=spec)
                team = await going_on.enter_async_context(again)
                await team.debate(f"Kafka or {STAYS}?")
            await told("backup", str(folder / "copy.db"), database=database)
            assert holding(folder) == {}  # nor in the write-ahead log
    assert ("copy.db" in holding(folder, (STAYS,))) is not removed
