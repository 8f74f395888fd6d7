"""The app's access to channels, by membership and scope.

Source: the error lists of https://docs.slack.dev/reference/methods.
"""

from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import App, Channel, User


def need_scope(app: App, *any_of: str) -> None:
    """Refuse with missing_scope unless the app has one of the scopes."""
    if any_of and not set(any_of) & set(app.scopes):
        raise SlackRefusal("missing_scope", needed=",".join(any_of), provided=",".join(app.scopes))


def visible_channel(runtime: Runtime, channel_id: str) -> Channel:
    """Return a channel that the app may see; by id only, as on Slack."""
    channel = runtime.state.channels.get(channel_id)
    if channel is None or not channel.sees(runtime.app.bot_user):
        raise SlackRefusal("channel_not_found")
    return channel


def known_user(runtime: Runtime, user_id: str) -> User:
    """Return a user; by id only, as on Slack."""
    if user_id not in runtime.state.users:
        raise SlackRefusal("user_not_found")
    return runtime.state.users[user_id]


def joined_channel(runtime: Runtime, channel_id: str) -> Channel:
    """Return a channel that the app is in."""
    channel = visible_channel(runtime, channel_id)
    _require_member(runtime, channel)
    return channel


def readable_channel(runtime: Runtime, channel_id: str) -> Channel:
    """Return a channel whose messages the app may read."""
    channel = visible_channel(runtime, channel_id)
    need_scope(runtime.app, f"{channel.family()}:history")
    _require_member(runtime, channel)
    return channel


def postable_channel(runtime: Runtime, channel_id: str) -> Channel:
    """Return a channel the app may post to; chat:write.public opens public ones."""
    channel = visible_channel(runtime, channel_id)
    require_open(channel)
    if channel.is_private or "chat:write.public" not in runtime.app.scopes:
        _require_member(runtime, channel)
    return channel


def require_open(channel: Channel) -> None:
    """Refuse an archived channel."""
    if channel.is_archived:
        raise SlackRefusal("is_archived")


def _require_member(runtime: Runtime, channel: Channel) -> None:
    if runtime.app.bot_user not in channel.members:
        raise SlackRefusal("not_in_channel")
