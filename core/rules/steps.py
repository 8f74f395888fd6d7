"""A format is an ordered list of steps; what it does in a debate is read off the list (pure).

Which turns are ready or planned, what a turn depends on and is shown, who still takes part, what
an agent's position is: each is a reading of the same steps, so none of them can contradict another.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache, partial

from core.debate.contributions import Contribution
from core.debate.state import Debate, once_per_sources
from core.debate.turn import ENGINE, Act, Turn, turn_of
from core.request import Part
from core.rules.agreement import Agreement


class TurnOwner(StrEnum):
    OWN = "own"
    #: All agents but its own; at least one.
    OTHERS = "others"
    #: All agents; at least one.
    EVERYBODY = "everybody"
    #: The agent whose text it is about, who must have written it.
    TARGET = "target"
    #: All agents that criticise its agent, or none.
    CRITICS = "critics"
    #: Of the one that takes the step: the facilitator, Moot itself.
    SINGLE = "single"


@dataclass(frozen=True)
class After:
    act: Act
    whose: TurnOwner
    rounds_back: int = 0


own = partial(After, whose=TurnOwner.OWN)
others = partial(After, whose=TurnOwner.OTHERS)
everybody = partial(After, whose=TurnOwner.EVERYBODY)
target = partial(After, whose=TurnOwner.TARGET)
critics = partial(After, whose=TurnOwner.CRITICS)
single = partial(After, whose=TurnOwner.SINGLE)


#: Parts of a prompt: what a turn is shown.
Show = Callable[["Format", Debate, Turn], Sequence[Part]]
#: Whether a turn takes place; None: that is not known yet.
Condition = Callable[[Debate, Turn], bool | None]


@dataclass(frozen=True)
class CarriedText:
    source: After
    #: Only where nothing was said on these turns.
    unless: After | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a round: every agent, or the one in `by`, takes a turn of this act."""

    act: Act
    #: A reserved id, where no agent takes the turn.
    by: str = ""
    after: tuple[After, ...] = ()
    #: One turn for each other agent, about that agent's text.
    each_other: bool = False
    #: An agent's turns about a text are not begun any more once its author has taken this step.
    until: Act | None = None
    only_if: Condition | None = None
    #: How far positions agree: where `only_if` says no, the step is left out because of it.
    agreement: Callable[[Debate], Agreement | None] | None = None
    #: Turns missed in a row that take an agent out; that of round 1 always does. 0: nobody is out.
    misses: int = 0
    #: Belongs to the first answers, which are given also where no round is held.
    isolated: bool = False
    #: What is said on it is its agent's position.
    position: bool = False
    #: The agent says at its end how likely it holds each option the best.
    stance: bool = False
    #: Is left out in the last round.
    between_rounds: bool = False
    #: People read of it as a phase of the round; else Moot takes it beside the agents.
    is_phase: bool = True
    #: Once it is over in the first round, what was said on it is summed up for the board.
    is_summed_up: bool = False
    carries: CarriedText | None = None
    shows: tuple[Show, ...] = ()

    def turns(
        self, number: int, agents: tuple[str, ...], targets: tuple[str, ...]
    ) -> Mapping[str, Turn]:
        if self.by:
            turn = turn_of(self.act, number, self.by)
            return {turn.key: turn}
        return _turns(self.act, number, agents, targets if self.each_other else None)

    def lost_agents(self, debate: Debate, upto: int | None) -> Collection[str]:
        missed = dict[str, set[int]]()
        for turn in (failure.turn for failure in debate.failures.values()):
            if turn.act is self.act and (upto is None or turn.round <= upto):
                missed.setdefault(turn.agent, set()).add(turn.round)
        return [
            agent
            for agent, rounds in missed.items()
            if 1 in rounds or any(rounds.issuperset(range(n, n + self.misses)) for n in rounds)
        ]


@lru_cache(maxsize=1000)
def _turns(
    act: Act, number: int, agents: tuple[str, ...], targets: tuple[str, ...] | None
) -> Mapping[str, Turn]:
    """One turn of each agent, or one about each target but itself; asked for at every event."""
    subjects = (None,) if targets is None else targets
    pairs = ((agent, other) for agent in agents for other in subjects if agent != other)
    turns = (turn_of(act, number, agent, other) for agent, other in pairs)
    return {turn.key: turn for turn in turns}


