"""What whole debates cost under the vendors' caching rules, as ratios to the least they could cost.

    python -m bench.cost [--agents 3] [--rounds 3] [--sources 0] [--wait 0.05]

Holds a debate of each format through the real engine, with its real prompts and the real SDKs, at a
server on the loopback that caches and counts as the vendor does: an entry can be read from the
moment the reply that wrote it begins, only by calls with the same model, effort and form of answer,
only whole marked beginnings of at least the model's least size are cached, writing costs more and
reading less. No two replies are alike: equal ones would be cached where real ones cannot be. A
bound, "order", stands beside what was measured: the same prompts with the same settings, cut
anywhere, each beginning that a later prompt has too written once and read by all others. Only
hindsight reaches it: it knows who reads on, asks each call after the one that wrote what it reads,
and has no most of four marks. The last table sets the characters and the cost of a critique beside
those of dialectic's requests for the same debate (`bench.cost_peer`). Fails when a ratio of cost to
the bound, or of characters to dialectic's, is above the target.
"""

import argparse
import asyncio
import hashlib
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

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
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.fields import items
from core.llm.providers.openai import OpenAIProvider
from core.opening import DebateRequest, open_debate
from core.ports import ModelProvider
from core.request import ModelReply, ModelRequest
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


@dataclass(frozen=True)
class Line:
    """A vendor, its models, and how to build its provider."""

    provider: str
    agent_model: str
    summary_model: str

    def build(self, url: str) -> ModelProvider:
        if self.provider == "anthropic":
            return AnthropicProvider("sk-bench", url)
        return OpenAIProvider("sk-bench", f"{url}/v1")


LINES = (
    Line("anthropic", "claude-sonnet-5-5", "claude-haiku-5-5"),
    Line("openai", "gpt-6.1-terra", "gpt-6-luna"),
)


@dataclass
class MarkingProvider:
    """The real provider, with each request marked at its end so that the server can answer it."""

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
    """Answers as a vendor with a prompt cache does, and counts what it would charge for."""

    provider: str
    wait: float
    reply: Callable[[ModelRequest, int], str]
    asked: Sequence[ModelRequest] = ()
    #: When each beginning can be read, on the event loop's clock.
    readable: dict[str, float] = field(default_factory=dict[str, float])
    #: What each call was given, by its number.
    usages: dict[int, Usage] = field(default_factory=dict[int, Usage])

    def __call__(self, call: VendorRequest) -> Say:
        blocks = _blocks(call.body)
        total = sum(estimate_tokens(text) for text, _ in blocks)
        marked = self._marked(call, blocks)
        cached = max((size for key, size in marked if self._is_readable(key, call.at)), default=0)
        fresh = max((size for _, size in marked), default=0) - cached
        for key, _ in marked:
            self.readable.setdefault(key, call.at + self.wait)
        marks = _MARK.findall(str(call.body))
        request = self.asked[int(marks[-1])]
        text = self.reply(request, int(marks[-1]))
        output = estimate_tokens(text)
        counts = Counts(input=total, cached=cached, written=fresh, output=output)
        usage = Usage(input_tokens=total, cached_tokens=cached, written_tokens=fresh)
        self.usages[int(marks[-1])] = replace(usage, output_tokens=output)
        return Say(text=text, counts=counts, wait=self.wait)

    def _is_readable(self, key: str, at: float) -> bool:
        return self.readable.get(key, at + 1) <= at

    def _marked(
        self, request: VendorRequest, blocks: Sequence[tuple[str, bool]]
    ) -> list[tuple[str, int]]:
        digest = hashlib.sha256(repr(_settings(request.body)).encode())
        size, sizes = 0, list[tuple[str, int]]()
        least = capability(self.provider, str(request.body["model"])).cache_min_tokens
        for text, mark in blocks:
            digest.update(f"{len(text)} {text}".encode())
            size += estimate_tokens(text)
            if mark and size >= least:
                sizes.append((digest.hexdigest(), size))
        return sizes


def another_reply(request: ModelRequest, number: int) -> str:
    """A usual reply that is no other's: equal ones would be cached where models' never are."""
    return usual_reply(request).replace("The reasons", f"The reasons {number}")


def _settings(body: Mapping[str, Any]) -> tuple[object, ...]:
    names = ("model", "thinking", "reasoning", "output_config", "text", "prompt_cache_key")
    return tuple(body.get(name) for name in names)


