"""A format: an ordered list of steps, and everything that is computed from it (pure).

Ready and planned turns, the inputs of a turn, the parts of its prompt, the agents that still take
part, and their positions all come from the same steps, so they cannot contradict each other.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache, partial

from core.debate.contributions import Contribution
from core.debate.state import Debate, roster
from core.debate.turn import ENGINE, Act, Turn, turn_of
from core.request import Part
from core.rules.agreement import Agreement


class TurnOwner(StrEnum):
    """Whose turns a turn depends on."""

    #: The same agent's.
    OWN = "own"
    #: All other agents'; at least one.
    OTHERS = "others"
    #: All agents'; at least one.
    EVERYBODY = "everybody"
    #: Of the agent whose text the turn is about. It must have written one.
    TARGET = "target"
    #: Of all agents that criticise the same agent; may be none.
    CRITICS = "critics"
    #: Of a step that no agent takes: the facilitator's, or Moot's own.
    SINGLE = "single"


@dataclass(frozen=True)
class After:
    """Earlier turns that a turn depends on: of this act and owner, so many rounds back."""

    act: Act
    owner: TurnOwner
    rounds_back: int = 0


own = partial(After, owner=TurnOwner.OWN)
others = partial(After, owner=TurnOwner.OTHERS)
everybody = partial(After, owner=TurnOwner.EVERYBODY)
target = partial(After, owner=TurnOwner.TARGET)
critics = partial(After, owner=TurnOwner.CRITICS)
single = partial(After, owner=TurnOwner.SINGLE)


#: Returns parts of a turn's prompt.
Show = Callable[["Format", Debate, Turn], Sequence[Part]]
#: Whether a turn takes place; None: not known yet.
Condition = Callable[[Debate, Turn], bool | None]


@dataclass(frozen=True)
class CarriedText:
    """An earlier text that a turn takes over without asking a model."""

    source: After
    #: If any of these turns has a text, a model is asked.
    unless: After | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a round: every agent, or the one in `by`, takes a turn of this act."""

    act: Act
    #: A reserved id, if no agent takes the turn.
    by: str = ""
    #: Turns that must be done before.
    after: tuple[After, ...] = ()
    #: Each agent takes one turn for each other agent, about that agent's text.
    each_other: bool = False
    #: A turn about a text is no longer taken after the text's author has taken this step.
    until: Act | None = None
    only_if: Condition | None = None
    #: The agreement of the positions. It is recorded as the reason if `only_if` is False.
    agreement: Callable[[Debate], Agreement | None] | None = None
    #: An agent is out after so many failed turns in consecutive rounds, or after a failed turn in
    #: round 1. 0: no agent is ever out.
    misses: int = 0
    #: Whether it belongs to the first answers, which are given even if no round is held.
    isolated: bool = False
    #: Whether its text is the agent's position.
    position: bool = False
    #: Whether the text ends with a probability for each option.
    stance: bool = False
    #: Whether it is left out in the last round.
    between_rounds: bool = False
    #: Whether people see it as a phase of the round; else Moot takes it in parallel.
    is_phase: bool = True
    #: Whether its texts of the first round are summarised for the board.
    is_summed_up: bool = False
    carries: CarriedText | None = None
    shows: tuple[Show, ...] = ()

    def turns(
        self, number: int, agents: tuple[str, ...], targets: tuple[str, ...]
    ) -> Mapping[str, Turn]:
        """The step's turns in a round, by their keys."""
        if self.by:
            turn = turn_of(self.act, number, self.by)
            return {turn.key: turn}
        return _turns(self.act, number, agents, targets if self.each_other else None)

    def lost_agents(self, debate: Debate, upto: int | None) -> Collection[str]:
        """Ids of agents that are out because of failed turns, up to a round; see `misses`."""
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
    """One turn of each agent, or one about each other agent's text; cached for every event."""
    subjects = (None,) if targets is None else targets
    pairs = ((agent, subject) for agent in agents for subject in subjects if agent != subject)
    turns = (turn_of(act, number, agent, subject) for agent, subject in pairs)
    return {turn.key: turn for turn in turns}


