"""Progress on standard error: an event sink that prints lines and keeps a live status line."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from core.debate.agents import Agent
from core.debate.debate_events import (
    DebateStarted,
    ModelCameBack,
    ModelWentAway,
    OutageBegan,
    OutageEnded,
    TimeRanOut,
)
from core.debate.log import Event, RecordedEvent
from core.debate.people_events import DebateWanted, OptionEdited, StopRequested
from core.debate.rules import When
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import (
    AgentsCast,
    Audited,
    BallotAbstained,
    BallotCast,
    ClarificationsOpened,
    ContributionMade,
    CrossChecked,
    FacilitatorDecided,
    FindingsMerged,
    GatePassed,
    OptionsMerged,
    QuestionsAsked,
    SourceRead,
    SummaryMade,
    TurnFailed,
    VerdictReached,
    VoteTallied,
)
from core.figures import duration, money, number, quantity
from core.rules.ending import SENTENCES, EndingReason, rounds_words
from core.rules.formats import review
from core.rules.formats.registry import format_of
from core.rules.formats.review import finding_line, open_findings_words
from core.rules.gate import gate_words
from core.transcript.cited import link_citations, source_words
from core.transcript.decision import single_answer_words
from core.transcript.markdown import visible
from core.transcript.vote import (
    cross_check_line,
    edit_lines,
    headline_option,
    holds_words,
    move_lines,
    positions_words,
    shares,
    vote_words,
)
from core.transcript.words import act_words, confidence, line_words, name_of, turn_words, work_words

#: Agents named on the live line.
_MOST_NAMES = 3
#: Acts whose start is not announced: they ask no model, or run beside the rounds.
_SILENT = frozenset({Act.TALLY, Act.GATE, Act.SHADOW_CHOICE, Act.SUMMARY})


class LineScreen:
    """Shows progress as lines only, for logs and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def say(self, line: str) -> None:
        self._stream.write(f"{visible(line)}\n")
        self._stream.flush()

    def show(self, status: str) -> None:
        """Replace the live line; an empty status hides it. Does nothing without a live line."""

    def close(self) -> None:
        """Hide the live line. Safe to call twice."""


