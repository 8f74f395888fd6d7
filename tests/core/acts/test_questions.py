"""What an agent wants to know, read from its reply; what is wrong with it is a warning."""

import json

import pytest

from bot.terminal.screen import news
from core.debate.rules import Clarifying
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.turn_events import ClarificationsOpened, QuestionsAsked
from core.request import ModelRequest
from core.testing import ScriptedProvider, a_setup, plausible_reply
from core.transcript.report import report
from tests.core.bench import DEBATE, Bench

MANY = {"questions": [{"question": f"What of {n}?", "assumption": "Few"} for n in "abcd"]}
EMPTY = {"questions": [{"question": " ? ", "assumption": "Few"}]}
REPLIES = {"architect": json.dumps(MANY), "security": "I have none.", "simplicity": "{}"}


def asking(request: ModelRequest) -> str:
    if request.act is not Act.QUESTIONS:
        return plausible_reply(request)
    return REPLIES.get(request.role, json.dumps(EMPTY))


async def test_questions_that_are_malformed_or_too_many_are_warned_of_in_record_and_terminal() -> (
    None
):
    bench = Bench(provider=ScriptedProvider(asking))
    rules = Clarifying(enabled=True, per_agent=2, wait_seconds=600)
    debate = await bench.run(a_setup(rounds=1).model_copy(update={"clarifying": rules}))

    by_agent = {question.turn.agent: question for question in debate.questions.values()}
    roles = {agent.id: agent.role for agent in debate.setup.agents}
    for agent, questions in by_agent.items():
        expected = {
            "architect": "Asked more than the 2 questions an agent may; left out: “What of c?”",
            "security": "could not be read as questions",
            "simplicity": "could not be read as questions",
        }.get(roles[agent], "1 question without words left out.")
        assert expected in " ".join(questions.warnings)
    record = report(debate)
    texts = [
        line
        for event in await bench.store.events(DEBATE)
        if isinstance(event.event, QuestionsAsked | ClarificationsOpened)
        for line in news(debate, event.event)
    ]
    assert "left out: “What of c?”" in record
    assert "could not be read as questions" in record
    assert any("Warning: Asked more than the 2 questions" in line for line in texts)


async def put_by(same_as: object) -> tuple[Bench, Debate]:
    """What people are asked where a model says which questions are the same."""
    questions_of = {
        "architect": ["Does anybody work part-time?", "Who runs it at night?"],
        "security": ["Are there colleagues with reduced hours?"],
        "simplicity": ["What may it cost?"],
    }

    def answers(request: ModelRequest) -> str:
        if request.act is Act.CLARIFICATION:
            return json.dumps({"same_as": same_as})
        if request.act is not Act.QUESTIONS:
            return plausible_reply(request)
        questions = [{"question": q, "assumption": "No"} for q in questions_of[request.role]]
        return json.dumps({"questions": questions})

    bench = Bench(provider=ScriptedProvider(answers))
    rules = Clarifying(enabled=True, wait_seconds=600)
    return bench, await bench.run(a_setup(rounds=1).model_copy(update={"clarifying": rules}))


async def test_questions_in_other_words_are_put_once_with_all_who_ask() -> None:
    bench, debate = await put_by([1, 2, 1, 4])
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
async def test_where_no_model_can_say_all_are_put(nonsense: object) -> None:
    _, debate = await put_by(nonsense)
    opened = next(iter(debate.clarifications.values()))

    assert len(opened.items) == 4
    assert opened.lost.attempts
