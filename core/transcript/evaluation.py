"""Evaluators score the decision of a finished debate, or compare it with a single answer.

Both texts are complete and have one layout. Each evaluator compares them in both orders, and the
shorter text with a copy that repeats each part. A preference that changes with the order is none;
evaluators that prefer the doubled text, or whose maker wrote one of the texts, do not count.
"""

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
from core.debate.verdict import OVERTURNED_BY, Verdict
from core.errors import BadInput, CallFailed
from core.figures import money, number, quantity
from core.llm.call import CallOptions, ModelCalls
from core.request import ModelRequest, Part, PartKind
from core.rules import shadow
from core.rules.formats import review
from core.rules.formats.review import finding_line
from core.transcript.words import blocks, bullets, csv_cell, quotation, table, titled
from core.usage import Call, Usage
from core.values import Value

_LOWEST, _HIGHEST = 1, 10
#: Scores are averaged only over models of at least so many makers.
_LEAST_MAKERS = 2


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


_MEANINGS: Mapping[str, str] = {
    "functional_completeness": "everything the question asks for is answered.",
    "performance_and_scalability": "it holds under the load named, and under growth.",
    "security": "threats are named and met; no new ones are opened.",
    "maintainability": "this team can run, change and leave it.",
    "regulatory_compliance": "laws and rules that apply are named and kept.",
    "testability": "one can tell, before and after, whether it works.",
    "requirements_fulfilment": 'every "must", "shall" and figure of the question is met.',
    "faults_found": "faults of weight in the proposal are named where they stand.",
    "false_alarms": "nothing is called a fault that is none; many false alarms are 1.",
    "usefulness": "its author knows what to change, and what first.",
    "overall": "would you stake your name on it?",
}
_OF_REVIEWS = (Criterion.FAULTS_FOUND, Criterion.FALSE_ALARMS, Criterion.USEFULNESS)


def criteria_of(debate: Debate) -> Sequence[Criterion]:
    if debate.setup.format == review.NAME:
        return (*_OF_REVIEWS, Criterion.OVERALL)
    return [criterion for criterion in Criterion if criterion not in _OF_REVIEWS]


def _risks_title(debate: Debate) -> str:
    return "Faults found" if debate.setup.format == review.NAME else "Risks and trade-offs"


class ScoreReply(BaseModel):
    """What an evaluator answers for one criterion."""

    criterion: Criterion
    reason: str
    score: int


class EvaluationReply(BaseModel):
    """What an evaluator answers."""

    scores: list[ScoreReply]


class CriterionScore(Value):
    """A score from 1 to 10 with its reason."""

    score: int
    reason: str


class Evaluator(Value):
    evaluator: str
    name: str
    #: Full name of its model, and the model's maker.
    model: str
    maker: str


def _identity(agent: Agent) -> dict[str, Any]:
    names = {"evaluator": agent.id, "name": agent.name}
    return {**names, "model": agent.full_name, "maker": agent.maker}


def _makers(evaluators: Sequence[Evaluator]) -> Sequence[str]:
    return sorted({evaluator.maker for evaluator in evaluators})


class Marks(Evaluator):
    marks: Mapping[Criterion, CriterionScore]
    call: Call

    @property
    def reasons(self) -> Sequence[str]:
        marks = self.marks.items()
        return [f"{criterion.words} ({mark.score}): {mark.reason}" for criterion, mark in marks]


class EvaluatorFailure(Evaluator):
    reason: str
    usage: Usage = Usage()


class _Result(Value):
    debate_id: str
    question: str
    #: Cost of the debate itself in US dollars; None if a price is unknown.
    debate_cost: Decimal | None = None

    def as_json(self, **extra: object) -> str:
        values = {**self.model_dump(mode="json"), **extra}
        return json.dumps(values, ensure_ascii=False, indent=2) + "\n"

    def cost_words(self, usage: Usage) -> str:
        cost, debate_cost = money(usage.cost), money(self.debate_cost)
        return f"Cost: {cost}, beside the {debate_cost} of the debate itself."


class Evaluation(_Result):
    marks: tuple[Marks, ...]
    failed: tuple[EvaluatorFailure, ...] = ()
    #: Makers of the models that wrote the decision.
    written_by: tuple[str, ...] = ()

    @property
    def averages(self) -> Mapping[Criterion, float]:
        """The mean per criterion over all evaluators; empty if all are of one maker."""
        if len(_makers(self.marks)) < _LEAST_MAKERS:
            return {}
        return {
            criterion: sum(mark.marks[criterion].score for mark in self.marks) / len(self.marks)
            for criterion in self.marks[0].marks
        }

    @property
    def usage(self) -> Usage:
        calls = (mark.call for mark in self.marks)
        return sum((item.usage for item in (*calls, *self.failed)), start=Usage())


