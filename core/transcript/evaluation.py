"""Scores a finished debate: several evaluators, criteria, averages; JSON, CSV, Markdown."""

import asyncio
import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

from pydantic import BaseModel

from core.acts.context import parts_for
from core.acts.request_for import request_for, terms_for
from core.debate.agents import Agent
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.verdict import OVERTURNED_BY, Feedback, Verdict
from core.errors import BadInput, CallFailed
from core.figures import money, number
from core.llm.call import CallOptions, ModelCalls
from core.request import ModelRequest, Part, PartKind
from core.rules.formats import review
from core.rules.formats.review import line_of
from core.transcript.people import feedback_lines
from core.transcript.words import blocks, bullets, csv_cell, table, titled
from core.usage import Call, Usage
from core.values import Value

LOWEST, HIGHEST = 1, 10
#: Characters of a text that is scored or compared.
MOST_CHARS = 24_000
_CUT = "[cut]"
#: Only scores of so many makers' models are averaged.
MOST_MAKERS = 2


class Criterion(StrEnum):
    """What a decision is scored on."""

    FUNCTIONAL_COMPLETENESS = "functional_completeness"
    PERFORMANCE_AND_SCALABILITY = "performance_and_scalability"
    SECURITY = "security"
    MAINTAINABILITY = "maintainability"
    REGULATORY_COMPLIANCE = "regulatory_compliance"
    TESTABILITY = "testability"
    REQUIREMENTS_FULFILMENT = "requirements_fulfilment"
    FAULTS_FOUND = "faults_found"
    FALSE_ALARMS = "false_alarms"
    USEFULNESS = "usefulness"
    OVERALL = "overall"

    @property
    def words(self) -> str:
        return self.value.replace("_", " ").capitalize()


MEANINGS: Mapping[Criterion, str] = {
    Criterion.FUNCTIONAL_COMPLETENESS: "everything the question asks for is answered.",
    Criterion.PERFORMANCE_AND_SCALABILITY: "it holds under the load named, and under growth.",
    Criterion.SECURITY: "threats are named and met; no new ones are opened.",
    Criterion.MAINTAINABILITY: "this team can run, change and leave it.",
    Criterion.REGULATORY_COMPLIANCE: "laws and rules that apply are named and kept.",
    Criterion.TESTABILITY: "one can tell, before and after, whether it works.",
    Criterion.REQUIREMENTS_FULFILMENT: 'every "must", "shall" and figure of the question is met.',
    Criterion.FAULTS_FOUND: "faults of weight in the proposal are named where they stand.",
    Criterion.FALSE_ALARMS: "nothing is called a fault that is none; many false alarms are 1.",
    Criterion.USEFULNESS: "its author knows what to change, and what first.",
    Criterion.OVERALL: "would you stake your name on it?",
}
_OF_REVIEWS = (
    *(Criterion.FAULTS_FOUND, Criterion.FALSE_ALARMS, Criterion.USEFULNESS),
    Criterion.OVERALL,
)
_OF_DESIGNS = tuple(criterion for criterion in Criterion if criterion not in _OF_REVIEWS[:-1])


def criteria_of(debate: Debate) -> Sequence[Criterion]:
    return _OF_REVIEWS if debate.setup.format == review.NAME else _OF_DESIGNS


class ScoreReply(BaseModel):
    """What an evaluator answers for one criterion."""

    criterion: Criterion
    reason: str
    score: int


class EvaluationReply(BaseModel):
    """What an evaluator answers."""

    scores: list[ScoreReply]


class CriterionScore(Value):
    """A score from 1 to 10, and why."""

    score: int
    reason: str


class Evaluator(Value):
    evaluator: str
    name: str
    #: Of its model, and who made that.
    model: str
    maker: str


def identity(agent: Agent) -> dict[str, Any]:
    return {
        "evaluator": agent.id,
        "name": agent.name,
        "model": agent.full_name,
        "maker": agent.maker,
    }


class Marks(Evaluator):
    marks: Mapping[Criterion, CriterionScore]
    call: Call


class EvaluatorFailure(Value):
    evaluator: str
    name: str
    reason: str
    usage: Usage = Usage()


