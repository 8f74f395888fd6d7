"""Decides what comes next in a debate of any format: turns, waiting, the end (pure).

The order: sources that came with the question, questions to people, the format's rounds with
summaries and ballots beside them, the vote, the synthesis. Everything is derived from the debate,
so a restart schedules the same.
"""

from collections.abc import Sequence
from datetime import datetime

from core.debate.agents import OFFLINE
from core.debate.contributions import Clarification
from core.debate.debate_events import DebateConcluded, DebateFailed
from core.debate.state import Debate, Status, once_per_debate
from core.debate.turn import BESIDE, ENGINE, JUDGE, SUMMARIZER, Act, Turn, turn_of
from core.rules import casting, gate, shadow, sources
from core.rules.formats import clarifying, review
from core.rules.formats.registry import format_of, turns_ready
from core.rules.gate import rounds_open
from core.rules.history import strategies
from core.rules.steps import agents_present

#: On it, it is said what there is to choose between.
_OPTIONS = Turn(act=Act.OPTIONS, round=0, agent=SUMMARIZER)
_GOES_WITHOUT = {*BESIDE, Act.AUDIT, Act.CLARIFICATION, Act.FACILITATION, Act.FOLLOW_UP}


@once_per_debate
def ready(debate: Debate) -> Sequence[Turn]:
    """Every turn that can be taken now; none while people are waited for or all is done."""
    if debate.status is not Status.RUNNING:
        return follow_up_turns(debate)
    if debate.verdict or debate.paused_by:
        return ()
    if is_cut_short(debate):
        return _end(debate)
    reading = sources.unread(debate)
    if casting.is_due(debate):
        threads = debate.open_turns(sources.threads(debate))  # they may hold what it is about
        return threads or (casting.TURN, *reading)
    if sources.are_awaited(debate, reading) or review.awaits_changed_text(debate):
        return reading
    if _unreadable(debate):
        return ()  # nobody is asked about what nobody can read
    asking = clarifying.ready(debate)
    if asking is not None:
        return (*reading, *asking, *shadow.ready(debate))
    rounds, turns = rounds_open(debate), _round_turns(debate)
    # Once votes are counted nobody speaks any more: also who comes back, or was let go by a stop.
    if debate.tally or not (_awaited_turns(debate, turns) or debate.open_cards):
        turns = _end(debate)
    # Summaries are made beside everything else: nothing waits for one.
    return (*reading, *turns, *strategies.ready(debate, rounds), *shadow.ready(debate))


def _round_turns(debate: Debate) -> Sequence[Turn]:
    """The format's turns and what runs beside them: options, blind ballots, people's questions."""
    turns, held_back = turns_ready(debate, rounds_open(debate)), waiting_for_options(debate)
    # Ballots on the isolated drafts show whether to debate, and later who moved.
    is_blind = gate.votes_blind(debate) and debate.options is not None
    return (
        *(turn for turn in turns if turn not in held_back),
        *clarifying.facilitator_questions(debate),
        *options_due(debate),
        *(debate.open_turns(_ballot_turns(debate, 0)) if is_blind else ()),
        *gate.due(debate),
    )


@once_per_debate
def waiting_for_options(debate: Debate) -> Sequence[Turn]:
    """Turns of the rounds that could be taken but for the options, which they are to be shown.

    On them agents say how likely each option is the best.
    """
    if is_cut_short(debate) or not options_due(debate):
        return ()
    form, turns = format_of(debate), turns_ready(debate, rounds_open(debate))
    return [turn for turn in turns if form.takes_stance(turn)]


def options_due(debate: Debate) -> Sequence[Turn]:
    several = len(format_of(debate).drafts(debate)) > 1
    return debate.open_turns([_OPTIONS]) if several else ()


def follow_up_turns(debate: Debate) -> Sequence[Turn]:
    """The turns on which the judge answers what people have asked since the verdict.

    Also where the debate was wanted after all since, and then failed: who asked is owed an answer.
    """
    numbers = (str(question.number) for question in debate.follow_ups)
    return debate.open_turns([turn_of(Act.FOLLOW_UP, 0, JUDGE, number) for number in numbers])


def waits_for_models(debate: Debate, act: Act | None = None) -> bool:
    """Whether turns (of this act) wait for models that are away, as long as there is time.

    The debate goes on without some acts, and without a choice of agents unless nobody could speak
    without its model. Who asks a follow-up is told that no model can be asked.
    """
    goes_without = act in _GOES_WITHOUT or (
        act is Act.CASTING and not casting.waits_for_models(debate)
    )
    return not (goes_without or debate.stop or debate.outage_timed_out)


