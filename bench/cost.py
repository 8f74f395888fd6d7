"""Cost of debates under the vendors' caching rules, as a ratio to the least possible cost.

    python -m bench.cost [--agents 3] [--rounds 3] [--sources 0] [--wait 0.05]

Runs a debate of each format with the real engine, prompts and SDKs, and a server that caches and
counts as the vendor does: an entry can be read from the moment its reply begins, only by calls with
the same model, effort and answer form; only whole marked beginnings of the model's least size are
cached; writing costs more and reading less. All replies differ, because equal ones would be cached.
The bound "order" is the least cost of the same prompts in the same order, cut anywhere: each
beginning that a later prompt shares is written once and read by all later calls. It needs
hindsight and ignores the limit of four marks. The last table compares characters and cost of a
critique with dialectic's requests for the same debate (`bench.cost_peer`). The exit code is 1 if a
ratio of cost to the bound, or of characters to dialectic's, is above the target.
"""

import argparse
import asyncio
import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, NamedTuple

from bench import cost_peer as peer
from bench.vendor import REPLY_CHARACTERS
from core.acts.take import Turns
from core.capabilities import capability
from core.clock import SystemClock
from core.debate.agents import ModelChoice
from core.debate.debate_events import DebateStarted
from core.debate.evidence import SourceKind, SourceReference, SourceText
from core.debate.people import Person, Place
from core.debate.rules import Ending, Termination, When
from core.debate.setup import Setup
from core.debate.state import Debate
from core.engine import Engine
from core.evidence.reading import Section, joined_sections
from core.llm.call import ModelCalls
from core.llm.prices import estimate_tokens, price, tokens_of
from core.llm.prompt_text import pieces
from core.llm.providers import factory
from core.llm.providers.fields import items
from core.opening import DebateRequest, open_debate
from core.ports import ModelProvider
from core.request import ModelReply, ModelRequest
from core.rules.formats import review
from core.rules.formats.registry import FORMATS
from core.settings import Settings
from core.testing import InMemoryStore, RecordingSink, usual_reply
from core.usage import Usage
from tests.vendors.script import Counts, Say, VendorRequest
from tests.vendors.server import Vendor

TARGET = Decimal("1.10")
_SOURCE_CHARACTERS = 8000
QUESTION = (
    "Should we move our job queue from PostgreSQL to Kafka? It must keep every job, and two people "
    "have to be able to run it. "
    + "We have 900 jobs a second at noon and expect 3,000 in a year. "
    * 40
)
_MARK = re.compile(r"\[\[call (\d+)\]\]")


class Line(NamedTuple):
    """A vendor, the path of its API, and its models."""

    provider: str
    path: str
    agent_model: str
    summary_model: str


LINES = (
    Line("anthropic", "", "claude-sonnet-5-5", "claude-haiku-5-5"),
    Line("openai", "/v1", "gpt-6.1-terra", "gpt-6-luna"),
)


@dataclass
class MarkingProvider:
    """The real provider; a mark at the end of each request tells the server its number."""

    inner: ModelProvider
    name: str
    requests: list[ModelRequest] = field(default_factory=list[ModelRequest])

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        number = len(self.requests)
        self.requests.append(request)
        *parts, task = request.parts
        marked = replace(task, text=f"{task.text} [[call {number}]]")
        return await self.inner.complete(replace(request, parts=(*parts, marked)), on_first_token)

    async def close(self) -> None:
        await self.inner.close()


@dataclass
class CachingRules:
    """Answers as a vendor with a prompt cache does, and counts the charged tokens."""

    provider: str
    wait: float
    reply: Callable[[ModelRequest, int], str]
    requests: Sequence[ModelRequest] = ()
    #: Hash of a beginning → the time from which it can be read, on the event loop's clock.
    readable: dict[str, float] = field(default_factory=dict[str, float])
    #: By the number of the call.
    usages: dict[int, Usage] = field(default_factory=dict[int, Usage])

    def __call__(self, call: VendorRequest) -> Say:
        blocks = _blocks(call.body)
        total = sum(estimate_tokens(text) for text, _ in blocks)
        marked = self._marked(call, blocks)
        readable = (size for key, size in marked if self.readable.get(key, call.at + 1) <= call.at)
        cached = max(readable, default=0)
        fresh = max((size for _, size in marked), default=0) - cached
        for key, _ in marked:
            self.readable.setdefault(key, call.at + self.wait)
        number = int(_MARK.findall(str(call.body))[-1])
        text = self.reply(self.requests[number], number)
        output = estimate_tokens(text)
        self.usages[number] = Usage(
            input_tokens=total, cached_tokens=cached, written_tokens=fresh, output_tokens=output
        )
        counts = Counts(input=total, cached=cached, written=fresh, output=output)
        return Say(text=text, counts=counts, wait=self.wait)

    def _marked(
        self, request: VendorRequest, blocks: Sequence[tuple[str, bool]]
    ) -> list[tuple[str, int]]:
        names = ("model", "thinking", "reasoning", "output_config", "text", "prompt_cache_key")
        settings = tuple(request.body.get(name) for name in names)
        digest = hashlib.sha256(repr(settings).encode())
        size, sizes = 0, list[tuple[str, int]]()
        least = capability(self.provider, str(request.body["model"])).cache_min_tokens
        for text, mark in blocks:
            digest.update(f"{len(text)} {text}".encode())
            size += estimate_tokens(text)
            if mark and size >= least:
                sizes.append((digest.hexdigest(), size))
        return sizes