class Evaluation(Value):
    debate_id: str
    question: str
    marks: tuple[Marks, ...]
    failed: tuple[EvaluatorFailure, ...] = ()
    #: What people thought of the decision; no part of the averages.
    feedback: tuple[Feedback, ...] = ()
    #: Spent by the debate itself, in US dollars; None: a price is unknown.
    debate_cost: Decimal | None = None
    #: Who made the models that wrote the decision.
    written_by: tuple[str, ...] = ()

    @property
    def averages(self) -> Mapping[Criterion, float]:
        """The mean per criterion over the evaluators that answered, where several makers did."""
        if len({mark.maker for mark in self.marks}) < MOST_MAKERS:
            return {}
        count = len(self.marks)
        return {
            criterion: sum(mark.marks[criterion].score for mark in self.marks) / count
            for criterion in self.marks[0].marks
        }

    @property
    def usage(self) -> Usage:
        marked, failed = (mark.call for mark in self.marks), self.failed
        return sum((spent.usage for spent in (*marked, *failed)), start=Usage())


async def evaluate(calls: ModelCalls, debate: Debate, evaluators: Sequence[Agent]) -> Evaluation:
    if debate.verdict is None:
        raise BadInput(f"Debate {debate.id} has no decision that could be scored.")
    if not evaluators:
        raise BadInput("Nobody is named who could score the debate.")
    results = await asyncio.gather(*(_score(calls, debate, agent) for agent in evaluators))
    return Evaluation(
        debate_id=debate.id,
        question=debate.setup.question,
        marks=tuple(result for result in results if isinstance(result, Marks)),
        failed=tuple(result for result in results if isinstance(result, EvaluatorFailure)),
        feedback=tuple(debate.feedback.values()),
        debate_cost=debate.usage.cost,
        written_by=tuple(
            sorted({agent.maker for agent in (*debate.setup.agents, debate.setup.judge)})
        ),
    )


def verdict_text(debate: Debate, verdict: Verdict) -> str:
    """What evaluators read of a verdict: not how sure others were of it, nor who debated how."""
    return laid_out(
        verdict.decision,
        ("Solution", [verdict.solution]),
        ("Implementation", [verdict.implementation]),
        *((section.title, [section.text]) for section in verdict.sections),
        ("Reasons", verdict.reasons),
        (risks_title(debate), [*map(line_of, verdict.findings), *verdict.tradeoffs]),
        (OVERTURNED_BY, verdict.overturned_by),
        ("Recommendations", verdict.recommendations),
        ("Open questions", verdict.open_questions),
    )


def risks_title(debate: Debate) -> str:
    return "Faults found" if debate.setup.format == review.NAME else "Risks and trade-offs"


def laid_out(decision: str, *sections: tuple[str, Sequence[str]]) -> str:
    """One text of its parts, word for word; a part without words has no heading."""
    parts = [decision.strip()]
    for title, items in sections:
        lines = [item.strip() for item in items if item.strip()]
        if len(lines) == 1:
            parts.append(f"{title}:\n\n{lines[0]}")
        elif lines:
            parts.append("\n".join([f"{title}:", *(f"- {line}" for line in lines)]))
    text = "\n\n".join(parts)
    return text if len(text) <= MOST_CHARS else f"{text[:MOST_CHARS].rstrip()} {_CUT}"


def cost_words(usage: Usage, debate_cost: Decimal | None) -> str:
    return f"Cost: {money(usage.cost)}, beside the {money(debate_cost)} of the debate itself."


def reply_fault(reply: EvaluationReply, criteria: Sequence[Criterion]) -> str | None:
    """What is wrong with the scores, as a sentence for the model; None if nothing is."""
    named = sorted(score.criterion for score in reply.scores)
    if named != sorted(criteria):
        return f"There must be exactly one score for each of: {', '.join(criteria)}."
    outside = [s.criterion.value for s in reply.scores if not LOWEST <= s.score <= HIGHEST]
    if outside:
        return f"Scores go from {LOWEST} to {HIGHEST}; these do not: {', '.join(outside)}."
    return None


