"""What the rest of the bot needs from a runner."""

from collections.abc import Sequence
from typing import Protocol


class Runner(Protocol):
    """Sees to it that every unfinished debate is being worked on."""

    @property
    def held(self) -> Sequence[str]:
        """Ids of the debates being worked on in this process."""
        ...

    async def start(self) -> None:
        """Take up what is unfinished."""
        ...

    def wake(self, debate_id: str) -> None:
        """Somebody began this debate or added to its log: work on it."""
        ...

    async def close(self) -> None:
        """Stop cleanly, within ten seconds. What was not recorded yet is done again next time."""
        ...
