"""Decides the next turns, the waiting times and the end of a debate of any format (pure).

The order: reading the sources of the question, questions to people, the format's rounds (with
summaries and blind ballots in parallel), the vote, the synthesis. Everything is computed from the
debate, so the schedule is the same after a restart.
"""

from collections.abc import Sequence
from datetime import datetime

from core.debate.agents import OFFLINE
from core.debate.contributions import Clarification
from core.debate.debate_events import DebateConcluded, DebateFailed
from core.debate.state import Debate, Status, cached_per_debate
from core.debate.turn import BACKGROUND_ACTS, ENGINE, JUDGE, SUMMARIZER, Act, Turn, turn_of
from core.rules import casting, gate, shadow, sources
from core.rules.formats import clarifying, review
from core.rules.formats.registry import format_of, turns_ready
from core.rules.gate import rounds_open
from core.rules.history import strategies
from core.rules.steps import agents_present

#: The turn that merges the options from the drafts.
_OPTIONS = Turn(act=Act.OPTIONS, round=0, agent=SUMMARIZER)
#: Acts that do not wait for a model during an outage; the debate continues without them.
_GOES_WITHOUT = {*BACKGROUND_ACTS, Act.AUDIT, Act.CLARIFICATION, Act.FACILITATION, Act.FOLLOW_UP}


@cached_per_debate
def ready(debate: Debate) -> Sequence[Turn]:
    """Every turn that can be taken now; none while the debate waits for people or has ended."""
    if debate.status is not Status.RUNNING:
        return follow_up_turns(debate)
    if debate.verdict or debate.paused_by:
        return ()
    if is_cut_short(debate):
        return _end(debate)
    reading = sources.unread_turns(debate)
    if casting.is_due(debate):
        # The cast depends on the topic, which may be explained only in a thread.
        threads = debate.open_turns(sources.thread_turns(debate))
        return threads or (casting.TURN, *reading)
    # Agents wait for a source that came with the question.
    awaits_source = not set(reading).isdisjoint(sources.question_turns(debate))
    if awaits_source or review.awaits_changed_text(debate):
        return reading
    if _unreadable(debate):
        return ()  # no agent is asked about sources that could not be read
    asking = clarifying.ready(debate)
    if asking is not None:
        return (*reading, *asking, *shadow.ready(debate))
    rounds, turns = rounds_open(debate), _round_turns(debate)
    # No agent speaks after the tally, even if its model is available again.
    if debate.tally or not (_awaited_turns(debate, turns) or debate.open_cards):
        turns = _end(debate)
    # Summaries run in the background: no turn waits for one.
    return (*reading, *turns, *strategies.ready(debate, rounds), *shadow.ready(debate))


def _round_turns(debate: Debate) -> Sequence[Turn]:
    """The format's turns and parallel ones: questions to people, options, blind ballots, gates."""
    turns, waiting = turns_ready(debate, rounds_open(debate)), waiting_for_options(debate)
    # Ballots on the isolated drafts show whether a debate is needed, and later who changed sides.
    is_blind = gate.votes_blind(debate) and debate.options is not None
    return (
        *(turn for turn in turns if turn not in waiting),
        *clarifying.facilitator_questions(debate),
        *options_due(debate),
        *(debate.open_turns(_ballot_turns(debate, 0)) if is_blind else ()),
        *gate.due(debate),
    )


@cached_per_debate
def waiting_for_options(debate: Debate) -> Sequence[Turn]:
    """Turns of the rounds that wait only for the options.

    On these turns agents give a probability for each option, so their prompts list the options.
    """
    if is_cut_short(debate) or not options_due(debate):
        return ()
    form, turns = format_of(debate), turns_ready(debate, rounds_open(debate))
    return [turn for turn in turns if form.takes_stance(turn)]


def options_due(debate: Debate) -> Sequence[Turn]:
    several = len(format_of(debate).drafts(debate)) > 1
    return debate.open_turns([_OPTIONS]) if several else ()


