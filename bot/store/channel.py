"""A channel of a workspace."""

from typing import NamedTuple


class Channel(NamedTuple):
    workspace: str
    channel: str