@dataclass(frozen=True, kw_only=True)
class Format:
    """A way to debate. Rounds count from 1."""

    #: What settings and people call it.
    name: str
    most_rounds: int
    steps: tuple[Step, ...]
    #: Whether the format itself says when its rounds end.
    ends_itself: bool = True
    #: Whether first answers are voted on and compared, to see if a round is worth holding.
    compares_drafts: bool = True
    #: What turns outside the steps are shown: voters, the judge.
    shows: Mapping[Act, tuple[Show, ...]] = field(default_factory=dict[Act, tuple[Show, ...]])

    @property
    def phases(self) -> tuple[Act, ...]:
        return tuple(step.act for step in self.steps if step.is_phase)

    @property
    def stance_act(self) -> Act:
        """The act at whose end an agent says how likely it holds each option the best."""
        return next(step.act for step in self.steps if step.stance)

    @property
    def stages(self) -> tuple[Act, ...]:
        """The acts of the first round that are summed up by themselves."""
        return tuple(step.act for step in self.steps if step.is_summed_up)

    def step_of(self, act: Act) -> Step | None:
        return next((step for step in self.steps if step.act is act), None)

    def takes_stance(self, turn: Turn) -> bool:
        """Whether the agent says on this turn how likely it holds each option the best.

        First answers are given before there are options.
        """
        step = self.step_of(turn.act)
        return step is not None and step.stance and (turn.round > 1 or not step.isolated)

    def ready(self, debate: Debate, rounds: int) -> Sequence[Turn]:
        """Turns of the first `rounds` rounds whose inputs exist and which have no outcome yet.

        Of 0 rounds: the isolated drafts. A round begins with what came of the one before.
        """
        if not rounds:
            isolated = [step for step in self.steps if step.isolated]
            return tuple(self._open(debate, 1, isolated))
        last = min(rounds, self.most_rounds)
        return tuple(
            turn
            for number in range(1, last + 1)
            if number == 1 or debate.has_begun(number - 1)
            for turn in self._open_in(debate, number, is_last=number == last)
        )

    def _open_in(self, debate: Debate, number: int, *, is_last: bool) -> Sequence[Turn]:
        """Turns of a round that can be taken now; asked for again with every further round."""
        steps = [step for step in self.steps if not (is_last and step.between_rounds)]
        key = ("open", self.name, number, len(steps))
        return debate.once(key, lambda: tuple(self._open(debate, number, steps)))

    def _open(self, debate: Debate, number: int, steps: Sequence[Step]) -> Iterator[Turn]:
        able, present = self.alive(debate, number), agents_present(debate, self.alive(debate))
        for step in steps:
            turns = step.turns(number, able, _roster(debate))
            for turn in [turn for key, turn in turns.items() if key not in debate.times]:
                is_late = step.until and debate.is_done(
                    turn_of(step.until, number, turn.target or "")
                )
                is_held = step.only_if is None or step.only_if(debate, turn)
                if (
                    is_held
                    and not is_late
                    and all(self._is_met(debate, turn, after, present) for after in step.after)
                ):
                    yield turn

    def _is_met(self, debate: Debate, turn: Turn, after: After, present: Sequence[str]) -> bool:
        """Whether all is there of what a turn waits for."""
        turns = self.turns_of(turn, after, present)
        if after.whose is TurnOwner.TARGET:
            return all(turn.key in debate.contributions for turn in turns)
        if not turns and after.whose in {TurnOwner.OTHERS, TurnOwner.EVERYBODY}:
            return False
        return all(map(debate.is_done, turns))

    def turns_of(self, turn: Turn, after: After, agents: Sequence[str]) -> Sequence[Turn]:
        """The turns that are meant, seen from a turn; none before round 1."""
        act, number, me = after.act, turn.round - after.rounds_back, turn.agent
        step = self.step_of(act)
        if number < 1 or step is None:
            return ()
        match after.whose:
            case TurnOwner.OWN:
                return (turn_of(act, number, me, turn.target if step.each_other else None),)
            case TurnOwner.TARGET:
                return (turn_of(act, number, turn.target or ""),)
            case TurnOwner.SINGLE:
                return (turn_of(act, number, step.by),)
            case TurnOwner.CRITICS:
                return [turn_of(act, number, agent, me) for agent in agents if agent != me]
            case TurnOwner.OTHERS:
                return [turn_of(act, number, agent) for agent in agents if agent != me]
            case TurnOwner.EVERYBODY:
                return [turn_of(act, number, agent) for agent in agents]

    def planned_turns(self, debate: Debate, number: int) -> Sequence[Turn]:
        last, agents = min(debate.setup.rounds, self.most_rounds), self.alive(debate)
        if number > self.most_rounds:
            return ()
        return tuple(
            turn
            for step in self.steps
            if step.is_phase and not (step.between_rounds and number >= last)
            for turn in step.turns(number, agents, agents).values()
            if step.only_if is None or step.only_if(debate, turn) is not False
        )

    def alive(self, debate: Debate, upto: int | None = None) -> tuple[str, ...]:
        """Ids of agents that can still speak after what was missed up to a round, by the roster."""

        def those_left() -> tuple[str, ...]:
            lost = set(debate.key_refusals)
            for step in self.steps:
                lost.update(step.lost_agents(debate, upto) if step.misses else ())
            return tuple(agent for agent in _roster(debate) if agent not in lost)

        return debate.once(("alive", self.name, upto), those_left)

    def positions(self, debate: Debate, upto: int | None = None) -> Mapping[str, Contribution]:
        """The newest position of every agent that has one, up to a round, in roster order."""
        acts = [step.act for step in self.steps if step.position]
        texts = [
            text
            for text in debate.contributions.values()
            if text.turn.act in acts and (upto is None or text.turn.round <= upto)
        ]
        texts.sort(key=lambda text: (text.turn.round, acts.index(text.turn.act)))
        newest = {text.turn.agent: text for text in texts}
        return {agent: newest[agent] for agent in _roster(debate) if agent in newest}

    def drafts(self, debate: Debate) -> Mapping[str, Contribution]:
        """The positions taken in isolation; empty while one can still come."""
        act, present = self.phases[0], agents_present(debate, self.alive(debate))
        if not all(debate.is_done(turn_of(act, 1, agent)) for agent in present):
            return {}
        return self.contributions(debate, act)

    def contributions(
        self, debate: Debate, act: Act, number: int = 1
    ) -> Mapping[str, Contribution]:
        """Every agent's contribution of that step of a round, in roster order."""
        keys = {agent: turn_of(act, number, agent).key for agent in _roster(debate)}
        said = debate.contributions
        return {agent: said[key] for agent, key in keys.items() if key in said}

    def shown_parts(self, debate: Debate, turn: Turn) -> Sequence[Part]:
        step = self.step_of(turn.act)
        shows = step.shows if step else self.shows.get(turn.act, ())
        return [part for show in shows for part in show(self, debate, turn)]

    def inputs(self, debate: Debate, turn: Turn) -> Sequence[str]:
        """Keys of all outcomes that a turn of these steps comes after, by the steps alone."""
        step, everyone = self.step_of(turn.act), _roster(debate)
        inputs = step.after if step else ()
        return [item.key for after in inputs for item in self.turns_of(turn, after, everyone)]

    def carried_over(self, debate: Debate, turn: Turn) -> Contribution | None:
        """What this turn can take over unchanged, without asking a model; None if it must ask."""
        step = self.step_of(turn.act)
        if step is None or step.carries is None:
            return None
        unless = step.carries.unless
        answers = self.turns_of(turn, unless, _roster(debate)) if unless else ()
        if any(answer.key in debate.contributions for answer in answers):
            return None
        sources = self.turns_of(turn, step.carries.source, ())
        return next((debate.contributions.get(source.key) for source in sources), None)

    def longest_chain(self, rounds: int) -> int:
        last = min(rounds, self.most_rounds)
        return sum(
            1
            for number in range(1, last + 1)
            for step in self.steps
            if step.by != ENGINE
            and not (step.between_rounds and number == last)
            and not (number > 1 and step.carries and step.carries.source.rounds_back)
        )


def agents_present(debate: Debate, agents: Sequence[str]) -> Sequence[str]:
    """Those of these agents whom the others wait for.

    An agent whose model is away holds nobody up while the quorum is there without it. Its turns
    stay open: what comes of them while the debate runs still counts.
    """
    present = [agent for agent in agents if agent not in debate.unavailable_agents]
    return present if len(present) >= debate.setup.quorum else agents


@once_per_sources
def _roster(debate: Debate) -> tuple[str, ...]:
    return tuple(agent.id for agent in debate.setup.agents)
