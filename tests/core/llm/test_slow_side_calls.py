"""Side calls that a model does not answer in time: the debate goes on, and nobody calls it away."""

import pytest

from core.events import ModelWentAway, OutageBegan
from core.models import (
    Act,
    Debate,
    ModelChoice,
    Person,
    Place,
    Status,
)
from core.opening import DebateRequest, open_debate
from core.settings import Settings
from core.store.memory import InMemoryStore
from tests.core.llm.test_small_windows import held
from tests.vendor_replies import good_reply
from tests.vendors.script import Asked, Say
from tests.vendors.server import Vendor

#: A field of the form of each call.
SIDE_CALLS = {Act.CASTING: '"agents"', Act.OPTIONS: "stands_for"}
SMALL = ModelChoice(provider="workshop", model="small")
#: A time limit that only a call that hangs reaches.
SECONDS = 6.0


async def held_while_hanging(act: Act) -> tuple[Debate, InMemoryStore, int]:
    """A debate whose calls of one act get no answer; and how many those were."""
    hung = 0

    def script(asked: Asked) -> Say:
        nonlocal hung
        if SIDE_CALLS[act] in str(asked.body):
            hung += 1
            return Say(wait=3600)
        return good_reply(asked)

    wish = DebateRequest(
        question="Kafka or PostgreSQL for our queue?",
        asked_by=Person(id="U1"),
        place=Place(surface="terminal"),
    )
    setup = open_debate(
        wish, Settings(agent_model=SMALL, judge_model=SMALL, rounds=1), delimiter="ab"
    )
    limits = setup.limits.model_copy(update={"turn_seconds": SECONDS})
    setup = setup.model_copy(update={"limits": limits})
    store = InMemoryStore()
    async with Vendor(script) as vendor:
        records = ({"provider": "workshop", "local": True},)
        debate = await held(vendor, setup, records, store)
    return debate, store, hung


@pytest.mark.parametrize("act", SIDE_CALLS)
async def test_a_side_call_that_hangs_falls_back_and_says_nothing_about_the_model(
    act: Act,
) -> None:
    debate, store, hung = await held_while_hanging(act)
    events = [item.event for item in await store.events("dsmall")]

    assert hung
    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert not [event for event in events if isinstance(event, ModelWentAway | OutageBegan)]
    assert {failure.turn.act for failure in debate.failures.values()} <= {act}
