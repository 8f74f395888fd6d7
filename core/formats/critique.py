"""Format `critique`: N rounds of proposal → critique of every other proposal → refinement.

No barriers: a critique is ready when its critic's and its target's proposals are there, a
refinement when every critique of its proposal that can still come is there. So a round takes as
long as its longest chain of turns. In round ≥2 the proposal is the last refinement, carried over.
"""

from collections.abc import Iterator, Mapping, Sequence

from core.models import Act, Contribution, Debate, Turn

NAME = "critique"
PHASES: tuple[Act, ...] = (Act.PROPOSAL, Act.CRITIQUE, Act.REFINEMENT)


def ready(debate: Debate) -> Sequence[Turn]:
    """Turns whose inputs exist and which have no outcome yet; none = the format is through."""
    rounds = range(1, debate.setup.rounds + 1)
    turns = (turn for number in rounds for turn in _round(debate, number))
    return tuple(turn for turn in turns if not debate.is_done(turn))


def alive(debate: Debate) -> Sequence[str]:
    """Ids of agents that can still speak: an agent whose proposal failed is out."""
    lost = {f.turn.agent for f in debate.failures.values() if f.turn.act is Act.PROPOSAL}
    return tuple(agent.id for agent in debate.setup.agents if agent.id not in lost)


def positions(debate: Debate) -> Mapping[str, Contribution]:
    """The newest position of every agent that has one, in roster order."""
    newest: dict[str, Contribution] = {}
    for made in debate.contributions.values():
        if made.turn.act in {Act.PROPOSAL, Act.REFINEMENT}:
            newest[made.turn.agent] = made
    return {agent.id: newest[agent.id] for agent in debate.setup.agents if agent.id in newest}


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


def longest_chain(debate: Debate) -> int:
    """Turns that must follow one another when every model call takes the same time.

    The first round is three turns long, later ones two (the proposal is carried over); then the
    ballot and the synthesis.
    """
    return 2 * debate.setup.rounds + 1 + 2


def _round(debate: Debate, number: int) -> Iterator[Turn]:
    """Every turn of this round whose inputs exist, done or not."""
    agents = [agent.id for agent in debate.setup.agents]
    for agent in agents:
        if _may_propose(debate, number, agent):
            yield Turn(act=Act.PROPOSAL, round=number, agent=agent)
    proposed = [agent for agent in agents if _made(debate, Act.PROPOSAL, number, agent)]
    for critic in proposed:
        for target in proposed:
            if critic != target:
                yield Turn(act=Act.CRITIQUE, round=number, agent=critic, target=target)
    for agent in proposed:
        if _may_refine(debate, number, agent):
            yield Turn(act=Act.REFINEMENT, round=number, agent=agent)


def _may_propose(debate: Debate, number: int, agent: str) -> bool:
    """In round 1 at once; later when the agent's last refinement has an outcome."""
    if number == 1:
        return True
    return debate.is_done(Turn(act=Act.REFINEMENT, round=number - 1, agent=agent))


def _may_refine(debate: Debate, number: int, agent: str) -> bool:
    """Every critique that can still come is there."""
    critics = (other for other in alive(debate) if other != agent)
    turns = (Turn(act=Act.CRITIQUE, round=number, agent=c, target=agent) for c in critics)
    return all(debate.is_done(turn) for turn in turns)


def _made(
    debate: Debate, act: Act, number: int, agent: str, *, target: str | None = None
) -> Contribution | None:
    turn = Turn(act=act, round=number, agent=agent, target=target)
    return debate.contributions.get(turn.key)
