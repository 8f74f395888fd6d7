"""Debates with a local server: small context, slow, stalled or refusing."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from core.clock import SystemClock
from core.debate.debate_events import ModelWentAway, OutageBegan
from core.debate.log import event_from_json, event_to_json
from core.debate.people import Person, Place
from core.debate.rules import When
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.debate.verdict import VerdictSource
from core.llm.call import ModelCalls, Tables
from core.llm.prices import estimate_tokens
from core.llm.providers.factory import build_server
from core.opening import DebateRequest, open_debate
from core.retry import RetryPolicy
from core.settings import ModelChoice, ModelServer, Settings
from core.testing import InMemoryStore, a_setup
from core.transcript.decision import decision_text
from core.transcript.explain import explanation, turn_explanation
from core.transcript.record import record_json
from core.transcript.report import report
from tests.core.llm.running import DEBATE, run_debate
from tests.vendor_replies import good_reply
from tests.vendors.script import Counts, Reject, Say, VendorRequest
from tests.vendors.server import Script, Vendor

LOCAL = {"provider": "workshop", "local": True}
ROLES = ("architect", "security", "simplicity", "operations", "performance")


def prompt_of(request: VendorRequest) -> str:
    return "".join(str(message["content"]) for message in request.body["messages"])


def needed(request: VendorRequest) -> int:
    """Tokens of a prompt and its longest reply."""
    return estimate_tokens(prompt_of(request)) + int(request.body["max_tokens"])


def holding(tokens: int) -> Callable[[VendorRequest], Say | Reject]:
    """A server with this context that sends long replies."""
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
            points = (f"Point {number}.{at}: jobs must never be lost here." for at in range(24))
            say = replace(say, text=f"{say.text}\n\n{' '.join(points)}")
        counts = Counts(
            input=estimate_tokens(prompt_of(request)), output=min(estimate_tokens(say.text), 300)
        )
        return replace(say, counts=counts)

    return script


async def debate_at(
    vendor: Vendor,
    setup: Setup,
    record: Mapping[str, object] = LOCAL,
    store: InMemoryStore | None = None,
) -> Debate:
    """A finished debate with all agents at the server."""
    change = {"provider": "workshop", "model": "small"}
    agents = tuple(agent.model_copy(update=change) for agent in setup.agents)
    everybody = {"agents": agents, "judge": setup.judge.model_copy(update=change)}
    if setup.summarizer:
        everybody["summarizer"] = setup.summarizer.model_copy(update=change)
    provider = build_server(
        ModelServer(name="workshop", base_url=f"{vendor.url}/v1"), records=(record,)
    )
    calls = ModelCalls(
        {"workshop": provider},
        SystemClock(),
        tables=Tables(models=(record,)),
        retries=RetryPolicy(tries=3, first_wait=0.001, longest_wait=0.001),
    )
    await calls.load({"workshop"})  # no test is about how long that takes
    debate = await run_debate(setup.model_copy(update=everybody), calls, store=store)
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
    record = LOCAL | {"context_tokens": tokens}
    async with Vendor(holding(tokens)) as vendor:
        debate = await debate_at(vendor, setup, record)

    assert debate.status is Status.CONCLUDED
    assert debate.failures == {}
    assert debate.verdict
    assert debate.verdict.source is VerdictSource.JUDGE
    cut = [part for call in debate.calls for part in call.sent if part.left_out]
    marks = sum(prompt_of(request).count("left out to fit") for request in vendor.asked)
    assert len(cut) == marks, "what was cut is recorded"
    assert cut or tokens > 4096


async def test_a_server_that_names_its_context_gets_a_shorter_prompt() -> None:
    async with Vendor(holding(4096)) as vendor:
        debate = await debate_at(vendor, a_setup(rounds=1))
        refused = [request for request in vendor.asked if needed(request) > 4096]

    assert debate.status is Status.CONCLUDED
    assert debate.failures == {}
    assert len(refused) <= 3, "once for each agent that asked before anybody knew"


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
#: A timeout that only stalled calls reach, and one that no call reaches.
SHORT, LONG = 10.0, 600.0


async def held_with(script: Script, seconds: float = LONG) -> tuple[Debate, InMemoryStore]:
    """A finished debate with all agents at a server; `seconds` is the limit of a turn."""
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
        debate = await debate_at(vendor, setup, store=store)
    return debate, store


def failing(act: Act, answer: Say | Reject) -> tuple[Script, list[VendorRequest]]:
    """Good replies, except for the first call of an act, or for all calls of a side act."""
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
async def test_a_call_without_a_reply_fails_only_its_own_turn(
    act: Act, answer: Say | Reject
) -> None:
    script, failed = failing(act, answer)

    debate, store = await held_with(script, SHORT if answer is HUNG else LONG)

    events = [item.event for item in await store.events(DEBATE)]
    assert failed
    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert not [event for event in events if isinstance(event, ModelWentAway | OutageBegan)]
    assert {failure.turn.act for failure in debate.failures.values()} <= {act}


async def test_tokens_that_the_server_did_not_report_are_told_as_estimates() -> None:
    def script(request: VendorRequest) -> Say:
        say = good_reply(request)
        is_draft = f"Your task: {TASKS[Act.PROPOSAL]}" in str(request.body)
        return replace(say, counts=None) if is_draft else say

    debate, store = await held_with(script)

    log = await store.events(DEBATE)
    drafts = [turn for turn in debate.contributions.values() if turn.turn.act is Act.PROPOSAL]
    share = f"{len(drafts)} of {debate.usage.attempts} requests"
    words = f"the tokens of {share} are estimated, because none were reported"
    assert f"Cost: $0.00 ({words})." in decision_text(debate)
    assert report(debate).lower().count(words) == 2, "beside the cost and below the table"
    assert f"(estimated for {share}), " in explanation(log)
    assert "(estimated for 1 of 1 request), 1 request" in turn_explanation(log, drafts[0].turn.key)
    judged = turn_explanation(log, "synthesis")
    assert " out, 1 request" in judged
    totals = json.loads(record_json(log))["totals"]
    assert totals["estimated_attempts"] == len(drafts)
    assert "estimated_attempts" not in totals["agents"]["judge"]
    assert debate.usage.input_tokens > 0
    assert [event_from_json(event_to_json(item.event)) for item in log] == [
        item.event for item in log
    ]