def follow_up_turns(debate: Debate) -> Sequence[Turn]:
    """The open turns on which the judge answers people's questions after the verdict.

    They are also taken if the debate was reopened later and then failed.
    """
    numbers = (str(question.number) for question in debate.follow_ups)
    return debate.open_turns([turn_of(Act.FOLLOW_UP, 0, JUDGE, number) for number in numbers])


def waits_for_models(debate: Debate, act: Act | None = None) -> bool:
    """Whether turns (of this act) wait during an outage of their model, until its time limit.

    Some acts do not wait, because the debate continues without them; casting waits only if no agent
    could speak without its model. A follow-up question is answered that no model is available.
    """
    goes_without = act in _GOES_WITHOUT or (
        act is Act.CASTING and not casting.waits_for_models(debate)
    )
    return not (goes_without or debate.stop or debate.outage_timed_out)


def outage(debate: Debate) -> str:
    """Why no turn can be taken before a model is available again; empty if one can."""
    turns = [turn for turn in ready(debate) if turn.act not in BACKGROUND_ACTS]
    if not turns or any(turn.agent not in debate.unavailable_agents for turn in turns):
        return ""
    return " ".join(dict.fromkeys(debate.unavailable_agents[turn.agent] for turn in turns))


def conclusion(debate: Debate) -> DebateConcluded | DebateFailed | None:
    """The event that ends the debate; None while turns or answers are still to come."""
    waits = debate.paused_by or (debate.open_cards and not is_cut_short(debate))
    if debate.status is not Status.RUNNING or waits:
        return None
    if any(turn.act not in BACKGROUND_ACTS for turn in ready(debate)):
        return None
    if debate.verdict:
        return DebateConcluded(edition=debate.edition)
    if debate.has_failed(Act.SYNTHESIS):
        reason = "The verdict could not be written. " + _reasons(debate, Act.SYNTHESIS)
    elif fault := _unreadable(debate):
        reason = fault
    elif debate.stop:
        reason = "It was stopped before any agent had taken a position."
    else:
        reason = "No agent could take a position. " + _reasons(debate, *Act)
    return DebateFailed(reason=reason, edition=debate.edition)


def _unreadable(debate: Debate) -> str:
    """Why no agent is asked: none of the given sources could be read; else empty."""
    is_review = debate.setup.format == review.NAME
    return review.subject_fault(debate) if is_review else sources.no_source_reason(debate)


def due(debate: Debate) -> datetime | None:
    """When the time to answer the next open questions ends; None: no questions are open."""
    deadline = _next_deadline(debate)
    return deadline[1] if deadline else None


def overdue(debate: Debate, now: datetime) -> str | None:
    """The key of the clarifications whose time to answer is over."""
    deadline = _next_deadline(debate)
    return deadline[0] if deadline and deadline[1] <= now else None


def _next_deadline(debate: Debate) -> tuple[str, datetime] | None:
    if debate.status is not Status.RUNNING or debate.paused_by or is_cut_short(debate):
        return None
    return clarifying.due(debate)


def open_questions(debate: Debate) -> Sequence[Clarification]:
    """The questions people can still answer, oldest first; none if only vote and verdict follow."""
    if debate.status is not Status.RUNNING or is_cut_short(debate):
        return ()
    return debate.open_clarifications


def working_time(debate: Debate, number: int) -> float:
    """The seconds that the debate has worked since the round before this one was over."""
    earlier = [seconds for n, seconds in debate.work_seconds_by_round.items() if n < number]
    return debate.work_seconds - max(earlier, default=0.0)


def is_ending(turn: Turn) -> bool:
    """Whether the turn belongs to the end: the vote, or a turn of the judge."""
    return turn.agent == JUDGE or (turn.act is Act.BALLOT and turn.round > 0)


