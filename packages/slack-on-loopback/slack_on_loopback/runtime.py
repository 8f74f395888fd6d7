"""Everything the parts of a workspace share while it runs."""

from collections.abc import Callable
from dataclasses import dataclass, field

from slack_on_loopback.call_log import CallLog
from slack_on_loopback.config import WorkspaceConfig
from slack_on_loopback.delivery import Dispatcher
from slack_on_loopback.errors import RateLimited
from slack_on_loopback.faults import Faults
from slack_on_loopback.feed import ChangeSignal, PageFeed
from slack_on_loopback.guide import Guide
from slack_on_loopback.http_mode import HttpTransport
from slack_on_loopback.json_values import Json
from slack_on_loopback.rates import Bucket, Rate, draw, full
from slack_on_loopback.socket_mode import SocketTransport
from slack_on_loopback.state import App, Channel, WorkspaceState
from slack_on_loopback.triggers import ResponseUrls, Triggers


@dataclass(slots=True)
class AppConnections:
    """The connections to one app."""

    sockets: SocketTransport
    http: HttpTransport
    dispatcher: Dispatcher


@dataclass(slots=True)
class Runtime:
    """The state, and what is going on in it that is not worth saving.

    Attributes:
        base_url: where the workspace listens, without a slash at the end.
        modals: the form that each user has open.
        ephemeral: messages only one person sees (their `viewer`); gone at a restart.
        typed: what people chose in messages and views: (user, container) → block → action → value.
        dirty: whether the state has changed since it was saved.
    """

    config: WorkspaceConfig
    state: WorkspaceState
    faults: Faults
    base_url: str = ""
    guide: Guide = field(default_factory=Guide)
    feed: PageFeed = field(default_factory=PageFeed)
    change_signal: ChangeSignal = field(default_factory=ChangeSignal)
    calls: CallLog = field(default_factory=CallLog)
    triggers: Triggers = field(default_factory=Triggers)
    response_urls: ResponseUrls = field(default_factory=ResponseUrls)
    connections: dict[str, AppConnections] = field(default_factory=dict[str, AppConnections])
    modals: dict[str, Json] = field(default_factory=dict[str, Json])
    ephemeral: list[Json] = field(default_factory=list[Json])
    typed: dict[tuple[str, str], Json] = field(default_factory=dict[tuple[str, str], Json])
    buckets: dict[tuple[str, str], Bucket] = field(default_factory=dict[tuple[str, str], Bucket])
    dirty: bool = False

    def now(self) -> float:
        """Return the time in seconds since the epoch."""
        return self.config.clock()

    def notify_change(self) -> None:
        """Say that something has changed."""
        self.dirty = True
        self.change_signal.notify()

    def charge(self, app_id: str, name: str, rate: Rate) -> None:
        """Take one token from an app's bucket.

        Raises:
            RateLimited: it is empty.
        """
        now, key = self.now(), (app_id, name)
        bucket = self.buckets.get(key) or full(rate, now)
        self.buckets[key], wait = draw(bucket, rate, now)
        if wait:
            raise RateLimited(wait)

    def tell(self, channel: Channel, event: Json) -> None:
        """Show something to everybody who may read a channel."""
        self.feed.tell(event, channel.sees)
        self.notify_change()

    def apps_where(self, test: Callable[[App], bool]) -> list[App]:
        """Return the installed apps that pass a test."""
        return [app for app in self.state.apps.values() if not app.revoked and test(app)]


def connect_apps(runtime: Runtime) -> None:
    """Give every app its sockets, HTTP client and dispatcher."""
    for app in runtime.state.apps.values():
        sockets = SocketTransport(app.id, runtime.notify_change)
        http = HttpTransport(app, runtime.now)
        dispatcher = Dispatcher([sockets, http], runtime.config.pace, runtime.notify_change)
        runtime.connections[app.id] = AppConnections(sockets, http, dispatcher)
