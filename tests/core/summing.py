"""Debates with long positions and short summaries, for tests of summaries."""

import asyncio
from collections.abc import Callable

from core.debate.agents import ContextMethod, Summarization
from core.debate.rules import Termination
from core.debate.state import Debate
from core.debate.turn import Act
from core.request import ModelReply, ModelRequest, PartKind
from core.testing import Script, ScriptedProvider, a_setup, plausible_reply
from tests.core.bench import Bench

LONG = " ".join(f"Queue {number} must keep 2000 jobs a second." for number in range(20))


def script(request: ModelRequest) -> str:
    """Long positions, short summaries."""
    if request.act is Act.SUMMARY:
        return "In short: 2000 jobs."
    if request.act in {Act.PROPOSAL, Act.REFINEMENT, Act.STATEMENT, Act.CRITIQUE}:
        return f"**{request.role}** {LONG}"
    return plausible_reply(request)


class Paced(ScriptedProvider):
    """A provider with a latency of its own for summaries; None: they never end."""

    def __init__(
        self, latency: float, summaries: float | None, answers: Script | None = None
    ) -> None:
        super().__init__(answers or script, latency=latency)
        self._summaries = summaries

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        if request.act is not Act.SUMMARY:
            return await super().complete(request, on_first_token)
        if self._summaries is None:
            self.requests.append(request)
            await asyncio.Event().wait()
        await asyncio.sleep(self._summaries or 0)
        fast = ScriptedProvider(script)
        self.requests.append(request)
        return await fast.complete(request, on_first_token)


async def debate_by(
    method: ContextMethod,
    *,
    rounds: int = 4,
    form: str = "critique",
    provider: ScriptedProvider | None = None,
    **rules: object,
) -> tuple[Bench, Debate]:
    summarization = Summarization(method=method, threshold=1000).model_copy(update=rules)
    changes = {"format": form, "summarization": summarization, "termination": Termination()}
    setup = a_setup(rounds=rounds).model_copy(update=changes)
    bench = Bench(provider or ScriptedProvider(script))
    return bench, await bench.run(setup)


def parts_of(request: ModelRequest, kind: PartKind) -> list[str]:
    return [part.label for part in request.parts if part.kind is kind]
