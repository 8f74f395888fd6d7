"""What an agent wants to know, read from its reply; what is wrong with it is a warning."""

import json

from bot.terminal.screen import news
from core.events import ClarificationsOpened, QuestionsAsked
from core.models import Act, Clarifying
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

    asked = {question.turn.agent: question for question in debate.questions.values()}
    roles = {agent.id: agent.role for agent in debate.setup.agents}
    for agent, questions in asked.items():
        expected = {
            "architect": "Asked more than the 2 questions an agent may; left out: “What of c?”",
            "security": "could not be read as questions",
            "simplicity": "could not be read as questions",
        }.get(roles[agent], "1 question without words left out.")
        assert expected in " ".join(questions.warnings)
    record = report(debate)
    said = [
        line
        for event in await bench.store.events(DEBATE)
        if isinstance(event.event, QuestionsAsked | ClarificationsOpened)
        for line in news(debate, event.event)
    ]
    assert "left out: “What of c?”" in record
    assert "could not be read as questions" in record
    assert any("Warning: Asked more than the 2 questions" in line for line in said)
