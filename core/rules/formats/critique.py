"""Format `critique`: N rounds of proposal → critique of every other proposal → refinement.

No barriers: a critique is ready when its critic's and its target's proposals are there, a
refinement when every critique of its proposal that can still come is there. So a round takes as
long as its longest chain of turns. In round ≥2 the proposal is the last refinement, carried over.
"""

from collections.abc import Mapping, Sequence

from core.models import Act, Contribution, Debate, Turn, once_per_debate, turn_of
from core.request import Part, PartKind, numbered
from core.rules.formats.opening_words import first_paragraphs
from core.rules.formats.outcomes import outcome_keys
from core.rules.formats.presence import awaited
from core.rules.formats.shared_order import numbered_in_shared_order

NAME = "critique"
MOST_ROUNDS = 15
PHASES: tuple[Act, ...] = (Act.PROPOSAL, Act.CRITIQUE, Act.REFINEMENT)
STANCE_ACT = Act.REFINEMENT
ENDS_ITSELF = False
COMPARES_DRAFTS = True
_POSITIONS = frozenset({Act.PROPOSAL, Act.REFINEMENT})


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    """Turns of the first `rounds` rounds whose inputs exist and which have no outcome yet."""
    if not rounds:
        return tuple(turn for turn in _left(debate, 1) if turn.act is Act.PROPOSAL)
    return tuple(turn for number in range(1, rounds + 1) for turn in _left(debate, number))


def planned(debate: Debate, number: int) -> Sequence[Turn]:
    """Every turn of a round, as far as can be foreseen."""
    agents = alive(debate)
    pairs = ((critic, target) for critic in agents for target in agents if critic != target)
    return (
        *(turn_of(Act.PROPOSAL, number, agent) for agent in agents),
        *(turn_of(Act.CRITIQUE, number, c, t) for c, t in pairs),
        *(turn_of(Act.REFINEMENT, number, agent) for agent in agents),
    )


@once_per_debate
def alive(debate: Debate) -> Sequence[str]:
    """Ids of agents that can still speak: without a proposal or a key that is taken, one is out."""
    lost = {f.turn.agent for f in debate.failures.values() if f.turn.act is Act.PROPOSAL}
    lost |= debate.refused.keys()
    return tuple(agent.id for agent in debate.setup.agents if agent.id not in lost)


def positions(debate: Debate, upto: int | None = None) -> Mapping[str, Contribution]:
    """The newest position of every agent that has one, up to a round, in roster order."""
    newest: dict[str, Contribution] = {}
    for made in debate.contributions.values():
        if made.turn.act in _POSITIONS and (upto is None or made.turn.round <= upto):
            newest[made.turn.agent] = made
    return {agent.id: newest[agent.id] for agent in debate.setup.agents if agent.id in newest}


def drafts(debate: Debate) -> Mapping[str, Contribution]:
    """The positions taken in isolation; empty while one can still come."""
    agents = [agent.id for agent in debate.setup.agents]
    turns = {agent: turn_of(Act.PROPOSAL, 1, agent) for agent in agents}
    if not all(debate.is_done(turns[agent]) for agent in awaited(debate, agents)):
        return {}
    made = {agent: debate.contributions.get(turn.key) for agent, turn in turns.items()}
    return {agent: draft for agent, draft in made.items() if draft}


def sees(debate: Debate, turn: Turn) -> Sequence[Part]:
    """What this turn is about."""
    match turn.act:
        case Act.CRITIQUE:
            target = turn.target or ""
            under_review = Part(
                kind=PartKind.POSITION,
                label="Proposal under review",
                text=debate.text_of(Act.PROPOSAL, turn.round, target),
                ends_shared=True,
                trim_priority=1,
            )
            earlier = debate.text_of(Act.CRITIQUE, turn.round - 1, turn.agent, target)
            if not earlier:
                return [under_review]
            label = "Your critique of its earlier version"
            own = Part(kind=PartKind.OTHER, label=label, text=earlier, trim_priority=3)
            return [under_review, own]
        case Act.REFINEMENT:
            own = debate.text_of(Act.PROPOSAL, turn.round, turn.agent)
            received = critiques_of(debate, turn.round, turn.agent)
            agents = [agent.id for agent in debate.setup.agents]
            others = {one: debate.text_of(Act.PROPOSAL, turn.round, one) for one in agents}
            in_short = {
                agent: Part(
                    kind=PartKind.OTHER,
                    label="Another position in short",
                    text=first_paragraphs(text),
                    trim_priority=3,
                )
                for agent, text in others.items()
                if text
            }
            return (
                *numbered_in_shared_order(turn.agent, agents, in_short),
                Part(kind=PartKind.OWN, label="Your proposal", text=own, trim_priority=1),
                *numbered(PartKind.CRITIQUE, "Critique", [critique.text for critique in received]),
            )
        case _:
            return ()


