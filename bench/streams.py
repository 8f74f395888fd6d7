"""What reading a reply costs of a CPU: as Moot reads a stream, and as vendors' SDKs do.

    python -m bench.streams [--replies 10] [--seconds 5]

Asked is with a prompt of 15,000 characters, as a critique has. A reply of 1,800 characters comes in
450 events, evenly over `--seconds`, from a server that speaks the vendor's protocol in a process of
its own (`bench.vendor`); so many replies come at once. Counted is
the CPU time of the process that asks and reads. Both ways are measured by turns in one run: on a
busy machine only their ratios say something.
"""

import argparse
import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from bench.first_reply import REQUEST
from bench.vendor import CHARACTERS_PER_TOKEN, REPLY_CHARACTERS, Manner, a_vendor, long_text
from core.llm.providers import factory
from core.ports import LoadsSlowly
from core.request import Part, PartKind

EVENTS = REPLY_CHARACTERS // CHARACTERS_PER_TOKEN
#: Of a streamed reply.
TARGET_MS = 30.0
#: Turns each way takes.
_TURNS = 2
_PROMPT = "".join(long_text(str(number)) for number in range(15_000 // REPLY_CHARACTERS + 1))
LONGER = replace(
    REQUEST,
    parts=(Part(kind=PartKind.OTHER, label="Positions", text=_PROMPT[:15_000]), *REQUEST.parts),
    delimiter="k7f3q9",
    max_output_tokens=1000,
)
Ask = Callable[[], Awaitable[object]]


class Cost(NamedTuple):
    """Milliseconds of CPU by reply."""

    streamed: float
    #: Streamed, read by the SDK.
    sdk: float


def _by_responses(url: str) -> Ask:
    client = AsyncOpenAI(api_key="sk-bench", base_url=f"{url}/v1")

    async def ask() -> None:
        async for _ in await client.responses.create(model="any", input=_PROMPT, stream=True):
            pass

    return ask


def _by_chat(url: str) -> Ask:
    said: Any = [{"role": "user", "content": _PROMPT}]
    completions = AsyncOpenAI(api_key="sk-bench", base_url=f"{url}/v1").chat.completions

    async def ask() -> None:
        async for _ in await completions.create(model="any", messages=said, stream=True):
            pass

    return ask


def _by_messages(url: str) -> Ask:
    said: Any = [{"role": "user", "content": _PROMPT}]
    messages = AsyncAnthropic(api_key="sk-bench", base_url=url).messages

    async def ask() -> None:
        asking = messages.create(model="any", max_tokens=1000, messages=said, stream=True)
        async for _ in await asking:
            pass

    return ask


#: API → the provider that speaks it, the path of its address, and what makes the SDK's own way.
APIS: Mapping[str, tuple[str, str, Callable[[str], Ask]]] = {
    "OpenAI, Responses": ("openai", "/v1", _by_responses),
    "OpenAI, Chat Completions": ("openrouter", "/v1", _by_chat),
    "Anthropic, Messages": ("anthropic", "", _by_messages),
}


async def cost(api: str, replies: int, seconds: float) -> Cost:
    """What a reply costs by this API, the cheapest of a few turns each way."""
    provider, path, by_sdk = APIS[api]
    async with a_vendor(Manner(seconds=seconds)) as vendor:
        asked = factory.build(provider, "sk-bench", vendor.url + path)
        if isinstance(asked, LoadsSlowly):
            await asked.load()
        ways: tuple[Ask, Ask] = (
            lambda: asked.complete(LONGER),
            by_sdk(vendor.url),
        )
        await asyncio.gather(*(way() for way in ways))
        found = [[await _spent(way, replies) for way in ways] for _ in range(_TURNS)]
        await asked.close()
    least = (1000 * min(column) / replies for column in zip(*found, strict=True))
    return Cost(*least)


async def _spent(way: Ask, replies: int) -> float:
    """Seconds of CPU that so many replies at once take."""
    began = time.process_time()
    await asyncio.gather(*(way() for _ in range(replies)))
    return time.process_time() - began


def main() -> None:
    """Print a line for each API."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replies", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}; {EVENTS} events in {given.seconds:g} s")
    for api in APIS:
        found = asyncio.run(cost(api, given.replies, given.seconds))
        print(
            f"{api}: {found.streamed:.1f} ms of CPU a reply (target {TARGET_MS:g}), by the SDK "
            f"{found.sdk:.1f}; ratio {found.streamed / found.sdk:.2f}"
        )


if __name__ == "__main__":
    main()
