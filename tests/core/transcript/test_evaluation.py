"""Evaluators score a finished debate; what they do not say is never made up."""

import csv
import io
import json
from collections.abc import Sequence

import pytest

from core.clock import SystemClock
from core.debate.agents import Agent
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.verdict import Feedback
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
    agent_for("generalist", CHOICE).model_copy(update={"name": "=cmd|' /C calc'!A0"}),
    agent_for("sceptic", OTHER),
    agent_for("product", CHOICE),
]
DEBATE = fold(a_log())
CRITERIA = criteria_of(DEBATE)


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
    provider: ScriptedProvider, debate: Debate = DEBATE, judges: Sequence[Agent] = JUDGES
) -> Evaluation:
    calls = ModelCalls({"scripted": provider, "ann": provider}, SystemClock())
    return await evaluate(calls, debate, judges)


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (a_reply(5), ""),
        (a_reply(11), "Scores go from 1 to 10; these do not: functional_completeness,"),
        (a_reply(0), "Scores go from 1 to 10"),
        (a_reply(5, leave_out=["overall"]), "There must be exactly one score for each of"),
    ],
)
def test_a_reply_must_score_every_criterion_once(reply: str, fault: str) -> None:
    problem = reply_fault(EvaluationReply.model_validate_json(reply), CRITERIA) or ""
    assert problem.startswith(fault)
    assert bool(problem) is bool(fault)


async def test_a_reply_that_cannot_be_repaired_is_reported_and_paid_for() -> None:
    evaluation = await scored(ScriptedProvider(lambda _: a_reply(99)))
    assert (evaluation.marks, evaluation.averages) == ((), {})
    assert len(evaluation.failed) == 3
    assert evaluation.usage.attempts == 6
    assert "there are no scores" in as_markdown(evaluation)
    assert json.loads(as_json(evaluation))["averages"] == {}


async def test_without_a_decision_or_evaluators_nothing_is_scored() -> None:
    with pytest.raises(BadInput, match="has no decision"):
        await scored(ScriptedProvider(), fold(log_of([DebateStarted(setup=a_setup())])))
    with pytest.raises(BadInput, match="Nobody"):
        await scored(ScriptedProvider(), judges=[])


async def test_json_csv_and_markdown_hold_the_same_scores_and_what_people_thought() -> None:
    comment = Feedback(
        by=Person(id="U7", name="Kim"), helpful=False, comment="Too\nlong.", origin="A"
    )
    provider = ScriptedProvider(by_role)
    evaluation = await scored(provider, DEBATE.replace(feedback={"U7": comment}))
    whole = json.loads(as_json(evaluation))
    rows = list(csv.DictReader(io.StringIO(as_csv(evaluation))))
    text = as_markdown(evaluation)

    assert whole["averages"]["security"] == 6.5
    assert whole["marks"][0]["marks"]["security"]["score"] == 8
    assert whole["feedback"][0]["comment"] == "Too\nlong."
    assert len(rows) == 3 * len(CRITERIA)
    # No cell is a formula.
    assert rows[0]["evaluator"] == "'=cmd|' /C calc'!A0"
    assert {row["reason"] for row in rows if row["evaluator"] != "average"} == {"'=HYPERLINK(1)"}
    assert list(rows[-1].values()) == ["dabc2345", "average", "overall", "6.50", ""]
    assert "| Security | 8 | 5 | 6.5 |" in text
    assert text.endswith("Cost: $0.00, beside the $0.10 of the debate itself.\n")
    assert "- Product: The key is refused." in text
    assert "- Kim found it not helpful: Too long." in text
    # Who scores a decision is not to know how sure others were of it.
    for request in provider.requests_of(Act.EVALUATION):
        decision = next(part.text for part in request.parts if part.label == "The decision")
        assert not any(word in decision for word in ("Confidence", "won the vote", "points"))


async def test_scores_of_one_makers_models_are_not_averaged_and_that_is_said_above() -> None:
    evaluation = await scored(ScriptedProvider(by_role), judges=JUDGES[::2])
    text = as_markdown(evaluation)
    assert not evaluation.averages
    assert "Average" not in text
    assert text.index("All evaluators are of scripted") < text.index("| Criterion |")
    assert "Models of scripted wrote the decision, too." in text
    assert "average" not in as_csv(evaluation)
