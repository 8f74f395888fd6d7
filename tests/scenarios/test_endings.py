"""How rounds end and votes are read, through Slack: told alike wherever people read of it."""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from bot.testing import BotSpec, Team, team_at_work
from core.debate.rules import When
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.vote import GateReason, Guidance, NextStep
from core.request import ModelRequest, PartKind
from core.rules.ending import ending_sentences
from core.rules.formats import panel
from core.rules.gate import closing_gate, gate_after, gate_words
from core.rules.schedule import rounds_held
from core.testing import ScriptedProvider
from core.transcript.decision import decision_text
from core.transcript.explain import explanation
from core.transcript.report import report
from tests.core.test_debated_options import AGREED, SPLIT, STUCK, Minds, a_script
from tests.scenarios.test_board import board_saying

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
#: Nobody is moved by anything, and two options are within ten points of each other.
CLOSE: Minds = {"architect": (60, 60), "security": (40, 40), "simplicity": (45, 45)}

#: They come nearer, but do not meet.
MOVING: Minds = {"architect": (90, 75), "security": (10, 40), "simplicity": (20, 35)}


def spec_of(script: Callable[[ModelRequest], str], form: str = "critique") -> BotSpec:
    models = ("scripted-1", "scripted-2", "scripted-3")
    provider = ScriptedProvider(script)
    return BotSpec(format=form, rounds=3, when=When.SPLIT, provider=provider, models=models)


def words_in(value: Any) -> str:
    """Every text in messages, one after the other."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        value = list(cast("Mapping[str, Any]", value).values())
    return "\n".join(map(words_in, cast("list[Any]", value))) if isinstance(value, list) else ""


async def told_everywhere(team: Team, board: str, debate: Debate) -> None:
    """What ended the rounds stands on the board, in the thread, report, terminal and `explain`."""
    log = await team.moot.store.events(debate.id)
    thread = words_in(team.replies(board))
    ended = closing_gate(debate)
    called = "After round 2 the facilitator called the vote."
    why = gate_words(debate, ended) if ended else called
    await board_saying(team, board, why)
    assert why in thread
    assert why in report(debate)
    assert why in " ".join(decision_text(debate).split())
    assert why in explanation(log)


@pytest.mark.parametrize(
    ("minds", "reason", "count", "words"),
    [
        (AGREED, GateReason.AGREED, 0, "the debate was skipped"),
        (SPLIT, GateReason.AGREED, 1, "After round 1 all agreed on"),
        (STUCK, GateReason.DEADLOCK, 1, "Round 1 moved nobody"),
    ],
    ids=["all agree at once", "a split that closes", "a deadlock"],
)
async def test_an_early_end_is_told_wherever_people_read(
    minds: Minds, reason: GateReason, count: int, words: str
) -> None:
    async with team_at_work(spec=spec_of(a_script(minds))) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        ended = closing_gate(debate)

        assert ended
        assert ended.reason is reason
        assert rounds_held(debate) == count
        assert any(words in sentence for sentence in ending_sentences(debate))
        assert "All 3 rounds were held" not in words_in(team.thread(board))
        await told_everywhere(team, board, debate)


async def test_opposites_in_like_words_are_a_split_and_are_debated() -> None:
    def opposites(request: ModelRequest) -> str:
        if request.act is Act.PROPOSAL:
            no = " not" if request.role == "security" else ""
            return f"**We should{no} move our job queue to Kafka this year.** Because of the load."
        if request.act is Act.OPTIONS:
            texts = [part.text for part in request.parts if part.kind is PartKind.CANDIDATE]
            stands_for = [2 if "should not" in text else 1 for text in texts]
            options = ["Move to Kafka", "Do not move"]
            return json.dumps({"options": options, "stands_for": stands_for, "kind": "choice"})
        return a_script(SPLIT)(request)

    async with team_at_work(spec=spec_of(opposites)) as team:
        board = await team.debate("Should we move our job queue to Kafka this year?")
        debate = await team.wait_for_end(board)

        first = gate_after(debate, 0)
        assert first
        assert first.reason is GateReason.SPLIT
        assert rounds_held(debate) == 1
        await told_everywhere(team, board, debate)


async def test_a_close_vote_is_judged_twice_and_a_judge_that_changes_its_mind_is_told_of() -> None:
    async with team_at_work(spec=spec_of(a_script(CLOSE, judge="o2", check="o1"))) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)

        assert debate.cross_check
        assert debate.cross_check.option == "o1"
        assert debate.verdict
        assert debate.verdict.option == "o2"
        (lowered,) = [text for text in debate.verdict.rests_on if "order" in text]
        assert lowered in words_in(team.thread(board))


@pytest.mark.parametrize("minds", [SPLIT, MOVING], ids=["by rule", "as the facilitator says"])
async def test_a_panel_closes_with_statements_that_are_voted_on(minds: Minds) -> None:
    def closing(request: ModelRequest) -> str:
        if request.act is Act.FACILITATION:
            step = "vote" if '"vote" when' in request.parts[-1].text else "go_on"
            guidance = {"focus": "cost", "question": "", "assumption": "", "decision": step}
            return json.dumps(guidance)
        reply = a_script(minds)(request)
        is_closing = "This is your closing statement" in request.parts[-1].text
        mine = f"**To close, says {request.role}.**"
        return reply.replace("**So.**", mine) if is_closing else reply

    async with team_at_work(spec=spec_of(closing, form=panel.NAME)) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)

        called: list[Guidance] = [
            guidance for guidance in debate.guidance.values() if guidance.next_step is NextStep.VOTE
        ]
        assert [guidance.turn.round for guidance in called] == [2]
        voted_on = panel.FORMAT.positions(debate)
        assert [contribution.turn.round for contribution in voted_on.values()] == [3, 3, 3]
        assert all("To close" in contribution.text for contribution in voted_on.values())
        text = words_in(team.replies(board))
        assert all(f"To close, says {agent}" in text for agent in voted_on)
        await told_everywhere(team, board, debate)
        assert (closing_gate(debate) is None) is (minds is MOVING)
        assert "round was not held" not in text
