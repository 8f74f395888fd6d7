"""Format `council`: seven phases, from isolated gathering to the vote.

gather (isolated) → plan (the others' gathering, not its own) → formulate (all gathering, others' to
be shortened first) → debate (every other position, answered by name) → adjust (all critiques) →
rebuttal (own critiques, the others' revised positions; skipped when positions have converged).
A turn starts when what it needs is there. Positions have converged when all who adjusted theirs
hold the same option best, within 20 points. Voters and the judge read the rebuttals.
Source of the phases: Quorum's "Deliberation V2".
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.models import Act, Contribution, Debate, Turn
from core.request import Part, PartKind
from core.rules.agreement import Probabilities, agreement
from core.rules.formats.opening_words import first_paragraphs, pointing_up
from core.rules.formats.outcomes import outcome_keys
from core.rules.formats.presence import awaited
from core.rules.formats.shared_order import in_shared_order, numbered_in_shared_order
from core.rules.options import stance_in

NAME = "council"
MOST_ROUNDS = 1
PHASES: tuple[Act, ...] = (
    Act.GATHER,
    Act.PLAN,
    Act.FORMULATE,
    Act.DEBATE,
    Act.ADJUST,
    Act.REBUTTAL,
)
STANCE_ACT = Act.ADJUST
ENDS_ITSELF = True
COMPARES_DRAFTS = True
#: An agent without one of these has nothing to go on with.
_VITAL = frozenset({Act.GATHER, Act.FORMULATE})
#: What a position is, the newest first.
_POSITIONS = (Act.ADJUST, Act.FORMULATE, Act.GATHER)


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    """Turns whose inputs exist and which have no outcome yet. The council has one round."""
    turns = (turn for act in (PHASES if rounds else PHASES[:1]) for turn in _phase(debate, act))
    return tuple(turn for turn in turns if not debate.is_done(turn))


def planned(debate: Debate, number: int) -> Sequence[Turn]:
    """Every turn of the council, as far as can be foreseen."""
    if number > 1:
        return ()
    acts = PHASES[:-1] if _agreed(debate) else PHASES
    return tuple(_turn(act, agent) for act in acts for agent in alive(debate))


def alive(debate: Debate) -> Sequence[str]:
    """Ids of agents that can still speak."""
    lost = {f.turn.agent for f in debate.failures.values() if f.turn.act in _VITAL}
    lost |= debate.refused.keys()
    return tuple(agent.id for agent in debate.setup.agents if agent.id not in lost)


def positions(debate: Debate, upto: int | None = None) -> Mapping[str, Contribution]:
    """The newest position of every agent: adjusted, else as formulated, else as gathered."""
    del upto  # there is one round
    found = {agent.id: _newest(debate, agent.id) for agent in debate.setup.agents}
    return {agent: position for agent, position in found.items() if position}


def drafts(debate: Debate) -> Mapping[str, Contribution]:
    """The positions taken in isolation; empty while one can still come."""
    if not _all_done(debate, Act.GATHER):
        return {}
    made = {agent.id: _made(debate, Act.GATHER, agent.id) for agent in debate.setup.agents}
    return {agent: draft for agent, draft in made.items() if draft}


def carried_over(debate: Debate, turn: Turn) -> Contribution | None:
    """The formulated position where nobody criticised it."""
    others = (agent.id for agent in debate.setup.agents if agent.id != turn.agent)
    if turn.act is Act.ADJUST and not any(_made(debate, Act.DEBATE, one) for one in others):
        return _made(debate, Act.FORMULATE, turn.agent)
    return None


def sees(debate: Debate, turn: Turn) -> Sequence[Part]:
    """What this turn is about: what several agents read first, one's own texts last."""
    me = turn.agent
    match turn.act:
        case Act.PLAN:
            return _texts(debate, Act.GATHER, me, "Findings of the others")
        case Act.FORMULATE:
            return (*_all_gathered(debate, me), *_own(debate, me, Act.PLAN))
        case Act.DEBATE:
            return _named_positions(debate, Act.FORMULATE, me)
        case Act.ADJUST:
            critiques = _texts(
                debate, Act.DEBATE, me, "Answers of the council", kind=PartKind.CRITIQUE
            )
            # After the answers nobody else's prompt goes on in the same way.
            others = _named_positions(debate, Act.FORMULATE, me)
            in_short = [
                replace(
                    part,
                    text=first_paragraphs(part.text),
                    label=f"{part.label} in short",
                    ends_shared=False,
                )
                for part in others
            ]
            return (*critiques, *in_short, *_own(debate, me, Act.FORMULATE))
        case Act.REBUTTAL:
            return (*_named_positions(debate, Act.ADJUST, me), *_own(debate, me, Act.DEBATE))
        case Act.BALLOT if turn.round:
            return rebuttals(debate)
        case _:
            return ()


