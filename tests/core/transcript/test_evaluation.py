"""Evaluators score a finished debate; what they do not say is never made up."""

import csv
import io
import json
from collections.abc import Sequence

import pytest

from core.clock import SystemClock
from core.debate.agents import Agent
from core.debate.debate_events import DebateStarted
from core.debate.follow_up import Feedback
from core.debate.log import fold
from core.debate.people import Person
from core.debate.people_events import FeedbackGiven
from core.debate.state import Debate
from core.debate.turn import Act
from core.errors import BadInput, KeyRefused, ProviderError
from core.llm.call import ModelCalls
from core.request import ModelRequest
from core.settings import ModelChoice, agent_for
from core.testing import ScriptedProvider, a_setup, log_of
from core.transcript.evaluation import (
    Evaluation,
    EvaluationReply,
    as_csv,
    as_json,
    as_markdown,
    criteria_of,
    evaluate,
    reply_fault,
)
from tests.core.transcript.test_transcript import a_log

CHOICE = ModelChoice(provider="scripted", model="scripted-1")
OTHER = ModelChoice(provider="ann", model="ann-1")
JUDGES = [
    agent_for(role, choice)
    for role, choice in (("generalist", CHOICE), ("sceptic", OTHER), ("product", CHOICE))
]
CRITERIA = criteria_of(fold(a_log()))


def a_reply(score: int, reason: str = "It says so.", leave_out: Sequence[str] = ()) -> str:
    names = [name.value for name in CRITERIA if name.value not in leave_out]
    scores = [{"criterion": name, "score": score, "reason": reason} for name in names]
    return json.dumps({"scores": scores})


def by_role(request: ModelRequest) -> str | ProviderError:
    """The generalist gives 8, the sceptic 5, the product person cannot be asked."""
    if request.role == "product":
        return KeyRefused("The key is refused.")
    return a_reply(8 if request.role == "generalist" else 5, "=HYPERLINK(1)")


async def scored(
    provider: ScriptedProvider, debate: Debate | None = None, judges: Sequence[Agent] = JUDGES
) -> Evaluation:
    calls = ModelCalls({"scripted": provider, "ann": provider}, SystemClock())
    return await evaluate(calls, debate or fold(a_log()), judges)


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (a_reply(5), None),
        (a_reply(11), "Scores go from 1 to 10; these do not: functional_completeness,"),
        (a_reply(0), "Scores go from 1 to 10"),
        (a_reply(5, leave_out=["overall"]), "There must be exactly one score for each of"),
    ],
)
def test_a_reply_must_score_every_criterion_once(reply: str, fault: str | None) -> None:
    problem = reply_fault(EvaluationReply.model_validate_json(reply), CRITERIA)

    assert problem is None if fault is None else problem and problem.startswith(fault)


async def test_a_reply_that_cannot_be_repaired_is_reported_and_paid_for() -> None:
    evaluation = await scored(ScriptedProvider(lambda _: a_reply(99)))

    assert evaluation.marks == ()
    assert evaluation.averages == {}
    assert len(evaluation.failed) == 3
    assert evaluation.usage.attempts == 6
    assert "there are no scores" in as_markdown(evaluation)
    assert json.loads(as_json(evaluation))["averages"] == {}


async def test_a_debate_without_a_decision_is_not_scored() -> None:
    with pytest.raises(BadInput, match="has no decision"):
        await scored(ScriptedProvider(), fold(log_of([DebateStarted(setup=a_setup())])))


async def test_nobody_to_score_is_refused() -> None:
    calls = ModelCalls({"scripted": ScriptedProvider()}, SystemClock())
    with pytest.raises(BadInput, match="Nobody"):
        await evaluate(calls, fold(a_log()), [])


async def test_json_csv_and_markdown_hold_the_same_scores() -> None:
    evaluation = await scored(ScriptedProvider(by_role))
    whole = json.loads(as_json(evaluation))
    rows = list(csv.DictReader(io.StringIO(as_csv(evaluation))))
    text = as_markdown(evaluation)

    assert whole["averages"]["security"] == 6.5
    assert whole["marks"][0]["marks"]["security"]["score"] == 8
    assert len(rows) == 3 * len(CRITERIA)
    assert rows[-1] == {
        "debate": "dabc2345",
        "evaluator": "average",
        "criterion": "overall",
        "score": "6.50",
        "reason": "",
    }
    assert "| Security | 8 | 5 | 6.5 |" in text
    assert text.endswith("Cost: $0.00, beside the $0.10 of the debate itself.\n")
    assert "- Product: The key is refused." in text


async def test_no_cell_of_the_csv_is_a_formula() -> None:
    names = ("=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx", "Sceptic")
    judges = [JUDGES[0].model_copy(update={"name": name}) for name in names]
    evaluation = await scored(ScriptedProvider(by_role), judges=judges)
    rows = list(csv.DictReader(io.StringIO(as_csv(evaluation))))
    evaluators = list(dict.fromkeys(row["evaluator"] for row in rows))
    assert evaluators[: len(names)] == [*(f"'{name}" for name in names[:-1]), "Sceptic"]
    assert {row["reason"] for row in rows if row["evaluator"] != "average"} == {"'=HYPERLINK(1)"}


async def test_scores_of_one_makers_models_are_not_averaged_and_that_is_said_above() -> None:
    evaluation = await scored(ScriptedProvider(by_role), judges=JUDGES[::2])
    text = as_markdown(evaluation)

    assert not evaluation.averages
    assert "Average" not in text
    assert text.index("All evaluators are of scripted") < text.index("| Criterion |")
    assert "Models of scripted wrote the decision, too." in text
    assert "average" not in as_csv(evaluation)


async def test_what_people_thought_stands_beside_the_scores_and_changes_none() -> None:
    feedback = Feedback(
        by=Person(id="U7", name="Kim"), helpful=False, comment="Too\nlong.", origin="A"
    )
    log = [*(entry.event for entry in a_log()), FeedbackGiven(feedback=feedback)]
    without = await scored(ScriptedProvider(by_role))
    evaluation = await scored(ScriptedProvider(by_role), fold(log_of(log)))

    assert evaluation.averages == without.averages
    assert "- Kim found it not helpful: Too long." in as_markdown(evaluation)
    assert json.loads(as_json(evaluation))["feedback"][0]["comment"] == "Too\nlong."
    assert "What people thought" not in as_markdown(without)


async def test_evaluators_see_neither_the_vote_nor_the_judges_confidence() -> None:
    provider = ScriptedProvider(by_role)
    await scored(provider)

    for request in provider.requests_of(Act.EVALUATION):
        text = next(part.text for part in request.parts if part.label == "The decision")
        assert "Confidence" not in text
        assert "won the vote" not in text
        assert "points" not in text
