"""The `offline` provider: answers from checklists, without a model, a key or a network.

It is chosen when nothing else is there, says in every post what it is, and costs nothing.
"""

import asyncio
from collections.abc import Callable
from decimal import Decimal

from core.models import Usage
from core.request import ModelReply, ModelRequest

#: The only model it serves.
MODEL = "offline-checklists"


def _answering() -> Callable[[ModelRequest], str]:
    """What answers; read when it is needed, since mostly models answer."""
    from core.llm.providers.offline_engine.checklist_replies import answer  # noqa: PLC0415 - above
    from core.llm.providers.offline_engine.checklists import checklists  # noqa: PLC0415 - above

    checklists()
    return answer


class OfflineProvider:
    """A `ModelProvider` that answers from checklists."""

    name = "offline"

    def __init__(self, latency: float = 0.0) -> None:
        """Set how long a call takes.

        Args:
            latency: Seconds to wait before the answer, so that a demonstration can be followed.
        """
        self._latency = latency

    async def load(self) -> None:
        """Read what it knows now, without blocking the event loop."""
        await asyncio.to_thread(_answering)

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Answer a request; it takes no tokens, and the cost is nothing.

        Raises:
            RequestRejected: The request is for scores, which the engine does not give.
        """
        await asyncio.sleep(self._latency)
        text = _answering()(request)
        on_first_token()
        usage = Usage(cost=Decimal(0), attempts=1)
        return ModelReply(text=text, usage=usage, model=MODEL)

    async def close(self) -> None:
        """Nothing is held open."""
