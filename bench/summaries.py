"""What a slow summarizer, and one that hangs, cost a debate; and how long explain takes.

    python -m bench.summaries [--latency 0.5] [--slow 10]

Every reply takes the same fixed time but summaries: they take none, `--slow` seconds, or never end.
Seconds are from the start to the verdict, and from there to the debate's end.
"""

import argparse
import asyncio
import time
from collections.abc import Callable, Sequence

from core.acts.take import Turns
from core.clock import SystemClock
from core.engine import Engine
from core.events import DebateStarted, Recorded
from core.llm.call import ModelCalls
from core.models import Act, Debate, Setup, Summarization
from core.request import ModelReply, ModelRequest
from core.settings import ROLES
from core.store.memory import InMemoryStore
from core.testing import RecordingSink, ScriptedProvider, a_setup
from core.transcript.explain import explanation

DEBATE = "dbench22"
#: Summarises every agent's history from the first round on.
_RULES = {"summarization": Summarization(threshold=50)}


class Summarizing(ScriptedProvider):
    """A provider whose summaries take a time of their own; None: they never end."""

    def __init__(self, latency: float, summaries: float | None) -> None:
        super().__init__(latency=latency)
        self._summaries = summaries

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Answer after the latency; sum up after the other one."""
        if request.act is not Act.SUMMARY:
            return await super().complete(request, on_first_token)
        if self._summaries is None:
            await asyncio.Event().wait()
        await asyncio.sleep(self._summaries or 0)
        return await ScriptedProvider().complete(request, on_first_token)


async def one_debate(setup: Setup, provider: ScriptedProvider) -> tuple[Debate, Sequence[Recorded]]:
    """Run one debate; the debate and its log."""
    clock, store = SystemClock(), InMemoryStore()
    turns = Turns(ModelCalls({"scripted": provider}, clock, parallel=100))
    engine = Engine(store=store, turns=turns, sink=RecordingSink(), clock=clock)
    await store.create(DEBATE, DebateStarted(setup=setup), origin="b", at=clock.now())
    return await engine.run(DEBATE), await store.events(DEBATE)


def seconds(form: str, latency: float, summaries: float | None) -> tuple[float, float]:
    """From the start to the verdict, and from there to the end."""
    setup = a_setup(rounds=4).model_copy(update={"format": form, **_RULES})
    debate, _ = asyncio.run(one_debate(setup, Summarizing(latency, summaries)))
    verdict, end = debate.times["verdict"], debate.times["end"]
    return (verdict - debate.started_at).total_seconds(), (end - verdict).total_seconds()


def main() -> None:
    """Print one line per format and pace, then the time of one explanation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.5, help="seconds of a reply")
    parser.add_argument("--slow", type=float, default=10.0, help="seconds of a slow summary")
    given = parser.parse_args()
    for form in ("critique", "council", "panel"):
        usual, _ = seconds(form, given.latency, 0.0)
        print(f"{form}: summaries at once: verdict after {usual:.2f} s")
        for words, pace in ((f"of {given.slow:g} s", given.slow), ("that hang", None)):
            chain, rest = seconds(form, given.latency, pace)
            print(
                f"{form}: summaries {words}: verdict after {chain:.2f} s,"
                f" ratio {chain / usual:.3f}; the end {rest:.2f} s later"
            )
    setup = a_setup(agents=list(ROLES)[:10], rounds=7)
    _, log = asyncio.run(one_debate(setup, ScriptedProvider()))
    began = time.process_time()
    text = explanation(log)
    spent = time.process_time() - began
    turns = text.count("  [r")
    print(f"explain: {len(log)} events, {turns} turns, 10 agents × 7 rounds: {spent:.2f} s of CPU")


if __name__ == "__main__":
    main()