def another_reply(request: ModelRequest, number: int) -> str:
    """Return a usual reply, different for each call."""
    return usual_reply(request).replace("The reasons", f"The reasons {number}")


def _blocks(body: Mapping[str, Any]) -> list[tuple[str, bool]]:
    system = str(body.get("instructions") or "")
    blocks = [*items(body, "system"), *items(body, "messages", 0, "content")]
    blocks += items(body, "input", 0, "content")
    marks = ("cache_control", "prompt_cache_breakpoint")
    texts = [(str(block["text"]), any(mark in block for mark in marks)) for block in blocks]
    return [(system, False), *texts] if system else texts


class Library:
    """A `SourceReader` of generated files about the question, all different."""

    async def read(self, reference: SourceReference, _place: Place, /) -> SourceText:
        file, chapters = int(reference.fetch), list[str]()
        while sum(map(len, chapters)) < _SOURCE_CHARACTERS:
            day = f"{file}.{len(chapters) + 1}"
            figures = " ".join(
                f"Hour {day}.{n}: the queue took {file * 997 + n * 31} jobs a second, and "
                f"{n * 3 + file} of them waited longer than a minute."
                for n in range(8)
            )
            chapters.append(f"# Day {day}\n\n{figures}\n")
        return joined_sections([Section(text="\n".join(chapters)[:_SOURCE_CHARACTERS])])


def with_sources(setup: Setup, count: int) -> Setup:
    """Add `count` files to the question."""
    references = tuple(
        SourceReference(kind=SourceKind.FILE, title=f"week-{n}.md", fetch=str(n), by=setup.asked_by)
        for n in range(1, count + 1)
    )
    return setup.model_copy(update={"references": references})


def a_setup(line: Line, form: str, agents: int, rounds: int, *, question: str = QUESTION) -> Setup:
    choice = ModelChoice(provider=line.provider, model=line.agent_model)
    cheap = ModelChoice(provider=line.provider, model=line.summary_model)
    settings = Settings(
        agent_model=choice,
        judge_model=choice,
        summary_model=cheap,
        format=form,
        when=When.ALWAYS,
        termination=Termination(ending=Ending.FIXED),
    )
    roles = ("architect", "security", "simplicity", "operations", "finance", "data", "testing")
    request = DebateRequest(
        question=question,
        asked_by=Person(id="U1", name="Dana"),
        place=Place(surface="terminal"),
        agents=roles[:agents],
        rounds=rounds,
    )
    return open_debate(request, settings, delimiter="k7f3q9zz")


async def debate_against(
    setup: Setup,
    line: Line,
    wait: float,
    reply: Callable[[ModelRequest, int], str] = another_reply,
) -> tuple[Debate, MarkingProvider, CachingRules]:
    rules = CachingRules(line.provider, wait, reply)
    async with Vendor(rules) as vendor:
        provider = MarkingProvider(
            factory.build(line.provider, "sk-bench", vendor.url + line.path), line.provider
        )
        rules.requests = provider.requests
        clock, store = SystemClock(), InMemoryStore()
        calls = ModelCalls({line.provider: provider}, clock, parallel=2 * len(setup.agents))
        engine = Engine(
            store=store, turns=Turns(calls, reader=Library()), sink=RecordingSink(), clock=clock
        )
        started = DebateStarted(setup=setup)
        await store.create("dbench22", started, origin="bench", at=clock.now())
        debate = await engine.run("dbench22")
        await calls.close()
    return debate, provider, rules


def least_by_order(
    line: Line, requests: Sequence[ModelRequest], usages: Sequence[Usage]
) -> list[Usage]:
    """Return the usage of each call under the bound "order"."""
    texts = [full_text(request) for request in requests]
    scopes = [(r.model, r.effort, r.answer and repr(r.answer.schema)) for r in requests]
    least = list[Usage]()
    for index, (request, usage) in enumerate(zip(requests, usages, strict=True)):
        shared = [0, 0]  # tokens shared with an earlier, with a later prompt
        for number, (text, scope) in enumerate(zip(texts, scopes, strict=True)):
            if scope == scopes[index] and number != index:
                prefix = os.path.commonprefix([texts[index], text])  # noqa: RUF071 - texts, not paths
                is_later = number > index
                shared[is_later] = max(shared[is_later], estimate_tokens(prefix))
        minimum = capability(line.provider, request.model).cache_min_tokens
        read, later = (size if size >= minimum else 0 for size in shared)
        read = min(read, usage.input_tokens)
        written = min(max(0, later - read), usage.input_tokens - read)
        least.append(replace(usage, cached_tokens=read, written_tokens=written))
    return least