def needs(debate: Debate, turn: Turn) -> Sequence[str]:
    """Keys of the outcomes this turn waits for."""
    match turn.act:
        case Act.PROPOSAL if turn.round > 1:
            return (turn_of(Act.REFINEMENT, turn.round - 1, turn.agent).key,)
        case Act.CRITIQUE:
            pair = (turn.agent, turn.target or "")
            return [turn_of(Act.PROPOSAL, turn.round, agent).key for agent in pair]
        case Act.REFINEMENT:
            critics = (agent.id for agent in debate.setup.agents if agent.id != turn.agent)
            critiques = (turn_of(Act.CRITIQUE, turn.round, one, turn.agent) for one in critics)
            own = turn_of(Act.PROPOSAL, turn.round, turn.agent)
            return (own.key, *outcome_keys(debate, critiques, alive(debate)))
        case _:
            return ()


def carried_over(debate: Debate, turn: Turn) -> Contribution | None:
    """What this turn can take over unchanged, without asking a model; None if it must ask."""
    if turn.act is Act.PROPOSAL and turn.round > 1:
        return _made(debate, Act.REFINEMENT, turn.round - 1, turn.agent)
    if turn.act is Act.REFINEMENT and not critiques_of(debate, turn.round, turn.agent):
        return _made(debate, Act.PROPOSAL, turn.round, turn.agent)
    return None


def critiques_of(debate: Debate, number: int, agent: str) -> Sequence[Contribution]:
    """The critiques an agent's proposal received in that round, in roster order of the critics."""
    critics = (other.id for other in debate.setup.agents)
    found = (_made(debate, Act.CRITIQUE, number, critic, target=agent) for critic in critics)
    return tuple(critique for critique in found if critique)


def longest_chain(rounds: int) -> int:
    """The first round is three turns long, later ones two: the proposal is carried over."""
    return 2 * rounds + 1


@once_per_debate  # asked for again with every further round
def _left(debate: Debate, number: int) -> Sequence[Turn]:
    """The turns of this round that can be taken now."""
    turns = list[Turn]()
    agents = [agent.id for agent in debate.setup.agents]
    for agent in agents:
        # In round 1 at once; later when the agent's last refinement has an outcome.
        if number == 1 or (
            agent not in debate.refused
            and debate.is_done(turn_of(Act.REFINEMENT, number - 1, agent))
        ):
            turns.append(turn_of(Act.PROPOSAL, number, agent))
    proposed = [agent for agent in agents if _made(debate, Act.PROPOSAL, number, agent)]
    able = [agent for agent in proposed if agent not in debate.refused]
    for critic in able:
        for target in proposed:
            # One that comes too late for what it would change is not written any more.
            if critic != target and not debate.is_done(turn_of(Act.REFINEMENT, number, target)):
                turns.append(turn_of(Act.CRITIQUE, number, critic, target))
    for agent in able:
        # Every critique that can still come has to be there.
        critics = (other for other in awaited(debate, alive(debate)) if other != agent)
        critiques = (turn_of(Act.CRITIQUE, number, critic, agent) for critic in critics)
        if all(debate.is_done(turn) for turn in critiques):
            turns.append(turn_of(Act.REFINEMENT, number, agent))
    return tuple(turn for turn in turns if not debate.is_done(turn))


def _made(
    debate: Debate, act: Act, number: int, agent: str, *, target: str | None = None
) -> Contribution | None:
    turn = turn_of(act, number, agent, target)
    return debate.contributions.get(turn.key)
