"""The configuration of a workspace: people, channels, the app's manifest, tokens, pace."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slack_on_loopback.rates import SlackPace

BOT_SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "chat:write.customize",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "pins:write",
    "reactions:write",
    "users:read",
)
BOT_EVENTS = (
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "channel_archive",
    "channel_unarchive",
    "member_joined_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "tokens_revoked",
)
DEFAULT_MANIFEST: Mapping[str, Any] = {
    "display_information": {"name": "Echo"},
    "features": {
        "bot_user": {"display_name": "echo", "always_online": True},
        "app_home": {"home_tab_enabled": True},
        "slash_commands": [
            {
                "command": "/echo",
                "description": "Say something again",
                "usage_hint": "<words>",
                "should_escape": True,
            }
        ],
        "shortcuts": [
            {
                "name": "Echo this",
                "type": "message",
                "callback_id": "echo_this",
                "description": "Say this message again",
            }
        ],
    },
    "oauth_config": {"scopes": {"bot": list(BOT_SCOPES)}},
    "settings": {
        "event_subscriptions": {"bot_events": list(BOT_EVENTS)},
        "interactivity": {"is_enabled": True},
        "socket_mode_enabled": True,
    },
}


@dataclass(frozen=True, slots=True)
class UserSpec:
    """A person at the start."""

    name: str
    real_name: str


@dataclass(frozen=True, slots=True)
class ChannelSpec:
    """A channel at the start.

    Attributes:
        name: without `#`.
        private: whether only members see it.
        members: names of people; None for everybody.
        topic: one line.
        with_bot: whether the app is a member from the start.
    """

    name: str
    private: bool = False
    members: tuple[str, ...] | None = None
    topic: str = ""
    with_bot: bool = False


USERS = (
    UserSpec("dana", "Dana"),
    UserSpec("alex", "Alex"),
    UserSpec("sam", "Sam"),
    UserSpec("priya", "Priya"),
)
CHANNELS = (
    ChannelSpec("general", topic="Everybody, everything", with_bot=True),
    ChannelSpec("architecture", topic="Designs and decisions", with_bot=True),
    ChannelSpec("random", topic="Everything else"),
    ChannelSpec("security-review", private=True, members=("dana", "priya"), topic="Members only"),
)


@dataclass(frozen=True, slots=True)
class WorkspaceConfig:
    """The configuration of a workspace.

    Attributes:
        enterprise_id: the organisation (Enterprise Grid) it belongs to; empty: it stands alone.
        is_org_wide: whether the app is installed for the whole organisation.
        manifest: the app's manifest (Slack's schema): name, scopes, events, commands, shortcuts.
        bot_token: fixed xoxb token; empty for a new one at each start, or the saved one.
        app_token: fixed xapp token, likewise.
        signing_secret: for HTTP mode, likewise.
        host: where to listen; loopback.
        port: 0 for any free one.
        pace: rates and deadlines.
        state_file: where the state is saved and read again; None for memory only.
        clock: seconds since the epoch.
        seed: seed of the random numbers in the fault switches.
        ignored_arguments: which unknown arguments of calls are ignored, as Slack does, and not
            refused. Clients that Bolt makes send `team_id` with every call.
    """

    team_name: str = "Riverside"
    team_id: str = "T0RIVERSIDE"
    enterprise_id: str = ""
    is_org_wide: bool = False
    users: tuple[UserSpec, ...] = USERS
    channels: tuple[ChannelSpec, ...] = CHANNELS
    manifest: Mapping[str, Any] = field(default_factory=lambda: DEFAULT_MANIFEST)
    bot_token: str = ""
    app_token: str = ""
    signing_secret: str = ""
    host: str = "127.0.0.1"
    port: int = 0
    pace: SlackPace = field(default_factory=SlackPace)
    state_file: Path | None = None
    clock: Callable[[], float] = time.time
    seed: int = 0
    ignored_arguments: frozenset[str] = frozenset({"team_id"})
