"""A sealed debate: every surface is searched for planted stances, before and after the reveal."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.slack.ids import ActionId, headline_key
from bot.testing import BotSpec, Team, key_of
from core.debate.debate_events import Withheld
from core.debate.log import Event, fold
from core.debate.people import Place
from core.debate.people_events import BallotsRevealed
from core.debate.state import Status
from core.debate.turn import Act
from core.request import ModelRequest
from core.rules.sealing import HIDDEN_EVENTS
from core.testing import InMemoryStore, ScriptedProvider, a_setup, on_own_models, plausible_reply
from core.transcript.explain import explanation, timeline
from core.transcript.record import record_json
from core.transcript.report import report
from core.use_cases.choices import ChannelChoices, Choices
from tests.bot.mcp.test_over_http import Served, served
from tests.core.bench import DEBATE, Bench
from tests.scenarios.test_board import board_saying, buttons
from tests.scenarios.test_deciding import ranking
from tests.scenarios.test_finding import home_of
from tests.scenarios.test_pages import PAGES, fetched, shared
from tests.scenarios.test_starting import form_of

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
#: Stands in every text that agents and judge write.
PLANTED = "zebra"
#: What tells a stance without it: shares, counts of agents, words of a vote.
TELLING = re.compile(
    rf"{PLANTED}|\d ?%|\bof \d agents|first choice|on average|mean probability|\bof \d+ ballots",
    re.IGNORECASE,
)


def planting(request: ModelRequest) -> str:
    reply = plausible_reply(request)
    if request.act in {Act.OPTIONS, Act.QUESTIONS, Act.CASTING}:
        return reply
    if not reply.startswith("{"):
        return f"**PostgreSQL: the {PLANTED}.** {reply}\n\nIn short: {PLANTED}.\n- {PLANTED}"
    fields = json.loads(reply)
    for name, value in fields.items():
        if name in {"reasons", "tradeoffs", "recommendations", "open_questions", "overturned_by"}:
            fields[name] = [f"{item} {PLANTED}" for item in value]
        elif name in {"decision", "solution", "dissent", "implementation", "reason"}:
            fields[name] = f"{value} {PLANTED}"
    return json.dumps(fields)


@dataclass(frozen=True)
class Sealed:
    bot: Served
    board: str

    @property
    def team(self) -> Team:
        return self.bot.team

    @property
    def debate_id(self) -> str:
        return self.team.debate_id(self.board)

    async def surfaces(self) -> dict[str, str]:
        """What each surface shows, as text."""
        team, debate_id = self.team, self.debate_id
        texts = {"page": (await fetched(team, await shared(team, self.board))).text}
        for typed in ("list", f"show {debate_id}", f"search {PLANTED}", f"export {debate_id}"):
            await team.type(typed)
            texts[f"/debate {typed}"] = team.ephemeral_texts()[-1]
        await team.wait_until_sent()
        state = team.workspace.state
        texts["thread and board"] = json.dumps([team.thread(self.board), team.ephemeral_texts()])
        texts["channel"] = json.dumps(team.workspace.messages(team.channel))
        texts["files"] = "\n".join(str(file.content) for file in state.files.values())
        texts["home"] = await home_of(team, "dana", "Kafka")
        async with self.bot.program("dana") as dana:
            for tool in ("debate_status", "get_verdict"):
                texts[tool] = json.dumps(await dana.calls(tool, debate_id=debate_id))
            texts["list_debates"] = json.dumps(await dana.calls("list_debates"))
            answer = await dana.calls("search_decisions", query=QUESTION)
            texts["search_decisions"] = json.dumps(answer)
        log = await team.moot.store.events(debate_id)
        texts["record"], texts["report file"] = record_json(log), report(fold(log))
        texts["explain"] = "\n".join(map(str, timeline(log))) + explanation(log)
        return texts


@asynccontextmanager
async def sealed() -> AsyncGenerator[Sealed]:
    models = ("scripted-1", "scripted-2", "scripted-3")
    provider = ScriptedProvider(planting)
    async with served(BotSpec(provider=provider, rounds=1, pages=PAGES, models=models)) as bot:
        team = bot.team
        place = Place(
            surface="slack",
            workspace=team.workspace.state.team_id,
            channel=team.workspace.channel(team.channel).id,
        )
        choices = ChannelChoices(choices=Choices(sealed=True))
        await team.moot.context.records.channels.put(place, choices)
        provider.hold(Act.CRITIQUE)
        case = Sealed(bot, await team.debate(QUESTION))
        await board_saying(team, case.board, "Sealed ballot")
        await team.workspace.wait_for(
            lambda: "Round 1 \\u00b7 " in json.dumps(team.thread(case.board)[0]["blocks"])
        )
        provider.let_go()
        provider.hold(Act.REFINEMENT)
        await provider.wait_until_asked(Act.REFINEMENT)
        assert leaks(await case.surfaces()) == {}, "while it runs"
        provider.let_go()
        await team.wait_for_log(case.board, lambda debate: debate.status is Status.CONCLUDED)
        root = await board_saying(team, case.board, "The agents' verdict is there")
        assert "no answer was given" not in json.dumps(root["blocks"])
        await team.wait_until_sent()
        yield case


def _bare(text: str) -> str:
    """A text without what was typed, and how far a round has come."""
    return re.sub(
        rf"search {PLANTED}|“{PLANTED}”|\\u201c{PLANTED}\\u201d|\(\d+%\)|\d+% done", "", text
    )


def leaks(texts: dict[str, str]) -> dict[str, str]:
    """What tells a stance, by surface."""
    # How cheap or how full something is are shares of other things.
    matches = {name: TELLING.search(_bare(text)) for name, text in texts.items()}
    return {
        name: texts[name][max(0, match.start() - 60) : match.end() + 60]
        for name, match in matches.items()
        if match
    }


@pytest.mark.slow
async def test_no_surface_shows_stances_before_the_reveal_and_all_do_afterwards() -> None:
    async with sealed() as case:
        team, board = case.team, case.board
        assert leaks(await case.surfaces()) == {}, "with the verdict there"
        # People vote: it is seen who, not what.
        assert buttons(team, board) == ["Cast your ballot", "Reveal"]
        await team.click(board, ActionId.BALLOT.value, user="alex")
        view = await form_of(team, "alex")
        await team.workspace.submit("alex", view["id"], ranking("o2", "o1"))
        root = await board_saying(team, board, "Voted so far")
        assert team.workspace.user("alex").id in root["text"]
        assert leaks(await case.surfaces()) == {}, "with a ballot"
        # Only who may steer reveals it.
        await team.click(board, ActionId.REVEAL.value, user="alex")
        assert "Only" in (await team.workspace.wait_for(lambda: team.ephemeral_texts("alex")))[-1]
        await team.click(board, ActionId.REVEAL.value)
        await team.wait_for_end(board)
        posts = [key for reply in team.replies(board) if (key := key_of(reply))]
        assert headline_key(case.debate_id, 1) in posts
        assert len(posts) == len(set(posts)), "nothing is posted twice"
        texts = await case.surfaces()
        names = {name for name, text in texts.items() if PLANTED in _bare(text)}
        assert names >= {"page", "thread and board", "channel", "files", "get_verdict", "record"}
        debate = fold(await team.moot.store.events(case.debate_id))
        assert debate.people_ballots[team.workspace.user("alex").id].options == ("o2", "o1")
        # A ballot from now on counts apart.
        await team.workspace.click("sam", team.channel, team.verdict(board), ActionId.BALLOT.value)
        view = await form_of(team, "sam")
        await team.workspace.submit("sam", view["id"], ranking("o1", "o2"))
        await board_saying(team, board, "Ballots after the reveal, counted separately")
        assert "(1 ballot)" in team.thread(board)[0]["text"]


#: Kinds of events that tell no stance of an agent; two of them are shown in part.
SHOWN = """
agents_cast answer_withdrawn ballots_revealed calls_dropped clarification_answered
clarifications_closed clarifications_opened debate_continued debate_failed debate_paused
debate_resumed debate_started debate_wanted decision_recorded feedback_given follow_up_asked
model_came_back model_went_away note_added note_changed note_withdrawn option_edited
options_merged outage_began outage_ended outcome_asked outcome_given people_ballot_cast
questions_asked reminder_due source_read stop_requested stop_withdrawn time_ran_out
turn_failed vote_called withheld
"""


def test_a_new_kind_of_event_is_withheld_or_shown_on_purpose() -> None:
    kinds = set(Event.kinds)
    withheld = {event.kind for event in HIDDEN_EVENTS}
    assert sorted(kinds - withheld) == SHOWN.split()


async def test_a_log_is_read_whole_only_by_the_engine_and_with_the_same_numbers(
    tmp_path: Path,
) -> None:
    del tmp_path
    bench = Bench(provider=ScriptedProvider(planting), store=InMemoryStore())
    setup = on_own_models(a_setup(rounds=1)).model_copy(update={"sealed": True})
    debate = await bench.run(setup)
    assert debate.verdict
    whole = await bench.store.all_events(DEBATE)
    read = await bench.store.events(DEBATE)
    assert [(entry.seq, entry.at, entry.event.key) for entry in whole] == [
        (entry.seq, entry.at, entry.event.key) for entry in read
    ]
    assert await bench.store.events(DEBATE, after=5) == read[5:]
    view = fold(read)
    assert (view.status, view.verdict, view.tally) == (Status.CONCLUDED, None, None)
    assert view.usage == debate.usage, "what it cost is told"
    told = [event.expense.call for entry in read if isinstance(event := entry.event, Withheld)]
    assert not any(call.sent for call in told if call), "the judge reads in the order of the vote"
    rows = [line for line in report(view).splitlines() if line.startswith("| Judge |")]
    assert [row.split(" | ")[1] for row in rows] == ["sealed/until the reveal"]
    assert PLANTED not in "".join(map(str, bench.sink.events)), "and so are those who listen"
    await bench.add(BallotsRevealed(by=setup.asked_by))
    await bench.engine.run(DEBATE)
    assert fold(await bench.store.events(DEBATE)).verdict == debate.verdict
    assert bench.sink.events[-len(whole) - 1 :][: len(whole)] == whole, "all of it is told"
