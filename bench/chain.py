"""Wall time of debates of every format as a ratio to the longest chain that their prompts allow.

    python -m bench.chain [--latency 0.5] [--slow 8] [--agents 3]

One agent is `--slow` times slower than the others; in the panel another one hangs in the second
round until its time is over, and the facilitator takes most of its own. No two replies are alike,
so which replies a prompt holds is read from the prompt as sent: a turn could begin when the last
of them was there. The longest chain is made of that and of what a debate waits for without quoting
it: the outcome of a speaker that hangs, before the facilitator looks at the round, and two
positions that differ, before a council has last words. It knows nothing else of the formats' own
rules, so a barrier in them shows as a ratio above 1. Neighbours in the roster stand for different
options.
"""

import argparse
import asyncio
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from bench.latency import one_debate
from core.models import Act, Ending, Limits, Setup, Termination, Usage, When
from core.request import ModelReply, ModelRequest
from core.rules.formats import panel
from core.rules.formats.registry import FORMATS
from core.settings import DEFAULT_ROSTER, ROLES
from core.testing import ScriptedProvider, a_setup, options_in, plausible_reply
from core.turns.acts import ACTS

TARGET = 1.05
#: The same word in every reply of the debate, then the call's number.
_MARK = re.compile(r"\bcall(\d+)\b")
#: Words of replies that agents are shown again, structured ones too: each gets the mark.
_SHOWN = re.compile(r"question\.|is clear|Kafka|PostgreSQL\b(?=\")|\bcost\b")


@dataclass
class Asked:
    """A call: which act, of whom, how long it takes, and whose replies its prompt holds."""

    act: Act
    role: str
    seconds: float
    holds: frozenset[int]
    hangs: bool = False
    #: Which of two options its agent stands for.
    side: int = 0


@dataclass
class Paces:
    """How long everybody takes, in seconds."""

    usual: float
    slow: float
    #: The agents' roles; the first one is slow.
    roster: Sequence[str]
    #: Role and number of the statement that never ends.
    hangs: tuple[str, int] | None = None
    limit: float = 180.0
    facilitator: float = 0.0


class Paced(ScriptedProvider):
    """A provider with a pace for each agent; it notes whose replies each prompt holds."""

    def __init__(self, paces: Paces) -> None:
        super().__init__()
        self.paces = paces
        self.calls: list[Asked] = []

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Answer in the agent's own time, with a text that no other reply has."""
        number, asked = len(self.calls), self._asked_for(request)
        self.calls.append(asked)
        if asked.hangs:
            await asyncio.Event().wait()
        await asyncio.sleep(asked.seconds)
        text = _SHOWN.sub(rf"\g<0> call{number}", plausible_reply(request))
        if ACTS[request.act].states_stance and options_in(request):
            first = 90 if asked.side else 10
            text += f"\n\nStance: o1 {first} %, o2 {100 - first} %"
        on_first_token()
        return ModelReply(text=text, usage=Usage(attempts=1), model=request.model)

    def _asked_for(self, request: ModelRequest) -> Asked:
        paces = self.paces
        seconds = paces.slow if request.role == paces.roster[0] else paces.usual
        if request.act is Act.FACILITATION and paces.facilitator:
            seconds = paces.facilitator
        before = [one for one in self.calls if (one.act, one.role) == (request.act, request.role)]
        hangs = request.act is Act.STATEMENT and (request.role, len(before) + 1) == paces.hangs
        prompt = "\n".join(part.text for part in request.parts)
        holds = frozenset(int(number) for number in _MARK.findall(prompt))
        side = paces.roster.index(request.role) % 2 if request.role in paces.roster else 0
        seconds = paces.limit if hangs else seconds
        return Asked(request.act, request.role, seconds, holds, hangs, side)


def longest_chain(calls: Sequence[Asked]) -> float:
    """Seconds until the last synthesis is written, if each call began with its last input."""
    ended: dict[int, float] = {}
    for number, call in enumerate(calls):
        inputs = set(call.holds)
        if call.act is Act.FACILITATION:
            # The facilitator looks at the round once nothing more can come of it.
            inputs |= {at for at, one in enumerate(calls[:number]) if one.hangs}
        if call.act is Act.REBUTTAL:
            # Where all agreed there would be none: the first of each side shows that they do not.
            adjusted = [at for at in ended if calls[at].act is Act.ADJUST]
            for side in (0, 1):
                held = [at for at in adjusted if calls[at].side == side]
                inputs |= {min(held, key=ended.__getitem__)} if held else set()
        ended[number] = max((ended[at] for at in inputs), default=0.0) + call.seconds
    return max(
        end for end, call in zip(ended.values(), calls, strict=True) if call.act is Act.SYNTHESIS
    )


@dataclass(frozen=True)
class Found:
    """How long a debate took, and how long its prompts allow at the least, in seconds."""

    took: float
    chain: float
    calls: int

    @property
    def ratio(self) -> float:
        """What waiting for anything else adds."""
        return self.took / self.chain


def a_paced_setup(form: str, paces: Paces) -> Setup:
    """A debate in which every round is held and nobody is asked anything."""
    setup = a_setup(agents=paces.roster, rounds=3)
    clarifying = setup.clarifying.model_copy(update={"enabled": False})
    return setup.model_copy(
        update={
            "format": form,
            "when": When.ALWAYS,
            "termination": Termination(ending=Ending.FIXED),
            "clarifying": clarifying,
            "limits": Limits(turn_seconds=paces.limit),
        }
    )


async def measured(form: str, agents: int, usual: float, slower: float) -> Found:
    """Hold one debate and compare it with its longest chain."""
    roster = list(dict.fromkeys([*DEFAULT_ROSTER, *ROLES]))[:agents]
    paces = Paces(usual, slower * usual, roster)
    if form == panel.NAME:
        # The speaker hangs longer than the slow one takes; the facilitator has as long for itself.
        limit = (slower + 2) * usual
        hangs = (roster[1], 2)
        paces = replace(paces, hangs=hangs, limit=limit, facilitator=limit - 2 * usual)
    provider = Paced(paces)
    took, debate = await one_debate(a_paced_setup(form, paces), provider)
    assert debate.verdict, debate.failure
    return Found(took, longest_chain(provider.calls), len(provider.calls))


async def ratios(agents: int, usual: float, slower: float) -> Mapping[str, Found]:
    """What a debate of each format takes, one after the other."""
    return {form: await measured(form, agents, usual, slower) for form in FORMATS}


def main() -> int:
    """Print one line per format; 0 if every ratio is good enough."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.5, help="seconds of a usual reply")
    parser.add_argument("--slow", type=float, default=8.0, help="how many times slower one is")
    given = parser.parse_args()
    print(f"{platform.platform()}, Python {platform.python_version()}, SQLite on disk")
    print(f"load {os.getloadavg()[0]:.1f}; {given.agents} agents, one {given.slow:g} × slower")
    found = asyncio.run(ratios(given.agents, given.latency, given.slow))
    for form, one in found.items():
        print(
            f"{form:9} {one.calls:3} calls: {one.took:6.2f} s;"
            f" its longest chain {one.chain:6.2f} s; ratio {one.ratio:.3f}"
        )
    return 0 if all(one.ratio <= TARGET for one in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
