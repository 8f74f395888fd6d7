"""Why each turn ran when it did, and whether summaries came in time (pure).

The log is replayed through the schedule: a turn began with the last event that made it ready. What
it saw is what its call records as sent.
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
from core.transcript.markdown import visible
from core.transcript.words import calls_words, name_of, tokens_words, turn_words, usage_words
from core.usage import Call, Usage

#: Seconds from a turn's last need to the call of its model that are the engine's own work.
_AT_ONCE = 0.25
#: More outcomes than this are counted, not listed.
_MOST_LISTED = 8
#: Turns named where words fit several, or none.
_MOST_NAMED = 8


@dataclass(frozen=True, kw_only=True)
class Outcome:
    key: str
    seq: int
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Span:
    turn: Turn
    #: What its format's step comes after, and the event that made it ready, in the order they came.
    needs: tuple[Outcome, ...]
    #: The event after which it was ready; the last one before its outcome, where another version
    #: took a turn that is never ready by the rules of this one.
    ready: Outcome
    #: None: it has no outcome.
    ended: Outcome | None


def timeline(log: Sequence[RecordedEvent]) -> Sequence[Span]:
    debate: Debate | None = None
    outcomes: dict[str, Outcome] = {}
    #: Keys of turns → the event after which they were ready last. A pause makes turns ready anew.
    ready: dict[str, Outcome] = {}
    waiting: dict[str, Turn] = {}
    spans: list[Span] = []

    def span(debate: Debate, turn: Turn, ended: Outcome | None) -> Span:
        began = ready.get(turn.key) or next(reversed(outcomes.values()))
        keys = [*format_of(debate).inputs(debate, turn), *([began.key] * (turn.key in ready))]
        came = {outcomes[key] for key in keys if key in outcomes} - {outcomes["start"]}
        needs = sorted((it for it in came if it.seq <= began.seq), key=lambda need: need.seq)
        return Span(turn=turn, needs=tuple(needs), ready=began, ended=ended)

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
            return None  # it was written as a draft, and nothing has changed since
        case VerdictReached():
            return Turn(act=Act.SYNTHESIS, round=schedule.rounds_open(debate), agent=JUDGE)
        case event:
            return event.ended_turn


# --- summaries ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SummaryTiming:
    """One summary: when it was wanted and when it was there. Times are in seconds."""

    key: str
    #: From when it could be made until it was there, or given up.
    seconds: float
    #: Whether there is one; else it failed or is still being made.
    made: bool
    #: Whether a prompt would show it; else it is for the board only.
    wanted: bool
    #: For how long it was missing after the first turn that would show it had begun; 0: in time.
    late: float
    missed_by: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SummaryMetrics:
    """Source: Board of One's background summarizer, which aims at 80 to 90 % compression."""

    generated: int
    #: Those that could not be made; the full text was used.
    failed: int
    #: Tokens the models wrote.
    tokens: int
    #: Characters of what was summed up, and of the summaries.
    chars_before: int
    chars_after: int
    #: Seconds models worked on a summary, on average.
    average_seconds: float
    #: Summaries that were there before a turn wanted them.
    ready_before_needed: int
    #: Summaries that were not; and for how long at least one of them was missing, in seconds.
    late: int
    late_seconds: float
    #: Turns whose model was asked only when a summary they wanted had come. Nothing makes a turn
    #: wait; this is measured all the same.
    blocked: int
    #: For how long at least one turn did, in seconds.
    blocked_seconds: float
    #: What was spent on summaries, failed attempts included.
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
    """The figures of one debate; `spans` is its `timeline`, where that is known already."""
    debate = fold(log)
    timings, late, waits = _timings(debate, timeline(log) if spans is None else spans)
    summaries = debate.summaries.values()
    failed = [failure for failure in debate.failures.values() if failure.turn.act is Act.SUMMARY]
    calls = [summary.call for summary in summaries if summary.call]
    spent = [*(call.usage for call in calls), *(outcome.lost for outcome in summaries)]
    return SummaryMetrics(
        generated=len(summaries),
        failed=len(failed),
        tokens=sum(call.usage.output_tokens for call in calls),
        chars_before=sum(summary.before_chars for summary in summaries),
        chars_after=sum(summary.after_chars for summary in summaries),
        average_seconds=sum(call.latency_ms for call in calls) / 1000 / max(1, len(calls)),
        ready_before_needed=sum(
            timing.made and timing.wanted and not timing.late for timing in timings
        ),
        late=len(late),
        late_seconds=_covered_seconds(late),
        blocked=len(waits),
        blocked_seconds=_covered_seconds(waits),
        usage=sum([*spent, *(failure.usage for failure in failed)], start=Usage()),
        timings=tuple(timings),
    )


