"""Short-lived ids for apps: trigger ids (once, 3 s) and response URLs (5 posts, 30 min).

Source: https://docs.slack.dev/interactivity/handling-user-interaction
"""

import secrets
from dataclasses import dataclass, field

from slack_on_loopback.errors import SlackRefusal


@dataclass(slots=True)
class Trigger:
    """A trigger id: an action of a person that may open a view.

    Attributes:
        user: the person.
        expires: seconds since the epoch.
        used: whether a view was opened with it.
    """

    user: str
    expires: float
    used: bool = False


@dataclass(slots=True)
class Triggers:
    issued: dict[str, Trigger] = field(default_factory=dict[str, Trigger])

    def issue(self, trigger: Trigger) -> str:
        """Return a new trigger_id."""
        trigger_id = f"{len(self.issued) + 1}.{int(trigger.expires)}.{secrets.token_hex(16)}"
        self.issued[trigger_id] = trigger
        return trigger_id

    def exchange(self, trigger_id: str, now: float) -> Trigger:
        trigger = self.issued.get(trigger_id)
        if trigger is None:
            raise SlackRefusal("invalid_trigger_id")
        if trigger.used:
            raise SlackRefusal("exchanged_trigger_id")
        if now > trigger.expires:
            raise SlackRefusal("expired_trigger_id")
        trigger.used = True
        return trigger


@dataclass(slots=True)
class ResponseUrl:
    """A URL to answer one person's command or click.

    Attributes:
        expires: seconds since the epoch.
        left: how many posts remain.
        source_ts: the message clicked; empty for a command.
    """

    channel: str
    user: str
    expires: float
    left: int
    source_ts: str = ""


@dataclass(slots=True)
class ResponseUrls:
    issued: dict[str, ResponseUrl] = field(default_factory=dict[str, ResponseUrl])

    def issue(self, url: ResponseUrl) -> str:
        """Return the id of a new one."""
        name = secrets.token_urlsafe(18)
        self.issued[name] = url
        return name

    def use(self, name: str, now: float) -> ResponseUrl:
        """Count one post."""
        url = self.issued.get(name)
        if url is None:
            raise SlackRefusal("invalid_url")
        if now > url.expires:
            raise SlackRefusal("expired_url")
        if url.left <= 0:
            raise SlackRefusal("used_url")
        url.left -= 1
        return url
