"""Decides after the blind ballots, and after each round, whether another round is held (pure).

A round is useful if the agents' first choices differ, or if their common first choice leads by
little (`core.rules.agreement`). The decision is made as soon as the missing answers cannot change
it, so that the others need not wait for a slow agent.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from core.debate.agents import EXAMPLE, OFFLINE
from core.debate.rules import Ending, When
from core.debate.state import Debate, cached_per_debate
from core.debate.turn import ENGINE, Act, Turn
from core.debate.vote import Gate, GateReason, NoDebateReason, QuestionKind
from core.figures import money, percent, quantity
from core.rules.agreement import Agreement, Probabilities, agreement, has_moved
from core.rules.formats import panel
from core.rules.formats.registry import format_of
from core.rules.options import options_of, stance_in
from core.rules.steps import agents_present
from core.rules.voting import first_votes

_UNDEBATABLE: Mapping[NoDebateReason, str] = {
    NoDebateReason.NO_MODEL: "No model was asked, and no checklist takes a side on the question.",
    NoDebateReason.ALONE: "One agent alone is no debate: nobody criticises what it says.",
}
#: The least number of agents that can disagree.
_A_PAIR = 2


def gate_turn(number: int, skips: Act | None = None) -> Turn:
    """The turn that decides whether a round follows this one; 0: whether there is any round.

    With `skips` it decides whether this step of the round is left out.
    """
    return Turn(act=Act.GATE, round=number, agent=ENGINE, target=skips.value if skips else None)


def gate_after(debate: Debate, number: int) -> Gate | None:
    return debate.gates.get(gate_turn(number).key)


def closing_gate(debate: Debate) -> Gate | None:
    """The gate that ended the rounds; a gate before round 1 does not count after a reopening."""
    gates = [gate for gate in debate.gates.values() if gate.ends_rounds]
    return next((gate for gate in gates if gate.turn.round or not debate.reopened_by), None)


def agreed_at_once(debate: Debate) -> bool:
    """Whether no round was held because the first ballots agreed."""
    gate = closing_gate(debate)
    return gate is not None and not gate.turn.round and gate.reason is GateReason.AGREED


def votes_blind(debate: Debate) -> bool:
    return debate.setup.blind_ballot and format_of(debate).compares_drafts


def is_gated(debate: Debate) -> bool:
    """Whether a gate decides if the first round is held."""
    setup = debate.setup
    if undebatable(debate) or _takes_sides(debate) is None:
        return setup.when is not When.NEVER
    if setup.when is not When.SPLIT or not votes_blind(debate) or len(setup.agents) < _A_PAIR:
        return False
    return len(format_of(debate).drafts(debate)) != 1  # none yet, or several


def undebatable(debate: Debate) -> NoDebateReason | None:
    """Why no debate is possible; None if it is, or if that is not known yet."""
    if first := gate_after(debate, 0):
        return first.undebatable
    if not format_of(debate).compares_drafts or _went_on(debate):
        return None
    if len(debate.setup.agents) < _A_PAIR:
        return NoDebateReason.ALONE
    return NoDebateReason.NO_MODEL if _takes_sides(debate) is False else None


@cached_per_debate
def _went_on(debate: Debate) -> bool:
    """Whether the debate has more than first answers, or has ended.

    Older versions always held the rounds. Their debates continue in this way.
    """
    opening = format_of(debate).phases[0]
    turns = (contribution.turn for contribution in debate.contributions.values())
    is_round = any(turn.round > 1 or turn.act is not opening for turn in turns)
    return is_round or debate.tally is not None or debate.verdict is not None


def _takes_sides(debate: Debate) -> bool | None:
    """Whether any checklist takes a side on the question; None while that is not known.

    Agents with models are assumed to take a side.
    """
    by_models = any(agent.provider != OFFLINE for agent in debate.setup.agents)
    if by_models or not votes_blind(debate) or _went_on(debate):
        return True
    if len(format_of(debate).drafts(debate)) == 1:
        return True  # the other agents failed, so there is nothing to compare
    return None if debate.options is None else bool(options_of(debate).items)


@cached_per_debate
def rounds_open(debate: Debate) -> int:
    """How many rounds may be held by the gates so far; 0: only the isolated drafts."""
    rules, rounds = debate.setup.termination, debate.setup.rounds
    if debate.setup.when is When.NEVER:
        return 0
    if is_gated(debate) and not debate.reopened_by:
        first = gate_after(debate, 0)
        if first is None or first.ends_rounds:
            return 0
    if rules.ending is Ending.FIXED or format_of(debate).ends_itself:
        return rounds
    for number in range(rules.min_rounds, rounds):
        gate = gate_after(debate, number)
        if gate is None or gate.ends_rounds:
            return number
    return rounds


def due(debate: Debate) -> Sequence[Turn]:
    """The open turns of gates that can be decided now."""
    number = rounds_open(debate)
    if debate.setup.when is When.NEVER:
        return ()
    turns = [gate.turn for gate in _step_gates(debate)]
    is_first = number == 0 and not debate.reopened_by
    if number < debate.setup.rounds and (number or is_first) and weigh(debate, number):
        turns.append(gate_turn(number))
    return debate.open_turns(turns)


def gate_decision(debate: Debate, turn: Turn) -> Gate | None:
    """The result of a gate's turn; None while it cannot be decided."""
    if turn.target is None:
        return weigh(debate, turn.round)
    return next((gate for gate in _step_gates(debate) if gate.turn == turn), None)


