"""Time to the verdict in every format, as a ratio to the longest chain of replies it depends on.

    python -m bench.chain [--seconds 3] [--slow 3] [--rounds 3]

Runs one debate of every format at the same time, each over another vendor's protocol, with real
prompts and SDKs, the log in SQLite on disk, and simulated vendors in a separate process that stream
replies of 1,800 characters. One agent is `--slow` times slower than the others.

A debate cannot be faster than its longest chain of replies. Every reply contains a mark, so the
replies that a prompt depends on are read from the prompt: a turn could begin when the last of them
was complete. The chain also includes the two positions that must differ before a council holds
rebuttals. Any other wait in the code shows as a ratio above 1, and so does a call that waits for
the first token of another one because of the vendor's cache. Agents prefer two options by turns.
"""

import argparse
import asyncio
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from re import compile as pattern

from bench.load import machine
from bench.vendor import PROTOCOLS, Protocol, ReplyPace, a_vendor, duration_mark
from bot.log import set_up_logs
from bot.settings import LogFormat, LogLevel
from core.acts.act import ACTS
from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.debate_events import DebateStarted
from core.debate.rules import Ending, Termination, When
from core.debate.setup import Setup
from core.debate.turn import Act
from core.engine import Engine
from core.llm.call import ModelCalls
from core.llm.providers import factory
from core.ports import ModelProvider, SlowLoadingProvider
from core.request import ModelReply, ModelRequest
from core.rules.formats.registry import FORMATS
from core.settings import DEFAULT_ROSTER
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.tables import prepare
from core.testing import RecordingSink, a_setup, options_in

TARGET = 1.05
ROSTER = (*DEFAULT_ROSTER, "operations")
SLOW = ROSTER[0]
#: The same word in every reply of the debate, then the call's number.
_MARK = pattern(r"\bcall(\d+)\b")
#: Words of replies that later prompts show: the mark is added after them, also in JSON.
_SHOWN = pattern(r"question\.|is clear|Kafka|PostgreSQL\b(?=\")|\bcost\b|(?<=\. )[A-Z]\w+ ")


@dataclass(frozen=True)
class ChainCall:
    """A call: its act and duration, and the numbers of the calls whose replies its prompt shows."""

    act: Act
    seconds: float
    inputs: frozenset[int]
    #: The option its agent prefers: 0 or 1.
    side: int


class RecordingProvider:
    """A real provider with a pace per agent; it records the inputs of each prompt."""

    def __init__(self, inner: ModelProvider, usual: float, slower: float) -> None:
        self.name = inner.name
        self._inner, self._usual, self._slower = inner, usual, slower
        self.calls: list[ChainCall] = []

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        number, times = len(self.calls), self._slower if request.role == SLOW else 1.0
        prompt = "\n".join(part.text for part in request.parts)
        inputs = frozenset(int(mark) for mark in _MARK.findall(prompt))
        side = ROSTER.index(request.role) % 2 if request.role in ROSTER else 0
        self.calls.append(ChainCall(request.act, self._usual * times, inputs, side))
        *parts, task = request.parts  # the mark is last, because of caches
        task = replace(task, text=f"{task.text} {duration_mark(times)}")
        marked = replace(request, parts=(*parts, task))
        reply = await self._inner.complete(marked, on_first_token)
        text = _SHOWN.sub(rf"\g<0> call{number} ", reply.text)
        if ACTS[request.act].states_stance and options_in(request):
            first = 90 if side else 10
            text += f"\n\nStance: o1 {first} %, o2 {100 - first} %"
        return replace(reply, text=text)

    async def close(self) -> None:
        """Close nothing: other debates share the real provider."""


