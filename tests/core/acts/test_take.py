"""How many turns prepare their calls at the same time."""

import asyncio
from collections.abc import Callable, Sequence

from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.state import Debate
from core.debate.turn import Act, turn_of
from core.estimate import initial_debate
from core.llm.call import PREPARING, ModelCalls
from core.request import ModelReply, ModelRequest
from core.testing import ScriptedProvider, a_setup
from core.usage import Cap


class WaitingProvider(ScriptedProvider):
    def __init__(self) -> None:
        super().__init__()
        self.may_answer = asyncio.Event()

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        await self.may_answer.wait()
        return await super().complete(request, on_first_token)


async def test_turns_wait_before_they_prepare_a_call_that_has_no_slot() -> None:
    provider, prepared = WaitingProvider(), list[str]()

    def caps_of(debate: Debate) -> Sequence[Cap]:
        prepared.append(debate.id)
        return ()

    turns = Turns(ModelCalls({"scripted": provider}, SystemClock(), parallel=1), caps_of)
    debate, count = initial_debate(a_setup()), 2 * PREPARING
    agent = debate.setup.agents[0].id
    proposals = [turn_of(Act.PROPOSAL, number, agent) for number in range(1, count + 1)]
    tasks = [asyncio.create_task(turns.take(debate, turn)) for turn in proposals]
    while len(prepared) < PREPARING + 1:  # noqa: ASYNC110 - each turn takes some steps
        await asyncio.sleep(0)
    for _ in range(100):
        await asyncio.sleep(0)

    assert len(prepared) == PREPARING + 1
    provider.may_answer.set()
    assert len(await asyncio.gather(*tasks)) == count