def _step_gates(debate: Debate) -> Iterator[Gate]:
    """The gates of steps that are left out because positions agree, if that is known already."""
    for step in format_of(debate).steps:
        turn = gate_turn(1, step.act)
        agreed = step.agreement(debate) if step.agreement else None
        if agreed and step.only_if and step.only_if(debate, turn) is False:
            reason = GateReason.AGREED
            yield Gate(turn=turn, reason=reason, option=agreed.option, spread=agreed.spread)


def weigh(debate: Debate, number: int) -> Gate | None:
    """The gate after a round (0: before round 1); None while it cannot be decided."""
    if not number and format_of(debate).drafts(debate) and (no_debate := undebatable(debate)):
        reason = GateReason.NOT_COMPARABLE
        return Gate(turn=gate_turn(0), reason=reason, undebatable=no_debate)
    gate = _gate_after_round(debate, number) if number else _first_gate(debate)
    forecast = debate.setup.forecast
    if not gate or not forecast or forecast.cost is None or forecast.cost_if_agreed is None:
        return gate
    # The expected cost of the rounds that would follow.
    share = Decimal(_rounds_left(debate, number)) / debate.setup.rounds
    saved = max(Decimal(0), (forecast.cost - forecast.cost_if_agreed) * share)
    return gate.model_copy(update={"saved": saved})


def _first_gate(debate: Debate) -> Gate | None:
    turn, merged, drafts = gate_turn(0), debate.options, format_of(debate).drafts(debate)
    if merged is None or len(drafts) < _A_PAIR:
        return None
    if merged.question_kind is not QuestionKind.CHOICE:
        return Gate(turn=turn, reason=GateReason.OPEN_QUESTION)
    ballots = [Turn(act=Act.BALLOT, round=0, agent=agent) for agent in drafts]
    first, vote_only, setup = _stances(debate, ballots), _is_vote_only(debate), debate.setup
    if first.differ and not vote_only:
        return _gate(turn, GateReason.SPLIT, first.agreement)
    if first.is_pending:
        return None
    if (first.is_missing and not vote_only) or len(first.by_agent) < _A_PAIR:
        return Gate(turn=turn, reason=GateReason.NOT_COMPARABLE)
    if first.agreement.is_agreed and not first.is_missing:
        is_hard = setup.hard_to_undo and not setup.checks_rules
        return _gate(turn, GateReason.AGREED, first.agreement, hard_to_undo=is_hard)
    flags = {"vote_only": vote_only, "checks_rules": setup.checks_rules}
    return _gate(turn, GateReason.SPLIT, first.agreement, **flags)


def _gate_after_round(debate: Debate, number: int) -> Gate | None:
    turn, act = gate_turn(number), format_of(debate).stance_act
    speakers = format_of(debate).alive(debate)
    stances = _stances(debate, [Turn(act=act, round=number, agent=agent) for agent in speakers])
    movers = tuple(
        agent
        for agent, stance in stances.by_agent.items()
        if has_moved(_stance_before(debate, agent, number), stance)
    )
    if stances.is_pending and not (movers and stances.differ):
        return None
    if not stances.is_pending and (stances.is_missing or len(stances.by_agent) < _A_PAIR):
        reason = GateReason.NOT_COMPARABLE
    elif stances.agreement.is_agreed:
        reason = GateReason.AGREED
    elif movers:
        reason = GateReason.MOVED
    else:
        reason = GateReason.SETTLED if stances.agreement.option else GateReason.DEADLOCK
    return _gate(turn, reason, stances.agreement, moved=movers)


