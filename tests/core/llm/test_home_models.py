"""Debates over a real server whose model holds little: to a verdict, and the newest is kept."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.debate_events import DebateStarted
from core.debate.rules import When
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.debate.verdict import VerdictSource
from core.engine import Engine
from core.llm.call import ModelCalls
from core.llm.call_options import Tables
from core.llm.prices import estimate_tokens
from core.llm.providers.factory import build_server
from core.retry import RetryPolicy
from core.settings import ModelServer
from core.store.memory import InMemoryStore
from core.testing import RecordingSink, a_setup
from tests.vendor_replies import good_reply
from tests.vendors.script import Counts, Reject, Say, VendorRequest
from tests.vendors.server import Vendor

#: What an agent says in a round, about 1,800 characters.
_LONG = 24
ROLES = ("architect", "security", "simplicity", "operations", "performance")


def prompt_of(request: VendorRequest) -> str:
    return "".join(str(message["content"]) for message in request.body["messages"])


def needed(request: VendorRequest) -> int:
    """How many tokens a prompt and its reply may take."""
    return estimate_tokens(prompt_of(request)) + int(request.body["max_tokens"])


def holding(tokens: int) -> Callable[[VendorRequest], Say | Reject]:
    """A server that refuses what it cannot hold, and speaks at length."""
    number = 0

    def script(request: VendorRequest) -> Say | Reject:
        nonlocal number
        if needed(request) > tokens:
            return Reject(
                status=400, message=f"This model's maximum context length is {tokens} tokens."
            )
        say = good_reply(request)
        if not say.text.startswith("{"):
            number += 1
            points = (f"Point {number}.{at}: jobs must never be lost here." for at in range(_LONG))
            say = replace(say, text=f"{say.text}\n\n{' '.join(points)}")
        counts = Counts(
            input=estimate_tokens(prompt_of(request)), output=min(estimate_tokens(say.text), 300)
        )
        return replace(say, counts=counts)

    return script


async def debate_at(
    vendor: Vendor,
    setup: Setup,
    records: tuple[Mapping[str, object], ...],
    store: InMemoryStore | None = None,
) -> Debate:
    """The debate, with all agents at the server."""
    change = {"provider": "workshop", "model": "small"}
    agents = tuple(agent.model_copy(update=change) for agent in setup.agents)
    everybody = {"agents": agents, "judge": setup.judge.model_copy(update=change)}
    if setup.summarizer:
        everybody["summarizer"] = setup.summarizer.model_copy(update=change)
    server = ModelServer(name="workshop", base_url=f"{vendor.url}/v1")
    calls = ModelCalls(
        {"workshop": build_server(server, records=records)},
        SystemClock(),
        tables=Tables(models=records),
        retries=RetryPolicy(tries=3, first_wait=0.001, longest_wait=0.001),
    )
    store, clock = store or InMemoryStore(), SystemClock()
    started = DebateStarted(setup=setup.model_copy(update=everybody))
    await store.create("dsmall", started, origin="test", at=clock.now())
    engine = Engine(store=store, turns=Turns(calls), sink=RecordingSink(), clock=clock)
    debate = await engine.run("dsmall")
    await calls.close()
    return debate


@pytest.mark.parametrize(
    ("agents", "rounds"),
    [pytest.param(3, 3, id="3 × 3"), pytest.param(5, 7, id="5 × 7", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize(
    "tokens", [4096, *(pytest.param(tokens, marks=pytest.mark.slow) for tokens in (8192, 32_768))]
)
@pytest.mark.parametrize("form", ["critique", "council", "panel"])
async def test_a_debate_in_a_small_window_reaches_its_verdict(
    form: str, tokens: int, agents: int, rounds: int
) -> None:
    setup = a_setup(agents=ROLES[:agents], rounds=rounds)
    setup = setup.model_copy(update={"format": form, "when": When.ALWAYS})
    record = {"provider": "workshop", "context_tokens": tokens, "local": True}
    async with Vendor(holding(tokens)) as vendor:
        debate = await debate_at(vendor, setup, (record,))

    assert debate.status is Status.CONCLUDED
    assert debate.failures == {}
    assert debate.verdict
    assert debate.verdict.source is VerdictSource.JUDGE
    cut = [part for call in debate.calls for part in call.sent if part.left_out]
    marks = sum(prompt_of(request).count("left out to fit") for request in vendor.asked)
    assert len(cut) == marks, "what was cut is recorded"
    assert cut or tokens > 4096


async def test_a_server_that_names_its_real_window_is_asked_again_with_what_fits() -> None:
    async with Vendor(holding(4096)) as vendor:
        debate = await debate_at(
            vendor, a_setup(rounds=1), ({"provider": "workshop", "local": True},)
        )
        refused = [request for request in vendor.asked if needed(request) > 4096]

    assert debate.status is Status.CONCLUDED
    assert debate.failures == {}
    assert len(refused) <= 3, "once for each agent that asked before anybody knew"
