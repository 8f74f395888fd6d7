"""A real bot in a process of its own, to be killed: `bot_process.py <access> <folder> <rounds>`.

Its model writes every call to `calls.txt` before it answers, and every answer carries the mark of
its prompt, so that the log of the debate tells which calls were recorded.
"""

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import uvloop

from bot.app import Parts, running
from bot.interrupts import stop_signal
from bot.queue.rate_limits import FAST
from bot.settings import BotSettings, SlackAccess
from bot.testing import UNHURRIED
from core.clock import SystemClock
from core.debate.turn import Act
from core.llm.call import ModelCalls
from core.ports import ModelReply, ModelRequest
from core.settings import ModelChoice, Settings
from core.testing import ScriptedProvider, plausible_reply


def mark_of(request: ModelRequest) -> str:
    """Return what tells this prompt from every other one."""
    texts = [request.act, request.role, request.system, *(part.text for part in request.parts)]
    return "mark-" + hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def marked_reply(request: ModelRequest) -> str:
    """Return a plausible reply that carries the prompt's mark."""
    reply = plausible_reply(request)
    if request.act is Act.BALLOT:
        body = json.loads(reply)
        return json.dumps({**body, "reasons": [mark_of(request) for _ in body["ranking"]]})
    if request.act is Act.SYNTHESIS:
        return json.dumps({**json.loads(reply), "implementation": mark_of(request)})
    return f"{reply}\n\n{mark_of(request)}"


class CountedProvider(ScriptedProvider):
    """Writes each call down before it is answered."""

    def __init__(self, calls: Path) -> None:
        super().__init__(marked_reply, latency=0.15)
        self._calls = calls

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        with self._calls.open("a", encoding="utf-8") as file:
            file.write(mark_of(request) + "\n")
        return await super().complete(request, on_first_token)


async def main(access: str, folder: Path, rounds: int) -> None:
    """Run until SIGTERM."""
    provider = CountedProvider(folder / "calls.txt")
    choice = ModelChoice(provider=provider.name, model="scripted-1")
    parts = Parts(
        slack=SlackAccess(**json.loads(access)),
        environment=BotSettings.model_validate({"moot_port": 0}),
        database=str(folder / "moot.db"),
        calls=ModelCalls({provider.name: provider}, SystemClock()),
        settings=Settings(agent_model=choice, judge_model=choice, rounds=rounds, casting=False),
        pace=FAST,
        timeouts=UNHURRIED,
    )
    # Before anything runs: what tests wait for may happen while the rest still starts.
    stopped = stop_signal()
    async with running(parts):
        await stopped.wait()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