def as_json(evaluation: Evaluation) -> str:
    values = evaluation.model_dump(mode="json")
    averages = {name.value: round(mean, 2) for name, mean in evaluation.averages.items()}
    return json.dumps({**values, "averages": averages}, ensure_ascii=False, indent=2) + "\n"


def as_csv(evaluation: Evaluation) -> str:
    """One row per evaluator and criterion, then the averages (evaluator "average"); scores only."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("debate", "evaluator", "criterion", "score", "reason"))
    for marks in evaluation.marks:
        for criterion, mark in marks.marks.items():
            name, reason = csv_cell(marks.name), csv_cell(mark.reason)
            rows.writerow((evaluation.debate_id, name, criterion, mark.score, reason))
    for criterion, mean in evaluation.averages.items():
        rows.writerow((evaluation.debate_id, "average", criterion, f"{mean:.2f}", ""))
    return out.getvalue()


def as_markdown(evaluation: Evaluation) -> str:
    marks, averages = evaluation.marks, evaluation.averages
    rows = [
        (
            criterion.words,
            *(item.marks[criterion].score for item in marks),
            *([number(averages[criterion])] if averages else []),
        )
        for criterion in (marks[0].marks if marks else ())
    ]
    reasons = {
        f"{item.name} ({item.model})": [
            f"{criterion.words} ({mark.score}): {mark.reason}"
            for criterion, mark in item.marks.items()
        ]
        for item in marks
    }
    head = ("Criterion", *(f"{item.name} ({item.model})" for item in marks))
    failed = [f"{failure.name}: {failure.reason}" for failure in evaluation.failed]
    document = blocks(
        f"# Evaluation of debate {evaluation.debate_id}",
        f"> {' '.join(evaluation.question.split())}",
        *(_reservations(evaluation) if marks else ()),
        table((*head, "Average") if averages else head, rows)
        or "No evaluator could be heard: there are no scores.",
        *(titled(name, bullets(texts)) for name, texts in reasons.items()),
        titled("What people thought of the decision", bullets(feedback_lines(evaluation.feedback))),
        titled("Evaluators that failed", bullets(failed)),
        cost_words(evaluation.usage, evaluation.debate_cost),
    )
    return f"{document}\n"


def _reservations(evaluation: Evaluation) -> Iterator[str]:
    makers = sorted({marks.maker for marks in evaluation.marks})
    if len(makers) < MOST_MAKERS:
        yield f"All evaluators are of {makers[0]}: one maker's taste, without an average."
    if own := [maker for maker in makers if maker in evaluation.written_by]:
        yield f"Models of {' and '.join(own)} wrote the decision, too."


def evaluation_call(
    debate: Debate, agent: Agent, act: Act, texts: Sequence[Part]
) -> tuple[ModelRequest, CallOptions]:
    """What an evaluator is asked: the question, people's answers, the sources, the texts."""
    turn = Turn(act=act, round=0, agent=agent.id)
    criteria = [{"name": name.value, "meaning": MEANINGS[name]} for name in criteria_of(debate)]
    parts, values = (*parts_for(debate, turn), *texts), {"words": 0, "criteria": criteria}
    request = request_for(debate, turn, agent, parts=parts, values=values)
    return request, replace(terms_for(debate, turn, agent), fallbacks=(), patient=False)


async def _score(calls: ModelCalls, debate: Debate, agent: Agent) -> Marks | EvaluatorFailure:
    text = verdict_text(debate, debate.verdict) if debate.verdict else ""
    decision = Part(kind=PartKind.POSITION, label="The decision", text=text)
    request, options = evaluation_call(debate, agent, Act.EVALUATION, [decision])
    criteria = criteria_of(debate)
    try:
        reply, call = await calls.ask_for(
            request,
            agent,
            EvaluationReply,
            check=lambda reply: reply_fault(reply, criteria),
            options=options,
        )
    except CallFailed as error:
        return EvaluatorFailure(
            evaluator=agent.id, name=agent.name, reason=str(error), usage=error.usage
        )
    scores = {score.criterion: score for score in reply.scores}
    marks = {
        name: CriterionScore(score=scores[name].score, reason=scores[name].reason.strip())
        for name in criteria
    }
    return Marks(**identity(agent), marks=marks, call=call)
