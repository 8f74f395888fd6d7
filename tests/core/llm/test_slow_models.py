"""Models that are slow, trickle, hang or refuse, act by act: the debate goes on to its verdict.

Nobody calls a model away that was only slow: a call's limit is the turn's, and bytes are life.
"""

from dataclasses import replace

import pytest

from core.debate.agents import ModelChoice
from core.debate.debate_events import ModelWentAway, OutageBegan
from core.debate.people import Person, Place
from core.debate.rules import When
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.llm.providers.openai import OpenAIProvider
from core.opening import DebateRequest, open_debate
from core.settings import Settings
from core.store.memory import InMemoryStore
from tests.core.llm.test_small_windows import debate_at
from tests.vendor_replies import good_reply
from tests.vendors.script import Reject, Say, VendorRequest
from tests.vendors.server import Script, Vendor

#: How the task of each act begins.
TASKS = {
    Act.CASTING: "choose who should debate",
    Act.PROPOSAL: "write your own position",
    Act.CRITIQUE: "criticise the proposal",
    Act.REFINEMENT: "refine your proposal",
    Act.OPTIONS: "say what there is to choose between",
    Act.BALLOT: "vote. Rank",
    Act.SYNTHESIS: "write the verdict",
}
#: Where nobody else can take the call's place.
SIDE_CALLS = {Act.CASTING, Act.OPTIONS}
HUNG, REFUSED = Say(wait=3600), Reject(status=400, message="Not this prompt.")
SMALL = ModelChoice(provider="workshop", model="small")
#: A time limit that only a call that hangs reaches; and one that none does.
SHORT, LONG = 10.0, 600.0


@pytest.fixture(autouse=True)
async def loaded_sdk() -> None:
    """No test is about how long that takes."""
    provider = OpenAIProvider("sk-test")
    await provider.load()
    await provider.close()


async def held_with(script: Script, seconds: float = LONG) -> tuple[Debate, InMemoryStore]:
    """A debate whose agents all ask the server of this script; `seconds` bound a turn."""
    wish = DebateRequest(
        question="Kafka or PostgreSQL for our queue?",
        asked_by=Person(id="U1"),
        place=Place(surface="terminal"),
    )
    settings = Settings(agent_model=SMALL, judge_model=SMALL, rounds=1, when=When.ALWAYS)
    setup = open_debate(wish, settings, delimiter="k7f3q9zz")
    limits = setup.limits.model_copy(update={"turn_seconds": seconds})
    setup = setup.model_copy(update={"limits": limits})
    store = InMemoryStore()
    async with Vendor(script) as vendor:
        records = ({"provider": "workshop", "local": True},)
        debate = await debate_at(vendor, setup, records, store)
    return debate, store


def failing(act: Act, answer: Say | Reject) -> tuple[Script, list[VendorRequest]]:
    """Good replies, but for the first call of an act, or all of one that only one makes."""
    failed = list[VendorRequest]()

    def script(request: VendorRequest) -> Say | Reject:
        if f"Your task: {TASKS[act]}" not in str(request.body) or (
            failed and act not in SIDE_CALLS
        ):
            return good_reply(request)
        failed.append(request)
        return answer

    return script, failed


CASES = [
    *(pytest.param(act, HUNG, id=f"{act} hangs", marks=pytest.mark.slow) for act in TASKS),
    *(pytest.param(act, REFUSED, id=f"{act} is refused") for act in TASKS),
]


@pytest.mark.parametrize(("act", "answer"), CASES)
async def test_a_call_that_gets_no_reply_costs_its_own_turn_at_most(
    act: Act, answer: Say | Reject
) -> None:
    script, failed = failing(act, answer)

    debate, store = await held_with(script, SHORT if answer is HUNG else LONG)

    events = [item.event for item in await store.events("dsmall")]
    assert failed
    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert not [event for event in events if isinstance(event, ModelWentAway | OutageBegan)]
    assert {failure.turn.act for failure in debate.failures.values()} <= {act}


@pytest.mark.parametrize(
    "slow",
    [{"wait": 0.1}, {"pieces": 8, "pace": 0.005}],
    ids=["the first byte is late", "words trickle"],
)
async def test_models_that_are_slow_in_every_act_are_as_good_as_others(
    slow: dict[str, float],
) -> None:
    debate, _ = await held_with(lambda asked: replace(good_reply(asked), **slow))

    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert (debate.failures, debate.abstentions) == ({}, {})
