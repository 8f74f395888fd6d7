"""What a debate costs under the vendors' caching rules, as a ratio to the least it could cost.

    python -m bench.cost [--agents 5] [--rounds 7] [--wait 0.1]

Runs every call of a debate (statements in rounds, summaries beside them) through the real code and
the real SDKs to a server on the loopback that caches and counts as the vendor does: an entry can be
read from the moment the reply that wrote it begins, only whole marked beginnings of at least the
least size are cached, writing costs more and reading less. The ideal writes each new shared text
once and reads it for everybody else. Fails when the ratio is above the target.
"""

import argparse
import asyncio
import hashlib
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from core.clock import SystemClock
from core.llm.call import ModelCalls
from core.llm.prices import estimate_tokens, price
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.fields import items
from core.llm.providers.openai import OpenAIProvider
from core.llm.providers.testing.script import Asked, Counts, Say
from core.llm.providers.testing.server import Vendor
from core.llm.quoting import quote
from core.models import Act, Agent, Usage
from core.ports import ModelProvider
from core.request import Effort, ModelRequest, Part, PartKind

TARGET = Decimal("1.10")
DELIMITER = "k7f3q9zz"
#: Sizes in tokens, as measured on debates of this format.
SYSTEM, QUESTION, STATEMENT, SUMMARY, PERSONA = 600, 1600, 260, 120, 250
_CHARS_PER_TOKEN = 3.5


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
class CachingRules:
    """Answers as a vendor with a prompt cache does, and counts what it would charge for."""

    least: int
    wait: float
    replies: Mapping[str, str]
    #: When each beginning can be read, on the event loop's clock.
    readable: dict[str, float] = field(default_factory=dict[str, float])

    def __call__(self, asked: Asked) -> Say:
        """Answer one request."""
        blocks = _blocks(asked.body)
        total = sum(estimate_tokens(text) for text, _ in blocks)
        marked = self._marked(asked, blocks)
        cached = max((size for key, size in marked if self._is_readable(key, asked.at)), default=0)
        written = max((size for _, size in marked), default=0) - cached
        for key, _ in marked:
            self.readable.setdefault(key, asked.at + self.wait)
        text = self.replies[str(asked.body["model"])]
        output = estimate_tokens(text)
        counts = Counts(input=total, cached=cached, written=written, output=output)
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


