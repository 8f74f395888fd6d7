"""The `offline` provider: answers from checklists, without a model, a key or a network."""

import asyncio
from collections.abc import Callable
from decimal import Decimal

from core.request import ModelReply, ModelRequest
from core.usage import Usage

#: The only model it serves.
MODEL = "offline-checklists"


class OfflineProvider:
    name = "offline"

    async def load(self) -> None:
        """Read what it knows now, without blocking the event loop."""
        from core.llm.providers.offline_engine.checklists import checklists  # noqa: PLC0415 - below

        await asyncio.to_thread(checklists)

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        # Mostly models answer, and nobody needs it.
        from core.llm.providers.offline_engine.checklist_replies import answer  # noqa: PLC0415

        text = answer(request)
        on_first_token()
        usage = Usage(cost=Decimal(0), attempts=1)
        return ModelReply(text=text, usage=usage, model=MODEL)

    async def close(self) -> None:
        """Nothing is held open."""
