"""Questions of agents: malformed ones become warnings, and equal ones are merged."""

import json

import pytest

from bot.terminal.screen import event_lines
from core.debate.rules import Clarifying
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.vote import NextStep
from core.request import ModelRequest
from core.testing import ScriptedProvider, a_setup, plausible_reply
from core.transcript.report import report
from tests.core.bench import DEBATE, Bench


def asking(*questions: str) -> str:
    return json.dumps({"questions": [{"question": q, "assumption": "No"} for q in questions]})


async def put_by(
    replies: dict[str, str], same_as: object = (), per_agent: int = 3
) -> tuple[Bench, Debate]:
    """A debate with these replies to questions; `same_as` is the reply that merges them."""

    def answers(request: ModelRequest) -> str:
        match request.act:
            case Act.CLARIFICATION:
                return json.dumps({"same_as": same_as})
            case Act.QUESTIONS:
                return replies[request.role]
            case _:
                return plausible_reply(request)

    bench = Bench(provider=ScriptedProvider(answers))
    rules = Clarifying(enabled=True, per_agent=per_agent, wait_seconds=600)
    return bench, await bench.run(a_setup(rounds=1).model_copy(update={"clarifying": rules}))


async def test_malformed_and_surplus_questions_become_warnings() -> None:
    replies = {
        "architect": asking(*(f"What of {n}?" for n in "abc")),
        "security": "I have none.",
        "simplicity": asking(" ? "),
    }
    bench, debate = await put_by(replies, per_agent=2)

    warnings = {asked.turn.agent: asked.warnings[0] for asked in debate.questions.values()}
    surplus = "Asked more than the 2 questions an agent may; left out: “What of c?”"
    unreadable = "Its reply could not be read as questions, so it asks none."
    assert warnings == {
        "architect": surplus,
        "security": unreadable,
        "simplicity": "1 question without words left out.",
    }
    entries = await bench.store.events(DEBATE)
    lines = [line for entry in entries for line in event_lines(debate, entry.event)]
    assert any(f"Warning: {surplus}" in line for line in lines)
    assert surplus in report(debate)
    assert unreadable in report(debate)


QUESTIONS = {
    "architect": asking("Does anybody work part-time?", "Who runs it at night?"),
    "security": asking("Are there colleagues with reduced hours?"),
    "simplicity": asking("What may it cost?"),
}


async def test_equal_questions_are_asked_once_with_all_agents_that_ask() -> None:
    bench, debate = await put_by(QUESTIONS, same_as=[1, 2, 1, 4])
    opened = next(iter(debate.clarifications.values()))

    assert [(item.question, item.asked_by) for item in opened.items] == [
        ("Does anybody work part-time?", ("architect", "security")),
        ("What may it cost?", ("simplicity",)),
        ("Who runs it at night?", ("architect",)),
    ]
    assert len(bench.provider.requests_of(Act.CLARIFICATION)) == 1
    assert opened.call
    assert opened.call in debate.calls, "its cost is the debate's"


@pytest.mark.parametrize("nonsense", [[], [1, 2, 9, 4], "all"])
async def test_all_questions_are_asked_if_they_cannot_be_merged(nonsense: object) -> None:
    _, debate = await put_by(QUESTIONS, same_as=nonsense)
    opened = next(iter(debate.clarifications.values()))

    assert len(opened.items) == 4
    assert opened.lost.attempts


@pytest.mark.parametrize("decision", ["vote", "ask"])
async def test_a_facilitators_step_that_is_not_allowed_means_go_on(decision: str) -> None:
    """It may not call the vote after the first round, nor ask where people are not asked."""

    def script(request: ModelRequest) -> str:
        reply = plausible_reply(request)
        if request.act is not Act.FACILITATION:
            return reply
        return json.dumps(json.loads(reply) | {"decision": decision, "question": "How many?"})

    setup = a_setup(rounds=2).model_copy(update={"format": "panel"})
    debate = await Bench(ScriptedProvider(script)).run(setup)
    guidance = debate.guidance["r1/facilitation/facilitator"]
    assert (guidance.next_step, guidance.question) == (NextStep.GO_ON, None)
