"""Explains when each turn ran and why, and whether summaries were ready in time (pure).

The log is replayed through the schedule: a turn began with the last event that made it ready. Its
call records the parts of its prompt.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches

from core.debate.log import RecordedEvent, apply, fold
from core.debate.state import Debate, Status
from core.debate.turn import ENGINE, JUDGE, Act, Turn
from core.debate.turn_events import VerdictDrafted, VerdictReached, VoteTallied
from core.errors import BadInput, LogBroken
from core.figures import duration, number, quantity, tenths
from core.rules import schedule
from core.rules.ending import ending_sentences
from core.rules.formats.registry import format_of
from core.rules.history import strategies
from core.rules.sealing import SEALED
from core.transcript.markdown import visible
from core.transcript.words import calls_words, name_of, tokens_words, turn_words, usage_words
from core.usage import Call, Usage

#: Seconds that the engine itself needs between the last input of a turn and its model call.
_ENGINE_SECONDS = 0.25
#: If a turn waited for more outcomes, only their number is shown.
_MOST_LISTED = 8
#: Most turns in the message that a query fits several turns or none.
_MOST_NAMED = 8


@dataclass(frozen=True, kw_only=True)
class Outcome:
    key: str
    seq: int
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Span:
    turn: Turn
    #: Inputs of the turn by its format, and the event that made it ready, in order.
    needs: tuple[Outcome, ...]
    #: The event after which the turn was ready. For a turn of another version that is never ready
    #: by the rules of this one: the last event before its outcome.
    ready: Outcome
    #: None if the turn has no outcome.
    outcome: Outcome | None


def timeline(log: Sequence[RecordedEvent]) -> Sequence[Span]:
    debate: Debate | None = None
    outcomes: dict[str, Outcome] = {}
    #: Last event after which each turn was ready, by key. A pause makes turns ready again.
    ready: dict[str, Outcome] = {}
    waiting: dict[str, Turn] = {}
    spans: list[Span] = []

    def span(debate: Debate, turn: Turn, end: Outcome | None) -> Span:
        start = ready.get(turn.key) or next(reversed(outcomes.values()))
        keys = [*format_of(debate).inputs(debate, turn), *([start.key] * (turn.key in ready))]
        inputs = {outcomes[key] for key in keys if key in outcomes} - {outcomes["start"]}
        needs = sorted(
            (need for need in inputs if need.seq <= start.seq), key=lambda need: need.seq
        )
        return Span(turn=turn, needs=tuple(needs), ready=start, outcome=end)

    for recorded in log:
        outcome = Outcome(key=recorded.event.key, seq=recorded.seq, at=recorded.at)
        if debate and (turn := _turn(debate, recorded)):
            spans.append(span(debate, turn, outcome))
        debate = apply(debate, recorded)
        outcomes.setdefault(outcome.key, outcome)
        before, waiting = waiting, {turn.key: turn for turn in schedule.ready(debate)}
        ready |= dict.fromkeys(waiting.keys() - before.keys(), outcome)
    if debate is None:
        raise LogBroken("An empty log is no debate.")
    spans += [span(debate, turn, None) for turn in waiting.values()]
    return sorted(spans, key=lambda span: span.ready.seq)


def _turn(debate: Debate, recorded: RecordedEvent) -> Turn | None:
    match recorded.event:
        case VoteTallied():
            return Turn(act=Act.TALLY, round=schedule.rounds_open(debate), agent=ENGINE)
        case VerdictDrafted(turn=turn):
            return turn
        case VerdictReached() if debate.audit and not debate.audit.faults:
            return None  # the draft was its turn; the audit found no fault
        case VerdictReached():
            return Turn(act=Act.SYNTHESIS, round=schedule.rounds_open(debate), agent=JUDGE)
        case event:
            return event.ended_turn


# --- summaries ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SummaryTiming:
    """When a summary was needed and when it was ready. Times are in seconds."""

    key: str
    #: Time from when it could be made until it was ready or given up.
    seconds: float
    #: Whether it exists; if not, it failed or is still being made.
    is_made: bool
    #: Whether a prompt shows it; if not, only the board does.
    is_needed: bool
    #: Time that it was missing after the start of the first turn that shows it; 0: in time.
    late: float
    missed_by: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SummaryMetrics:
    """Source: Board of One's background summarizer, which aims at 80 to 90 % compression."""

    generated: int
    #: Summaries that could not be made; the full text was used.
    failed: int
    #: Output tokens.
    tokens: int
    #: Characters of the material, and of the summaries.
    chars_before: int
    chars_after: int
    #: Mean seconds of a model call for a summary.
    average_seconds: float
    #: Summaries that were ready before a turn needed them.
    ready_before_needed: int
    #: Summaries that were not, and the seconds during which at least one of them was missing.
    late: int
    late_seconds: float
    #: Turns that called their model only after a late summary. No rule makes them wait, but it is
    #: measured.
    blocked: int
    #: Seconds during which at least one turn waited.
    blocked_seconds: float
    #: Usage of all summaries, with failed attempts.
    usage: Usage
    timings: tuple[SummaryTiming, ...]

    @property
    def average_tokens(self) -> float:
        return self.tokens / max(1, self.generated)

    @property
    def compression(self) -> float:
        return 1 - self.chars_after / self.chars_before if self.chars_before else 0.0


