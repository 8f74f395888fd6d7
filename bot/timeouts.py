"""Time limits of work that somebody waits for.

Slack waits three seconds for the answer to a command, a click or a form, and then shows an error to
the person: https://docs.slack.dev/interactivity/handling-user-interaction
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """Seconds; the defaults keep within Slack's three."""

    #: A person gets an answer after this time, even if the work is not done.
    answer: float = 2.5
    #: One call of Slack's Web API.
    call: float = 1.0
    #: The check whether a person is in a channel, which can take several calls.
    membership: float = 1.4
    #: Reading a thread as a source, and then reading the names of its people.
    thread: float = 1.3
    names: float = 0.7
    #: One part of `/health`; `moot health` and load balancers wait about five seconds.
    check: float = 3.0


DEFAULT_TIMEOUTS = Timeouts()