def is_cut_short(debate: Debate) -> bool:
    """Whether only vote and verdict follow: vote called, stopped, no time, money or quorum."""
    return debate.is_ending_early or not has_quorum(debate)


@cached_per_debate
def has_quorum(debate: Debate) -> bool:
    return len(format_of(debate).alive(debate)) >= debate.setup.quorum


def rounds_held(debate: Debate) -> int:
    """The number of rounds in which agents answered one another; 0: only isolated drafts."""
    form = format_of(debate)
    # The opening act answers nobody: drafts are isolated, and later ones are carried over.
    opening = form.phases[0] if form.phases[0] is not form.stance_act else None
    turns = (contribution.turn for contribution in debate.contributions.values())
    last_round = max((turn.round for turn in turns if turn.act is not opening), default=0)
    # A debate of an older version, or with few agents, has no gate.
    is_gated = debate.options is not None or debate.gates
    return min(rounds_open(debate), last_round) if is_gated else last_round


def skipped_turns(debate: Debate) -> Sequence[Turn]:
    """Planned turns of the rounds that have no outcome."""
    planned = (
        turn
        for number in range(1, rounds_open(debate) + 1)
        for turn in format_of(debate).planned_turns(debate, number)
    )
    return [turn for turn in planned if not debate.is_done(turn)]


def ballot_turns(debate: Debate) -> Sequence[Turn]:
    """The final ballots; none if a person stopped the debate or there are not two positions.

    If no round was held, these are the blind ballots.
    """
    if debate.stop or len(format_of(debate).positions(debate)) <= 1:
        return ()
    return _ballot_turns(debate, rounds_open(debate))


def _ballot_turns(debate: Debate, number: int) -> Sequence[Turn]:
    return [
        Turn(act=Act.BALLOT, round=number, agent=voter) for voter in format_of(debate).alive(debate)
    ]


def _end(debate: Debate) -> Sequence[Turn]:
    """Vote, cross-check of a close vote, audit, synthesis; the judge's summary runs in parallel."""
    summary = strategies.judge_summary_turn(debate)
    summaries = debate.open_turns([summary]) if summary else ()
    if vote := _vote(debate):
        return (*vote, *summaries)
    if not format_of(debate).positions(debate):
        return ()
    number = rounds_open(debate)
    # For the offline judge the order of positions makes no difference.
    is_model = debate.setup.judge.provider != OFFLINE
    if is_model and debate.tally and debate.tally.options and debate.tally.controversial:
        check = debate.open_turns([Turn(act=Act.CROSS_CHECK, round=number, agent=JUDGE)])
        if check:
            return (*check, *summaries)
    audit = Turn(act=Act.AUDIT, round=number, agent=JUDGE)
    if debate.draft and not debate.is_done(audit):
        return (audit,)
    return debate.open_turns([Turn(act=Act.SYNTHESIS, round=number, agent=JUDGE)])


def _vote(debate: Debate) -> Sequence[Turn]:
    ballots = ballot_turns(debate)
    if not ballots or debate.tally:
        return ()
    if not debate.is_done(_OPTIONS):
        return (_OPTIONS,)
    pending = debate.open_turns(ballots)
    tally = Turn(act=Act.TALLY, round=rounds_open(debate), agent=ENGINE)
    return pending if _awaited_turns(debate, pending) else debate.open_turns([tally])


def _awaited_turns(debate: Debate, turns: Sequence[Turn]) -> Sequence[Turn]:
    """The turns among these that the debate waits for: not of agents whose models are away."""
    agents = format_of(debate).alive(debate)
    absent = frozenset(agents).difference(agents_present(debate, agents))
    return [turn for turn in turns if turn.agent not in absent]


def _reasons(debate: Debate, *acts: Act) -> str:
    failures = (failure for failure in debate.failures.values() if failure.turn.act in acts)
    return " ".join(dict.fromkeys(failure.reason for failure in failures))