def needs(debate: Debate, turn: Turn) -> Sequence[str]:
    """Keys of the outcomes this turn waits for."""
    all_agents = [agent.id for agent in debate.setup.agents]
    others = [agent for agent in all_agents if agent != turn.agent]
    turns: list[Turn] = []
    match turn.act:
        case Act.PLAN:
            turns = [_turn(Act.GATHER, agent) for agent in others]
        case Act.FORMULATE:
            # The plan was made of what the others gathered; its own findings may come later.
            turns = [_turn(Act.GATHER, turn.agent), _turn(Act.PLAN, turn.agent)]
        case Act.DEBATE:
            turns = [_turn(Act.FORMULATE, agent) for agent in others]
        case Act.ADJUST:
            turns = [_turn(Act.FORMULATE, agent) for agent in all_agents]
            turns += [_turn(Act.DEBATE, agent) for agent in others]
        case Act.REBUTTAL:
            turns = [_turn(Act.DEBATE, turn.agent)]
            # Where the others differ its own adjusted position decides nothing.
            differ = _agreed(debate, but=turn.agent) is False
            turns += [_turn(Act.ADJUST, agent) for agent in (others if differ else all_agents)]
        case _:
            pass
    return outcome_keys(debate, turns, alive(debate))


def rebuttals(debate: Debate) -> Sequence[Part]:
    """Everybody's last word, under the letters of those who said it: for the voters."""
    agents = [agent.id for agent in debate.setup.agents]
    found = [(agent, _made(debate, Act.REBUTTAL, agent)) for agent in agents]
    said = [(debate.setup.letter(agent), made.text) for agent, made in found if made]
    return [
        Part(
            kind=PartKind.OTHER,
            label=f"Last word of the holder of Position {name}",
            text=text,
            ends_shared=number == len(said),
            trim_priority=3,
        )
        for number, (name, text) in enumerate(said, start=1)
    ]


def longest_chain(rounds: int) -> int:
    """One turn per phase."""
    del rounds
    return len(PHASES)


def _phase(debate: Debate, act: Act) -> Sequence[Turn]:
    """The turns of a phase whose inputs exist, done or not."""
    agents = alive(debate)
    match act:
        case Act.GATHER:
            return [_turn(act, agent.id) for agent in debate.setup.agents]
        case Act.PLAN:
            return [_turn(act, a) for a in agents if _all_done(debate, Act.GATHER, but=a)]
        case Act.FORMULATE:
            own = {a: (_turn(Act.GATHER, a), _turn(Act.PLAN, a)) for a in agents}
            return [_turn(act, a) for a in agents if all(map(debate.is_done, own[a]))]
        case Act.DEBATE:
            return [_turn(act, a) for a in agents if _all_done(debate, Act.FORMULATE, but=a)]
        case Act.ADJUST:
            # Its own position, the others' in short, and what the others answer to it.
            if not _all_done(debate, Act.FORMULATE):
                return []
            return [_turn(act, a) for a in agents if _all_done(debate, Act.DEBATE, but=a)]
        case _:
            if _agreed(debate) is not False:
                return []
            # Its own answers, and what the others have made of their positions.
            able = [a for a in agents if debate.is_done(_turn(Act.DEBATE, a))]
            return [_turn(act, a) for a in able if _all_done(debate, Act.ADJUST, but=a)]


