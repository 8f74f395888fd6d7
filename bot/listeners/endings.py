"""The place of debates is gone: a channel archived, the app removed. What runs there ends.

It must not spend money where nobody can read it. With the app go its tokens.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners.reception import Reception
from bot.slack.payloads import ChannelGone, TeamEvent, TokensRevoked
from core.ports import DebateFilter

_ARCHIVED = "The channel was archived."
_REMOVED = "Moot was removed from the workspace."
_MOST = 1000

Next = Callable[[], Awaitable[None]]
Body = dict[str, Any]


def register(app: AsyncApp, reception: Reception) -> None:
    """Listen to the ends of places; they are recorded before they are acknowledged."""
    channel_gone = _first(reception, _end_channel)
    app.event("channel_archive", middleware=[channel_gone])(_done)
    app.event("group_archive", middleware=[channel_gone])(_done)
    app.event("app_uninstalled", middleware=[_first(reception, _end_workspace)])(_done)
    app.event("tokens_revoked", middleware=[_first(reception, _end_revoked)])(_done)


async def _done() -> None:
    """Everything was done before the acknowledgement."""


def _first(
    reception: Reception, do: Callable[[Reception, Body], Awaitable[None]]
) -> Callable[[Body, Next], Awaitable[None]]:
    """Return a middleware that does it and goes on."""

    async def first(body: Body, next_: Next) -> None:
        await do(reception, body)
        await next_()

    return first


async def _end_channel(reception: Reception, body: Body) -> None:
    gone = ChannelGone.model_validate(body)
    await end_debates(reception, gone.team_id, _ARCHIVED, channels=[gone.channel])


async def _end_workspace(reception: Reception, body: Body) -> None:
    event = TeamEvent.model_validate(body)
    await end_debates(reception, event.team_id, _REMOVED)
    await reception.seats.leave(event.enterprise_id, event.installed_in)


async def _end_revoked(reception: Reception, body: Body) -> None:
    event = TokensRevoked.model_validate(body)
    if event.bots:
        await end_debates(reception, event.team_id, _REMOVED)
        await reception.seats.leave(event.enterprise_id, event.installed_in)


async def end_debates(
    reception: Reception, team: str, reason: str, *, channels: Sequence[str] | None = None
) -> None:
    """End every running debate of a workspace, or of some of its channels."""
    wanted = DebateFilter(workspace=team, channels=channels, open_only=True, limit=_MOST)
    for entry in await reception.commands.store.find(wanted):
        await reception.commands.give_up(entry.debate_id, reason)