async def evaluate(calls: ModelCalls, debate: Debate, evaluators: Sequence[Agent]) -> Evaluation:
    if debate.verdict is None:
        raise BadInput(f"Debate {debate.id} has no decision that could be scored.")
    writers = (*debate.setup.agents, debate.setup.judge)
    results = await asyncio.gather(*(_score(calls, debate, agent) for agent in evaluators))
    return Evaluation(
        debate_id=debate.id,
        question=debate.setup.question,
        marks=tuple(result for result in results if isinstance(result, Marks)),
        failed=tuple(result for result in results if isinstance(result, EvaluatorFailure)),
        debate_cost=debate.usage.cost,
        written_by=tuple(sorted({agent.maker for agent in writers})),
    )


def verdict_text(debate: Debate, verdict: Verdict) -> str:
    """The verdict as evaluators read it: without its confidence and without the debate."""
    return layout(
        verdict.decision,
        ("Solution", [verdict.solution]),
        ("Implementation", [verdict.implementation]),
        *((section.title, [section.text]) for section in verdict.sections),
        ("Reasons", verdict.reasons),
        (_risks_title(debate), [*map(finding_line, verdict.findings), *verdict.tradeoffs]),
        (OVERTURNED_BY, verdict.overturned_by),
        ("Recommendations", verdict.recommendations),
        ("Open questions", verdict.open_questions),
    )


def layout(decision: str, *sections: tuple[str, Sequence[str]]) -> str:
    """Join the parts, unchanged, into one text; empty parts have no heading."""
    parts = [decision.strip()]
    for title, items in sections:
        lines = [item.strip() for item in items if item.strip()]
        if len(lines) == 1:
            parts.append(f"{title}:\n\n{lines[0]}")
        elif lines:
            parts.append("\n".join([f"{title}:", *(f"- {line}" for line in lines)]))
    return "\n\n".join(parts)


def reply_fault(reply: EvaluationReply, criteria: Sequence[Criterion]) -> str | None:
    """The fault of the scores, as a sentence for the model; None if there is none."""
    outside = [s.criterion.value for s in reply.scores if not _LOWEST <= s.score <= _HIGHEST]
    if outside:
        return f"Scores go from {_LOWEST} to {_HIGHEST}; these do not: {', '.join(outside)}."
    return _mismatch("score", [score.criterion for score in reply.scores], criteria)


def _mismatch(noun: str, answers: list[Criterion], criteria: Sequence[Criterion]) -> str | None:
    if sorted(answers) == sorted(criteria):
        return None
    return f"There must be exactly one {noun} for each of: {', '.join(criteria)}."


def as_json(evaluation: Evaluation) -> str:
    averages = {name.value: round(mean, 2) for name, mean in evaluation.averages.items()}
    return evaluation.as_json(averages=averages)


def as_csv(evaluation: Evaluation) -> str:
    """One row per evaluator and criterion, then the averages (evaluator "average"); scores only."""
    output = io.StringIO()
    rows = csv.writer(output, lineterminator="\n")
    rows.writerow(("debate", "evaluator", "criterion", "score", "reason"))
    for marks in evaluation.marks:
        for criterion, mark in marks.marks.items():
            name, reason = csv_cell(marks.name), csv_cell(mark.reason)
            rows.writerow((evaluation.debate_id, name, criterion, mark.score, reason))
    for criterion, mean in evaluation.averages.items():
        rows.writerow((evaluation.debate_id, "average", criterion, f"{mean:.2f}", ""))
    return output.getvalue()


def as_markdown(evaluation: Evaluation) -> str:
    marks, averages = evaluation.marks, evaluation.averages
    head = ["Criterion", *(f"{item.name} ({item.model})" for item in marks)]
    rows = [
        [criterion.words, *(item.marks[criterion].score for item in marks)]
        for criterion in (marks[0].marks if marks else ())
    ]
    for row, mean in zip(rows, averages.values(), strict=False):
        row.append(number(mean))
    if averages:
        head.append("Average")
    failures = [f"{failure.name}: {failure.reason}" for failure in evaluation.failed]
    document = blocks(
        f"# Evaluation of debate {evaluation.debate_id}",
        f"> {' '.join(evaluation.question.split())}",
        *(_reservations(evaluation) if marks else ()),
        table(head, rows) or "No evaluator could be heard: there are no scores.",
        *(titled(f"{item.name} ({item.model})", bullets(item.reasons)) for item in marks),
        titled("Evaluators that failed", bullets(failures)),
        evaluation.cost_words(evaluation.usage),
    )
    return f"{document}\n"


