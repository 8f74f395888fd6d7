"""Asks evaluators: which of two texts is better, and which later-named reasons a text holds."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from core.evidence.words import words_of
from core.llm.call import CallOptions, ModelCalls
from core.llm.quoting import clean
from core.models import Act, Agent, Call
from core.proof.pairs import Judged, Pair
from core.request import ModelRequest, Part, PartKind
from core.turns.acts import ACTS
from core.turns.prompts import render
from core.turns.replies import label_in

#: What the two texts are called, in the order they stand.
FIRST, SECOND, NEITHER = "x", "y", "neither"
#: Seconds for one judgment, tries again included.
_SECONDS = 180.0
#: A quote of fewer words shows nothing.
_SHORTEST = 3


class PairReply(BaseModel):
    """Which of two texts is better."""

    reason: str
    better: str


class FoundReply(BaseModel):
    """Where a text says one of the reasons."""

    reason: int
    quote: str


class RecallReply(BaseModel):
    """Which of the reasons a text says."""

    found: list[FoundReply]


@dataclass(frozen=True, kw_only=True)
class Judgment:
    """What one evaluator said of one pair in one order: 1 for the first text, −1 for the second."""

    side: int
    call: Call


async def prefer(
    calls: ModelCalls, evaluator: Agent, pair: Pair, *, swapped: bool, delimiter: str
) -> Judgment:
    """Have an evaluator say which text of a pair is better; it is told nothing else of them.

    Args:
        calls: Asks models, under the caps that hold.
        evaluator: Whom.
        pair: The texts, bare.
        swapped: Whether theirs stands first.
        delimiter: Marks quoted text.

    Raises:
        CallFailed: It cannot be asked, or its reply not be read.
    """
    request = pair_request(evaluator, pair, swapped=swapped, delimiter=delimiter)
    reply, call = await calls.ask_for(
        request, evaluator, PairReply, check=_pair_fault, options=_terms(Act.PAIR, evaluator)
    )
    said = label_in(reply.better, (FIRST, SECOND, NEITHER))
    return Judgment(side={FIRST: 1, SECOND: -1}.get(str(said), 0), call=call)


def judged(evaluator: str, pair: Pair, ours_first: int, theirs_first: int) -> Judged:
    """Both judgments of a pair together; each is 1 for the text that stood first.

    Args:
        evaluator: Whose.
        pair: What was judged.
        ours_first: The judgment with ours as the first text.
        theirs_first: The judgment with theirs as the first text.
    """
    return Judged(
        evaluator=evaluator, pair=pair.id, ours_first=ours_first, ours_second=-theirs_first
    )


async def find_reasons(
    calls: ModelCalls, evaluator: Agent, *, reasons: Sequence[str], text: str, delimiter: str
) -> tuple[Sequence[bool], Call]:
    """Which of the reasons a text says, each shown by a quote that stands in it.

    A reason whose quote does not stand in the text word for word is not found.

    Raises:
        CallFailed: The evaluator cannot be asked, or its reply not be read.
    """
    request = recall_request(evaluator, reasons, text, delimiter=delimiter)
    reply, call = await calls.ask_for(
        request, evaluator, RecallReply, options=_terms(Act.RECALL, evaluator)
    )
    shown = {one.reason for one in reply.found if stands_in(one.quote, text)}
    return [number in shown for number, _ in enumerate(reasons, start=1)], call


def stands_in(quote: str, text: str) -> bool:
    """Whether the words of a quote stand in the text, one after the other."""
    words = words_of(quote)
    return len(words) >= _SHORTEST and f" {' '.join(words)} " in f" {' '.join(words_of(text))} "


def pair_request(evaluator: Agent, pair: Pair, *, swapped: bool, delimiter: str) -> ModelRequest:
    """What an evaluator is asked about a pair."""
    texts = (pair.theirs, pair.ours) if swapped else (pair.ours, pair.theirs)
    shown = [
        Part(kind=PartKind.CANDIDATE, label=label, text=clean(text), trim_priority=2)
        for label, text in zip((FIRST, SECOND), texts, strict=True)
    ]
    question = Part(kind=PartKind.QUESTION, label="Question", text=pair.question)
    return _request(Act.PAIR, evaluator, (question, *shown), delimiter)


def recall_request(
    evaluator: Agent, reasons: Sequence[str], text: str, *, delimiter: str
) -> ModelRequest:
    """What an evaluator is asked about later-named reasons and a text."""
    listed = "\n".join(f"{number}. {reason}" for number, reason in enumerate(reasons, start=1))
    parts = (
        Part(kind=PartKind.FACTS, label="Reasons that were named later", text=listed),
        Part(kind=PartKind.POSITION, label="The text", text=clean(text), trim_priority=2),
    )
    return _request(Act.RECALL, evaluator, parts, delimiter)


def _request(act: Act, evaluator: Agent, parts: Sequence[Part], delimiter: str) -> ModelRequest:
    task = Part(kind=PartKind.TASK, label="Task", text=render.task(act, evaluator, words=0))
    return ModelRequest(
        model=evaluator.model,
        act=act,
        role=evaluator.role,
        system=render.system(),
        parts=(*parts, task),
        delimiter=delimiter,
        max_output_tokens=ACTS[act].max_tokens,
        temperature=evaluator.temperature,
        effort=ACTS[act].effort,
        cache_key="",
    )


def _terms(act: Act, evaluator: Agent) -> CallOptions:
    return CallOptions(seconds=_SECONDS, prompt_source=render.source(act, evaluator))


def _pair_fault(reply: PairReply) -> str | None:
    """What is wrong with a judgment, as a sentence for the model; None if it is good."""
    if label_in(reply.better, (FIRST, SECOND, NEITHER)) in {FIRST, SECOND, NEITHER}:
        return None
    return f'"better" must be {FIRST}, {SECOND} or {NEITHER}, not "{reply.better}".'
