"""Why each turn ran when it did: what it waited for, when that came, which parts it saw (pure).

What it saw is what its call records as sent; of a turn that is ready now, what its prompt holds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from core.acts.act import ACTS
from core.acts.context import parts_for
from core.debate.log import RecordedEvent, fold
from core.debate.state import Debate, Status
from core.debate.turn import Act, Turn
from core.debate.turn_events import VerdictDrafted
from core.errors import BadInput
from core.figures import duration, number, quantity
from core.rules import schedule
from core.rules.ending import ending_sentences
from core.rules.formats.registry import format_of
from core.transcript.markdown import visible
from core.transcript.summary_metrics import SummaryTiming, summary_metrics
from core.transcript.timeline import Span, timeline
from core.transcript.words import after, calls_words, name_of, tokens_words, turn_words, usage_words
from core.usage import Call, SentPart

#: More outcomes than this are counted, not listed.
_MOST_LISTED = 8
#: Turns named where words fit several, or none.
_MOST_NAMED = 8


@dataclass(frozen=True, kw_only=True)
class TurnExplanation:
    span: Span
    #: What it was sent, or is to be; the task left out.
    parts: tuple[SentPart, ...]
    call: Call | None
    #: Summaries its prompt would have shown, had they been there when it began.
    late: tuple[SummaryTiming, ...]


def explain(log: Sequence[RecordedEvent]) -> Sequence[TurnExplanation]:
    debate = fold(log)
    spans = timeline(log)
    calls = {entry.event.key: entry.event.spent.call for entry in log if entry.event.spent}
    calls |= {
        entry.event.key: entry.event.verdict.call
        for entry in log
        if isinstance(entry.event, VerdictDrafted)
    }
    missed: dict[str, list[SummaryTiming]] = {}
    for timing in summary_metrics(log, spans=spans).timings:
        for key in timing.missed_by:
            missed.setdefault(key, []).append(timing)

    explanations = list[TurnExplanation]()
    for span in spans:
        call = calls.get(span.ended.key) if span.ended else None
        parts = () if span.ended else _to_see(debate, span.turn)
        late = tuple(missed.get(span.turn.key, ()))
        explanations.append(
            TurnExplanation(span=span, parts=call.sent if call else parts, call=call, late=late)
        )
    return explanations


def explanation(log: Sequence[RecordedEvent]) -> str:
    debate = fold(log)
    title = f"Why each turn of debate {debate.id} ran when it did"
    lines = [title, "=" * len(title), ""]
    if playbook := debate.setup.playbook:
        lines += [f"Playbook: {playbook.title} ({playbook.name})", ""]
    for step in explain(log):
        lines += [*_lines(debate, step, most=_MOST_LISTED), ""]
    lines += ["How the rounds ended", *(f"  {line}" for line in ending_reasons(debate)), ""]
    lines.append(f"In all: {tokens_words(debate.usage)}, {calls_words(debate)}.")
    return visible("\n".join(lines)) + "\n"


def turn_explanation(log: Sequence[RecordedEvent], query: str) -> str:
    """One turn in detail; `query` is its key (`r1/critique/ann/bob`) or words that fit no other.

    Raises:
        BadInput: No turn matches, or several; names the nearest.
    """
    debate = fold(log)
    explanation = _turn_meant(debate, explain(log), query)
    lines = [*_lines(debate, explanation, most=len(debate.times))]
    if explanation.call:
        call, took = explanation.call, duration(explanation.call.latency_ms / 1000)
        lines.append(f"  asked {call.provider}/{call.model}, prompt: {call.prompt_source}")
        lines.append(f"  answered in {took}: {usage_words(call.usage)}")
        if call.stands_in_for:
            lines.append(f"  in place of {call.stands_in_for}: {call.stands_in_why}")
    return visible("\n".join(lines)) + "\n"


def ending_reasons(debate: Debate) -> Sequence[str]:
    texts = list(ending_sentences(debate)) or ["The rounds go on."]
    if debate.status is Status.RUNNING and not schedule.is_cut_short(debate):
        return texts
    skips: dict[int, Counter[str]] = {}
    begun = max((outcome.turn.round for outcome in debate.contributions.values()), default=0)
    for turn in schedule.skipped_turns(debate):
        if turn.round <= begun:
            skips.setdefault(turn.round, Counter())[turn.act.noun] += 1
    for at, counts in skips.items():
        turns = ", ".join(f"{count} × {noun}" for noun, count in counts.items())
        texts.append(f"Round {at}: not taken: {turns}.")
    return texts


def _turn_meant(
    debate: Debate, explanations: Sequence[TurnExplanation], query: str
) -> TurnExplanation:
    by_key = {step.span.turn.key: step for step in explanations}
    words = query.casefold().replace("/", " ").split()
    fitting = [
        step
        for step in explanations
        if all(
            word in f"{step.span.turn.key} {turn_words(debate, step.span.turn)}".casefold()
            for word in words
        )
    ]
    if query in by_key:
        return by_key[query]
    if len(fitting) == 1:
        return fitting[0]
    near = [step.span.turn.key for step in fitting] or get_close_matches(query, by_key, cutoff=0.3)
    like = f" Turns like it: {', '.join(near[:_MOST_NAMED])}." if near else ""
    how = "fits several turns" if fitting else "is no turn"
    raise BadInput(
        f"{query!r} {how} of debate {debate.id}.{like} `moot explain {debate.id}` lists all."
    )


def _to_see(debate: Debate, turn: Turn) -> tuple[SentPart, ...]:
    """What the prompt of a turn holds that is ready; nothing where no model is asked."""
    asks = ACTS[turn.act].asks_model and not format_of(debate).carried_over(debate, turn)
    # A summary is made of a text of its own, not of what the debate shows its agents.
    if not asks or turn.act is Act.SUMMARY:
        return ()
    return tuple(
        SentPart(label=part.label, kind=part.kind.value, chars=len(part.text))
        for part in parts_for(debate, turn)
    )


def _lines(debate: Debate, explanation: TurnExplanation, *, most: int) -> Iterator[str]:
    span = explanation.span
    yield f"{turn_words(debate, span.turn)}  [{span.turn.key}]"
    yield f"  ready {after(debate, span.ready.at)}, after event {span.ready.seq}"
    needs = span.needs
    if span.ready.seq == 1:
        yield "  waited for nothing: it is among the first"
    elif len(needs) > most:
        last = needs[-1]
        yield f"  waited for {len(needs)} outcomes, the last: {last.key} ({after(debate, last.at)})"
    else:
        for need in needs:
            yield f"  waited for {need.key} ({after(debate, need.at)})"
    verb = "saw" if span.ended else "is to see"
    for part in explanation.parts:
        sent, whole = number(part.chars), quantity(part.chars + part.left_out, "character")
        size = f"{sent} of {whole}: the rest did not fit the model's context"
        yield f"  {verb} {part.label} ({part.kind}, {size if part.left_out else whole})"
    for timing in explanation.late:
        when = f"came {duration(timing.late)} later" if timing.made else "never came"
        yield f"  wanted {timing.key}, which {when}: it was shown the contributions"
    if span.ended is None:
        yield "  has no outcome"
        return
    took = duration((span.ended.at - span.ready.at).total_seconds())
    yield f"  ended {after(debate, span.ended.at)}, took {took}{_ending(debate, span)}"


def _ending(debate: Debate, span: Span) -> str:
    key = span.turn.key
    failure = debate.failures.get(key)
    if failure:
        used = "; the full text was used" if failure.turn.act is Act.SUMMARY else ""
        return f", failed: {failure.reason}{used}"
    contribution = debate.contributions.get(key)
    if contribution and contribution.carried_from:
        return f", carried over from {contribution.carried_from}"
    if abstention := debate.abstentions.get(key):
        if not abstention.declared:
            return f", no ballot: {abstention.reason}"
        return f", {name_of(debate, span.turn.agent)} abstained"
    return ""
