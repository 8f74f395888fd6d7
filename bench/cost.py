"""What whole debates cost under the vendors' caching rules, as ratios to the least they could cost.

    python -m bench.cost [--agents 3] [--rounds 3] [--wait 0.05]

Holds a debate of each format through the real engine, with its real prompts and the real SDKs, at a
server on the loopback that caches and counts as the vendor does: an entry can be read from the
moment the reply that wrote it begins, only whole marked beginnings of at least the least size are
cached, writing costs more and reading less. Two bounds stand beside what was measured:

- "order": the same prompts, cut anywhere: each beginning that a later prompt has too is written
  once and read by all others. Only hindsight reaches it.
- "parts": each part that several prompts hold is written once and read by all others, wherever in
  a prompt it stands. No order of parts reaches it for all prompts together.

Fails when a ratio to "order" is above the target.
"""

import argparse
import asyncio
import hashlib
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from core.clock import SystemClock
from core.engine import Engine
from core.estimate import usual_reply
from core.events import DebateStarted
from core.llm.call import ModelCalls
from core.llm.prices import estimate_tokens, price
from core.llm.prompt_text import pieces
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.fields import items
from core.llm.providers.openai import OpenAIProvider
from core.llm.providers.testing.script import Asked, Counts, Say
from core.llm.providers.testing.server import Vendor
from core.llm.quoting import quote
from core.models import Debate, Ending, ModelChoice, Person, Place, Setup, Termination, Usage, When
from core.opening import DebateRequest, open_debate
from core.ports import ModelProvider
from core.request import ModelReply, ModelRequest
from core.rules.formats.registry import FORMATS
from core.settings import Settings
from core.store.memory import InMemoryStore
from core.testing import RecordingSink
from core.turns.take import Turns

TARGET = Decimal("1.10")
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
    least: int

    def build(self, url: str) -> ModelProvider:
        """The real provider, talking to the server at this address."""
        if self.provider == "anthropic":
            return AnthropicProvider("sk-bench", url)
        return OpenAIProvider("sk-bench", f"{url}/v1")


LINES = (
    Line("anthropic", "claude-sonnet-5-5", "claude-haiku-5-5", 1024),
    Line("openai", "gpt-6.1-terra", "gpt-6-luna", 1024),
)


@dataclass
class Marked:
    """The real provider, with each request marked at its end so that the server can answer it."""

    inner: ModelProvider
    name: str
    requests: list[ModelRequest] = field(default_factory=list[ModelRequest])

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Ask the real one; the mark is the last thing in the prompt, so it breaks no cache."""
        number = len(self.requests)
        self.requests.append(request)
        *parts, task = request.parts
        marked = replace(task, text=f"{task.text} [[call {number}]]")
        return await self.inner.complete(replace(request, parts=(*parts, marked)), on_first_token)

    async def close(self) -> None:
        """Close the real one."""
        await self.inner.close()


@dataclass
class CachingRules:
    """Answers as a vendor with a prompt cache does, and counts what it would charge for."""

    least: int
    wait: float
    asked: Sequence[ModelRequest] = ()
    #: When each beginning can be read, on the event loop's clock.
    readable: dict[str, float] = field(default_factory=dict[str, float])
    #: What each call was given, by its number.
    usages: dict[int, Usage] = field(default_factory=dict[int, Usage])

    def __call__(self, asked: Asked) -> Say:
        """Answer one request."""
        blocks = _blocks(asked.body)
        total = sum(estimate_tokens(text) for text, _ in blocks)
        marked = self._marked(asked, blocks)
        cached = max((size for key, size in marked if self._is_readable(key, asked.at)), default=0)
        written = max((size for _, size in marked), default=0) - cached
        for key, _ in marked:
            self.readable.setdefault(key, asked.at + self.wait)
        found = _MARK.findall(str(asked.body))
        request = self.asked[int(found[-1])]
        text = usual_reply(request)
        output = estimate_tokens(text)
        counts = Counts(input=total, cached=cached, written=written, output=output)
        usage = Usage(input_tokens=total, cached_tokens=cached, written_tokens=written)
        self.usages[int(found[-1])] = usage.model_copy(update={"output_tokens": output})
        return Say(text=text, counts=counts, wait=self.wait)

    def _is_readable(self, key: str, at: float) -> bool:
        return self.readable.get(key, at + 1) <= at

    def _marked(self, asked: Asked, blocks: Sequence[tuple[str, bool]]) -> list[tuple[str, int]]:
        """Keys and sizes of the beginnings that are marked and large enough."""
        digest = hashlib.sha256(repr(_settings(asked.body)).encode())
        size, found = 0, list[tuple[str, int]]()
        for text, mark in blocks:
            digest.update(f"{len(text)} {text}".encode())
            size += estimate_tokens(text)
            if mark and size >= self.least:
                found.append((digest.hexdigest(), size))
        return found


def _settings(body: Mapping[str, Any]) -> tuple[object, ...]:
    """What must be equal for a beginning to be found again."""
    names = ("model", "thinking", "reasoning", "output_config", "prompt_cache_key")
    return tuple(body.get(name) for name in names)


def _blocks(body: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """The prompt's texts in order, and whether each ends with a mark."""
    system = str(body.get("instructions") or "")
    blocks = [*items(body, "system"), *items(body, "messages", 0, "content")]
    blocks += items(body, "input", 0, "content")
    marks = ("cache_control", "prompt_cache_breakpoint")
    texts = [(str(block["text"]), any(mark in block for mark in marks)) for block in blocks]
    return [(system, False), *texts] if system else texts