def longest_chain(calls: Sequence[ChainCall]) -> float:
    """Seconds until the last synthesis is written, if each call began with its last input."""
    ends: dict[int, float] = {}
    for number, call in enumerate(calls):
        inputs = set(call.inputs)
        if call.act is Act.REBUTTAL:
            # Rebuttals are held because positions differ: the first one of each side shows that.
            adjusted = [index for index in ends if calls[index].act is Act.ADJUST]
            for side in (0, 1):
                same_side = [index for index in adjusted if calls[index].side == side]
                inputs |= {min(same_side, key=ends.__getitem__)} if same_side else set()
        ends[number] = max((ends[index] for index in inputs), default=0.0) + call.seconds
    return max(
        end for end, call in zip(ends.values(), calls, strict=True) if call.act is Act.SYNTHESIS
    )


@dataclass(frozen=True)
class ChainFigures:
    seconds: float
    chain: float
    calls: int

    @property
    def ratio(self) -> float:
        return self.seconds / self.chain


def a_paced_setup(form: str, protocol: Protocol, rounds: int) -> Setup:
    setup = a_setup(agents=ROSTER, rounds=rounds, provider=protocol.provider)
    models = {SLOW: protocol.slow}
    agents = [
        agent.model_copy(update={"model": models.get(agent.id, protocol.usual)})
        for agent in setup.agents
    ]
    return setup.model_copy(
        update={
            "format": form,
            "agents": tuple(agents),
            "judge": setup.judge.model_copy(update={"model": protocol.usual}),
            "when": When.ALWAYS,
            "termination": Termination(ending=Ending.FIXED),
            "clarifying": setup.clarifying.model_copy(update={"enabled": False}),
        }
    )


async def _measure(
    setup: Setup, provider: RecordingProvider, store: SqlDebateStore
) -> ChainFigures:
    clock, debate_id = SystemClock(), f"d{secrets.token_hex(4)}"
    calls = ModelCalls({provider.name: provider}, clock, parallel=len(ROSTER) ** 2)
    await store.create(debate_id, DebateStarted(setup=setup), origin=debate_id, at=clock.now())
    engine = Engine(store=store, turns=Turns(calls), sink=RecordingSink(), clock=clock)
    debate = await engine.run(debate_id)
    assert debate.verdict, debate.failure
    seconds = (debate.times["verdict"] - debate.started_at).total_seconds()
    return ChainFigures(seconds, longest_chain(provider.calls), len(provider.calls))


async def measure(usual: float, slower: float, rounds: int) -> Mapping[str, ChainFigures]:
    """Return the figures by format and protocol."""
    async with AsyncExitStack() as stack:
        vendor = await stack.enter_async_context(a_vendor(ReplyPace(seconds=usual)))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        location = f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}"
        database = await stack.enter_async_context(await Database.open(location))
        await prepare(database)
        debates = list[tuple[Setup, RecordingProvider]]()
        for form, protocol in zip(FORMATS, PROTOCOLS.values(), strict=True):
            provider = factory.build(protocol.provider, "sk-bench", vendor + protocol.path)
            stack.push_async_callback(provider.close)
            if isinstance(provider, SlowLoadingProvider):
                await provider.load()
            recording = RecordingProvider(provider, usual, slower)
            debates.append((a_paced_setup(form, protocol, rounds), recording))
        store = SqlDebateStore(database)
        figures = await asyncio.gather(*(_measure(*debate, store) for debate in debates))
    names = (f"{form}, {name}" for form, name in zip(FORMATS, PROTOCOLS, strict=True))
    return dict(zip(names, figures, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of a usual reply")
    parser.add_argument("--slow", type=float, default=3.0, help="how many times slower one is")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{machine()}, SQLite on disk; one of {len(ROSTER)} agents {options.slow:g} × slower")
    set_up_logs(LogLevel.ERROR, LogFormat.JSON, ())
    cpu = time.process_time()
    by_name = asyncio.run(measure(options.seconds, options.slow, options.rounds))
    for name, figures in by_name.items():
        print(
            f"{name:28} {figures.calls:3} calls: {figures.seconds:6.2f} s;"
            f" longest chain {figures.chain:6.2f} s; ratio {figures.ratio:.3f}"
        )
    calls = sum(figures.calls for figures in by_name.values())
    print(f"{1000 * (time.process_time() - cpu) / calls:.1f} ms of CPU per call")
    return 0 if all(figures.ratio <= TARGET for figures in by_name.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
