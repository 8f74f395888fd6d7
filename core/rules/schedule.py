"""Decides what comes next in a debate of any format: turns, waiting, the end (pure).

The order: sources that came with the question, questions to people, the format's rounds with
summaries and ballots beside them, the vote, the synthesis. Everything is derived from the debate,
so a restart schedules the same.
"""

from collections.abc import Sequence
from datetime import datetime

from core.events import DebateConcluded, DebateFailed
from core.models import (
    ENGINE,
    FEWEST_ROUNDS,
    JUDGE,
    Act,
    Ballot,
    Clarification,
    Debate,
    Ending,
    Status,
    Turn,
)
from core.rules import convergence, sources
from core.rules.formats import clarifying
from core.rules.formats.registry import format_of, turns_ready
from core.rules.history import strategies


def ready(debate: Debate) -> Sequence[Turn]:
    """Every turn that can be taken now; none while people are waited for or all is done."""
    return debate.once("ready", lambda: _ready(debate))


def _ready(debate: Debate) -> Sequence[Turn]:
    if debate.status is not Status.RUNNING or debate.verdict or debate.paused_by:
        return ()
    if is_cut_short(debate):
        return _vote(debate) or _synthesis(debate)
    reading = sources.unread(debate)
    if sources.are_awaited(debate, reading):
        return reading
    return (*reading, *_debating(debate))


def _debating(debate: Debate) -> Sequence[Turn]:
    asking = clarifying.ready(debate)
    if asking is not None:
        return asking
    turns = _rounds(debate)
    if turns or debate.open_clarifications:
        return turns
    return _vote(debate) or _synthesis(debate)


def blocked(debate: Debate) -> Sequence[Turn]:
    """Turns that wait only for a background summary. There should never be any."""
    if debate.status is not Status.RUNNING:
        return ()
    if is_cut_short(debate) or clarifying.ready(debate) is not None:
        return ()
    turns = turns_ready(debate, rounds_open(debate))
    return tuple(turn for turn in turns if strategies.is_blocked(debate, turn))


def conclusion(debate: Debate) -> DebateConcluded | DebateFailed | None:
    """How the debate ends now; None while there is something left to do or to wait for."""
    waits = debate.paused_by or (debate.open_clarifications and not is_cut_short(debate))
    if debate.status is not Status.RUNNING or waits or ready(debate):
        return None
    if debate.verdict:
        return DebateConcluded()
    if debate.has_failed(Act.SYNTHESIS):
        reason = "The verdict could not be written. " + _reasons(debate, Act.SYNTHESIS)
    elif debate.stop:
        reason = "It was stopped before any agent had taken a position."
    else:
        reason = "No agent could take a position. " + _reasons(debate, *Act)
    return DebateFailed(reason=reason)


def due(debate: Debate) -> datetime | None:
    """When a debate that waits for people goes on without them."""
    waiting = clarifying.due(debate)
    return waiting[1] if waiting and not debate.paused_by else None


def overdue(debate: Debate, now: datetime) -> str | None:
    """Key of the clarifications whose time is over by now."""
    waiting = clarifying.due(debate)
    return waiting[0] if waiting and not debate.paused_by and waiting[1] <= now else None


def open_questions(debate: Debate) -> Sequence[Clarification]:
    """The questions people can still answer, oldest first; none once only the end is to come."""
    if debate.status is not Status.RUNNING or is_cut_short(debate):
        return ()
    return debate.open_clarifications


def worked_on(debate: Debate, number: int) -> float:
    """Seconds a round was worked on so far: since the last outcome of the rounds before it."""
    before = [worked for other, worked in debate.worked_at.items() if other < number]
    return debate.worked - max(before, default=0.0)


def is_ending(turn: Turn) -> bool:
    """Whether the turn belongs to the end: the vote after the rounds, the judge."""
    return turn.agent == JUDGE or (turn.act is Act.BALLOT and turn.round > 0)


def is_cut_short(debate: Debate) -> bool:
    """Whether only vote and verdict are left: stopped, out of time or money, too few agents."""
    by_people = debate.stop or debate.vote_called_by
    spent = debate.out_of_time or debate.out_of_money
    return bool(by_people) or bool(spent) or not has_quorum(debate)


def has_quorum(debate: Debate) -> bool:
    """Whether enough agents can still speak."""
    needed = min(debate.setup.limits.quorum, len(debate.setup.agents))
    return len(_able(debate)) >= needed


