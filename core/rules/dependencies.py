"""What each turn waits for, whatever its format: why a turn ran is a look-up, not a search (pure).

A turn is ready as soon as all outcomes it depends on are in the log. Turns of the format's rounds
have their dependencies from its steps; here are those before, beside and after the rounds.
"""

from collections.abc import Callable, Mapping, Sequence

from core.models import JUDGE, SUMMARIZER, Act, Debate, GateReason, NoDebateReason, Turn
from core.rules import casting, schedule, shadow, sources
from core.rules.formats import clarifying
from core.rules.formats.registry import format_of
from core.rules.gate import closing_gate, gate_after
from core.rules.history import hierarchical
from core.rules.history.told import perspective, round_of

#: Keys of the facts that send a debate to its vote, whatever is still to be said.
_CUTS = ("stop", "vote-called", "time")
_OPTIONS, _WANTED = f"r0/{Act.OPTIONS}/{SUMMARIZER}", "debate-wanted"


def dependencies(debate: Debate, turn: Turn) -> Sequence[str]:
    """Keys of the outcomes that this turn waits or waited for.

    Args:
        debate: At any moment from the turn's beginning on.
        turn: One that is ready or has an outcome.
    """
    if turn.act in format_of(debate).phases:
        return _of_phase(debate, turn)
    return _OF_ACT[turn.act](debate, turn) if turn.act in _OF_ACT else ()


def skipped(debate: Debate) -> Sequence[Turn]:
    """Turns of the rounds that could be foreseen and have no outcome."""
    planned = (
        turn
        for number in range(1, schedule.rounds_open(debate) + 1)
        for turn in format_of(debate).planned(debate, number)
    )
    return [turn for turn in planned if not debate.is_done(turn)]


def _of_phase(debate: Debate, turn: Turn) -> Sequence[str]:
    """What the format's step says, and what let the rounds begin or go on."""
    form = format_of(debate)
    own = form.dependencies(debate, turn)
    keys = [*own, *_let_on(debate, turn, own), *_options_first(debate, turn)]
    return keys or clarifying.settled(debate) or _beginning(debate)


def _options_first(debate: Debate, turn: Turn) -> Sequence[str]:
    """Key of the options, where the agent says on this turn how likely it holds each the best.

    A turn that an older version took may be older than they are.
    """
    if not format_of(debate).takes_stance(turn) or _OPTIONS not in debate.times:
        return ()
    is_first = not debate.is_done(turn) or debate.came_first(_OPTIONS, turn.key)
    return (_OPTIONS,) if is_first else ()


def _let_on(debate: Debate, turn: Turn, own: Sequence[str]) -> Sequence[str]:
    """Key of what let the rounds begin or go on, where the turn is among the first after it."""
    drafts = {made.turn.key for made in format_of(debate).drafts(debate).values()}
    if turn.round == 1 and set(own) <= drafts and turn.act is not format_of(debate).phases[0]:
        before = 0
    elif turn.round > 1 and not any(key.startswith(f"r{turn.round}/") for key in own):
        before = turn.round - 1
    else:
        return ()
    gate = gate_after(debate, before)
    if gate and gate.ends_rounds and not before and debate.wanted_by:
        return (_WANTED,)
    return (gate.turn.key,) if gate else ()


def _beginning(debate: Debate) -> Sequence[str]:
    """Keys of what comes before anybody speaks: agents are chosen, sources are read."""
    cast = [casting.TURN] if debate.setup.casting else []
    return [turn.key for turn in (*cast, *sources.with_question(debate))]


def _of_casting(debate: Debate, _turn: Turn) -> Sequence[str]:
    return [turn.key for turn in sources.threads(debate)]


def _of_questions(debate: Debate, turn: Turn) -> Sequence[str]:
    return clarifying.dependencies(debate, turn) or _beginning(debate)


def _of_findings(debate: Debate, turn: Turn) -> Sequence[str]:
    return format_of(debate).dependencies(debate, turn)


def _of_summary(debate: Debate, turn: Turn) -> Sequence[str]:
    """What is summed up: positions, an agent's perspective, one contribution, a phase, rounds."""
    if turn.agent == JUDGE:
        return _of_end(debate, turn)
    if turn.agent in {agent.id for agent in debate.setup.agents}:
        return [made.turn.key for made in perspective(debate, turn.agent, turn.round)]
    if turn.target and turn.target in debate.contributions:
        return (turn.target,)
    if turn.target in set(Act):
        return [key for key in _outcomes(debate, 1) if f"/{turn.target}/" in key]
    if turn == hierarchical.debate_turn(turn.round):
        return [step.key for step in hierarchical.made_from(turn)]
    if turn.target:  # several rounds in one
        rounds = range(1, turn.round + 1)
        return [turn.model_copy(update={"round": n, "target": None}).key for n in rounds]
    return [made.turn.key for made in round_of(debate, turn.round)]


def _of_options(debate: Debate, _turn: Turn) -> Sequence[str]:
    form = format_of(debate)
    drafts = [key for key in _outcomes(debate, 1) if f"/{form.phases[0]}/" in key]
    return drafts if form.drafts(debate) else (*drafts, *cut_by(debate))


def _of_ballot(debate: Debate, turn: Turn) -> Sequence[str]:
    if not turn.round:
        return (_OPTIONS, *([debate.findings.turn.key] if debate.findings else ()))
    ended = closing_gate(debate)
    if ended and ended.turn.round == turn.round:
        return (ended.turn.key,)
    return _of_end(debate, turn)


