"""Runs a whole debate with given model calls and a store in memory."""

from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.debate_events import DebateStarted
from core.debate.log import Event
from core.debate.setup import Setup
from core.debate.state import Debate
from core.engine import Engine
from core.llm.call import ModelCalls
from core.testing import InMemoryStore, RecordingSink

DEBATE = "dheld234"


async def run_debate(
    setup: Setup,
    turns: Turns | ModelCalls,
    *events: Event,
    store: InMemoryStore | None = None,
    debate_id: str = DEBATE,
) -> Debate:
    """Run the debate to its end; `events` are recorded right after its start."""
    store, clock = store or InMemoryStore(), SystemClock()
    started = DebateStarted(setup=setup)
    await store.create(debate_id, started, origin=debate_id, at=clock.now())
    for event in events:
        await store.append(debate_id, event, at=clock.now())
    turns = turns if isinstance(turns, Turns) else Turns(turns)
    engine = Engine(store=store, turns=turns, sink=RecordingSink(), clock=clock)
    return await engine.run(debate_id)
