"""Compares a debate's verdict with the single answer beside it: evaluators read both blind.

Both texts are whole, laid out by one function. Each evaluator compares them in both orders, and the
shorter one with itself, each part said twice. A preference that turns with the order is none; an
evaluator that prefers the doubled text, or whose maker wrote one of the texts, does not count.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import StrEnum

from pydantic import BaseModel

from core.debate.agents import Agent
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.verdict import OVERTURNED_BY
from core.errors import BadInput, CallFailed
from core.figures import quantity
from core.llm.call import ModelCalls
from core.request import Part, PartKind
from core.rules import shadow
from core.transcript.evaluation import (
    MOST_MAKERS,
    Criterion,
    Evaluator,
    cost_words,
    criteria_of,
    evaluation_call,
    identity,
    laid_out,
    risks_title,
    verdict_text,
)
from core.transcript.words import blocks, bullets, quotation, table, titled
from core.usage import Usage
from core.values import Value

#: Calls per evaluator: both orders of the texts, both orders of the doubled text.
CALLS = 4


class Better(StrEnum):
    """Which text is better, by its label."""

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


class Preferences(Evaluator):
    sides: Mapping[Criterion, Side] = {}
    #: Why they do not count; empty: they do.
    fault: str = ""
    usage: Usage = Usage()


class Comparison(Value):
    debate_id: str
    question: str
    preferences: tuple[Preferences, ...]
    lengths: Mapping[Side, int]
    #: Spent by the debate itself, in US dollars; None: a price is unknown.
    debate_cost: Decimal | None = None

    @property
    def counting(self) -> Sequence[Preferences]:
        return [preference for preference in self.preferences if not preference.fault]

    @property
    def has_sum(self) -> bool:
        return len({preferences.maker for preferences in self.counting}) >= MOST_MAKERS

    @property
    def usage(self) -> Usage:
        return sum((preference.usage for preference in self.preferences), start=Usage())


async def compare(calls: ModelCalls, debate: Debate, evaluators: Sequence[Agent]) -> Comparison:
    texts = compared_texts(debate)
    if not evaluators:
        raise BadInput("Nobody is named who could compare the texts.")
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
    verdict, alone = debate.verdict, debate.shadow
    if verdict is None or shadow.is_sealed(debate):
        raise BadInput(f"Debate {debate.id} has no decision that could be compared.")
    if alone is None:
        raise BadInput(
            f"Debate {debate.id} has no single answer to compare with. "
            "`moot debate --shadow` asks for one beside the debate."
        )
    return {
        Side.DEBATE: verdict_text(debate, verdict),
        Side.SINGLE: laid_out(
            alone.decision,
            ("Solution", [alone.solution]),
            ("Reasons", alone.reasons),
            (risks_title(debate), alone.risks),
            (OVERTURNED_BY, alone.overturned_by),
        ),
    }


def comparison_json(comparison: Comparison) -> str:
    values = {**comparison.model_dump(mode="json"), "finding": finding_words(comparison)}
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"


def comparison_markdown(comparison: Comparison) -> str:
    lengths = comparison.lengths
    text = (
        f"Shown: {quantity(lengths[Side.DEBATE], 'word')} of the debate's verdict, "
        f"{quantity(lengths[Side.SINGLE], 'word')} of the single answer."
    )
    parts = [
        f"# Debate {comparison.debate_id} and a single answer",
        quotation(comparison.question),
        text,
    ]
    if counting := comparison.counting:
        head = ["Better by", *(f"{it.name} ({it.maker})" for it in counting)]
        rows = [[name.words, *(it.sides[name] for it in counting)] for name in counting[0].sides]
        if comparison.has_sum:
            head.append("Together")
            for row, name in zip(rows, counting[0].sides, strict=True):
                sides = [preferences.sides[name] for preferences in counting]
                debate, single = sides.count(Side.DEBATE), sides.count(Side.SINGLE)
                row.append(f"debate {debate}, single {single}")
        else:
            maker = f"All that counts is of {counting[0].maker}"
            parts.append(f"{maker}: one maker's taste, not counted together.")
        parts.append(table(head, rows))
    faulty = [f"{it.name}: {it.fault}" for it in comparison.preferences if it.fault]
    parts.append(titled("Not counted", bullets(faulty)))
    parts += [cost_words(comparison.usage, comparison.debate_cost), finding_words(comparison)]
    return f"{blocks(*parts)}\n"


def finding_words(comparison: Comparison) -> str:
    counting = comparison.counting
    sides = {preferences.sides[Criterion.OVERALL] for preferences in counting}
    if not counting:
        return "No difference is shown: no evaluator counts."
    if not comparison.has_sum:
        return "No difference is shown: that takes evaluators of two makers."
    if len(sides) > 1 or sides == {Side.NEITHER}:
        return "No difference is shown: the evaluators do not agree on one text."
    text = "debate's verdict" if sides == {Side.DEBATE} else "single answer"
    return f"All {quantity(len(counting), 'evaluator')} prefer the {text}, in either order."


async def _prefers(
    calls: ModelCalls, debate: Debate, agent: Agent, texts: Mapping[Side, str]
) -> Preferences:
    """The preferences of one evaluator; a failure is reported as its fault."""
    result = Preferences(**identity(agent))
    setup = debate.setup
    alone = [setup.shadow_agent] if setup.shadow_agent else []
    if agent.maker in {writer.maker for writer in (*setup.agents, setup.judge, *alone)}:
        fault = f"{agent.maker} made one of the texts."
        return result.model_copy(update={"fault": fault})
    shorter = min(texts.values(), key=len)
    doubled = "\n\n".join(part for part in shorter.split("\n\n") for _ in range(2))
    pairs = ((texts[Side.DEBATE], texts[Side.SINGLE]), (doubled, shorter))
    usage, choices = Usage(), list[Mapping[Criterion, Side]]()
    for first, second in pairs:
        try:
            forth, spent_forth = await _choose(calls, debate, agent, (first, second))
            usage += spent_forth
            back, spent_back = await _choose(calls, debate, agent, (second, first))
            usage += spent_back
        except CallFailed as error:
            return result.model_copy(update={"fault": str(error), "usage": usage + error.usage})
        # A side counts that was preferred where it stood first and where it stood second.
        sides = {
            (Better.FIRST, Better.SECOND): Side.DEBATE,
            (Better.SECOND, Better.FIRST): Side.SINGLE,
        }
        choices.append(
            {
                name: sides.get((forth[name], back[name]), Side.NEITHER)
                for name in criteria_of(debate)
            }
        )
    of_texts, of_doubled = choices
    fault = ""
    if of_doubled[Criterion.OVERALL] is Side.DEBATE:
        fault = "It prefers the same text with every part said twice: length alone decides."
    return result.model_copy(update={"sides": of_texts, "fault": fault, "usage": usage})


async def _choose(
    calls: ModelCalls, debate: Debate, agent: Agent, pair: tuple[str, str]
) -> tuple[Mapping[Criterion, Better], Usage]:
    texts = [
        Part(kind=PartKind.CANDIDATE, label=label, text=text, trim_priority=1)
        for label, text in zip((Better.FIRST.value, Better.SECOND.value), pair, strict=True)
    ]
    criteria = criteria_of(debate)

    def fault(reply: ComparisonReply) -> str | None:
        if sorted(choice.criterion for choice in reply.choices) == sorted(criteria):
            return None
        return f"There must be exactly one choice for each of: {', '.join(criteria)}."

    request, options = evaluation_call(debate, agent, Act.COMPARISON, texts)
    reply, call = await calls.ask_for(request, agent, ComparisonReply, check=fault, options=options)
    return {choice.criterion: choice.better for choice in reply.choices}, call.usage
