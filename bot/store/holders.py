"""Who sends a channel's posts: the newest claim holds; who lost it may not write any more."""

from collections.abc import Mapping

from sqlalchemy import ColumnElement, Connection, bindparam, select, update

from bot.store.tables import CHANNEL_HOLDERS
from core.errors import StoreError
from core.store.columns import insert_new


class ChannelLost(StoreError):
    """Another process of the bot sends this channel's posts now."""


_OF_CHANNEL: ColumnElement[bool] = (CHANNEL_HOLDERS.c.workspace == bindparam("of_workspace")) & (
    CHANNEL_HOLDERS.c.channel == bindparam("of_channel")
)
# Statements are made once: making them anew costs more than running them.
_HOLDER = select(CHANNEL_HOLDERS.c.life).where(_OF_CHANNEL).with_for_update()
_HOLD = update(CHANNEL_HOLDERS).where(_OF_CHANNEL).returning(CHANNEL_HOLDERS.c.channel)


def claim(connection: Connection, workspace: str, channel: str, process_token: str) -> None:
    """Take the channel over from every older process."""
    values = {"workspace": workspace, "channel": channel, "life": process_token}
    held = {**_of(workspace, channel), "life": process_token}
    while connection.execute(_HOLD, held).first() is None:
        if insert_new(connection, CHANNEL_HOLDERS, values):
            return


def check(connection: Connection, workspace: str, channel: str, process_token: str) -> None:
    """Make sure, to the end of a transaction, that this process holds the channel.

    A channel that nobody ever claimed is free for all.

    Raises:
        ChannelLost: It does not.
    """
    holder = connection.execute(_HOLDER, _of(workspace, channel)).scalar()
    if holder not in {None, process_token}:
        raise ChannelLost(f"Another process sends the posts of the channel {channel} now.")


def _of(workspace: str, channel: str) -> Mapping[str, str]:
    """Names the channel to a statement."""
    return {"of_workspace": workspace, "of_channel": channel}
