"""What each turn waits for, whatever its format: why a turn ran is a look-up, not a search (pure).

A turn is ready as soon as all outcomes it needs are in the log; `core.rules.schedule` says which
turns are ready, and `tests/core/rules/test_needs.py` that both agree.
"""

from collections.abc import Sequence

from core.models import JUDGE, SUMMARIZER, Act, Debate, GateReason, Turn, Undebatable
from core.rules import casting, schedule, shadow, sources
from core.rules.formats import clarifying, panel
from core.rules.formats.registry import format_of
from core.rules.gate import closing_gate, gate_after
from core.rules.history.told import perspective, round_of

#: Keys of the facts that send a debate to its vote, whatever is still to be said.
_CUTS = ("stop", "vote-called", "time")
_OPTIONS, _WANTED = f"r0/{Act.OPTIONS}/{SUMMARIZER}", "debate-wanted"


def needs(  # noqa: C901, PLR0911, PLR0912 - one case per act
    debate: Debate, turn: Turn
) -> Sequence[str]:
    """Keys of the outcomes that this turn waits or waited for.

    Args:
        debate: At any moment from the turn's beginning on.
        turn: One that is ready or has an outcome.
    """
    form = format_of(debate)
    match turn.act:
        case Act.QUESTIONS | Act.CLARIFICATION:
            return clarifying.needs(debate, turn) or _beginning(debate)
        case Act.SUMMARY:
            if turn.agent == JUDGE:
                return cut_by(debate) or _rounds_outcomes(debate, turn.round)
            if turn.agent in {agent.id for agent in debate.setup.agents}:
                return [made.turn.key for made in perspective(debate, turn.agent, turn.round)]
            if turn.target and turn.target in debate.contributions:
                return (turn.target,)
            if turn.target in set(Act):
                return [key for key in _outcomes(debate, 1) if f"/{turn.target}/" in key]
            if turn.target:  # several rounds in one
                rounds = range(1, turn.round + 1)
                return [turn.model_copy(update={"round": n, "target": None}).key for n in rounds]
            said = [made.turn.key for made in round_of(debate, turn.round)]
            return (
                *said,
                *([panel.facilitation(turn.round).key] * (debate.setup.format == panel.NAME)),
            )
        case Act.FINDINGS:
            return form.needs(debate, turn)
        case Act.OPTIONS:
            first = form.PHASES[0]
            drafts = [key for key in _outcomes(debate, 1) if f"/{first}/" in key]
            return drafts if form.drafts(debate) else (*drafts, *cut_by(debate))
        case Act.BALLOT if not turn.round:
            return (_OPTIONS, *([debate.findings.turn.key] if debate.findings else ()))
        case Act.BALLOT:
            ended = closing_gate(debate)
            if ended and ended.turn.round == turn.round:
                return (ended.turn.key,)
            return cut_by(debate) or _rounds_outcomes(debate, turn.round)
        case Act.GATE:
            # What was compared: of an open question only what kind it is.
            gate = gate_after(debate, turn.round)
            if gate and gate.reason is GateReason.OPEN_QUESTION:
                return (_OPTIONS,)
            if gate and gate.undebatable is Undebatable.ALONE:
                return [made.turn.key for made in format_of(debate).drafts(debate).values()]
            if not turn.round:
                return (_OPTIONS, *_ballots(debate, 0))
            act = format_of(debate).STANCE_ACT
            return [key for key in _outcomes(debate, turn.round) if f"/{act}/" in key]
        case Act.TALLY:
            skipping = closing_gate(debate)
            if skipping and not skipping.turn.round:
                return (skipping.turn.key,)
            return _ballots(debate, turn.round)
        case Act.SHADOW:
            return _beginning(debate)
        case Act.SHADOW_CHOICE:
            return (shadow.ANSWER.key, _OPTIONS)
        case Act.CROSS_CHECK:
            return (tally_key(debate),)
        case Act.SYNTHESIS:
            if debate.cross_check:
                return (debate.cross_check.turn.key,)
            if debate.tally:
                return (tally_key(debate),)
            return cut_by(debate) or _rounds_outcomes(debate, turn.round)
        case _ if turn.act in form.PHASES:
            own = form.needs(debate, turn)
            found = (*own, *_let_on(debate, turn, own)) or clarifying.settled(debate)
            return found or _beginning(debate)
        case _:
            return ()


