"""Debates told turn by turn, by the keys of their log, for tests of what a format makes of them."""

from collections.abc import Iterable, Sequence

from core.events import (
    ContributionMade,
    DebateStarted,
    Event,
    FacilitatorDecided,
    TurnFailed,
    fold,
)
from core.models import (
    Act,
    Contribution,
    Debate,
    Failure,
    FailureCause,
    Guidance,
    NextStep,
    Question,
    Setup,
    Turn,
)
from core.testing import a_setup, recorded

AGENTS = ("architect", "security", "simplicity")


def turn(key: str) -> Turn:
    """The turn with this key."""
    number, act, agent, *target = key.split("/")
    return Turn(act=Act(act), round=int(number[1:]), agent=agent, target=next(iter(target), None))


def said(*keys: str) -> Sequence[Event]:
    """Contributions on these turns; each one's text is the key of its turn."""
    return [ContributionMade(contribution=Contribution(turn=turn(k), text=k)) for k in keys]


def wording(key: str, text: str) -> Event:
    """A contribution in these very words."""
    return ContributionMade(contribution=Contribution(turn=turn(key), text=text))


def failed(*keys: str, cause: FailureCause = FailureCause.PASSING) -> Sequence[Event]:
    """Turns that came to nothing."""
    return [TurnFailed(failure=Failure(turn=turn(k), reason="down", cause=cause)) for k in keys]


def refused(key: str) -> Sequence[Event]:
    """A turn whose provider refused the key."""
    return failed(key, cause=FailureCause.KEY)


def decided(
    number: int, step: NextStep, *, focus: str = "", question: Question | None = None
) -> Event:
    """What the facilitator said after a round."""
    made = turn(f"r{number}/facilitation/facilitator")
    guidance = Guidance(turn=made, next_step=step, focus=focus, question=question)
    return FacilitatorDecided(guidance=guidance)


def a_format_setup(form: str, *, rounds: int = 3, **changes: object) -> Setup:
    """A setup of this format, with changes."""
    setup = a_setup(agents=AGENTS, rounds=rounds)
    return setup.model_copy(update={"format": form, "rounds": rounds, **changes})


def told(setup: Setup, *events: Event) -> Debate:
    """The debate in which this happened, a second apart."""
    return fold(recorded([DebateStarted(setup=setup), *events]))


def keys(turns: Iterable[Turn]) -> list[str]:
    """The turns by their keys, in order."""
    return [each.key for each in turns]


def of_all(form: str) -> list[str]:
    """The same turn of every agent, `*` standing for its id: `r1/proposal/*`."""
    return [form.replace("*", agent) for agent in AGENTS]