def _able(debate: Debate) -> Sequence[str]:
    """Ids of agents that still take part and whose provider takes our key."""
    return [agent for agent in format_of(debate).alive(debate) if agent not in debate.refused]


def rounds_open(debate: Debate) -> int:
    """How many rounds may be held as things stand: fewer than wished once the debate has settled.

    With a fixed ending all of them; else each further round needs the ballots after the last one.
    """
    return debate.once("rounds open", lambda: _rounds_open(debate))


def _rounds_open(debate: Debate) -> int:
    rules, wished = debate.setup.termination, debate.setup.rounds
    if rules.ending is Ending.FIXED:
        return wished
    for number in range(max(FEWEST_ROUNDS, rules.min_rounds), wished):
        if turns_ready(debate, number) or _missing_ballots(debate, number):
            return number
        if has_settled(debate, number):
            return number
    return wished


def has_settled(debate: Debate, number: int) -> bool:
    """Whether the debate has converged or is deadlocked after that round.

    Converged: nobody ranks otherwise than before, and positions are alike. Deadlocked: nobody
    ranks otherwise, and every position only repeats itself.
    """
    earlier_rounds = [b.turn.round for b in debate.ballots.values() if b.turn.round < number]
    before = ballots_of(debate, max(earlier_rounds)) if earlier_rounds else ()
    if not convergence.are_stable(before, ballots_of(debate, number)):
        return False
    now = format_of(debate).positions(debate, number)
    earlier = format_of(debate).positions(debate, number - 1)
    alike = convergence.likeness([position.text for position in now.values()])
    repeated = [convergence.is_repeated(earlier[a].text, now[a].text) for a in now if a in earlier]
    return alike >= debate.setup.termination.threshold or (bool(repeated) and all(repeated))


def ballots_of(debate: Debate, number: int) -> Sequence[Ballot]:
    """The ballots cast after that round; round 0 is before the debate."""
    return [ballot for ballot in debate.ballots.values() if ballot.turn.round == number]


def ballot_turns(debate: Debate) -> Sequence[Turn]:
    """The final ballots: none when a person stopped the debate or there is nothing to choose."""
    if debate.stop or len(format_of(debate).positions(debate)) <= 1:
        return ()
    return _ballot_turns(debate, rounds_open(debate))


def _rounds(debate: Debate) -> Sequence[Turn]:
    """The format's turns, and what runs beside them: ballots on the way and summaries."""
    rounds = rounds_open(debate)
    turns = turns_ready(debate, rounds)
    # Ballots on the isolated drafts show later who moved.
    blind = debate.setup.blind_ballot and len(format_of(debate).drafts(debate)) > 1
    beside = (
        *clarifying.asked_by_facilitator(debate),
        *(_missing_ballots(debate, 0) if blind else ()),
        *strategies.ready(debate, rounds),
    )
    if not turns and rounds < debate.setup.rounds and not beside:
        return _missing_ballots(debate, rounds)
    return (*(turn for turn in turns if not strategies.lacks(debate, turn)), *beside)


def _missing_ballots(debate: Debate, number: int) -> Sequence[Turn]:
    return _undone(debate, _ballot_turns(debate, number))


def _ballot_turns(debate: Debate, number: int) -> Sequence[Turn]:
    return [Turn(act=Act.BALLOT, round=number, agent=voter) for voter in _able(debate)]


def _undone(debate: Debate, turns: Sequence[Turn]) -> Sequence[Turn]:
    return tuple(turn for turn in turns if not debate.is_done(turn))


def _vote(debate: Debate) -> Sequence[Turn]:
    ballots = ballot_turns(debate)
    if not ballots or debate.tally:
        return ()
    tally = Turn(act=Act.TALLY, round=rounds_open(debate), agent=ENGINE)
    return _undone(debate, ballots) or _undone(debate, [tally])


def _synthesis(debate: Debate) -> Sequence[Turn]:
    if not format_of(debate).positions(debate):
        return ()
    summary = strategies.judge_summary_turn(debate)
    if summary and not debate.is_done(summary):
        return (summary,)
    return _undone(debate, [Turn(act=Act.SYNTHESIS, round=rounds_open(debate), agent=JUDGE)])


def _reasons(debate: Debate, *acts: Act) -> str:
    """Why turns of these acts failed, each reason once."""
    failed = (failure for failure in debate.failures.values() if failure.turn.act in acts)
    return " ".join(dict.fromkeys(failure.reason for failure in failed))