def words(tokens: int, seed: str) -> str:
    """Text of about so many tokens, different for each seed."""
    length = int(tokens * _CHARS_PER_TOKEN)
    return " ".join(f"{seed} argues point {n}." for n in range(length // 8))[:length]


def _part(kind: PartKind, text: str, *, ends: bool = False) -> Part:
    return Part(kind=kind, label=kind.value.title(), text=text, ends_shared=ends)


def shared_parts(number: int, agents: int) -> list[Part]:
    """What all agents share in a round: question, older rounds in short, the last one in full."""
    parts = [_part(PartKind.QUESTION, words(QUESTION, "question"), ends=True)]
    older = [_part(PartKind.SUMMARY, words(SUMMARY, f"sum{n}")) for n in range(1, number - 1)]
    if older:
        older[-1] = _part(PartKind.SUMMARY, older[-1].text, ends=True)
    last = [
        _part(PartKind.OTHER, words(STATEMENT, f"r{number - 1}a{n}"), ends=n == agents - 1)
        for n in range(agents if number > 1 else 0)
    ]
    return [*parts, *older, *last]


def a_request(act: Act, parts: Sequence[Part], task: str) -> ModelRequest:
    """A call of the debate."""
    return ModelRequest(
        model="",
        act=act,
        role="architect",
        system=words(SYSTEM, "system"),
        parts=(*parts, _part(PartKind.TASK, task)),
        delimiter=DELIMITER,
        effort=Effort.LOW,
        cache_key="dbench22",
    )


async def debate(calls: ModelCalls, line: Line, agents: int, rounds: int) -> Usage:
    """Hold the debate; what it spent."""
    spent = Usage()
    for number in range(1, rounds + 1):
        shared = shared_parts(number, agents)
        speaking = [_speak(calls, line, shared, agent) for agent in range(agents)]
        summing = [_sum_up(calls, line, number - 1, agents)] if number > 1 else []
        spent = sum(await asyncio.gather(*speaking, *summing), start=spent)
    return spent


async def _speak(calls: ModelCalls, line: Line, shared: Sequence[Part], agent: int) -> Usage:
    request = a_request(Act.STATEMENT, shared, words(PERSONA, f"agent{agent}"))
    return (await calls.ask(request, _agent(line, line.agent_model))).call.usage


async def _sum_up(calls: ModelCalls, line: Line, number: int, agents: int) -> Usage:
    """Sum a round up; nobody shares this prompt, so nothing in it is marked."""
    parts = [_part(PartKind.OTHER, words(STATEMENT, f"r{number}a{n}")) for n in range(agents)]
    request = a_request(Act.SUMMARY, parts, "Sum it up.")
    return (await calls.ask(request, _agent(line, line.summary_model))).call.usage


def _agent(line: Line, model: str) -> Agent:
    return Agent(id="ann", name="Ann", role="architect", provider=line.provider, model=model)


def ideal(line: Line, agents: int, rounds: int) -> Decimal:
    """The least the same calls can cost: each new shared text written once, read by all others."""
    total, known = Decimal(0), 0
    for number in range(1, rounds + 1):
        shared, kept = _shared_sizes(number, agents)
        private = estimate_tokens(words(PERSONA, "agent0") + "\n\n")
        read = agents * shared - (shared - known)
        usage = Usage(
            input_tokens=agents * (shared + private),
            written_tokens=shared - known,
            cached_tokens=read,
            output_tokens=agents * estimate_tokens(words(STATEMENT, "reply")),
        )
        total += _price(line, line.agent_model, usage)
        known = kept
        if number > 1:
            total += _price(line, line.summary_model, _summary_usage(agents))
    return total


def _shared_sizes(number: int, agents: int) -> tuple[int, int]:
    """Tokens all agents share in a round, and how many of them the next round has too."""
    parts = shared_parts(number, agents)
    system = estimate_tokens(words(SYSTEM, "system"))
    sizes = [estimate_tokens(quote(part, DELIMITER) + "\n\n") for part in parts]
    lasting = [size for part, size in zip(parts, sizes, strict=True) if _lasts(part)]
    return system + sum(sizes), system + sum(lasting)


def _lasts(part: Part) -> bool:
    return part.kind is not PartKind.OTHER


def _summary_usage(agents: int) -> Usage:
    texts = [_part(PartKind.OTHER, words(STATEMENT, f"r1a{n}")) for n in range(agents)]
    prompt = words(SYSTEM, "system") + "".join(quote(text, DELIMITER) for text in texts)
    output = estimate_tokens(words(SUMMARY, "sum"))
    return Usage(input_tokens=estimate_tokens(prompt), output_tokens=output)


def _price(line: Line, model: str, usage: Usage) -> Decimal:
    found = price(line.provider, model, usage)
    assert found is not None, f"no price for {model}"
    return found


async def run(line: Line, agents: int, rounds: int, wait: float) -> Usage:
    """Hold one debate against the vendor's rules."""
    replies = {
        line.agent_model: words(STATEMENT, "reply"),
        line.summary_model: words(SUMMARY, "sum"),
    }
    async with Vendor(CachingRules(line.least, wait, replies)) as vendor:
        provider = line.build(vendor.url)
        calls = ModelCalls({line.provider: provider}, SystemClock(), parallel=2 * agents)
        spent = await debate(calls, line, agents, rounds)
        await calls.close()
    return spent


async def uncached(line: Line, agents: int, rounds: int) -> Decimal:
    """What the same calls cost when nothing is cached."""
    total = Decimal(0)
    for number in range(1, rounds + 1):
        shared, _ = _shared_sizes(number, agents)
        private = estimate_tokens(words(PERSONA, "agent0") + "\n\n")
        output = agents * estimate_tokens(words(STATEMENT, "reply"))
        usage = Usage(input_tokens=agents * (shared + private), output_tokens=output)
        total += _price(line, line.agent_model, usage)
        total += _price(line, line.summary_model, _summary_usage(agents)) if number > 1 else 0
    return total


async def main(agents: int, rounds: int, wait: float) -> bool:
    """Print the figures; whether every ratio is good enough."""
    print(f"{platform.platform()}, Python {platform.python_version()}")
    print(f"{agents} agents, {rounds} rounds, {agents * rounds} statements, {rounds - 1} summaries")
    good = True
    for line in LINES:
        spent = await run(line, agents, rounds, wait)
        best = ideal(line, agents, rounds)
        cost = spent.cost or Decimal(0)
        ratio = cost / best
        good = good and ratio <= TARGET
        print(
            f"{line.provider:10} no cache ${await uncached(line, agents, rounds):.3f}"
            f"   measured ${cost:.3f}   ideal ${best:.3f}   ratio {ratio:.3f} (target {TARGET})"
        )
    print("\ntokens per debate, by rounds (summaries keep the growth linear):")
    for number in range(1, 11):
        spent = await run(LINES[0], agents, number, wait)
        print(
            f"{number:3} rounds: {spent.input_tokens:7,} in, {spent.cached_tokens:7,} of them"
            f" cached, {spent.output_tokens:6,} out, ${spent.cost:.3f}"
        )
    return good


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--wait", type=float, default=0.1, help="seconds to the first token")
    chosen = parser.parse_args()
    sys.exit(0 if asyncio.run(main(chosen.agents, chosen.rounds, chosen.wait)) else 1)