def _beginning(debate: Debate) -> Sequence[str]:
    """Keys of what comes before anybody speaks: agents are chosen, sources are read."""
    cast = [casting.TURN] if debate.setup.casting else []
    return [turn.key for turn in (*cast, *sources.with_question(debate))]


def cut_by(debate: Debate) -> Sequence[str]:
    """Key of the fact that ended the rounds before all their turns were taken; else nothing."""
    if not skipped(debate):
        return ()
    capped = [key for key, one in debate.failures.items() if one.reason == debate.out_of_money]
    return [key for key in (*_CUTS, *capped) if key in debate.times][:1]


def skipped(debate: Debate) -> Sequence[Turn]:
    """Turns of the rounds that could be foreseen and have no outcome."""
    planned = (
        turn
        for number in range(1, schedule.rounds_open(debate) + 1)
        for turn in format_of(debate).planned(debate, number)
    )
    return [turn for turn in planned if not debate.is_done(turn)]


def _let_on(debate: Debate, turn: Turn, own: Sequence[str]) -> Sequence[str]:
    """Key of what let the rounds begin or go on, where the turn is among the first after it."""
    drafts = {made.turn.key for made in format_of(debate).drafts(debate).values()}
    if turn.round == 1 and set(own) <= drafts and turn.act is not format_of(debate).PHASES[0]:
        before = 0
    elif turn.round > 1 and not any(key.startswith(f"r{turn.round}/") for key in own):
        before = turn.round - 1
    else:
        return ()
    gate = gate_after(debate, before)
    if gate and gate.ends_rounds and not before and debate.wanted_by:
        return (_WANTED,)
    return (gate.turn.key,) if gate else ()


def tally_key(debate: Debate) -> str:
    """Key of the count of the votes that stands."""
    return "tally" if debate.edition == 1 else f"tally/{debate.edition}"


def _rounds_outcomes(debate: Debate, upto: int) -> Sequence[str]:
    """What came of the last round held, up to that one, and of what runs beside the rounds.

    Beside them are the blind ballots and what the facilitator asks people.
    """
    blind = _ballots(debate, 0)
    put = [one.turn for one in debate.clarifications.values() if one.turn.round]
    asked = [key for turn in put for key in (turn.key, *clarifying.answered(debate, turn))]
    if debate.findings:
        # There may be no second look: nothing was answered, or there was nothing to answer.
        merged = [key for key in (debate.findings.turn.key, _OPTIONS) if key in debate.times]
        return (*_outcomes(debate, 1), *merged, *asked)
    form, first = format_of(debate), gate_after(debate, 0)
    for number in range(min(upto, schedule.rounds_held(debate)), 0, -1):
        if keys := _outcomes(debate, number):
            # Where first answers are all there is of a round, the vote waits for their comparison.
            is_first = number == 1 and form.PHASES[0] is form.STANCE_ACT
            return (*keys, *blind, *([first.turn.key] if first and is_first else ()), *asked)
    return list(debate.failures)[-1:]


def _ballots(debate: Debate, number: int) -> Sequence[str]:
    """Keys of what came of the ballots after a round."""
    cast = (debate.ballots, debate.abstentions, debate.failures)
    ballots = f"r{number}/{Act.BALLOT}/"
    return [key for outcomes in cast for key in outcomes if key.startswith(ballots)]


def _outcomes(debate: Debate, number: int) -> Sequence[str]:
    """Keys of what came of a round's own turns, in the order of the log."""
    phases = format_of(debate).PHASES
    made = (debate.contributions, debate.guidance, debate.failures)
    turns = (one.turn for outcomes in made for one in outcomes.values())
    return [turn.key for turn in turns if turn.round == number and turn.act in phases]