def _reservations(evaluation: Evaluation) -> Iterator[str]:
    makers = _makers(evaluation.marks)
    if len(makers) < _LEAST_MAKERS:
        yield f"All evaluators are of {makers[0]}: one maker's taste, without an average."
    if writers := [maker for maker in makers if maker in evaluation.written_by]:
        yield f"Models of {' and '.join(writers)} wrote the decision, too."


def _evaluation_call(
    debate: Debate, agent: Agent, act: Act, texts: Sequence[Part]
) -> tuple[ModelRequest, CallOptions]:
    """The request to an evaluator: the question, people's answers, the sources, the texts."""
    turn = Turn(act=act, round=0, agent=agent.id)
    criteria = [{"name": name.value, "meaning": _MEANINGS[name]} for name in criteria_of(debate)]
    parts, values = (*parts_for(debate, turn), *texts), {"words": 0, "criteria": criteria}
    request = request_for(debate, turn, agent, parts=parts, values=values)
    return request, replace(terms_for(debate, turn, agent), fallbacks=(), waits_for_models=False)


async def _score(calls: ModelCalls, debate: Debate, agent: Agent) -> Marks | EvaluatorFailure:
    text = verdict_text(debate, debate.verdict) if debate.verdict else ""
    decision = Part(kind=PartKind.POSITION, label="The decision", text=text)
    request, options = _evaluation_call(debate, agent, Act.EVALUATION, [decision])
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
        return EvaluatorFailure(**_identity(agent), reason=str(error), usage=error.usage)
    scores = {score.criterion: score for score in reply.scores}
    marks = {
        name: CriterionScore(score=scores[name].score, reason=scores[name].reason.strip())
        for name in criteria
    }
    return Marks(**_identity(agent), marks=marks, call=call)


# --- beside a single answer -----------------------------------------------------------------------

#: Calls per evaluator: two orders of the texts, and two orders of the doubled text.
CALLS = 4


class Better(StrEnum):
    """The label of the better text."""

    FIRST = "p1"
    SECOND = "p2"
    NEITHER = "neither"


class CriterionChoice(BaseModel):
    """What an evaluator answers for one criterion."""

    criterion: Criterion
    reason: str
    better: Better


class ComparisonReply(BaseModel):
    """What an evaluator answers."""

    choices: list[CriterionChoice]


class Side(StrEnum):
    DEBATE = "debate"
    SINGLE = "single"
    NEITHER = "neither"


#: A side is preferred only if it wins in both orders.
_SIDES = {
    (Better.FIRST, Better.SECOND): Side.DEBATE,
    (Better.SECOND, Better.FIRST): Side.SINGLE,
}


class Preferences(Evaluator):
    sides: Mapping[Criterion, Side] = {}
    #: The reason why the preferences do not count; empty if they do.
    fault: str = ""
    usage: Usage = Usage()


class Comparison(_Result):
    preferences: tuple[Preferences, ...]
    lengths: Mapping[Side, int]

    @property
    def counting(self) -> Sequence[Preferences]:
        return [preference for preference in self.preferences if not preference.fault]

    @property
    def usage(self) -> Usage:
        return sum((preference.usage for preference in self.preferences), start=Usage())


async def compare(calls: ModelCalls, debate: Debate, evaluators: Sequence[Agent]) -> Comparison:
    texts = compared_texts(debate)
    preferences = await asyncio.gather(
        *(_prefers(calls, debate, evaluator, texts) for evaluator in evaluators)
    )
    return Comparison(
        debate_id=debate.id,
        question=debate.setup.question,
        preferences=tuple(preferences),
        lengths={side: len(text.split()) for side, text in texts.items()},
        debate_cost=debate.usage.cost,
    )


def compared_texts(debate: Debate) -> Mapping[Side, str]:
    """Both texts as evaluators read them; raises `BadInput` if one is missing."""
    verdict, single = debate.verdict, debate.shadow
    if verdict is None or shadow.is_sealed(debate):
        raise BadInput(f"Debate {debate.id} has no decision that could be compared.")
    if single is None:
        raise BadInput(
            f"Debate {debate.id} has no single answer to compare with. "
            "`moot debate --shadow` asks for one beside the debate."
        )
    return {
        Side.DEBATE: verdict_text(debate, verdict),
        Side.SINGLE: layout(
            single.decision,
            ("Solution", [single.solution]),
            ("Reasons", single.reasons),
            (_risks_title(debate), single.risks),
            (OVERTURNED_BY, single.overturned_by),
        ),
    }