def a_setup(line: Line, form: str, agents: int, rounds: int) -> Setup:
    """A debate in which every round is held."""
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
        question=QUESTION,
        asked_by=Person(id="U1", name="Dana"),
        place=Place(surface="terminal"),
        agents=roles[:agents],
        rounds=rounds,
    )
    return open_debate(request, settings, delimiter="k7f3q9zz")


async def held(setup: Setup, line: Line, wait: float) -> tuple[Debate, Marked, CachingRules]:
    """Hold the debate against the vendor's rules."""
    rules = CachingRules(line.least, wait)
    async with Vendor(rules) as vendor:
        provider = Marked(line.build(vendor.url), line.provider)
        rules.asked = provider.requests
        clock, store = SystemClock(), InMemoryStore()
        calls = ModelCalls({line.provider: provider}, clock, parallel=2 * len(setup.agents))
        engine = Engine(store=store, turns=Turns(calls), sink=RecordingSink(), clock=clock)
        started = DebateStarted(setup=setup)
        await store.create("dbench22", started, origin="bench", at=clock.now())
        debate = await engine.run("dbench22")
        await calls.close()
    return debate, provider, rules


def least_by_order(
    line: Line, requests: Sequence[ModelRequest], usages: Sequence[Usage]
) -> Decimal:
    """The least these prompts can cost in this order, cut anywhere, with hindsight."""
    texts = [request.system + "".join(p.text for p in pieces(request)) for request in requests]
    total = Decimal(0)
    for at, (request, usage) in enumerate(zip(requests, usages, strict=True)):
        same = [n for n, other in enumerate(requests) if other.model == request.model]
        read = max((_common(texts[at], texts[n]) for n in same if n < at), default=0)
        kept = max((_common(texts[at], texts[n]) for n in same if n > at), default=0)
        read, kept = (size if size >= line.least else 0 for size in (read, kept))
        total += _cost(line, request, usage, read=read, written=max(0, kept - read))
    return total


def least_by_parts(
    line: Line, requests: Sequence[ModelRequest], usages: Sequence[Usage]
) -> Decimal:
    """The least these prompts could cost if each part were cached wherever it stands."""
    total, seen = Decimal(0), set[tuple[str, str]]()
    held = [
        [(r.model, text) for text in (r.system, *(quote(p, r.delimiter) for p in r.parts[:-1]))]
        for r in requests
    ]
    for at, (request, usage) in enumerate(zip(requests, usages, strict=True)):
        later = {part for parts in held[at + 1 :] for part in parts}
        read = sum(estimate_tokens(part[1]) for part in held[at] if part in seen)
        fresh = [part for part in held[at] if part not in seen and part in later]
        seen.update(held[at])
        written = sum(estimate_tokens(part[1]) for part in fresh)
        total += _cost(line, request, usage, read=read, written=written)
    return total


def _common(one: str, other: str) -> int:
    """Tokens of the beginning that two prompts share."""
    shared = os.path.commonprefix([one, other])  # noqa: RUF071 - texts, not paths
    return estimate_tokens(shared)


def _cost(line: Line, request: ModelRequest, usage: Usage, *, read: int, written: int) -> Decimal:
    read = min(read, usage.input_tokens)
    changes = {"cached_tokens": read, "written_tokens": min(written, usage.input_tokens - read)}
    found = price(line.provider, request.model, usage.model_copy(update=changes))
    assert found is not None, f"no price for {request.model}"
    return found


async def main(agents: int, rounds: int, wait: float) -> bool:
    """Print the figures; whether every ratio is good enough."""
    print(f"{platform.platform()}, Python {platform.python_version()}")
    print(f"{agents} agents; {rounds} rounds of critique and panel; ratios: measured / least\n")
    print(f"{'':22} calls   tokens in  cached   no cache  measured   order   parts")
    good = True
    for line in LINES:
        for form in FORMATS:
            setup = a_setup(line, form, agents, rounds)
            debate, provider, rules = await held(setup, line, wait)
            usages = [rules.usages[n] for n in range(len(provider.requests))]
            by_order = least_by_order(line, provider.requests, usages)
            by_parts = least_by_parts(line, provider.requests, usages)
            pairs = list(zip(provider.requests, usages, strict=True))
            spent = sum(
                (
                    _cost(line, r, u, read=u.cached_tokens, written=u.written_tokens)
                    for r, u in pairs
                ),
                start=Decimal(0),
            )
            plain = sum((_cost(line, r, u, read=0, written=0) for r, u in pairs), start=Decimal(0))
            good = good and spent / by_order <= TARGET
            tokens = sum(usage.input_tokens for usage in usages)
            cached = sum(usage.cached_tokens for usage in usages) / tokens
            print(
                f"{line.provider:10} {form:10} {len(usages):6}  {tokens:10,}  {cached:6.0%}"
                f"   ${plain:.3f}    ${spent:.3f}   {spent / by_order:.3f}   {spent / by_parts:.3f}"
            )
            assert debate.verdict, debate.failure
    return good


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--wait", type=float, default=0.05, help="seconds to the first token")
    chosen = parser.parse_args()
    sys.exit(0 if asyncio.run(main(chosen.agents, chosen.rounds, chosen.wait)) else 1)