def _is_vote_only(debate: Debate) -> bool:
    """Whether the first vote is final even if agents disagree, because debating would not pay.

    So it is for a check of rules, and if all agents have one model, unless the decision is hard to
    undo. Measured on recorded forecasts (arXiv:2512.22625): in a debate of one model with itself as
    many answers change from right to wrong as from wrong to right. Examples and checklists do not
    count as models.
    """
    setup, is_model = debate.setup, debate.setup.agents[0].provider not in {EXAMPLE, OFFLINE}
    is_one_model = len(set(setup.models.values())) == 1 and is_model
    return setup.checks_rules or (is_one_model and not setup.hard_to_undo)


@dataclass(frozen=True)
class _Stances:
    """The known probabilities of each agent after some turns, one per agent."""

    by_agent: Mapping[str, Probabilities]
    agreement: Agreement
    #: Whether an agent's turn is still to come.
    is_pending: bool
    #: Whether an agent's turn is over, but it gave no probabilities.
    is_missing: bool

    @property
    def differ(self) -> bool:
        """Whether first choices already differ, whatever pending turns bring."""
        return len(self.by_agent) >= _A_PAIR and not self.agreement.option


def _stances(debate: Debate, turns: Sequence[Turn]) -> _Stances:
    by_agent, is_pending, is_missing = dict[str, Probabilities](), False, False
    present = agents_present(debate, [turn.agent for turn in turns])
    for turn in turns:
        is_awaited = turn.agent in present and turn.agent not in debate.key_refusals
        if is_awaited and not debate.is_done(turn):
            is_pending = True
        elif stance := _stance_after(debate, turn):
            by_agent[turn.agent] = stance
        else:
            is_missing = True
    return _Stances(by_agent, agreement(by_agent, debate.setup.models), is_pending, is_missing)


def _stance_after(debate: Debate, turn: Turn) -> Probabilities:
    """The agent's probabilities after this turn; the earlier ones if it gave no new ones.

    Empty if it had none before, because then a change cannot be computed.
    """
    before = _stance_before(debate, turn.agent, turn.round)
    contribution = debate.contributions.get(turn.key)
    if before and contribution and contribution.carried_from is None:
        return stance_in(debate, contribution)
    return before


def _stance_before(debate: Debate, agent: str, number: int) -> Probabilities:
    """The agent's probabilities before a round, at first from its blind ballot."""
    for contribution in reversed(list(debate.contributions.values())):
        is_earlier = contribution.turn.agent == agent and contribution.turn.round < number
        if is_earlier and (stance := stance_in(debate, contribution)):
            return stance
    ballot = debate.ballots.get(Turn(act=Act.BALLOT, round=0, agent=agent).key)
    return options_of(debate).probabilities(ballot.probabilities) if ballot else {}


def _gate(turn: Turn, reason: GateReason, stances: Agreement, **fields: Any) -> Gate:
    figures: dict[str, Any] = {
        "option": stances.option or stances.widest,
        "spread": stances.spread,
    }
    if stances.option:
        figures |= {"lowest": stances.lowest, "highest": stances.highest, "lead": stances.lead}
    return Gate(turn=turn, reason=reason, **{**figures, **fields})


def _rounds_left(debate: Debate, number: int) -> int:
    """How many planned rounds are not held after this one; a panel still holds a closing round."""
    closing = 1 if number and debate.setup.format == panel.NAME else 0
    planned = min(debate.setup.rounds, format_of(debate).most_rounds)
    return max(0, planned - number - closing)


#: The sentence for each reason; `gate_words` fills it in.
_SENTENCES: Mapping[GateReason, str] = {
    GateReason.AGREED: "After round {number} {all} agreed on {about} ({held}); {rest}.",
    GateReason.SETTLED: "Round {number} moved nobody, and {all} hold {about} best, {at}; {rest}.",
    GateReason.DEADLOCK: "Round {number} moved nobody, and they still differ, by up to {apart} "
    "about {about}: it went to the vote; {rest}.",
    GateReason.SPLIT: "First answers differ, by up to {apart} about {about}.",
    GateReason.MOVED: "Round {number} moved {movers}{unsure}.",
    GateReason.OPEN_QUESTION: "The question is open (how, or how much), so its first answers are "
    "debated.",
    GateReason.NOT_COMPARABLE: "Some or all agents gave no probabilities that can be compared, so "
    "it is not known whom a round moved.",
}
_ALL_FIRST = "{All} put {about} first, at {each}{ahead}: the first answers are debated."
_NOTHING_FIRST = "Too few first ballots can be compared, so the first answers are debated."
_STEP_SKIPPED = "All positions agree on {about} ({held}), so {step}s were skipped."
_AT_ONCE = "{All} agreed at once on {about} ({held}); the debate was skipped{savings}."
_HARD_TO_UNDO = (
    "{All} agreed at once on {about} ({held}); the decision is hard to undo, so it is debated all "
    "the same."
)
_VOTE_ONLY = "{who}, and {first}: debating {what} seldom helps, so no round was held{savings}."