def outage(debate: Debate) -> str:
    """Why nothing can go on before a model is back; empty while something can."""
    turns = [turn for turn in ready(debate) if turn.act not in BESIDE]
    if not turns or any(turn.agent not in debate.unavailable_agents for turn in turns):
        return ""
    return " ".join(dict.fromkeys(debate.unavailable_agents[turn.agent] for turn in turns))


def conclusion(debate: Debate) -> DebateConcluded | DebateFailed | None:
    waits = debate.paused_by or (debate.open_cards and not is_cut_short(debate))
    if debate.status is not Status.RUNNING or waits:
        return None
    if any(turn.act not in BESIDE for turn in ready(debate)):
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
    """Why nobody is asked: nothing that was given could be read; empty where something was."""
    is_review = debate.setup.format == review.NAME
    return review.subject_fault(debate) if is_review else sources.no_source_reason(debate)


def due(debate: Debate) -> datetime | None:
    waiting = _waited_for(debate)
    return waiting[1] if waiting else None


def overdue(debate: Debate, now: datetime) -> str | None:
    waiting = _waited_for(debate)
    return waiting[0] if waiting and waiting[1] <= now else None


def _waited_for(debate: Debate) -> tuple[str, datetime] | None:
    if debate.status is not Status.RUNNING or debate.paused_by or is_cut_short(debate):
        return None
    return clarifying.due(debate)


def open_questions(debate: Debate) -> Sequence[Clarification]:
    """The questions people can still answer, oldest first; none once only the end is to come."""
    if debate.status is not Status.RUNNING or is_cut_short(debate):
        return ()
    return debate.open_clarifications


def working_time(debate: Debate, number: int) -> float:
    before = [worked for other, worked in debate.work_seconds_by_round.items() if other < number]
    return debate.work_seconds - max(before, default=0.0)


def is_ending(turn: Turn) -> bool:
    return turn.agent == JUDGE or (turn.act is Act.BALLOT and turn.round > 0)


def is_cut_short(debate: Debate) -> bool:
    """Whether only vote and verdict are left: stopped, out of time or money, too few agents."""
    return debate.is_ending_early or not has_quorum(debate)


@once_per_debate
def has_quorum(debate: Debate) -> bool:
    return len(format_of(debate).alive(debate)) >= debate.setup.quorum


def rounds_held(debate: Debate) -> int:
    """In how many rounds agents answered one another; 0: there are only isolated drafts."""
    form = format_of(debate)
    # Isolated openings, and texts carried over, answer no one.
    opens = form.phases[0] if form.phases[0] is not form.stance_act else None
    turns = (contribution.turn for contribution in debate.contributions.values())
    spoken = max((turn.round for turn in turns if turn.act is not opens), default=0)
    # Without a gate: a debate of an older version, or with few agents.
    is_weighed = debate.options is not None or debate.gates
    return min(rounds_open(debate), spoken) if is_weighed else spoken


def skipped_turns(debate: Debate) -> Sequence[Turn]:
    planned = (
        turn
        for number in range(1, rounds_open(debate) + 1)
        for turn in format_of(debate).planned_turns(debate, number)
    )
    return [turn for turn in planned if not debate.is_done(turn)]


def ballot_turns(debate: Debate) -> Sequence[Turn]:
    """The final ballots: none when a person stopped the debate or there is nothing to choose.

    Where no round was held they are the blind ones.
    """
    if debate.stop or len(format_of(debate).positions(debate)) <= 1:
        return ()
    return _ballot_turns(debate, rounds_open(debate))


def _ballot_turns(debate: Debate, number: int) -> Sequence[Turn]:
    return [
        Turn(act=Act.BALLOT, round=number, agent=voter) for voter in format_of(debate).alive(debate)
    ]


def _end(debate: Debate) -> Sequence[Turn]:
    """The vote and a check of a close one, with the judge's summary beside; then the synthesis."""
    summary = strategies.judge_summary_turn(debate)
    beside = debate.open_turns([summary]) if summary else ()
    if vote := _vote(debate):
        return (*vote, *beside)
    if not format_of(debate).positions(debate):
        return ()
    number = rounds_open(debate)
    # A judge that follows rules reads positions in no order.
    judges = debate.setup.judge.provider != OFFLINE
    if judges and debate.tally and debate.tally.options and debate.tally.controversial:
        check = debate.open_turns([Turn(act=Act.CROSS_CHECK, round=number, agent=JUDGE)])
        if check:
            return (*check, *beside)
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
    """Those of the turns that the debate waits for: not of agents whose models are away."""
    able = format_of(debate).alive(debate)
    waived = frozenset(able).difference(agents_present(debate, able))
    return [turn for turn in turns if turn.agent not in waived]


def _reasons(debate: Debate, *acts: Act) -> str:
    failed = (failure for failure in debate.failures.values() if failure.turn.act in acts)
    return " ".join(dict.fromkeys(failure.reason for failure in failed))
