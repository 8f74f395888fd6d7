"""A channel of a workspace."""

from typing import NamedTuple


class Channel(NamedTuple):
    """Where posts go."""

    workspace: str
    channel: str
