"""Mishaps done at once: sockets cut, tokens revoked, the app removed, channels full of pins."""

from slack_on_loopback import channels, events, posting
from slack_on_loopback.json_values import Json
from slack_on_loopback.page_apps import tell_apps
from slack_on_loopback.rules import MOST_PINS
from slack_on_loopback.runtime import Desk
from slack_on_loopback.socket_mode import DisconnectReason
from slack_on_loopback.state import App, Channel


async def disconnect(desk: Desk, app: App, reason: DisconnectReason) -> None:
    """Send every socket a `disconnect`; those that have not gone by then are closed later."""
    line, pace = desk.lines[app.id], desk.config.pace
    leaving = await line.sockets.dismiss(reason)
    seconds = pace.warning_seconds if reason == "warning" else pace.refresh_seconds
    line.courier.spawn(line.sockets.close_after(leaving, seconds))


async def cut_sockets(desk: Desk, app: App) -> None:
    """Cut every socket without a word."""
    await desk.lines[app.id].sockets.abort()


def revoke_token(desk: Desk, app: App) -> None:
    """Make the app's tokens worthless, without telling it."""
    app.revoked = True
    tell_apps(desk)


def restore_token(desk: Desk, app: App) -> None:
    """Install the app again, with the same tokens."""
    app.revoked = False
    tell_apps(desk)


def uninstall(desk: Desk, app: App) -> None:
    """Remove the app: tokens_revoked and app_uninstalled, then its tokens are worthless."""
    revoked = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [app.bot_user]}}
    for event in (revoked, {"type": "app_uninstalled"}):
        stamped: Json = {**event, "event_ts": desk.world.new_ts(desk.now())}
        if event["type"] in app.events:
            events.send(desk, app, stamped)
    for channel in desk.world.channels.values():
        if app.bot_user in channel.members and not channel.is_im:
            channel.members.remove(app.bot_user)
    revoke_token(desk, app)


def remove_bot(desk: Desk, app: App, channel: Channel) -> None:
    """Take the app out of a channel."""
    channels.leave(desk, channel, desk.world.users[app.bot_user])


def archive(desk: Desk, channel: Channel) -> None:
    """Archive a channel, as somebody in charge would."""
    channels.archive(desk, channel, channel.creator)


def fill_pins(desk: Desk, channel: Channel) -> None:
    """Pin new messages until the channel is at its limit of 100."""
    while len(channel.pins) < MOST_PINS:
        number = len(channel.pins) + 1
        text = f"Pinned note {number}"
        message = posting.place(desk, channel, {"user": channel.creator, "text": text})
        posting.pin(desk, channel, message["ts"], channel.creator)