def _agreed(debate: Debate, *, but: str = "") -> bool | None:
    """Whether the adjusted positions agree, so that a rebuttal would add nothing; None: not known.

    That they do not is known as soon as two of them differ, or one says nothing of options: its
    holder may differ.
    """
    said, pending = dict[str, Probabilities](), False
    for agent in [one for one in alive(debate) if one != but]:
        if not debate.is_done(_turn(Act.ADJUST, agent)):
            pending = True
            continue
        made = _made(debate, Act.ADJUST, agent)
        stance = stance_in(debate, made) if made else None
        if not stance:
            return False
        said[agent] = stance
    if len(said) > 1 and not agreement(said).is_agreed:
        return False
    return None if pending else len(said) > 1


def _all_done(debate: Debate, act: Act, *, but: str = "") -> bool:
    """Whether every agent that can still take this turn has; at least one must have."""
    agents = [agent for agent in awaited(debate, alive(debate)) if agent != but]
    return bool(agents) and all(debate.is_done(_turn(act, agent)) for agent in agents)


def _newest(debate: Debate, agent: str) -> Contribution | None:
    made = (_made(debate, act, agent) for act in _POSITIONS)
    return next((position for position in made if position), None)


def _turn(act: Act, agent: str) -> Turn:
    return Turn(act=act, round=1, agent=agent)


def _made(debate: Debate, act: Act, agent: str) -> Contribution | None:
    return debate.contributions.get(_turn(act, agent).key)


def _own(debate: Debate, me: str, *acts: Act) -> Sequence[Part]:
    made = [(act, _made(debate, act, me)) for act in acts]
    labels = {
        Act.DEBATE: "Your answers to the others",
        Act.FORMULATE: f"Your position, Position {debate.setup.letter(me)}",
    }
    return [
        Part(
            kind=PartKind.OWN, label=labels.get(act, f"Your {act}"), text=own.text, trim_priority=1
        )
        for act, own in made
        if own
    ]


def _all_gathered(debate: Debate, me: str) -> Sequence[Part]:
    """Everybody's findings, the same text for all; the agent's own is told apart behind them."""
    made = [(agent.id, _made(debate, Act.GATHER, agent.id)) for agent in debate.setup.agents]
    found = [(agent, one.text) for agent, one in made if one]
    shown = [
        Part(
            kind=PartKind.OTHER,
            label=f"Findings {number} of {len(found)}",
            text=text,
            ends_shared=number == len(found),
            trim_priority=1 if agent == me else 2,
        )
        for number, (agent, text) in enumerate(found, start=1)
    ]
    own = [
        Part(
            kind=PartKind.OWN,
            label="What you found",
            text=pointing_up(part.text, part.label),
            trim_priority=1,
        )
        for (agent, _), part in zip(found, shown, strict=True)
        if agent == me
    ]
    return [*shown, *own]


def _texts(
    debate: Debate, act: Act, me: str, label: str, *, kind: PartKind = PartKind.OTHER
) -> Sequence[Part]:
    """What the others said in that phase, unnamed."""
    roster = [agent.id for agent in debate.setup.agents]
    found = {
        agent: Part(kind=kind, label=label, text=made.text, trim_priority=2)
        for agent in roster
        if (made := _made(debate, act, agent))
    }
    return numbered_in_shared_order(me, roster, found)


def _named_positions(debate: Debate, act: Act, me: str) -> Sequence[Part]:
    """The others' positions under their neutral names, so that each can be answered by name."""
    roster = [agent.id for agent in debate.setup.agents]
    found = {agent: _made(debate, act, agent) or _newest(debate, agent) for agent in roster}
    parts = {
        agent: Part(
            kind=PartKind.POSITION,
            label=f"Position {debate.setup.letter(agent)}",
            text=position.text,
            trim_priority=2,
        )
        for agent, position in found.items()
        if position
    }
    return in_shared_order(me, roster, parts)
