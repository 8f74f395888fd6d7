"""Who sends a channel's posts: the newest claim holds; who lost it may not write any more."""

from typing import Any

from sqlalchemy import Connection, select, update

from bot.store.tables import CHANNEL_HOLDERS
from core.errors import StoreError
from core.store.columns import insert_new


class ChannelLost(StoreError):
    """Another life of the bot sends this channel's posts now."""


def claim(connection: Connection, workspace: str, channel: str, life: str) -> None:
    """Take the channel over from every older life."""
    values = {"workspace": workspace, "channel": channel, "life": life}
    if not insert_new(connection, CHANNEL_HOLDERS, values):
        held = update(CHANNEL_HOLDERS).where(_of(workspace, channel))
        connection.execute(held.values(life=life))


def check(connection: Connection, workspace: str, channel: str, life: str) -> None:
    """Make sure, to the end of the transaction, that this life holds the channel.

    A channel that nobody ever claimed is free for all.

    Raises:
        ChannelLost: It does not.
    """
    wanted = select(CHANNEL_HOLDERS.c.life).where(_of(workspace, channel))
    holder = connection.execute(wanted.with_for_update()).scalar()
    if holder not in {None, life}:
        raise ChannelLost(f"Another process sends the posts of the channel {channel} now.")


def _of(workspace: str, channel: str) -> Any:
    """The condition: of this channel."""
    table = CHANNEL_HOLDERS.c
    return (table.workspace == workspace) & (table.channel == channel)