def _blocks(body: Mapping[str, Any]) -> list[tuple[str, bool]]:
    system = str(body.get("instructions") or "")
    blocks = [*items(body, "system"), *items(body, "messages", 0, "content")]
    blocks += items(body, "input", 0, "content")
    marks = ("cache_control", "prompt_cache_breakpoint")
    texts = [(str(block["text"]), any(mark in block for mark in marks)) for block in blocks]
    return [(system, False), *texts] if system else texts


class Library:
    """The `SourceReader`: files of figures under headings, no two alike, about the question."""

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
    """The debate with so many files that came with its question."""
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
        provider = MarkingProvider(line.build(vendor.url), line.provider)
        rules.asked = provider.requests
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
    """The least these prompts can cost in this order, cut anywhere, with hindsight, by call."""
    texts = [request.system + "".join(p.text for p in pieces(request)) for request in requests]
    scopes = [(r.model, r.effort, r.answer and repr(r.answer.schema)) for r in requests]
    ideal: list[Usage] = []
    for at, (request, usage) in enumerate(zip(requests, usages, strict=True)):
        same = [n for n, scope in enumerate(scopes) if scope == scopes[at]]
        read = max((_common(texts[at], texts[n]) for n in same if n < at), default=0)
        later = max((_common(texts[at], texts[n]) for n in same if n > at), default=0)
        least = capability(line.provider, request.model).cache_min_tokens
        read, later = (size if size >= least else 0 for size in (read, later))
        ideal.append(_with(usage, read=read, fresh=max(0, later - read)))
    return ideal


def _common(text: str, other: str) -> int:
    shared = os.path.commonprefix([text, other])  # noqa: RUF071 - texts, not paths
    return estimate_tokens(shared)


def _with(usage: Usage, *, read: int, fresh: int) -> Usage:
    read = min(read, usage.input_tokens)
    changes = {"cached_tokens": read, "written_tokens": min(fresh, usage.input_tokens - read)}
    return replace(usage, **changes)


@dataclass(frozen=True)
class Bill:
    calls: int
    tokens: int
    cached: int
    #: US dollars.
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
    by_order = least_by_order(line, requests, usages)

    def cost(usages: Sequence[Usage]) -> Decimal:
        prices = [
            price(line.provider, request.model, usage)
            for request, usage in zip(requests, usages, strict=True)
        ]
        return sum((paid for paid in prices if paid is not None), start=Decimal(0))

    return Bill(
        calls=len(requests),
        tokens=sum(usage.input_tokens for usage in usages),
        cached=sum(usage.cached_tokens for usage in usages),
        spent=cost(usages),
        by_order=cost(by_order),
    )


async def ratios(agents: int, rounds: int, wait: float, *, sources: int = 0) -> dict[str, Bill]:
    bills: dict[str, Bill] = {}
    for line in LINES:
        for form in FORMATS:
            setup = with_sources(a_setup(line, form, agents, rounds), sources)
            debate, provider, rules = await debate_against(setup, line, wait)
            assert debate.verdict, debate.failure
            bills[f"{line.provider} {form}"] = bill(line, provider, rules)
    return bills


@dataclass(frozen=True)
class BesidePeer:
    """A debate of critique, three agents and three rounds, beside what the peer sent for it."""

    #: Characters sent, by act.
    sent: Mapping[str, Sequence[int]]
    #: US dollars by vendor: of this debate, and of the peer's requests.
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
        one_model = replace(line, summary_model=line.agent_model)
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
            whole = request.system + "".join(piece.text for piece in pieces(request))
            sent[request.act.value].append(len(whole))
    return BesidePeer(sent=sent, costs=costs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sources", type=int, default=0, help="files of 8,000 characters")
    parser.add_argument("--wait", type=float, default=0.05, help="seconds to the first token")
    options = parser.parse_args()
    print(f"{platform.platform()}, Python {platform.python_version()}")
    size = f"{options.agents} agents; {options.rounds} rounds; {options.sources} sources"
    print(f"load {os.getloadavg()[0]:.1f}; {size}")
    print('"order": what was measured / the least by that bound\n')
    print(HEAD)
    held_so = ratios(options.agents, options.rounds, options.wait, sources=options.sources)
    bills = asyncio.run(held_so)
    for name, paid in bills.items():
        print(paid.line(name))
    beside = asyncio.run(beside_peer(options.wait))
    print("", *beside.lines(), sep="\n")
    ratios_found = [beside.characters, *(paid.spent / paid.by_order for paid in bills.values())]
    return 0 if all(ratio <= TARGET for ratio in ratios_found) else 1


if __name__ == "__main__":
    sys.exit(main())
