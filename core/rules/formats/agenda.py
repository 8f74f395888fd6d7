"""A format made from an agenda: one round, in which the acts of a plugin's choice follow another.

A turn is ready when its agent took its turn of the phase before, and all the others took theirs of
the acts that it hears. The first phase is taken in isolation.
"""

from collections.abc import Mapping, Sequence

from core.models import Act, Agenda, Contribution, Debate, Turn, turn_of
from core.request import Part, PartKind
from core.rules.formats.council import rebuttals
from core.rules.formats.outcomes import outcome_keys
from core.rules.formats.presence import awaited
from core.rules.formats.shared_order import in_shared_order, numbered_in_shared_order

_CRITICISM = frozenset({Act.DEBATE, Act.REBUTTAL})


class AgendaFormat:
    """What an agenda says, as a format does (`core.rules.formats.registry.Format`)."""

    MOST_ROUNDS = 1
    ENDS_ITSELF = True
    COMPARES_DRAFTS = True

    def __init__(self, agenda: Agenda) -> None:
        self.NAME = agenda.name
        self.PHASES = tuple(phase.act for phase in agenda.phases)
        self.STANCE_ACT = agenda.positions[-1]
        self._positions = agenda.positions
        self._hears = {phase.act: phase.hears for phase in agenda.phases}

    def ready(self, debate: Debate, rounds: int) -> Sequence[Turn]:
        """Turns whose inputs exist and which have no outcome yet. An agenda has one round."""
        found, able = list[Turn](), self.alive(debate)
        for act in self.PHASES if rounds else self.PHASES[:1]:
            before = self._before(act)
            for agent in able:
                heard = [one for one in awaited(debate, able) if one != agent]
                wanted = [turn_of(one, 1, other) for one in self._hears[act] for other in heard]
                is_alone = bool(self._hears[act]) and not heard
                wanted += [turn_of(before, 1, agent)] if before else []
                if not is_alone and all(debate.is_done(turn) for turn in wanted):
                    found.append(turn_of(act, 1, agent))
        return tuple(turn for turn in found if not debate.is_done(turn))

    def planned(self, debate: Debate, number: int) -> Sequence[Turn]:
        """Every turn of the only round."""
        acts = self.PHASES if number == 1 else ()
        return tuple(turn_of(act, 1, agent) for act in acts for agent in self.alive(debate))

    def alive(self, debate: Debate) -> Sequence[str]:
        """Ids of agents that can still speak: without a draft or a good key one is out."""
        failed = (failure.turn for failure in debate.failures.values())
        lost = {turn.agent for turn in failed if turn.act is self.PHASES[0]}
        lost |= debate.refused.keys()
        return tuple(agent.id for agent in debate.setup.agents if agent.id not in lost)

    def positions(self, debate: Debate, upto: int | None = None) -> Mapping[str, Contribution]:
        """The newest position of every agent that took one."""
        del upto  # there is one round
        newest = dict[str, Contribution]()
        for act in self._positions:
            newest |= self._made(debate, act)
        return {agent.id: newest[agent.id] for agent in debate.setup.agents if agent.id in newest}

    def drafts(self, debate: Debate) -> Mapping[str, Contribution]:
        """The positions taken in isolation; empty while one can still come."""
        first = self.PHASES[0]
        turns = [turn_of(first, 1, agent) for agent in awaited(debate, self.alive(debate))]
        return self._made(debate, first) if all(map(debate.is_done, turns)) else {}

    def sees(self, debate: Debate, turn: Turn) -> Sequence[Part]:
        """What the others said in the acts this turn hears, then what its agent said last."""
        me, roster = turn.agent, [agent.id for agent in debate.setup.agents]
        if turn.act not in self.PHASES:
            return rebuttals(debate) if turn.act is Act.BALLOT and turn.round else ()
        parts = list[Part]()
        for act in self._hears[turn.act]:
            named = act in self._positions
            kind = PartKind.CRITIQUE if act in _CRITICISM else PartKind.OTHER
            said = {
                agent: Part(
                    kind=PartKind.POSITION if named else kind,
                    label=f"Position {debate.setup.letter(agent)}"
                    if named
                    else f"What the others said ({act})",
                    text=made.text,
                    trim_priority=2,
                )
                for agent, made in self._made(debate, act).items()
            }
            order = in_shared_order if named else numbered_in_shared_order
            parts += order(me, roster, said)
        own = self.positions(debate).get(me)
        before = self._before(turn.act)
        last = self._made(debate, before).get(me) if before else None
        label = f"Your position, Position {debate.setup.letter(me)}"
        for text, named in (
            (own.text if own else "", label),
            (last.text if last and last != own else "", f"What you said before ({before})"),
        ):
            if text:
                parts.append(Part(kind=PartKind.OWN, label=named, text=text, trim_priority=1))
        return parts

    def needs(self, debate: Debate, turn: Turn) -> Sequence[str]:
        """Keys of the outcomes this turn waits for."""
        others = [agent.id for agent in debate.setup.agents if agent.id != turn.agent]
        before = self._before(turn.act)
        turns = [turn_of(before, 1, turn.agent)] if before else []
        turns += [turn_of(act, 1, one) for act in self._hears[turn.act] for one in others]
        return outcome_keys(debate, turns, self.alive(debate))

    def carried_over(self, debate: Debate, turn: Turn) -> Contribution | None:
        """Nothing is carried over."""
        del debate, turn

    def longest_chain(self, rounds: int) -> int:
        """One turn per phase."""
        del rounds
        return len(self.PHASES)

    def _before(self, act: Act) -> Act | None:
        """The phase before; None before the first."""
        at = self.PHASES.index(act)
        return self.PHASES[at - 1] if at else None

    def _made(self, debate: Debate, act: Act) -> Mapping[str, Contribution]:
        """What every agent said in that phase, in roster order."""
        turns = {agent.id: turn_of(act, 1, agent.id).key for agent in debate.setup.agents}
        made = {agent: debate.contributions.get(key) for agent, key in turns.items()}
        return {agent: one for agent, one in made.items() if one}
