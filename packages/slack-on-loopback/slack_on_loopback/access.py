"""What an app may touch: channels by membership and scope.

Source: the error lists of https://docs.slack.dev/reference/methods.
"""

from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import App, Channel, User


def need_scope(app: App, *any_of: str) -> None:
    """Check that an app has one of the scopes.

    Raises:
        SlackRefusal: missing_scope with what is needed and what is provided.
    """
    if any_of and not set(any_of) & set(app.scopes):
        raise SlackRefusal("missing_scope", needed=",".join(any_of), provided=",".join(app.scopes))


def visible_channel(runtime: Runtime, app: App, channel_id: str) -> Channel:
    """Return a channel that the app may know of; by id only, as on Slack.

    Raises:
        SlackRefusal: channel_not_found, also for a private channel without the app.
    """
    channel = runtime.state.channels.get(channel_id)
    if channel is None or not channel.sees(app.bot_user):
        raise SlackRefusal("channel_not_found")
    return channel


def known_user(runtime: Runtime, user_id: str) -> User:
    """Return a user; by id only, as on Slack.

    Raises:
        SlackRefusal: user_not_found.
    """
    if user_id not in runtime.state.users:
        raise SlackRefusal("user_not_found")
    return runtime.state.users[user_id]


def readable_channel(runtime: Runtime, app: App, channel_id: str) -> Channel:
    """Return a channel whose messages the app may read.

    Raises:
        SlackRefusal: channel_not_found, missing_scope, not_in_channel.
    """
    channel = visible_channel(runtime, app, channel_id)
    need_scope(app, f"{channel.family()}:history")
    require_member(app, channel)
    return channel


def require_member(app: App, channel: Channel) -> None:
    """Check the app's membership.

    Raises:
        SlackRefusal: not_in_channel.
    """
    if app.bot_user not in channel.members:
        raise SlackRefusal("not_in_channel")


def require_open(channel: Channel) -> None:
    """Check that a channel is not archived.

    Raises:
        SlackRefusal: is_archived.
    """
    if channel.is_archived:
        raise SlackRefusal("is_archived")


def postable_channel(runtime: Runtime, app: App, channel_id: str) -> Channel:
    """Return a channel the app may post to; chat:write.public opens public ones.

    Raises:
        SlackRefusal: channel_not_found, is_archived, not_in_channel, messages_tab_disabled.
    """
    channel = visible_channel(runtime, app, channel_id)
    require_open(channel)
    if channel.is_private or "chat:write.public" not in app.scopes:
        require_member(app, channel)
    if channel.is_im and not app.messages_tab:
        raise SlackRefusal("messages_tab_disabled")
    return channel
