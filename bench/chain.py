"""Wall time of debates of every format as a ratio to the longest chain that their prompts allow.

    python -m bench.chain [--seconds 3] [--slow 3] [--rounds 3]

Every format, each by another vendor's protocol, all at once. Real prompts and SDKs, the log in
SQLite on disk, a vendor in a process of its own that streams replies of 1,800 characters.
One agent is `--slow` times slower than the others. Each debate is held twice: in the second one
another agent's model hangs from some call on, for good.

A fast debate is no faster than its longest chain of replies. Every reply is marked, so which
replies a prompt holds is read from the prompt as sent: a turn could begin when the last of them was
there. The longest chain is made of that and of what a debate waits for without quoting it: two
positions that differ, before a council has last words. It knows nothing else of the formats' own
rules, so a barrier in them shows as a ratio above 1, and so does a first token that others wait
for because they read its cache. Neighbours in the roster stand for different options.
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
from bench.vendor import PROTOCOLS, Manner, Protocol, a_vendor, in_own_time
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
#: What a model that hangs may cost a debate: the others go on after one silence.
LOST_SECONDS = 125.0
#: The slow one, a usual one, the one whose model hangs, and another usual one.
ROSTER = (*DEFAULT_ROSTER, "operations")
SLOW, _, DEAD, _ = ROSTER
#: Calls that the model answers before it hangs: all of the first round of most formats.
ANSWERED = 5
#: The same word in every reply of the debate, then the call's number.
_MARK = pattern(r"\bcall(\d+)\b")
#: Words of replies that agents are shown again: some get the mark, structured ones too.
_SHOWN = pattern(r"question\.|is clear|Kafka|PostgreSQL\b(?=\")|\bcost\b|(?<=\. )[A-Z]\w+ ")


@dataclass
class ChainCall:
    """A call: which act, of whom, how long it takes, and whose replies its prompt holds."""

    act: Act
    role: str
    seconds: float
    holds: frozenset[int]
    hangs: bool = False
    #: Which of two options its agent stands for.
    side: int = 0


@dataclass(frozen=True)
class Paces:
    usual: float
    slow: float
    dies: bool = False


class RecordingProvider:
    """A real provider with a pace per agent, which records whose replies each prompt holds."""

    def __init__(self, inner: ModelProvider, paces: Paces) -> None:
        self.name = inner.name
        self._inner = inner
        self._paces = paces
        self.calls: list[ChainCall] = []

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        number, call = len(self.calls), self._asked_for(request)
        self.calls.append(call)
        times = 0 if call.hangs else call.seconds / self._paces.usual
        reply = await self._inner.complete(in_own_time(request, times), on_first_token)
        text = _SHOWN.sub(rf"\g<0> call{number} ", reply.text)
        if ACTS[request.act].states_stance and options_in(request):
            first = 90 if call.side else 10
            text += f"\n\nStance: o1 {first} %, o2 {100 - first} %"
        return replace(reply, text=text)

    async def close(self) -> None:
        """Close nothing: other debates share the real provider."""

    def _asked_for(self, request: ModelRequest) -> ChainCall:
        seconds = self._paces.slow if request.role == SLOW else self._paces.usual
        answered = sum(call.role == DEAD for call in self.calls)
        hangs = self._paces.dies and request.role == DEAD and answered >= ANSWERED
        prompt = "\n".join(part.text for part in request.parts)
        holds = frozenset(int(number) for number in _MARK.findall(prompt))
        side = ROSTER.index(request.role) % 2 if request.role in ROSTER else 0
        return ChainCall(request.act, request.role, seconds, holds, hangs, side)


def longest_chain(calls: Sequence[ChainCall]) -> float:
    """Seconds until the last synthesis is written, if each call began with its last input."""
    ended: dict[int, float] = {}
    for number, call in enumerate(calls):
        inputs = set(call.holds)
        if call.act is Act.REBUTTAL:
            # Where all agreed there would be none: the first of each side shows that they do not.
            adjusted = [at for at in ended if calls[at].act is Act.ADJUST]
            for side in (0, 1):
                others = [at for at in adjusted if calls[at].side == side]
                inputs |= {min(others, key=ended.__getitem__)} if others else set()
        ended[number] = max((ended[at] for at in inputs), default=0.0) + call.seconds
    return max(
        end for end, call in zip(ended.values(), calls, strict=True) if call.act is Act.SYNTHESIS
    )


@dataclass(frozen=True)
class ChainFigures:
    took: float
    chain: float
    calls: int

    @property
    def ratio(self) -> float:
        return self.took / self.chain


def a_paced_setup(form: str, protocol: Protocol, rounds: int) -> Setup:
    setup = a_setup(agents=ROSTER, rounds=rounds, provider=protocol.provider)
    models = {SLOW: protocol.slow, DEAD: protocol.dead}
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


async def measure(
    setup: Setup, inner: ModelProvider, paces: Paces, store: SqlDebateStore
) -> ChainFigures:
    """Hold one debate and compare the time of its verdict with its longest chain."""
    clock, provider, debate_id = (
        SystemClock(),
        RecordingProvider(inner, paces),
        f"d{secrets.token_hex(4)}",
    )
    calls = ModelCalls({provider.name: provider}, clock, parallel=len(ROSTER) ** 2)
    await store.create(debate_id, DebateStarted(setup=setup), origin=debate_id, at=clock.now())
    engine = Engine(store=store, turns=Turns(calls), sink=RecordingSink(), clock=clock)
    debate = await engine.run(debate_id)
    assert debate.verdict, debate.failure
    took = (debate.times["verdict"] - debate.started_at).total_seconds()
    return ChainFigures(took, longest_chain(provider.calls), len(provider.calls))


@dataclass(frozen=True)
class Pair:
    there: ChainFigures
    hangs: ChainFigures

    @property
    def delay(self) -> float:
        return self.hangs.took - self.there.took


async def pairs(usual: float, slower: float, rounds: int) -> Mapping[tuple[str, str], Pair]:
    keys = list(zip(FORMATS, PROTOCOLS, strict=True))
    async with AsyncExitStack() as stack:
        vendor = await stack.enter_async_context(a_vendor(Manner(seconds=usual)))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        location = f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}"
        database = await stack.enter_async_context(await Database.open(location))
        await prepare(database)
        providers = dict[str, ModelProvider]()
        for name, protocol in PROTOCOLS.items():
            provider = factory.build(protocol.provider, "sk-bench", vendor + protocol.path)
            stack.push_async_callback(provider.close)
            if isinstance(provider, SlowLoadingProvider):
                await provider.load()
            providers[name] = provider

        async def chains(*, dies: bool) -> Sequence[ChainFigures]:
            paces, store = Paces(usual, slower * usual, dies), SqlDebateStore(database)
            setups = {key: a_paced_setup(key[0], PROTOCOLS[key[1]], rounds) for key in keys}
            return await asyncio.gather(
                *(measure(setups[key], providers[key[1]], paces, store) for key in keys)
            )

        both = zip(await chains(dies=False), await chains(dies=True), strict=True)
    return dict(zip(keys, (Pair(*pair) for pair in both), strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of a usual reply")
    parser.add_argument("--slow", type=float, default=3.0, help="how many times slower one is")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{machine()}, SQLite on disk; one of {len(ROSTER)} agents {options.slow:g} × slower")
    set_up_logs(LogLevel.ERROR, LogFormat.JSON, ())
    began, cpu = time.perf_counter(), time.process_time()
    pairs_by_key = asyncio.run(pairs(options.seconds, options.slow, options.rounds))
    for (form, protocol), item in pairs_by_key.items():
        print(
            f"{form:9} {protocol:16} {item.there.calls:3} calls: {item.there.took:6.2f} s;"
            f" longest chain {item.there.chain:6.2f} s; ratio {item.there.ratio:.3f};"
            f" with a model that hangs {item.delay:5.1f} s later"
        )
    calls = sum(pair.there.calls + pair.hangs.calls for pair in pairs_by_key.values())
    spent, took = time.process_time() - cpu, time.perf_counter() - began
    print(f"{calls} calls in {took:.0f} s, {1000 * spent / calls:.1f} ms of CPU each, all in all")
    return 0 if all(pair.there.ratio <= TARGET for pair in pairs_by_key.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
