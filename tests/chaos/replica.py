"""A real bot in a process of its own: `python -m tests.chaos.replica <orders as JSON>`."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import aiohttp
import uvloop

from bot.app import Parts, running
from bot.log import set_up_logs
from bot.process import stop_signal
from bot.queue.rate_limits import FAST
from bot.running.heartbeat import Heartbeat
from bot.settings import LogFormat, LogLevel, SlackAccess
from bot.testing import UNHURRIED
from core.capabilities import Price
from core.clock import SystemClock
from core.llm.call import ModelCalls
from core.llm.call_options import NO_TABLES, Tables
from core.models import Usage
from core.ports import ModelReply, ModelRequest
from core.settings import AllLimits, ModelChoice, Settings
from core.testing import ScriptedProvider
from tests.chaos.models import REPLICA
from tests.scenarios.bot_process import mark_of, marked_reply


class CountedElsewhere(ScriptedProvider):
    """Tells the counting models of each call, and takes as long as they do."""

    def __init__(self, address: str, *, is_dear: bool) -> None:
        super().__init__(marked_reply)
        self._address = address
        #: Whether a reply is nearly as long as it may be, so that it costs what was held for it.
        self._is_dear = is_dear
        self._session: aiohttp.ClientSession | None = None

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        headers = {REPLICA: str(os.getpid())}
        self._session = self._session or aiohttp.ClientSession(headers=headers)
        async with self._session.post(self._address, data=mark_of(request)) as answer:
            await answer.read()
        reply = await super().complete(request, on_first_token)
        if not self._is_dear:
            return reply
        tokens = request.max_output_tokens * 9 // 10
        return replace(reply, usage=Usage(output_tokens=tokens, cost=None, attempts=1))

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


async def main(orders: dict[str, Any]) -> None:
    """Run until SIGTERM."""
    set_up_logs(LogLevel.WARNING, LogFormat.JSON, ())
    cap = orders["day_cost"]
    provider = CountedElsewhere(orders["models"], is_dear=bool(cap))
    price = Price(input=Decimal(1), output=Decimal(100))
    tables = Tables(prices={"scripted-1": price}) if cap else NO_TABLES
    limits = AllLimits(day_cost=Decimal(cap), debate_cost=None) if cap else AllLimits()
    choice = ModelChoice(provider=provider.name, model="scripted-1")
    parts = Parts(
        slack=SlackAccess(**orders["slack"]),
        database=orders["database"],
        calls=ModelCalls({provider.name: provider}, SystemClock(), tables=tables),
        settings=Settings(
            agent_model=choice,
            judge_model=choice,
            rounds=orders["rounds"],
            casting=False,
            limits=limits,
        ),
        pace=FAST,
        timeouts=UNHURRIED,
        beat=Heartbeat(**orders["beat"]),
    )
    async with running(parts):
        print("running", flush=True)  # noqa: T201 - for the parent
        await stop_signal().wait()


if __name__ == "__main__":
    uvloop.run(main(json.loads(sys.argv[1])))
