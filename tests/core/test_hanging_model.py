"""A model that hangs leaves its stand-in the time to answer, and the others theirs."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from core.acts.take import Turns
from core.engine import Engine
from core.errors import ProviderSilent
from core.events import DebateStarted
from core.llm.call import CallOptions, ModelCalls, ModelRef
from core.models import Act, Agent, Status, When
from core.ports import ModelReply
from core.request import ModelRequest
from core.retry import RetryPolicy
from core.store.memory import InMemoryStore
from core.testing import RecordingSink, ScriptedProvider, a_setup
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


class SilentForOne(ScriptedProvider):
    """Answers all but one agent, from some call of it on: one silence, then it hangs."""

    def __init__(self, role: str, answered: int) -> None:
        super().__init__()
        self.role, self.left = role, answered
        self.hanging = 0
        self.goes_on = asyncio.Event()

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        if request.role == self.role and not self.goes_on.is_set():
            self.left -= 1
            if self.left == -1:
                raise ProviderSilent("The vendor stopped answering.")
            if self.left < -1:
                self.hanging += 1
                await self.goes_on.wait()
        return await super().complete(request, on_first_token)


class SilentOnce(ScriptedProvider):
    """Says that nothing came of the first question, and answers the next ones."""

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        reply = await super().complete(request, on_first_token)
        if len(self.requests) == 1:
            raise ProviderSilent("The vendor stopped answering.")
        return reply


@pytest.mark.parametrize(
    ("act", "has_fallback", "asked_again"),
    [
        (Act.SYNTHESIS, True, False),
        (Act.CROSS_CHECK, True, False),
        (Act.SYNTHESIS, False, True),
        (Act.PROPOSAL, True, True),  # the others go on meanwhile
    ],
)
async def test_a_verdict_waits_for_one_silence_of_a_model_that_has_a_stand_in(
    *, act: Act, has_fallback: bool, asked_again: bool
) -> None:
    own, spare = SilentOnce(), ScriptedProvider(name="spare")
    retries = RetryPolicy(first_wait=0.01, longest_wait=0.01)
    calls = ModelCalls({"scripted": own, "spare": spare}, LoopClock(), retries=retries)
    terms = CallOptions(fallbacks=(ModelRef("spare", "quick-1"),) if has_fallback else ())
    _, call = await calls.ask(replace(REQUEST, act=act), AGENT, terms)

    assert call.provider == ("scripted" if asked_again else "spare")
    assert (len(own.requests), len(spare.requests)) == ((2, 0) if asked_again else (1, 1))


@pytest.mark.parametrize("form", ["critique", "council"])
async def test_nobody_waits_through_a_second_silence_of_a_model(form: str) -> None:
    setup = a_setup(agents=("architect", "security", "simplicity"), rounds=2)
    setup = setup.model_copy(update={"format": form, "when": When.ALWAYS})
    store, clock, provider = InMemoryStore(), LoopClock(), SilentForOne("simplicity", 5)
    calls = ModelCalls(
        {"scripted": provider}, clock, retries=RetryPolicy(first_wait=0.01, longest_wait=0.01)
    )
    await store.create("d1", DebateStarted(setup=setup), origin="o1", at=clock.now())
    engine = Engine(store=store, turns=Turns(calls), sink=RecordingSink(), clock=clock)

    async with asyncio.timeout(60):  # the limit of a turn is three minutes
        debate = await engine.run("d1")

    assert provider.hanging
    assert debate.status is Status.CONCLUDED
    assert debate.away == {"simplicity": "The vendor stopped answering."}
    assert not debate.failures