class LiveScreen(LineScreen):
    """Shows progress at a terminal: lines, and a live status line below them."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console  # noqa: PLC0415 - slow, needed for terminals only

        self._console = Console(file=stream, highlight=False)
        self._status = self._console.status("")
        self._status.start()

    def say(self, line: str) -> None:
        self._console.print(visible(line), markup=False)

    def show(self, status: str) -> None:
        from rich.text import Text  # noqa: PLC0415 - see above

        if not status:
            self._status.stop()
            return
        self._status.update(Text(visible(status), no_wrap=True, overflow="ellipsis"))
        self._status.start()

    def close(self) -> None:
        self._status.stop()


def screen_for(stream: TextIO | None = None) -> LineScreen:
    target = stream or sys.stderr
    return LiveScreen(target) if target.isatty() else LineScreen(target)


class ProgressSink:
    def __init__(self, screen: LineScreen, *, verbose: bool = False) -> None:
        self._screen = screen
        self._verbose = verbose
        self._phases: set[tuple[int, Act]] = set()
        self._turns: dict[str, Turn] = {}

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        for line in event_lines(debate, recorded.event, verbose=self._verbose):
            self._screen.say(line)
        self._turns = {key: turn for key, turn in self._turns.items() if not debate.is_done(turn)}
        self._screen.show(status_line(debate, list(self._turns.values())))

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        for turn in turns:
            if turn.key in self._turns:
                continue
            phase = (turn.round, turn.act)
            if phase not in self._phases and turn.act not in _SILENT:
                self._screen.say(phase_line(debate, turn))
            self._phases.add(phase)
            self._turns[turn.key] = turn
            if self._verbose:
                self._screen.say(f"  {turn_words(debate, turn)}: begins")
        self._screen.show(status_line(debate, list(self._turns.values())))


def phase_line(debate: Debate, turn: Turn) -> str:
    count = len(_planned_turns(debate, turn))
    turns = f" ({quantity(count, 'turn')})" if count else ""
    if turn.act is Act.SYNTHESIS:
        return "Synthesis: the judge writes the verdict"
    if not turn.round:
        return f"{turn.when.capitalize()}: {work_words(debate, turn).lower()}{turns}"
    form = format_of(debate)
    opens = turn.round == 1 and turn.act is form.phases[0] and form.compares_drafts
    if opens and debate.setup.when is not When.ALWAYS:
        # The gate decides after these answers whether there is a round.
        return f"First answers, in isolation: {act_words(turn).lower()}{turns}"
    return f"Round {turn.round} of {debate.setup.rounds}: {act_words(turn).lower()}{turns}"


def status_line(debate: Debate, working: Sequence[Turn]) -> str:
    cost = money(debate.usage.cost)
    if not working:
        return f"debate {debate.id} · {cost}"
    turn = working[0]
    turns = _planned_turns(debate, turn)
    count = sum(debate.is_done(turn) for turn in turns)
    phase = work_words(debate, turn).lower() + (f" {count}/{len(turns)}" if turns else "")
    names = list(dict.fromkeys(name_of(debate, turn.agent) for turn in working))
    excess = f" +{len(names) - _MOST_NAMES}" if len(names) > _MOST_NAMES else ""
    position = f"round {turn.round}/{debate.setup.rounds}" if turn.round else turn.when
    return f"{position} · {phase} · {', '.join(names[:_MOST_NAMES])}{excess} · {cost}"


def event_lines(debate: Debate, event: Event, *, verbose: bool = False) -> Iterator[str]:
    lines = _LINES.get(type(event), lambda _debate, _event: ())(debate, event)
    yield from (lines,) if isinstance(lines, str) else lines
    if verbose and isinstance(event, ContributionMade):
        texts = (line.strip() for line in event.contribution.text.splitlines())
        yield f"    {next(filter(None, texts), '')}"
    value = event.setup if isinstance(event, DebateStarted) else getattr(event, "value", None)
    indent = "" if isinstance(event, DebateStarted | AgentsCast) else "    "
    for warning in getattr(value, "warnings", ()) if lines else ():
        yield f"{indent}Warning: {warning}"


def _start_lines(debate: Debate, event: DebateStarted) -> Iterator[str]:
    setup = event.setup
    names = ", ".join(agent.name for agent in setup.agents)
    agents = "agents to be chosen for the question" if setup.casting else names
    kind = f"{visible(setup.playbook.title)} ({setup.format})" if setup.playbook else setup.format
    rounds = "no round" if setup.when is When.NEVER else rounds_words(debate)
    if setup.when is When.SPLIT and setup.format != review.NAME:
        rounds += " where first answers differ"
    yield f"Debate {debate.id}: {kind}, {rounds}, {agents}"
    if not setup.casting:
        yield from _cast_lines(setup.agents, setup.reasons)


def _contribution(debate: Debate, event: ContributionMade) -> str:
    contribution, call = event.contribution, event.contribution.call
    origin = duration(call.latency_ms / 1000) if call else "carried over"
    minds = holds_words(debate, contribution) if call else ""
    holds = f"; now holds {minds}" if minds else ""
    return f"  {turn_words(debate, contribution.turn)}: done ({origin}){holds}"


def _ballot(debate: Debate, event: BallotCast) -> str:
    ballot = event.ballot
    minds = shares(debate, ballot.probabilities) or f"{name_of(debate, ballot.ranking[0])} first"
    return f"  {turn_words(debate, ballot.turn)}: {minds}"


def _options(debate: Debate, event: OptionsMerged) -> Iterator[str]:
    lines = [f"  {line}" for line in positions_words(debate)]
    options = ", ".join(item.name for item in event.options.items) or "none"
    yield "Options, and whose text stands for which:" if lines else f"Options: {options}"
    yield from lines


def _findings(_debate: Debate, event: FindingsMerged) -> Iterator[str]:
    items = event.findings.items
    yield f"Findings: {open_findings_words(items) or 'none'}"
    yield from (f"  {item.number}. {link_citations(finding_line(item), ())}" for item in items)


def _guidance(debate: Debate, event: FacilitatorDecided) -> str:
    guidance = event.guidance
    if guidance.gate:
        return gate_words(debate, guidance.gate)
    focus = f", focus: {guidance.focus}" if guidance.focus else ""
    return f"  Facilitator: {guidance.next_step.value.replace('_', ' ')}{focus}"


def _vote(debate: Debate, event: VoteTallied) -> Iterator[str]:
    if event.tally.voters:  # without voters the abstentions are shown already
        yield f"Vote: {vote_words(debate)}"
    yield from (f"  Changed their mind: {move}" for move in map(line_words, move_lines(debate)))


def _verdict(debate: Debate, event: VerdictReached) -> Iterator[str]:
    option = headline_option(debate)
    yield f"Verdict: {f'{option}, ' if option else ''}confidence {confidence(event.verdict)}"
    if text := single_answer_words(debate):
        yield f"  {text}"


#: Event class → its progress line, or lines.
_LINES: Mapping[type, Callable[[Debate, Any], str | Iterable[str]]] = {
    DebateStarted: _start_lines,
    AgentsCast: lambda _, event: _cast_lines(event.cast.agents, event.cast.reasons),
    ContributionMade: _contribution,
    SourceRead: lambda _, event: (
        [f"  {event.source.id}: {source_words(event.source)}"]
        if event.source.text or event.source.fault
        else []
    ),
    TurnFailed: lambda debate, event: (
        f"  {turn_words(debate, event.failure.turn)}: failed: {event.failure.reason}"
    ),
    BallotCast: _ballot,
    BallotAbstained: lambda debate, event: (
        f"  {turn_words(debate, event.abstention.turn)}: "
        f"{'abstained' if event.abstention.declared else 'no ballot'}: {event.abstention.reason}"
    ),
    QuestionsAsked: lambda debate, event: (
        f"  {turn_words(debate, event.questions.turn)}: {len(event.questions.questions)}"
    ),
    ClarificationsOpened: lambda debate, event: (
        f"Put to the author: {quantity(len(event.clarifications.items), 'finding')}"
        if debate.findings
        else f"Questions to people: {len(event.clarifications.items) or 'none'}"
    ),
    OptionsMerged: _options,
    FindingsMerged: _findings,
    OptionEdited: lambda debate, _: map(line_words, edit_lines(debate)[-1:]),
    GatePassed: lambda debate, event: gate_words(debate, event.gate),
    DebateWanted: lambda _, event: f"{event.by.display_name} wants the debate all the same.",
    FacilitatorDecided: _guidance,
    SummaryMade: lambda debate, event: (
        f"  {turn_words(debate, event.summary.turn)}: {number(event.summary.before_chars)} → "
        f"{quantity(event.summary.after_chars, 'character')}"
    ),
    VoteTallied: _vote,
    CrossChecked: lambda debate, _: line.text if (line := cross_check_line(debate, None)) else "",
    Audited: lambda _, event: (
        f"  Audit of the verdict by {event.audit.auditor}: "
        f"{event.audit.failure or quantity(len(event.audit.faults), 'fault') + ' to mend'}"
    ),
    StopRequested: lambda _debate, _event: (
        "Stopping: the judge decides on what is there. Ctrl-C again leaves the debate; "
        "--resume then holds it to its normal end."
    ),
    ModelWentAway: lambda debate, event: (
        f"  {name_of(debate, event.agent)} waits for its model: {event.reason}"
    ),
    ModelCameBack: lambda debate, event: (
        f"  {name_of(debate, event.agent)}: its model answers again"
    ),
    OutageBegan: lambda _debate, _event: (
        "Waiting: nothing can go on until a model answers. It goes on by itself then."
    ),
    OutageEnded: lambda _debate, _event: "The outage is over.",
    TimeRanOut: lambda _, event: (
        SENTENCES[EndingReason.NO_MODEL_ANSWERS if event.of_outage else EndingReason.OUT_OF_TIME]
        + " What is there goes to the vote and the judge."
    ),
    VerdictReached: _verdict,
}


def _cast_lines(agents: Sequence[Agent], reasons: Mapping[str, str]) -> Iterator[str]:
    if reasons:
        yield "Agents, chosen for this question:"
    for agent in agents if reasons else ():
        yield f"  {agent.name} ({agent.full_name}): {reasons.get(agent.id, '')}"


def _planned_turns(debate: Debate, turn: Turn) -> Sequence[Turn]:
    """The planned turns in the phase of a turn; empty if they cannot be predicted."""
    form = format_of(debate)
    if turn.act not in form.phases or not turn.round:
        return ()
    return [step for step in form.planned_turns(debate, turn.round) if step.act is turn.act]