def full_text(request: ModelRequest) -> str:
    return request.system + "".join(piece.text for piece in pieces(request))


@dataclass(frozen=True)
class Bill:
    calls: int
    tokens: int
    cached: int
    #: US dollars; so is `by_order`.
    spent: Decimal
    by_order: Decimal

    def line(self, name: str) -> str:
        return (
            f"{name:32} {self.calls:5}  {self.tokens:10,}  {self.cached / self.tokens:5.0%}"
            f"  ${self.spent:7.4f}  {self.spent / self.by_order:6.3f}"
        )


HEAD = f"{'':32} calls   tokens in  cached  measured   order\n{'-' * 67}"


def bill(line: Line, provider: MarkingProvider, rules: CachingRules) -> Bill:
    requests = provider.requests
    usages = [rules.usages[number] for number in range(len(requests))]

    def cost(usages: Sequence[Usage]) -> Decimal:
        prices = (
            price(line.provider, request.model, usage) or Decimal(0)
            for request, usage in zip(requests, usages, strict=True)
        )
        return sum(prices, start=Decimal(0))

    return Bill(
        calls=len(requests),
        tokens=sum(usage.input_tokens for usage in usages),
        cached=sum(usage.cached_tokens for usage in usages),
        spent=cost(usages),
        by_order=cost(least_by_order(line, requests, usages)),
    )


async def ratios(agents: int, rounds: int, wait: float, *, sources: int = 0) -> dict[str, Bill]:
    bills: dict[str, Bill] = {}
    for line in LINES:
        for form in FORMATS:
            if sources and form == review.NAME:
                continue  # its author would have to answer findings
            setup = with_sources(a_setup(line, form, agents, rounds), sources)
            debate, provider, rules = await debate_against(setup, line, wait)
            assert debate.verdict, debate.failure
            bills[f"{line.provider} {form}"] = bill(line, provider, rules)
    return bills


@dataclass(frozen=True)
class BesidePeer:
    """Moot's requests for a critique of three agents and three rounds, and dialectic's."""

    #: Characters sent, by act.
    sent: Mapping[str, Sequence[int]]
    #: US dollars by vendor: of Moot's requests, of dialectic's.
    costs: Mapping[str, tuple[Decimal, Decimal]]

    @property
    def characters(self) -> Decimal:
        ours, theirs = (sum(map(sum, sent.values())) for sent in (self.sent, peer.REQUESTS))
        return Decimal(ours) / theirs

    def lines(self) -> Iterator[str]:
        """The rows of a table."""
        yield f"{'critique beside dialectic 0.7.0':32} calls  characters   calls  dialectic's"
        for act in {**peer.REQUESTS, **self.sent}:
            ours, theirs = (sent.get(act, ()) for sent in (self.sent, peer.REQUESTS))
            yield f"{act:32} {len(ours):5}  {sum(ours):10,}   {len(theirs):5}  {sum(theirs):11,}"
        yield f"all characters / dialectic's: {self.characters:.3f}"
        for vendor, (ours, theirs) in self.costs.items():
            ratio = f"${ours:.4f} / ${theirs:.4f} = {ours / theirs:.3f}"
            yield f"cost / dialectic's by the rules of {vendor}: {ratio}"


async def beside_peer(wait: float) -> BesidePeer:
    sent, costs = dict[str, list[int]](), dict[str, tuple[Decimal, Decimal]]()
    for line in LINES:
        one_model = line._replace(summary_model=line.agent_model)
        setup = a_setup(one_model, "critique", 3, 3, question=peer.QUESTION)
        _, provider, rules = await debate_against(setup, one_model, wait, peer.reply_as_long)
        sizes = [
            Usage(input_tokens=tokens_of(characters), output_tokens=tokens_of(REPLY_CHARACTERS))
            for requests in peer.REQUESTS.values()
            for characters in requests
        ]
        prices = [price(line.provider, line.agent_model, size) or Decimal(0) for size in sizes]
        costs[line.provider] = bill(line, provider, rules).spent, sum(prices, Decimal(0))
        sent = {request.act.value: list[int]() for request in provider.requests}
        for request in provider.requests:
            sent[request.act.value].append(len(full_text(request)))
    return BesidePeer(sent=sent, costs=costs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sources", type=int, default=0, help="files of 8,000 characters")
    parser.add_argument("--wait", type=float, default=0.05, help="seconds to the first token")
    options = parser.parse_args()
    print(f"{options.agents} agents; {options.rounds} rounds; {options.sources} sources")
    print(f'"order": measured cost ÷ that bound\n\n{HEAD}')
    debates = ratios(options.agents, options.rounds, options.wait, sources=options.sources)
    bills = asyncio.run(debates)
    for name, paid in bills.items():
        print(paid.line(name))
    beside = asyncio.run(beside_peer(options.wait))
    print("", *beside.lines(), sep="\n")
    results = [beside.characters, *(paid.spent / paid.by_order for paid in bills.values())]
    return 0 if all(ratio <= TARGET for ratio in results) else 1


if __name__ == "__main__":
    sys.exit(main())
