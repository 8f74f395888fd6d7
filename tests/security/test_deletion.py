"""Deleted texts are in no byte of the database, its log, a later backup or Moot's logs."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from bot.log import set_up_logs
from bot.settings import LogFormat, LogLevel
from bot.slack.ids import ActionId
from bot.testing import BotSpec, Team, quick_workspace, running_bot
from core.debate.evidence import SourceKind
from core.debate.rules import Clarifying
from core.debate.turn import Act
from core.ports import ModelRequest
from core.testing import ScriptedProvider
from slack_on_loopback import run_workspace
from tests.command_line import moot
from tests.core.evidence.office import a_pdf
from tests.logs import process_kept
from tests.scenarios.test_clarifications import asking
from tests.scenarios.test_deciding import chosen_why, decide

#: A word for each place that people and models write to, each in its own sentence.
QUESTION, NOTE, ANSWER = "wombatcanary", "quokkacanary", "numbatcanary"
PROPOSAL, VERDICT = "bilbycanary", "potoroocanary"
#: In a thread, its file, the file's name, an agent's quote of it, the reason for
#: accepting a verdict, the outcome, and a reply in a debate whose further posts
#: Slack refused.
THREAD, FILE, NAME, QUOTED = "dunnartcanary", "kowaricanary", "mulgaracanary", "ningauicanary"
WHY, OUTCOME, UNSENT = "pademeloncanary", "quollcanary", "bettongcanary"
#: The name of a person's token.
TOKEN = "antechinuscanary"
CANARIES = (
    *(QUESTION, NOTE, ANSWER, PROPOSAL, VERDICT),
    *(THREAD, FILE, NAME, QUOTED, WHY, OUTCOME, UNSENT, TOKEN),
)
STAYS = "marimbastays"
PDF = a_pdf(["Cover page", f"The {FILE} offer costs $1,840. The {QUOTED} jobs are lost."])


def script(request: ModelRequest) -> str:
    """A plausible reply with a canary in it."""
    reply = asking(request)
    if request.act is Act.SYNTHESIS:
        return reply.replace("PostgreSQL", f"PostgreSQL {VERDICT}")
    if request.act is not Act.PROPOSAL:
        return reply
    if any(UNSENT in part.text for part in request.parts):
        return f"{reply}\n\n{UNSENT}"
    return f'{reply}\n\n{PROPOSAL} [e2: "The {QUOTED} jobs are lost."]'


def holding(folder: Path, words: tuple[str, ...] = CANARIES) -> dict[str, list[str]]:
    """File → the words it contains, in any case or encoding."""
    words_by_file = dict[str, list[str]]()
    for path in folder.iterdir():
        content = path.read_bytes().lower()
        there = [
            word
            for word in words
            if any(word.encode(code) in content for code in ("utf-8", "utf-16-le"))
        ]
        if there:
            words_by_file[path.name] = there
    return words_by_file


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder of the database, in which every log line of the test is too."""
    path = tmp_path / "data"
    path.mkdir()
    with process_kept(), (path / "moot.log").open("w", encoding="utf-8") as log:
        set_up_logs(LogLevel.DEBUG, LogFormat.JSON, stream=log)
        yield path


