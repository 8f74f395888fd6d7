"""How long Moot takes at most while somebody waits for its answer.

Slack waits three seconds for the answer to a command, a click or a form, then it tells who did it
that it failed: https://docs.slack.dev/interactivity/handling-user-interaction
"""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """Seconds; the defaults keep within Slack's three."""

    #: A person is answered after so long, whatever has been done.
    answer: float = 2.5
    #: One call of Slack's API.
    call: float = 1.0
    #: Whether somebody is in a channel, which can take several calls.
    membership: float = 1.4
    #: A thread of people's own is read for so long, then their names are asked for so long.
    thread: float = 1.3
    names: float = 0.7
    #: One part of `/health`: `moot health` and load balancers wait for about five.
    check: float = 3.0

    def scaled(self, factor: float) -> "Timeouts":
        return Timeouts(**{name: factor * seconds for name, seconds in asdict(self).items()})


DEFAULT_TIMEOUTS = Timeouts()
