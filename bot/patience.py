"""How long Moot takes at most while somebody waits for its answer.

Slack waits three seconds for the answer to a command, a click or a form, then it tells who did it
that it failed: https://docs.slack.dev/interactivity/handling-user-interaction
"""

from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Patience:
    """Seconds; the values that are built in keep Slack's three."""

    #: A person is answered after so long, whatever has been done.
    answer: float = 2.5
    #: Slack may take so long to answer one call of ours.
    call: float = 1.0
    #: Whether somebody is in a channel can take several calls.
    membership: float = 1.4
    #: A thread of people's own is read for so long, and then asked for so long who they are.
    thread: float = 1.3
    names: float = 0.7
    #: An estimate for a program that starts a debate: its call is answered within one second.
    estimate: float = 0.6
    #: One part of what `/health` looks at: `moot health` and load balancers wait for about five.
    check: float = 3.0

    def times(self, factor: float) -> "Patience":
        """Return so many times of each."""
        return Patience(**{one.name: factor * getattr(self, one.name) for one in fields(self)})


#: What holds where Slack is real.
USUAL = Patience()
