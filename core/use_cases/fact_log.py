"""Records what people do: appends to the debate's log, then wakes its run."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from core.debate.log import Event
from core.debate.state import Debate
from core.ports import AppendResult, Clock, DebateStore
from core.use_cases.debate_cache import DebateCache


@dataclass(frozen=True, kw_only=True, eq=False)
class FactLog:
    """Records people's facts. Every method may raise `StoreDown`, and may then be called again."""

    store: DebateStore
    clock: Clock
    #: Tells whoever runs a debate that its log has grown; never waits.
    wake: Callable[[str], object]
    #: What is known of debates; only what is new is read.
    debates: DebateCache = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "debates", DebateCache(self.store))

    async def record(self, debate_id: str, event: Event) -> AppendResult:
        try:
            appended = await self.store.append(debate_id, event, at=self.clock.now())
        except asyncio.CancelledError:  # nobody waits any more, but the event may be in the log
            self.wake(debate_id)
            raise
        self.wake(debate_id)
        return appended

    async def debate(self, debate_id: str) -> Debate:
        return await self.debates.debate(debate_id)