def comparison_json(comparison: Comparison) -> str:
    return comparison.as_json(finding=finding_words(comparison))


def comparison_markdown(comparison: Comparison) -> str:
    verdict, single = (
        quantity(comparison.lengths[side], "word") for side in (Side.DEBATE, Side.SINGLE)
    )
    parts = [
        f"# Debate {comparison.debate_id} and a single answer",
        quotation(comparison.question),
        f"Shown: {verdict} of the debate's verdict, {single} of the single answer.",
    ]
    if counting := comparison.counting:
        head = ["Better by", *(f"{item.name} ({item.maker})" for item in counting)]
        criteria = counting[0].sides
        rows = [[name.words, *(item.sides[name] for item in counting)] for name in criteria]
        if len(_makers(counting)) < _LEAST_MAKERS:
            maker = f"All that counts is of {counting[0].maker}"
            parts.append(f"{maker}: one maker's taste, not counted together.")
        parts.append(table(head, rows))
    faulty = [f"{item.name}: {item.fault}" for item in comparison.preferences if item.fault]
    parts.append(titled("Not counted", bullets(faulty)))
    parts += [comparison.cost_words(comparison.usage), finding_words(comparison)]
    return f"{blocks(*parts)}\n"


def finding_words(comparison: Comparison) -> str:
    counting = comparison.counting
    sides = {preferences.sides[Criterion.OVERALL] for preferences in counting}
    if not counting:
        return "No difference is shown: no evaluator counts."
    if len(_makers(counting)) < _LEAST_MAKERS:
        return "No difference is shown: that takes evaluators of two makers."
    if len(sides) > 1 or sides == {Side.NEITHER}:
        return "No difference is shown: the evaluators do not agree on one text."
    text = "debate's verdict" if sides == {Side.DEBATE} else "single answer"
    return f"All {quantity(len(counting), 'evaluator')} prefer the {text}, in either order."


async def _prefers(
    calls: ModelCalls, debate: Debate, agent: Agent, texts: Mapping[Side, str]
) -> Preferences:
    """The preferences of one evaluator; a failure is reported as its fault."""
    identity, setup = _identity(agent), debate.setup
    writers = (*setup.agents, setup.judge, *([setup.shadow_agent] if setup.shadow_agent else []))
    if agent.maker in {writer.maker for writer in writers}:
        return Preferences(**identity, fault=f"{agent.maker} made one of the texts.")
    shorter = min(texts.values(), key=len)
    doubled_text = "\n\n".join(part for part in shorter.split("\n\n") for _ in range(2))
    usage, choices = Usage(), list[Mapping[Criterion, Better]]()
    for pair in ((texts[Side.DEBATE], texts[Side.SINGLE]), (doubled_text, shorter)):
        for texts_in_order in (pair, pair[::-1]):
            try:
                choice, call = await _choose(calls, debate, agent, texts_in_order)
            except CallFailed as error:
                return Preferences(**identity, fault=str(error), usage=usage + error.usage)
            choices.append(choice)
            usage += call.usage
    text_sides, doubled_sides = (
        {name: _SIDES.get((forth[name], back[name]), Side.NEITHER) for name in forth}
        for forth, back in (choices[:2], choices[2:])
    )
    fault = ""
    if doubled_sides[Criterion.OVERALL] is Side.DEBATE:
        fault = "It prefers the same text with every part said twice: length alone decides."
    return Preferences(**identity, sides=text_sides, fault=fault, usage=usage)


async def _choose(
    calls: ModelCalls, debate: Debate, agent: Agent, pair: Sequence[str]
) -> tuple[Mapping[Criterion, Better], Call]:
    texts = [
        Part(kind=PartKind.CANDIDATE, label=label, text=text, trim_priority=1)
        for label, text in zip((Better.FIRST.value, Better.SECOND.value), pair, strict=True)
    ]
    criteria = criteria_of(debate)

    def fault(reply: ComparisonReply) -> str | None:
        return _mismatch("choice", [choice.criterion for choice in reply.choices], criteria)

    request, options = _evaluation_call(debate, agent, Act.COMPARISON, texts)
    reply, call = await calls.ask_for(request, agent, ComparisonReply, check=fault, options=options)
    choices = {choice.criterion: choice.better for choice in reply.choices}
    return {criterion: choices[criterion] for criterion in criteria}, call