def gate_words(debate: Debate, gate: Gate) -> str:
    """The result of a gate in a sentence, for people and for the judge."""
    if gate.undebatable:
        return _UNDEBATABLE[gate.undebatable]
    gate = _by_all_ballots(debate, gate)
    name, apart = options_of(debate).name(gate.option), _points(gate.spread)
    about = f'"{name}"' if name else "the options"
    # The range of probabilities for the common first choice: `70% to 85%`, or `70%`.
    bounds = () if gate.lowest is None else (gate.lowest, gate.highest or gate.lowest)
    each = " to ".join(dict.fromkeys(map(percent, bounds)))
    only = " only" if gate.reason is GateReason.SPLIT else ""
    # Older versions did not compute the average.
    ahead = "" if gate.lead is None else f", on average{only} {_points(gate.lead)} ahead"
    everybody = _voters_words(debate, gate.turn.round)
    return _sentence_of(gate, has_first=bool(each)).format(
        number=gate.turn.round,
        all=everybody,
        All=everybody[0].upper() + everybody[1:],
        step=gate.skips,
        about=about,
        apart=apart,
        each=each,
        ahead=ahead,
        at=f"at {each}" if each else f"{apart} apart",
        held=f"each at {each}{ahead}" if each else f"probabilities within {apart}",
        first=f"{everybody} put {about} first" if each else "first answers differ",
        unsure=f"; {everybody} put {about} first, at {each}" if each else "",
        movers=", ".join(debate.setup.agent(agent).name for agent in gate.moved),
        who="The question is whether rules are kept"
        if gate.checks_rules
        else "One model speaks for all agents",
        what="a check" if gate.checks_rules else "a choice with itself",
        rest=_unheld_words(debate, gate),
        savings=_savings(debate, gate),
    )


def _voters_words(debate: Debate, number: int) -> str:
    """The agents that a gate compared: `all`, or how many voted first or are left after a round."""
    count = len(format_of(debate).alive(debate, number) if number else first_votes(debate))
    some = f"the {quantity(count, 'agent')} {'left' if number else 'that voted'}"
    return "all" if count == len(debate.setup.agents) else some


def _sentence_of(gate: Gate, *, has_first: bool) -> str:
    if gate.vote_only:
        return _VOTE_ONLY
    if gate.skips:
        return _STEP_SKIPPED
    match gate.reason:
        case GateReason.AGREED if not gate.turn.round:
            return _HARD_TO_UNDO if gate.hard_to_undo else _AT_ONCE
        case GateReason.SPLIT if has_first:
            return _ALL_FIRST
        case GateReason.NOT_COMPARABLE if not gate.turn.round:
            return _NOTHING_FIRST
        case reason:
            return _SENTENCES[reason]


def _unheld_words(debate: Debate, gate: Gate) -> str:
    """How many rounds were not held."""
    left = _rounds_left(debate, gate.turn.round)
    if not left:
        return "only closing statements were left to make"
    rounds = f"{quantity(left, 'round')} {'was' if left == 1 else 'were'} not held"
    return rounds + _savings(debate, gate)


def _by_all_ballots(debate: Debate, gate: Gate) -> Gate:
    """The gate with the figures of all ballots, as it may be recorded before the last one."""
    is_early = gate.reason in {GateReason.SPLIT, GateReason.MOVED}
    final_gate = weigh(debate, gate.turn.round) if is_early else None
    if final_gate is None or final_gate.reason is not gate.reason:
        return gate
    return final_gate if final_gate.vote_only == gate.vote_only else gate


def _savings(debate: Debate, gate: Gate) -> str:
    """The cost of the rounds that were not held, unless a person had them held after all."""
    is_held = debate.reopened_by and not gate.turn.round
    return f", about {money(gate.saved)} saved" if gate.saved and not is_held else ""


def _points(share: float) -> str:
    return quantity(round(share * 100), "point")
