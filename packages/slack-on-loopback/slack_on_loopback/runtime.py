"""The shared state of a running workspace."""

from dataclasses import dataclass, field

from slack_on_loopback.call_log import CallLog
from slack_on_loopback.config import WorkspaceConfig
from slack_on_loopback.delivery import Dispatcher
from slack_on_loopback.errors import RateLimited
from slack_on_loopback.faults import Faults
from slack_on_loopback.feed import ChangeSignal, PageFeed
from slack_on_loopback.guide import Guide
from slack_on_loopback.http_mode import HttpTransport
from slack_on_loopback.json_values import Json, text_at
from slack_on_loopback.rates import Bucket, Rate, draw, full
from slack_on_loopback.socket_mode import SocketTransport
from slack_on_loopback.state import App, Channel, WorkspaceState
from slack_on_loopback.triggers import ResponseUrls, Triggers


@dataclass(slots=True)
class Runtime:
    """The saved state, and the volatile state.

    Attributes:
        base_url: where the workspace listens, without a slash at the end.
        modals: the form that each user has open.
        ephemeral: messages only one person sees (their `viewer`); gone at a restart.
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
    modals: dict[str, Json] = field(default_factory=dict[str, Json])
    ephemeral: list[Json] = field(default_factory=list[Json])
    buckets: dict[str, Bucket] = field(default_factory=dict[str, Bucket])
    dirty: bool = False
    sockets: SocketTransport = field(init=False)
    http: HttpTransport = field(init=False)
    dispatcher: Dispatcher = field(init=False)

    def __post_init__(self):
        self.sockets = SocketTransport(self.app.id, self.tell_app)
        self.http = HttpTransport(self.app, self.now)
        self.dispatcher = Dispatcher(
            [self.sockets, self.http], self.config.pace, self.notify_change
        )

    @property
    def app(self) -> App:
        return self.state.app

    @property
    def connected(self) -> bool:
        """Whether the app can be reached."""
        return self.sockets.ready() or self.http.ready()

    def now(self) -> float:
        """Return the time in seconds since the epoch."""
        return self.config.clock()

    def new_ts(self) -> str:
        """Return the id of a message or event that happens now."""
        return self.state.new_ts(self.now())

    def notify_change(self) -> None:
        """Mark the state for saving, and wake waiting callers."""
        self.dirty = True
        self.change_signal.notify()

    def charge(self, name: str, rate: Rate) -> None:
        """Take one token from a bucket of the app.

        Raises:
            RateLimited: the bucket is empty.
        """
        now = self.now()
        bucket = self.buckets.get(name) or full(rate, now)
        self.buckets[name], wait = draw(bucket, rate, now)
        if wait:
            raise RateLimited(wait)

    def tell(self, channel: Channel, event: Json) -> None:
        """Send an event to all pages that may read a channel."""
        self.feed.tell(event, channel.sees)
        self.notify_change()

    def tell_app(self) -> None:
        """Send the app to every page, with whether it is connected."""
        app = self.page_app()
        self.feed.tell_each(lambda _: {"type": "app", "app": app})
        self.notify_change()

    def page_app(self) -> Json:
        """Return the app as the page shows it."""
        return {
            "id": self.app.id,
            "name": self.app.name,
            "connected": self.connected and not self.app.revoked,
            "commands": [text_at(command, "command") for command in self.app.commands],
            "shortcuts": [
                {"name": text_at(item, "name"), "callback_id": text_at(item, "callback_id")}
                for item in self.app.shortcuts
            ],
            "has_home": self.app.has_home,
        }
