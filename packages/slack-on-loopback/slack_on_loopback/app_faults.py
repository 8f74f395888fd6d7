"""Faults that happen at once: sockets cut, tokens revoked, the app removed, pins used up."""

from slack_on_loopback import channels, events, posting
from slack_on_loopback.json_values import Json
from slack_on_loopback.page_apps import tell_apps
from slack_on_loopback.rules import MOST_PINS
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.socket_mode import DisconnectReason
from slack_on_loopback.state import App, Channel


async def disconnect(runtime: Runtime, app: App, reason: DisconnectReason) -> None:
    """Send every socket a `disconnect`; those that have not gone by then are closed later."""
    connections, pace = runtime.connections[app.id], runtime.config.pace
    leaving = await connections.sockets.dismiss(reason)
    seconds = pace.warning_seconds if reason == "warning" else pace.refresh_seconds
    connections.dispatcher.spawn(connections.sockets.close_after(leaving, seconds))


async def cut_sockets(runtime: Runtime, app: App) -> None:
    """Cut every socket without a word."""
    await runtime.connections[app.id].sockets.abort()


def revoke_token(runtime: Runtime, app: App) -> None:
    """Make the app's tokens worthless, without telling it."""
    app.revoked = True
    tell_apps(runtime)


def restore_token(runtime: Runtime, app: App) -> None:
    """Install the app again, with the same tokens."""
    app.revoked = False
    tell_apps(runtime)


def uninstall(runtime: Runtime, app: App) -> None:
    """Remove the app: tokens_revoked and app_uninstalled, then its tokens are worthless."""
    revoked = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [app.bot_user]}}
    for event in (revoked, {"type": "app_uninstalled"}):
        stamped: Json = {**event, "event_ts": runtime.state.new_ts(runtime.now())}
        if event["type"] in app.events:
            events.send(runtime, app, stamped)
    for channel in runtime.state.channels.values():
        if app.bot_user in channel.members and not channel.is_im:
            channel.members.remove(app.bot_user)
    revoke_token(runtime, app)


def remove_bot(runtime: Runtime, app: App, channel: Channel) -> None:
    """Take the app out of a channel."""
    channels.leave(runtime, channel, runtime.state.users[app.bot_user])


def archive(runtime: Runtime, channel: Channel) -> None:
    """Archive a channel, as somebody in charge would."""
    channels.archive(runtime, channel, channel.creator)


def fill_pins(runtime: Runtime, channel: Channel) -> None:
    """Pin new messages until the channel is at its limit of 100."""
    while len(channel.pins) < MOST_PINS:
        number = len(channel.pins) + 1
        text = f"Pinned note {number}"
        message = posting.post(runtime, channel, {"user": channel.creator, "text": text})
        posting.pin(runtime, channel, message["ts"], channel.creator)
