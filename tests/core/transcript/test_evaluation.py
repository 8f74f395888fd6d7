"""Evaluators score a finished debate, or compare it with a single answer; biases do not count."""

import csv
import io
import json
from collections.abc import Callable, Sequence

import pytest

from core.clock import SystemClock
from core.debate.agents import Agent
from core.debate.debate_events import DebateStarted
from core.debate.log import Event, fold
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.turn_events import ShadowAnswered, VerdictReached
from core.debate.verdict import ShadowAnswer
from core.errors import BadInput, KeyRefused, ProviderError
from core.llm.call import ModelCalls
from core.request import ModelRequest, PartKind
from core.rules import shadow
from core.settings import ModelChoice, agent_for
from core.testing import ScriptedProvider, a_setup, log_of
from core.transcript.evaluation import (
    CALLS,
    Comparison,
    Criterion,
    Evaluation,
    EvaluationReply,
    Side,
    as_csv,
    as_json,
    as_markdown,
    compare,
    compared_texts,
    comparison_json,
    comparison_markdown,
    criteria_of,
    evaluate,
    finding_words,
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


async def test_without_a_decision_nothing_is_scored() -> None:
    with pytest.raises(BadInput, match="has no decision"):
        await scored(ScriptedProvider(), fold(log_of([DebateStarted(setup=a_setup())])))


async def test_json_csv_and_markdown_hold_the_same_scores() -> None:
    provider = ScriptedProvider(by_role)
    evaluation = await scored(provider)
    whole = json.loads(as_json(evaluation))
    rows = list(csv.DictReader(io.StringIO(as_csv(evaluation))))
    text = as_markdown(evaluation)

    assert whole["averages"]["security"] == 6.5
    assert whole["marks"][0]["marks"]["security"]["score"] == 8
    assert len(rows) == 3 * len(CRITERIA)
    # No cell is a formula.
    assert rows[0]["evaluator"] == "'=cmd|' /C calc'!A0"
    assert {row["reason"] for row in rows if row["evaluator"] != "average"} == {"'=HYPERLINK(1)"}
    assert list(rows[-1].values()) == ["dabc2345", "average", "overall", "6.50", ""]
    assert "| Security | 8 | 5 | 6.5 |" in text
    assert text.endswith("Cost: $0.00, beside the $0.10 of the debate itself.\n")
    assert "- Product: The key is refused." in text
    # Evaluators must not see the confidence of others.
    for request in provider.requests_of(Act.EVALUATION):
        decision = next(part.text for part in request.parts if part.label == "The decision")
        assert not any(word in decision for word in ("Confidence", "won the vote", "points"))


async def test_scores_of_one_maker_are_not_averaged() -> None:
    evaluation = await scored(ScriptedProvider(by_role), judges=JUDGES[::2])
    text = as_markdown(evaluation)
    assert not evaluation.averages
    assert "Average" not in text
    assert text.index("All evaluators are of scripted") < text.index("| Criterion |")
    assert "Models of scripted wrote the decision, too." in text
    assert "average" not in as_csv(evaluation)


# --- beside a single answer ---

ALONE = ShadowAnswer(
    turn=shadow.ANSWER,
    decision="Keep `job_queue_v2`.",
    solution="Run:\n\n```sql\nselect * from job_queue_v2 -- _all_ of it\n```",
    reasons=("It __works__ [e1: “10 a day”].", "Nobody asked for more."),
    risks=("One ~table~ may lock.",),
    overturned_by=("A thousand *jobs* a second.",),
)


def a_debate(format_name: str = "critique", alone: ShadowAnswer | None = ALONE) -> Debate:
    events: list[Event] = []
    for item in a_log():
        event = item.event
        if isinstance(event, DebateStarted):
            choice = ModelChoice(provider="lab", model="lab-1")
            changes = {"shadow_agent": agent_for("generalist", choice), "format": format_name}
            event = DebateStarted(setup=event.setup.model_copy(update=changes))
        if isinstance(event, VerdictReached) and alone:
            events.append(ShadowAnswered(shadow=alone))
        events.append(event)
    return fold(log_of(events))


#: Returns the better of two texts: 0, 1, or None for neither.
Taste = Callable[[str, str], int | None]


def replying(taste: Taste, criteria: Sequence[Criterion]) -> Callable[[ModelRequest], str]:
    def reply(request: ModelRequest) -> str:
        first, second = (p.text for p in request.parts if p.kind is PartKind.CANDIDATE)
        better = {0: "p1", 1: "p2", None: "neither"}[taste(first, second)]
        choices = [{"criterion": c, "reason": "So it is.", "better": better} for c in criteria]
        return json.dumps({"choices": choices})

    return reply


def evaluators_of(*makers: str) -> Sequence[Agent]:
    return [
        agent_for("sceptic", ModelChoice(provider=maker, model=f"{maker}-1")) for maker in makers
    ]


async def compared(
    tastes: dict[str, Taste], debate: Debate | None = None
) -> tuple[Comparison, dict[str, ScriptedProvider]]:
    debate = debate or a_debate()
    providers = {
        name: ScriptedProvider(replying(taste, criteria_of(debate)), name=name)
        for name, taste in tastes.items()
    }
    calls = ModelCalls(dict(providers), SystemClock())
    return await compare(calls, debate, evaluators_of(*tastes)), providers


def first(_one: str, _other: str) -> int:
    return 0


def longer(text: str, other: str) -> int:
    return 0 if len(text) > len(other) else 1


def likes(words: str) -> Taste:
    """Prefers the text with these words, if only one has them."""

    def taste(text: str, other: str) -> int | None:
        return None if (words in text) == (words in other) else int(words in other)

    return taste


@pytest.mark.parametrize(
    ("tastes", "words"),
    [
        ({"ann": first, "bob": first}, "No difference is shown: the evaluators do not agree"),
        ({"ann": longer, "bob": longer}, "No difference is shown: no evaluator counts."),
        ({"ann": longer, "bob": likes("job_queue_v2")}, "that takes evaluators of two makers"),
        ({"ann": likes("job_queue_v2")}, "that takes evaluators of two makers"),
        ({"lab": likes("job_queue_v2"), "scripted": longer}, "lab made one of the texts."),
        ({"ann": longer}, "length alone decides"),
    ],
)
async def test_biases_for_order_length_or_maker_show_no_difference(
    tastes: dict[str, Taste], words: str
) -> None:
    result, providers = await compared(tastes)
    text = comparison_markdown(result)
    assert words in text
    assert finding_words(result).startswith("No difference is shown")
    # Models of a maker that wrote one of the texts are not called.
    assert all(
        bool(provider.requests) is (name in {"ann", "bob"}) for name, provider in providers.items()
    )
    if len(result.counting) == 1:
        assert text.index("one maker's taste") < text.index("| Better by")


@pytest.mark.parametrize(
    ("words", "text", "row"),
    [
        ("job_queue_v2", "single answer", "| Security | single | single |"),
        ("It is there.", "debate's verdict", "| Security | debate | debate |"),
    ],
)
async def test_evaluators_of_two_makers_that_agree_in_either_order_show_a_difference(
    words: str, text: str, row: str
) -> None:
    result, providers = await compared({"ann": likes(words), "bob": likes(words)})
    assert finding_words(result) == f"All 2 evaluators prefer the {text}, in either order."
    assert row in comparison_markdown(result)
    assert json.loads(comparison_json(result))["finding"] == finding_words(result)
    assert len(providers["ann"].requests) == CALLS
    assert result.usage.attempts == 2 * CALLS


async def test_both_texts_are_shown_unchanged_and_complete() -> None:
    """A text that is cut on one side only would decide the comparison."""
    debate = a_debate()
    verdict = debate.verdict
    assert verdict
    result, providers = await compared({"ann": first}, debate)
    request = providers["ann"].requests[0]
    debates, alone = (p.text for p in request.parts if p.kind is PartKind.CANDIDATE)
    lengths = {Side.DEBATE: len(debates.split()), Side.SINGLE: len(alone.split())}
    assert result.lengths == lengths
    for text, parts in (
        (debates, (verdict.decision, verdict.solution, verdict.implementation)),
        (debates, (*verdict.reasons, *verdict.tradeoffs, *verdict.overturned_by)),
        (alone, (ALONE.decision, ALONE.solution, *ALONE.reasons)),
        (alone, (*ALONE.risks, *ALONE.overturned_by)),
    ):
        assert [words for words in parts if words.strip() not in text] == []
    # The dissent is left out, because it would show which text is the debate's.
    assert verdict.dissent
    assert verdict.dissent not in debates
    assert "```10``` a day" in "\n".join(part.text for part in request.parts)


async def test_reviews_are_compared_by_faults_found_and_a_failure_is_reported() -> None:
    result, providers = await compared({"ann": first}, a_debate("review"))
    sides = result.counting[0].sides
    assert (Criterion.FAULTS_FOUND in sides, Criterion.SECURITY in sides) == (True, False)
    assert '"false_alarms"' in providers["ann"].requests_of(Act.COMPARISON)[0].parts[-1].text
    refused = ScriptedProvider(lambda _: KeyRefused("The key is refused."), name="ann")
    calls = ModelCalls({"ann": refused}, SystemClock())
    result = await compare(calls, a_debate(), evaluators_of("ann"))
    assert "The key is refused." in comparison_markdown(result)
    with pytest.raises(BadInput, match="--shadow"):
        compared_texts(a_debate(alone=None))
