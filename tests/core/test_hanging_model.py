"""A model that hangs leaves its stand-in the time to answer, and the others theirs."""

import asyncio
from collections.abc import Callable

import pytest

from core.debate.agents import Agent
from core.debate.turn import Act
from core.llm.call import CallOptions, ModelCalls, ModelRef
from core.ports import ModelReply
from core.request import ModelRequest
from core.testing import ScriptedProvider
from tests.core.leaping_loop import LoopClock

pytestmark = pytest.mark.leaping

AGENT = Agent(id="ann", name="Ann", role="architect", provider="scripted", model="slow-1")
REQUEST = ModelRequest(
    model="slow-1", act=Act.PROPOSAL, role="architect", system="s", parts=(), delimiter="abcd"
)


class Hanging(ScriptedProvider):
    """Never answers."""

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        self.requests.append(request)
        await asyncio.sleep(60)
        return await super().complete(request, on_first_token)


async def test_a_hanging_model_is_given_up_in_time_for_its_fallback() -> None:
    spare = ScriptedProvider(name="spare")
    calls = ModelCalls({"scripted": Hanging(), "spare": spare}, LoopClock())
    terms = CallOptions(seconds=1.0, fallbacks=(ModelRef("spare", "quick-1"),))
    text, call = await calls.ask(REQUEST, AGENT, terms)

    assert text
    assert (call.provider, call.model) == ("spare", "quick-1")
    assert len(spare.requests) == 1