_Times = tuple[float, float]


def summary_metrics(
    log: Sequence[RecordedEvent], *, spans: Sequence[Span] | None = None
) -> SummaryMetrics:
    """The figures of one debate. `spans` is its `timeline`, if it is already computed."""
    debate = fold(log)
    timings, late, waits = _timings(debate, timeline(log) if spans is None else spans)
    summaries = debate.summaries.values()
    failures = [failure for failure in debate.failures.values() if failure.turn.act is Act.SUMMARY]
    calls = [summary.call for summary in summaries if summary.call]
    usages = [*(call.usage for call in calls), *(summary.lost for summary in summaries)]
    return SummaryMetrics(
        generated=len(summaries),
        failed=len(failures),
        tokens=sum(call.usage.output_tokens for call in calls),
        chars_before=sum(summary.before_chars for summary in summaries),
        chars_after=sum(summary.after_chars for summary in summaries),
        average_seconds=sum(call.latency_ms for call in calls) / 1000 / max(1, len(calls)),
        ready_before_needed=sum(
            timing.is_made and timing.is_needed and not timing.late for timing in timings
        ),
        late=len(late),
        late_seconds=_covered_seconds(late),
        blocked=len(waits),
        blocked_seconds=_covered_seconds(waits),
        usage=sum([*usages, *(failure.usage for failure in failures)], start=Usage()),
        timings=tuple(timings),
    )


def _timings(
    debate: Debate, spans: Sequence[Span]
) -> tuple[Sequence[SummaryTiming], Sequence[_Times], Sequence[_Times]]:
    """The timing of each summary, the times when summaries were missing, and waits of turns."""
    speeches = {**debate.contributions, **debate.guidance}
    calls = {key: speech.call for key, speech in speeches.items()}
    readers_by_summary: dict[str, list[Span]] = {}
    for span in spans:
        if calls.get(span.turn.key, span):  # turns that were carried over have no prompt
            for turn in strategies.shown_summaries(debate, span.turn):
                readers_by_summary.setdefault(turn.key, []).append(span)
    timings, late, waits = list[SummaryTiming](), list[_Times](), dict[str, _Times]()
    for span in (span for span in spans if span.turn.act is Act.SUMMARY):
        readers = readers_by_summary.get(span.turn.key, [])
        end = (span.outcome.at if span.outcome else debate.now).timestamp()
        too_early = [reader for reader in readers if reader.ready.at.timestamp() < end]
        first = min((reader.ready.at.timestamp() for reader in too_early), default=end)
        late += [(first, end)] if too_early else []
        for reader in too_early:
            ready, called = reader.ready.at.timestamp(), _called_at(reader, calls)
            if called - ready > _ENGINE_SECONDS and ready < end <= called:
                waits[reader.turn.key] = (ready, called)
        timings.append(
            SummaryTiming(
                key=span.turn.key,
                seconds=end - span.ready.at.timestamp(),
                is_made=span.turn.key in debate.summaries,
                is_needed=bool(readers),
                late=end - first,
                missed_by=tuple(reader.turn.key for reader in too_early),
            )
        )
    return timings, late, list(waits.values())


def _called_at(span: Span, calls: Mapping[str, Call | None]) -> float:
    """The time of its model call; 0 without a call."""
    call = calls.get(span.turn.key)
    return span.outcome.at.timestamp() - call.latency_ms / 1000 if span.outcome and call else 0.0


def _covered_seconds(spans: Sequence[_Times]) -> float:
    """Seconds that are in at least one of these spans; overlaps count once."""
    total, covered_until = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, covered_until))
        covered_until = max(covered_until, end)
    return total


# --- in words -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TurnExplanation:
    span: Span
    call: Call | None
    #: Summaries that its prompt lacks, because they were not ready when the turn began.
    late: tuple[SummaryTiming, ...]


def explain(log: Sequence[RecordedEvent]) -> Sequence[TurnExplanation]:
    spans, calls = timeline(log), dict[str, Call | None]()
    for event in (recorded.event for recorded in log):
        draft_call = event.verdict.call if isinstance(event, VerdictDrafted) else None
        calls[event.key] = draft_call or (event.expense.call if event.expense else None)
    late: dict[str, list[SummaryTiming]] = {}
    for timing in summary_metrics(log, spans=spans).timings:
        for key in timing.missed_by:
            late.setdefault(key, []).append(timing)
    return [
        TurnExplanation(
            span=span,
            call=calls.get(span.outcome.key) if span.outcome else None,
            late=tuple(late.get(span.turn.key, ())),
        )
        for span in spans
    ]