def _of_gate(debate: Debate, turn: Turn) -> Sequence[str]:
    """What was compared: of an open question only what kind it is."""
    form = format_of(debate)
    gate = None if turn.target else gate_after(debate, turn.round)
    if gate and gate.reason is GateReason.OPEN_QUESTION:
        return (_OPTIONS,)
    if gate and gate.undebatable is NoDebateReason.ALONE:
        return [made.turn.key for made in form.drafts(debate).values()]
    if not turn.round:
        return (_OPTIONS, *_ballots(debate, 0))
    return [key for key in _outcomes(debate, turn.round) if f"/{form.stance_act}/" in key]


def _of_tally(debate: Debate, turn: Turn) -> Sequence[str]:
    skipping = closing_gate(debate)
    if skipping and not skipping.turn.round:
        return (skipping.turn.key,)
    return _ballots(debate, turn.round)


def _of_single_answer(debate: Debate, _turn: Turn) -> Sequence[str]:
    return _beginning(debate)


def _of_its_option(_debate: Debate, _turn: Turn) -> Sequence[str]:
    return (shadow.ANSWER.key, _OPTIONS)


def _of_cross_check(debate: Debate, _turn: Turn) -> Sequence[str]:
    return (_tally_key(debate),)


def _of_audit(_debate: Debate, turn: Turn) -> Sequence[str]:
    return (turn.model_copy(update={"act": Act.SYNTHESIS}).key,)


def _of_synthesis(debate: Debate, turn: Turn) -> Sequence[str]:
    if debate.audit:
        return (debate.audit.turn.key,)
    if debate.cross_check:
        return (debate.cross_check.turn.key,)
    return (_tally_key(debate),) if debate.tally else _of_end(debate, turn)


def _of_end(debate: Debate, turn: Turn) -> Sequence[str]:
    """What ended the rounds: a fact that cut them, else what came of the last one."""
    return cut_by(debate) or _rounds_outcomes(debate, turn.round)


_OF_ACT: Mapping[Act, Callable[[Debate, Turn], Sequence[str]]] = {
    Act.CASTING: _of_casting,
    Act.QUESTIONS: _of_questions,
    Act.CLARIFICATION: _of_questions,
    Act.FINDINGS: _of_findings,
    Act.SUMMARY: _of_summary,
    Act.OPTIONS: _of_options,
    Act.BALLOT: _of_ballot,
    Act.GATE: _of_gate,
    Act.TALLY: _of_tally,
    Act.SHADOW: _of_single_answer,
    Act.SHADOW_CHOICE: _of_its_option,
    Act.CROSS_CHECK: _of_cross_check,
    Act.AUDIT: _of_audit,
    Act.SYNTHESIS: _of_synthesis,
}


def cut_by(debate: Debate) -> Sequence[str]:
    """Key of the fact that ended the rounds before all their turns were taken; else nothing."""
    if not skipped(debate):
        return ()
    capped = [
        key for key, failure in debate.failures.items() if failure.reason == debate.out_of_money
    ]
    return [key for key in (*_CUTS, *capped) if key in debate.times][:1]


def _tally_key(debate: Debate) -> str:
    """Key of the count of the votes that stands."""
    return "tally" if debate.edition == 1 else f"tally/{debate.edition}"


def _rounds_outcomes(debate: Debate, upto: int) -> Sequence[str]:
    """What came of the last round held, up to that one, and of what runs beside the rounds.

    Beside them are the blind ballots and what the facilitator asks people.
    """
    blind = _ballots(debate, 0)
    put = [
        clarification.turn
        for clarification in debate.clarifications.values()
        if clarification.turn.round
    ]
    asked = [key for turn in put for key in (turn.key, *clarifying.answered(debate, turn))]
    if debate.findings:
        # There may be no second look: nothing was answered, or there was nothing to answer.
        merged = [key for key in (debate.findings.turn.key, _OPTIONS) if key in debate.times]
        return (*_outcomes(debate, 1), *merged, *asked)
    form, first = format_of(debate), gate_after(debate, 0)
    for number in range(min(upto, schedule.rounds_held(debate)), 0, -1):
        if keys := _outcomes(debate, number):
            skips = [gate.turn.key for gate in debate.gates.values() if gate.skips]
            # Where first answers are all there is of a round, the vote waits for their comparison.
            is_first = number == 1 and form.phases[0] is form.stance_act
            weighed = [first.turn.key] if first and is_first else []
            return (*keys, *blind, *skips, *weighed, *asked)
    return list(debate.failures)[-1:]


def _ballots(debate: Debate, number: int) -> Sequence[str]:
    """Keys of what came of the ballots after a round."""
    cast = (debate.ballots, debate.abstentions, debate.failures)
    ballots = f"r{number}/{Act.BALLOT}/"
    return [key for outcomes in cast for key in outcomes if key.startswith(ballots)]


def _outcomes(debate: Debate, number: int) -> Sequence[str]:
    """Keys of what came of a round's own turns, in the order of the log."""
    phases = format_of(debate).phases
    made = (debate.contributions, debate.guidance, debate.failures)
    turns = (outcome.turn for outcomes in made for outcome in outcomes.values())
    return [turn.key for turn in turns if turn.round == number and turn.act in phases]