def _timings(
    debate: Debate, spans: Sequence[Span]
) -> tuple[Sequence[SummaryTiming], Sequence[_Times], Sequence[_Times]]:
    """Each summary; when wanted ones were missing; when turns waited for one."""
    speeches = {**debate.contributions, **debate.guidance}
    calls = {key: speech.call for key, speech in speeches.items()}
    wanted_by: dict[str, list[Span]] = {}
    for span in spans:
        if calls.get(span.turn.key, span):  # one that was carried over is shown nothing
            for turn in strategies.shown_summaries(debate, span.turn):
                wanted_by.setdefault(turn.key, []).append(span)
    timings, late, waits = list[SummaryTiming](), list[_Times](), dict[str, _Times]()
    for span in (span for span in spans if span.turn.act is Act.SUMMARY):
        readers = wanted_by.get(span.turn.key, [])
        there = (span.ended.at if span.ended else debate.now).timestamp()
        missed = [reader for reader in readers if reader.ready.at.timestamp() < there]
        first = min((reader.ready.at.timestamp() for reader in missed), default=there)
        late += [(first, there)] if missed else []
        for reader in missed:
            ready, called = reader.ready.at.timestamp(), _called_at(reader, calls)
            if called - ready > _AT_ONCE and ready < there <= called:
                waits[reader.turn.key] = (ready, called)
        timings.append(
            SummaryTiming(
                key=span.turn.key,
                seconds=there - span.ready.at.timestamp(),
                made=span.turn.key in debate.summaries,
                wanted=bool(readers),
                late=there - first,
                missed_by=tuple(reader.turn.key for reader in missed),
            )
        )
    return timings, late, list(waits.values())


def _called_at(span: Span, calls: Mapping[str, Call | None]) -> float:
    """When its model was asked; 0: it was not."""
    call = calls.get(span.turn.key)
    return span.ended.at.timestamp() - call.latency_ms / 1000 if span.ended and call else 0.0


def _covered_seconds(spans: Sequence[_Times]) -> float:
    """Seconds that lie in at least one of these spans: turns at the same time count once."""
    covered, upto = 0.0, float("-inf")
    for begin, end in sorted(spans):
        covered += max(0.0, end - max(begin, upto))
        upto = max(upto, end)
    return covered


# --- in words -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TurnExplanation:
    span: Span
    call: Call | None
    #: Summaries its prompt would have shown, had they been there when it began.
    late: tuple[SummaryTiming, ...]


def explain(log: Sequence[RecordedEvent]) -> Sequence[TurnExplanation]:
    spans, calls = timeline(log), dict[str, Call | None]()
    for event in (recorded.event for recorded in log):
        drafted = event.verdict.call if isinstance(event, VerdictDrafted) else None
        calls[event.key] = drafted or (event.expense.call if event.expense else None)
    missed: dict[str, list[SummaryTiming]] = {}
    for timing in summary_metrics(log, spans=spans).timings:
        for key in timing.missed_by:
            missed.setdefault(key, []).append(timing)
    return [
        TurnExplanation(
            span=span,
            call=calls.get(span.ended.key) if span.ended else None,
            late=tuple(missed.get(span.turn.key, ())),
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
    """One turn in detail; `query` is its key (`r1/critique/ann/bob`) or words that fit no other.

    Raises:
        BadInput: No turn matches, or several; names the nearest.
    """
    debate = fold(log)
    by_key = {step.span.turn.key: step for step in explain(log)}
    words = query.casefold().replace("/", " ").split()
    names = {key: f"{key} {turn_words(debate, it.span.turn)}" for key, it in by_key.items()}
    fitting = [key for key, name in names.items() if all(it in name.casefold() for it in words)]
    if query not in by_key and len(fitting) != 1:
        near = fitting or get_close_matches(query, by_key, cutoff=0.3)
        like = f" Turns like it: {', '.join(near[:_MOST_NAMED])}." if near else ""
        how = "fits several turns" if fitting else "is no turn"
        raise BadInput(
            f"{query!r} {how} of debate {debate.id}.{like} `moot explain {debate.id}` lists all."
        )
    step = by_key[query if query in by_key else fitting[0]]
    lines = [*_lines(debate, step, most=len(debate.times))]
    if call := step.call:
        lines.append(f"  asked {call.provider}/{call.model}, prompt: {call.prompt_source}")
        took = duration(call.latency_ms / 1000)
        lines.append(f"  answered in {took}: {usage_words(call.usage)}")
        if call.stands_in_for:
            lines.append(f"  in place of {call.stands_in_for}: {call.stands_in_why}")
    return visible("\n".join(lines)) + "\n"


def _ending_reasons(debate: Debate) -> Sequence[str]:
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


def _lines(debate: Debate, explanation: TurnExplanation, *, most: int) -> Iterator[str]:
    def after(at: datetime) -> str:
        return f"+{tenths((at - debate.started_at).total_seconds())} s"

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
        sent, whole = number(part.chars), quantity(part.chars + part.left_out, "character")
        size = f"{sent} of {whole}: the rest did not fit the model's context"
        yield f"  saw {part.label} ({part.kind}, {size if part.left_out else whole})"
    for timing in explanation.late:
        when = f"came {duration(timing.late)} later" if timing.made else "never came"
        yield f"  wanted {timing.key}, which {when}: it was shown the contributions"
    if span.ended is None:
        yield "  has no outcome"
        return
    took = duration((span.ended.at - span.ready.at).total_seconds())
    yield f"  ended {after(span.ended.at)}, took {took}{_ending(debate, span)}"


def _ending(debate: Debate, span: Span) -> str:
    key = span.turn.key
    if failure := debate.failures.get(key):
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