def explanation(log: Sequence[RecordedEvent]) -> str:
    debate = fold(log)
    title = f"Why each turn of debate {debate.id} ran when it did"
    lines = [title, "=" * len(title), ""]
    if playbook := debate.setup.playbook:
        lines += [f"Playbook: {playbook.title} ({playbook.name})", ""]
    for step in explain(log):
        lines += [*_lines(debate, step, most=_MOST_LISTED), ""]
    lines += ["How the rounds ended", *(f"  {line}" for line in _ending_reasons(debate)), ""]
    lines.append(f"In all: {tokens_words(debate.usage)}, {calls_words(debate)}.")
    return visible("\n".join(lines)) + "\n"


def turn_explanation(log: Sequence[RecordedEvent], query: str) -> str:
    """Explain one turn; `query` is its key (`r1/critique/ann/bob`) or words that fit no other turn.

    Raises:
        BadInput: No turn or several turns match; the message names similar ones.
    """
    debate = fold(log)
    by_key = {step.span.turn.key: step for step in explain(log)}
    words = query.casefold().replace("/", " ").split()
    names = {key: f"{key} {turn_words(debate, step.span.turn)}" for key, step in by_key.items()}
    matches = [key for key, name in names.items() if all(word in name.casefold() for word in words)]
    if query not in by_key and len(matches) != 1:
        near = matches or get_close_matches(query, by_key, cutoff=0.3)
        like = f" Turns like it: {', '.join(near[:_MOST_NAMED])}." if near else ""
        fault = "fits several turns" if matches else "is no turn"
        raise BadInput(
            f"{query!r} {fault} of debate {debate.id}.{like} `moot explain {debate.id}` lists all."
        )
    step = by_key[query if query in by_key else matches[0]]
    lines = [*_lines(debate, step, most=len(debate.times))]
    if call := step.call:
        lines.append(f"  asked {call.model_name}, prompt: {call.prompt_source}")
        latency = duration(call.latency_ms / 1000)
        lines.append(f"  answered in {latency}: {usage_words(call.usage)}")
        if call.stands_in_for:
            lines.append(f"  in place of {call.stands_in_for}: {call.stands_in_why}")
    return visible("\n".join(lines)) + "\n"


def _ending_reasons(debate: Debate) -> Sequence[str]:
    texts = list(ending_sentences(debate))
    texts = texts or [SEALED if debate.is_sealed else "The rounds go on."]
    if debate.status is Status.RUNNING and not schedule.is_cut_short(debate):
        return texts
    skips: dict[int, Counter[str]] = {}
    last_round = max((outcome.turn.round for outcome in debate.contributions.values()), default=0)
    for turn in schedule.skipped_turns(debate):
        if turn.round <= last_round:
            skips.setdefault(turn.round, Counter())[turn.act.noun] += 1
    for round_, counts in skips.items():
        turns = ", ".join(f"{count} × {noun}" for noun, count in counts.items())
        texts.append(f"Round {round_}: not taken: {turns}.")
    return texts


def _lines(debate: Debate, explanation: TurnExplanation, *, most: int) -> Iterator[str]:
    def after(time: datetime) -> str:
        return f"+{tenths((time - debate.started_at).total_seconds())} s"

    span, needs, call = explanation.span, explanation.span.needs, explanation.call
    yield f"{turn_words(debate, span.turn)}  [{span.turn.key}]"
    yield f"  ready {after(span.ready.at)}, after event {span.ready.seq}"
    if span.ready.seq == 1:
        yield "  waited for nothing: it is among the first"
    elif len(needs) > most:
        last = needs[-1]
        yield f"  waited for {len(needs)} outcomes, the last: {last.key} ({after(last.at)})"
    else:
        yield from (f"  waited for {need.key} ({after(need.at)})" for need in needs)
    for part in call.sent if call else ():
        size = quantity(part.chars + part.left_out, "character")
        if part.left_out:
            size = f"{number(part.chars)} of {size}: the rest did not fit the model's context"
        yield f"  saw {part.label} ({part.kind}, {size})"
    for timing in explanation.late:
        when = f"came {duration(timing.late)} later" if timing.is_made else "never came"
        yield f"  needed {timing.key}, which {when}: it was shown the contributions"
    if span.outcome is None:
        yield "  has no outcome"
        return
    elapsed = duration((span.outcome.at - span.ready.at).total_seconds())
    yield f"  ended {after(span.outcome.at)}, took {elapsed}{_ending(debate, span)}"


def _ending(debate: Debate, span: Span) -> str:
    key = span.turn.key
    if failure := debate.failures.get(key):
        fallback = " The full text was used." if failure.turn.act is Act.SUMMARY else ""
        return f", failed: {failure.reason}{fallback}"
    contribution = debate.contributions.get(key)
    if contribution and contribution.carried_from:
        return f", carried over from {contribution.carried_from}"
    if abstention := debate.abstentions.get(key):
        if not abstention.declared:
            return f", no ballot: {abstention.reason}"
        return f", {name_of(debate, span.turn.agent)} abstained"
    return ""
