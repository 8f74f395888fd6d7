"""Builders of events by the keys of their turns, and of debates from events."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from core.debate.contributions import Contribution, Failure
from core.debate.debate_events import DebateStarted
from core.debate.log import Event, fold
from core.debate.setup import Setup
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import (
    BallotCast,
    ContributionMade,
    FacilitatorDecided,
    OptionsMerged,
    TurnFailed,
)
from core.debate.vote import Ballot, Guidance, NextStep, Option, Options, QuestionKind
from core.testing import a_setup, log_of

AGENTS = ("architect", "security", "simplicity")


def turn(key: str) -> Turn:
    """The turn with this key."""
    number, act, agent, *target = key.split("/")
    return Turn(act=Act(act), round=int(number[1:]), agent=agent, target=next(iter(target), None))


def speeches(*keys: str) -> Sequence[Event]:
    """Contributions on these turns; each one's text is the key of its turn."""
    return [wording(key, key) for key in keys]


def wording(key: str, text: str, stance: Mapping[str, float] | None = None) -> Event:
    """A contribution with this text and stance."""
    contribution = Contribution(turn=turn(key), text=text, stance=stance or {})
    return ContributionMade(contribution=contribution)


def options(
    *names: str,
    kind: QuestionKind = QuestionKind.CHOICE,
    stances: Mapping[str, str] = MappingProxyType({}),
) -> Event:
    """Options with ids o1, o2 and so on; by default every draft is for the first."""
    merged = Options(
        turn=turn("r0/options/summarizer"),
        question_kind=kind,
        items=tuple(Option(id=f"o{n}", name=name) for n, name in enumerate(names, start=1)),
        stances={**dict.fromkeys(AGENTS, "o1"), **stances},
    )
    return OptionsMerged(options=merged)


def voted(number: int, agent: str, **shares: float) -> Event:
    """A ballot with these probabilities."""
    ballot = Ballot(turn=turn(f"r{number}/ballot/{agent}"), ranking=AGENTS, probabilities=shares)
    return BallotCast(ballot=ballot)


def failed(*keys: str) -> Sequence[Event]:
    """Failures of these turns."""
    return [TurnFailed(failure=Failure(turn=turn(key), reason="down")) for key in keys]


def decided(number: int, step: NextStep) -> Event:
    """The facilitator's decision after a round."""
    facilitation = turn(f"r{number}/facilitation/facilitator")
    return FacilitatorDecided(guidance=Guidance(turn=facilitation, next_step=step))


def a_format_setup(form: str, *, rounds: int = 3, **changes: object) -> Setup:
    """A setup of this format, with changes."""
    setup = a_setup(agents=AGENTS, rounds=rounds)
    return setup.model_copy(update={"format": form, "rounds": rounds, **changes})


def debate_with(setup: Setup, *events: Event) -> Debate:
    """The debate after these events, each a second after the one before."""
    return fold(log_of([DebateStarted(setup=setup), *events]))


def of_all(form: str) -> list[str]:
    """The keys of all agents' turns; `*` is replaced by the agent's id: `r1/proposal/*`."""
    return [form.replace("*", agent) for agent in AGENTS]