@dataclass(frozen=True, kw_only=True)
class Format:
    """A way to debate. Rounds count from 1."""

    #: The name in settings and commands.
    name: str
    #: What happens in it, for a menu.
    words: str
    most_rounds: int
    steps: tuple[Step, ...]
    #: Whether the format itself decides when its rounds end.
    ends_itself: bool = True
    #: Whether agents vote on the first answers to decide if a round is held.
    compares_drafts: bool = True
    #: Parts of the prompts of turns outside the steps: ballots and the synthesis.
    shows: Mapping[Act, tuple[Show, ...]] = field(default_factory=dict[Act, tuple[Show, ...]])

    @property
    def phases(self) -> tuple[Act, ...]:
        return tuple(step.act for step in self.steps if step.is_phase)

    @property
    def stance_act(self) -> Act:
        """The act whose texts end with a probability for each option."""
        return next(step.act for step in self.steps if step.stance)

    @property
    def stages(self) -> tuple[Act, ...]:
        """The acts of the first round that are summarised separately."""
        return tuple(step.act for step in self.steps if step.is_summed_up)

    def step_of(self, act: Act) -> Step | None:
        return next((step for step in self.steps if step.act is act), None)

    def takes_stance(self, turn: Turn) -> bool:
        """Whether the text of this turn ends with a probability for each option.

        First answers do not, because there are no options yet.
        """
        step = self.step_of(turn.act)
        return step is not None and step.stance and (turn.round > 1 or not step.isolated)

    def ready(self, debate: Debate, rounds: int) -> Sequence[Turn]:
        """Turns of the first `rounds` rounds that have all inputs and no outcome yet.

        With 0 rounds: the isolated drafts. A round can begin once the one before has an outcome.
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
        """Turns of a round that can be taken now; cached, as later rounds ask for them again."""
        steps = [step for step in self.steps if not (is_last and step.between_rounds)]
        key = ("open", self.name, number, len(steps))
        return debate.cached(key, lambda: tuple(self._open(debate, number, steps)))

    def _open(self, debate: Debate, number: int, steps: Sequence[Step]) -> Iterator[Turn]:
        agents, present = self.alive(debate, number), agents_present(debate, self.alive(debate))
        for step in steps:
            turns = step.turns(number, agents, roster(debate))
            for turn in [turn for key, turn in turns.items() if key not in debate.times]:
                is_late = step.until and debate.is_done(
                    turn_of(step.until, number, turn.target or "")
                )
                takes_place = step.only_if is None or step.only_if(debate, turn)
                if (
                    takes_place
                    and not is_late
                    and all(self._is_met(debate, turn, after, present) for after in step.after)
                ):
                    yield turn

    def _is_met(self, debate: Debate, turn: Turn, after: After, present: Sequence[str]) -> bool:
        """Whether the earlier turns that `after` describes are done."""
        turns = self.turns_of(turn, after, present)
        if after.owner is TurnOwner.TARGET:
            return all(turn.key in debate.contributions for turn in turns)
        if not turns and after.owner in {TurnOwner.OTHERS, TurnOwner.EVERYBODY}:
            return False
        return all(map(debate.is_done, turns))

    def turns_of(self, turn: Turn, after: After, agents: Sequence[str]) -> Sequence[Turn]:
        """The earlier turns that `after` describes for this turn; none before round 1."""
        act, number, own_id = after.act, turn.round - after.rounds_back, turn.agent
        step = self.step_of(act)
        if number < 1 or step is None:
            return ()
        match after.owner:
            case TurnOwner.OWN:
                return (turn_of(act, number, own_id, turn.target if step.each_other else None),)
            case TurnOwner.TARGET:
                return (turn_of(act, number, turn.target or ""),)
            case TurnOwner.SINGLE:
                return (turn_of(act, number, step.by),)
            case TurnOwner.CRITICS:
                return [turn_of(act, number, agent, own_id) for agent in agents if agent != own_id]
            case TurnOwner.OTHERS:
                return [turn_of(act, number, agent) for agent in agents if agent != own_id]
            case TurnOwner.EVERYBODY:
                return [turn_of(act, number, agent) for agent in agents]

    def planned_turns(self, debate: Debate, number: int) -> Sequence[Turn]:
        """All turns of a round that will or may take place, whether they are done or not."""
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
        """Ids of agents that can still speak, in roster order.

        With `upto` only turns that failed up to that round count.
        """

        def agents() -> tuple[str, ...]:
            lost = set(debate.key_refusals)
            for step in self.steps:
                lost.update(step.lost_agents(debate, upto) if step.misses else ())
            return tuple(agent for agent in roster(debate) if agent not in lost)

        return debate.cached(("alive", self.name, upto), agents)

    def positions(self, debate: Debate, upto: int | None = None) -> Mapping[str, Contribution]:
        """The newest position of each agent, up to a round, by agent in roster order."""
        acts = [step.act for step in self.steps if step.position]
        texts = [
            text
            for text in debate.contributions.values()
            if text.turn.act in acts and (upto is None or text.turn.round <= upto)
        ]
        texts.sort(key=lambda text: (text.turn.round, acts.index(text.turn.act)))
        newest = {text.turn.agent: text for text in texts}
        return {agent: newest[agent] for agent in roster(debate) if agent in newest}

    def drafts(self, debate: Debate) -> Mapping[str, Contribution]:
        """The isolated first answers by agent; empty until all present agents' turns are over."""
        act, present = self.phases[0], agents_present(debate, self.alive(debate))
        if not all(debate.is_done(turn_of(act, 1, agent)) for agent in present):
            return {}
        return self.contributions(debate, act)

    def contributions(
        self, debate: Debate, act: Act, number: int = 1
    ) -> Mapping[str, Contribution]:
        """The contributions of one act in a round, by agent in roster order."""
        keys = {agent: turn_of(act, number, agent).key for agent in roster(debate)}
        contributions = debate.contributions
        return {agent: contributions[key] for agent, key in keys.items() if key in contributions}

    def shown_parts(self, debate: Debate, turn: Turn) -> Sequence[Part]:
        """The format's parts of a turn's prompt."""
        step = self.step_of(turn.act)
        shows = step.shows if step else self.shows.get(turn.act, ())
        return [part for show in shows for part in show(self, debate, turn)]

    def inputs(self, debate: Debate, turn: Turn) -> Sequence[str]:
        """Keys of all turns that a turn depends on by its step, whether they exist or not."""
        step, everyone = self.step_of(turn.act), roster(debate)
        inputs = step.after if step else ()
        return [item.key for after in inputs for item in self.turns_of(turn, after, everyone)]

    def carried_over(self, debate: Debate, turn: Turn) -> Contribution | None:
        """The earlier text that this turn takes over unchanged; None if a model must be asked."""
        step = self.step_of(turn.act)
        if step is None or step.carries is None:
            return None
        unless = step.carries.unless
        answers = self.turns_of(turn, unless, roster(debate)) if unless else ()
        if any(answer.key in debate.contributions for answer in answers):
            return None
        sources = self.turns_of(turn, step.carries.source, ())
        return next((debate.contributions.get(source.key) for source in sources), None)

    def longest_chain(self, rounds: int) -> int:
        """The number of model calls that follow one another in so many rounds."""
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
    """The agents among these that the debate waits for.

    It does not wait for agents whose models are unavailable as long as the others have the quorum.
    Their turns stay open; a result that arrives while the debate runs still counts.
    """
    present = [agent for agent in agents if agent not in debate.unavailable_agents]
    return present if len(present) >= debate.setup.quorum else agents
