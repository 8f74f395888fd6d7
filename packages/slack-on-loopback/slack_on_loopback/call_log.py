"""The log of all Web API calls with their outcomes."""

from dataclasses import dataclass, field

from slack_on_loopback.json_values import Json

MOST_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """One call.

    Attributes:
        method: the Web API method.
        args: its arguments without the token.
        outcome: `ok`, Slack's error code, or the injected fault.
        at: seconds since the epoch.
    """

    method: str
    args: Json
    outcome: str
    at: float


@dataclass(slots=True)
class CallLog:
    """The calls since the start, oldest first; the newest 20,000 at most."""

    entries: list[LoggedCall] = field(default_factory=list[LoggedCall])

    def add(self, entry: LoggedCall) -> None:
        self.entries.append(entry)
        if len(self.entries) > MOST_ENTRIES:
            del self.entries[: MOST_ENTRIES // 10]

    def of(self, method: str, outcome: str | None = None) -> list[LoggedCall]:
        """Return the calls of a method, optionally only those with an outcome."""
        return [
            entry
            for entry in self.entries
            if entry.method == method and outcome in {None, entry.outcome}
        ]