async def debates_with_canaries(team: Team, models: ScriptedProvider) -> tuple[str, str]:
    """Run two debates with a canary in every text; return their ids."""
    root = await team.say(f"Redis loses {THREAD} jobs.", user="alex")
    share = team.workspace.share_file
    await share("alex", team.channel, f"{NAME}.pdf", PDF, thread_ts=root["ts"])
    await team.say(f"@Moot Kafka or PostgreSQL as our {QUESTION} queue?", root["ts"])
    board = await newest_board(team, 1)
    await team.wait_for_card(board)
    for reply in (f"1: {ANSWER} people", f"2: a {ANSWER}", f"3: some {ANSWER}", f"Ask {NOTE}."):
        await team.say(reply, board)
    await team.wait_for_log(board, lambda debate: debate.notes)
    models.let_go()
    debate = await team.wait_for_end(board)
    cited = [citation for reply in debate.contributions.values() for citation in reply.citations]
    assert {citation.status.value for citation in cited} == {"verified"}
    await team.type(f"search {QUESTION}")
    assert debate.id in team.ephemeral_texts()[-1]

    await decide(team, board, ActionId.ACCEPT, chosen_why(WHY))
    await team.wait_until_sent()
    await team.type(f"outcome {debate.id}")
    form = team.workspace.views(team.user)[-1]
    outcome = {"outcome": {"outcome": {"selected_option": {"value": "held"}}}}
    reply = {**outcome, "why": {"why": {"value": OUTCOME}}}
    await team.workspace.submit(team.user, form["id"], reply)
    await team.wait_until_sent()

    await team.type(f"token new {TOKEN}")
    assert "moot_" in team.ephemeral_texts()[-1]

    # It reads this decision as a source; Slack refuses its posts after the card.
    await team.say(f"@Moot Where do {UNSENT} tasks live from now on?")
    later = await newest_board(team, 2)
    card = await team.wait_for_card(later)
    team.workspace.faults.server_error("chat.postMessage", times=None)
    await team.click(card["ts"], ActionId.SKIP_ALL.value)
    async with asyncio.timeout(300):
        while not await waits_to_be_sent(team, later, UNSENT):  # noqa: ASYNC110 - its own reads
            await asyncio.sleep(0.02)
    reader = await team.debate_at(later)
    (source,) = reader.evidence
    assert source.reference.kind is SourceKind.DECISION
    assert WHY in source.text
    assert OUTCOME in source.text
    return debate.id, reader.id


async def newest_board(team: Team, number: int) -> str:
    """Wait for the board of the debate with this number, from 1; return its timestamp."""
    return (await team.workspace.wait_for(lambda: team.boards()[number - 1 :]))[0]


async def waits_to_be_sent(team: Team, board: str, word: str) -> bool:
    """Whether the word is in a reply that is queued for Slack."""
    rows = await team.moot.context.posts.rows_of_debate(team.debate_id(board))
    return any(row.ts is None and word in str(row.payload) for row in rows if row.thread_key)


async def output_of(*words: str, database: Path) -> str:
    """Run a command of Moot on a database; return its output."""
    env = {"MOOT_DATABASE": str(database)}
    ended = await asyncio.to_thread(moot, *words, folder=database.parents[1], env=env)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("removed", [False, True], ids=["purged", "app removed, then purged"])
async def test_no_word_is_left_in_any_byte(folder: Path, *, removed: bool) -> None:
    database = folder / "moot.db"
    models = ScriptedProvider(script)
    models.hold(Act.PROPOSAL)
    spec = BotSpec(
        provider=models,
        rounds=1,
        clarifying=Clarifying(enabled=True, wait_seconds=60),
        token_lifetime=timedelta(days=90),
    )
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=database, spec=spec) as team:
            first, reader = await debates_with_canaries(team, models)
            if removed:
                workspace.uninstall()
                await workspace.wait_for(  # what goes with the app is deleted by then
                    lambda: any(
                        event.name == "app_uninstalled" and event.acked
                        for event in workspace.deliveries
                    )
                )
        removal = {TOKEN} if removed else set[str]()  # with the app
        assert list(words_by_file := holding(folder)) == ["moot.db"]  # never in the log
        assert {*words_by_file["moot.db"], *removal} == set(CANARIES)

        workspace.faults.clear()
        purge = ("purge", "--workspace", workspace.state.team_id, "--yes")
        if not removed:  # one debate: the command names debates that quote its decision
            assert reader in await output_of(*purge, "--debate", first, database=database)
            assert holding(folder) == {"moot.db": [QUESTION, VERDICT, WHY, OUTCOME, UNSENT, TOKEN]}
        await output_of(*purge, database=database)
        assert holding(folder) == {}
        async with AsyncExitStack() as going_on:
            if not removed:
                again = running_bot(workspace, database=database, spec=spec)
                team = await going_on.enter_async_context(again)
                await team.debate(f"Kafka or {STAYS}?")
            await output_of("backup", str(folder / "copy.db"), database=database)
            assert holding(folder) == {}  # nor in the write-ahead log
    assert ("copy.db" in holding(folder, (STAYS,))) is not removed
