"""The state of a workspace, plain and savable: team, users, channels, messages, app, files."""

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json

_DIGITS = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_SPREAD = 1_099_511_628_211
_ROOM = 34**8


class User(BaseModel):
    """A person or a bot's user."""

    id: str
    name: str
    real_name: str
    is_bot: bool = False
    #: Name of a time zone.
    tz: str = "Etc/UTC"
    #: An admin deactivated the account.
    is_deleted: bool = False
    #: The other company's workspace of a person in a shared channel; empty: this one.
    home: str = ""


class Pin(BaseModel):
    """A pinned message."""

    ts: str
    user: str
    created: int


class AgentSession(BaseModel):
    """The status of an agent's work in a thread."""

    title: str = ""
    status: str = "active"


class Channel(BaseModel):
    """A channel or a direct conversation; messages by ts, oldest first."""

    id: str
    name: str
    is_private: bool = False
    is_im: bool = False
    is_archived: bool = False
    creator: str = ""
    created: int = 0
    topic: str = ""
    members: list[str] = Field(default_factory=list[str])
    messages: dict[str, Json] = Field(default_factory=dict[str, Json])
    pins: list[Pin] = Field(default_factory=list[Pin])
    #: By the root of the thread.
    sessions: dict[str, AgentSession] = Field(default_factory=dict[str, AgentSession])

    def kind(self) -> Literal["channel", "group", "im"]:
        """Return Slack's `channel_type`."""
        if self.is_im:
            return "im"
        return "group" if self.is_private else "channel"

    def family(self) -> Literal["channels", "groups", "im"]:
        """Return the prefix of the scopes for this kind of channel."""
        if self.is_im:
            return "im"
        return "groups" if self.is_private else "channels"

    def roots(self) -> Iterator[Json]:
        """Yield the messages of the channel's main view: roots and broadcast replies."""
        for message in self.messages.values():
            if not is_reply(message) or message.get("subtype") == "thread_broadcast":
                yield message

    def thread(self, root: str) -> list[Json]:
        """Return a root message and its replies, oldest first."""
        return [
            message
            for message in self.messages.values()
            if message["ts"] == root or message.get("thread_ts") == root
        ]

    def sees(self, user: str) -> bool:
        """Whether a user may read this channel."""
        return user in self.members or not (self.is_private or self.is_im)


def is_reply(message: Json) -> bool:
    return message.get("thread_ts") not in {None, message["ts"]}


class App(BaseModel):
    """An installed app: identity, tokens, and the settings of its manifest."""

    name: str
    id: str = ""
    bot_id: str = ""
    bot_user: str = ""
    bot_token: str = ""
    app_token: str = ""
    signing_secret: str = ""
    verification_token: str = "local-workspace"  # noqa: S105 the old, public one
    scopes: list[str] = Field(default_factory=list[str])
    events: list[str] = Field(default_factory=list[str])
    commands: list[Json] = Field(default_factory=list[Json])
    shortcuts: list[Json] = Field(default_factory=list[Json])
    has_home: bool = False
    is_agent: bool = False
    messages_read_only: bool = False
    request_url: str = ""
    interactivity_url: str = ""
    revoked: bool = False


class StoredFile(BaseModel):
    """An uploaded file; its content is visible after it was shared."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    id: str
    name: str
    title: str
    mimetype: str
    user: str
    created: int
    length: int
    content: bytes = b""
    uploaded: bool = False
    channels: list[str] = Field(default_factory=list[str])


class WorkspaceState(BaseModel):
    """The complete saved state."""

    team_id: str = "T0RIVERSIDE"
    enterprise_id: str = ""
    is_org_wide: bool = False
    team_name: str = "Riverside"
    team_domain: str = "riverside"
    users: dict[str, User] = Field(default_factory=dict[str, User])
    channels: dict[str, Channel] = Field(default_factory=dict[str, Channel])
    app: App
    files: dict[str, StoredFile] = Field(default_factory=dict[str, StoredFile])
    #: The Home of each user.
    homes: dict[str, Json] = Field(default_factory=dict[str, Json])
    last_ts: int = 0
    counter: int = 0

    @model_validator(mode="before")
    @classmethod
    def _read_old(cls, saved: Json) -> Json:
        """Convert a file of version 0.1, which has a table of apps, and Homes by app and user."""
        if "apps" not in saved:
            return saved
        (app,) = saved["apps"].values()
        homes = {key.partition(":")[2]: view for key, view in saved["homes"].items()}
        return {**saved, "app": app, "homes": homes}

    def new_id(self, prefix: str) -> str:
        """Return an id that was never used, for example `C0…`."""
        self.counter += 1
        rest = self.counter * _SPREAD % _ROOM
        letters = list[str]()
        for _ in range(8):
            rest, digit = divmod(rest, len(_DIGITS))
            letters.append(_DIGITS[digit])
        return f"{prefix}0{''.join(letters)}"

    def new_ts(self, now: float) -> str:
        """Return the next message id; later ones sort after earlier ones."""
        self.last_ts = max(self.last_ts + 1, int(now * 1_000_000))
        seconds, micros = divmod(self.last_ts, 1_000_000)
        return f"{seconds}.{micros:06d}"

    def user(self, name: str) -> User:
        """Return a user by id or name."""
        key = name.removeprefix("@")
        for user in self.users.values():
            if key in {user.id, user.name}:
                return user
        raise SlackRefusal("user_not_found")

    def channel(self, name: str) -> Channel:
        """Return a channel by id or name."""
        key = name.removeprefix("#")
        for channel in self.channels.values():
            if key == channel.id or (key == channel.name and not channel.is_im):
                return channel
        raise SlackRefusal("channel_not_found")

    def names(self) -> dict[str, str]:
        """Return the typed form of each mention → Slack's form."""
        users = {f"@{user.name.lower()}": f"<@{user.id}>" for user in self.users.values()}
        channels = {
            f"#{channel.name}": f"<#{channel.id}|{channel.name}>"
            for channel in self.channels.values()
            if not (channel.is_im or channel.is_private)
        }
        return {**users, **channels, "@here": "<!here>", "@channel": "<!channel>"}
