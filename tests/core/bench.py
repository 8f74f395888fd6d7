"""An engine with a log in memory and a scripted model, for tests of whole debates."""

from dataclasses import dataclass, field

from core.acts.take import Turns
from core.debate.debate_events import DebateStarted
from core.debate.evidence import SourceKind
from core.debate.log import Event
from core.debate.setup import Setup
from core.debate.state import Debate
from core.engine import SUMMARY_GRACE, Engine
from core.evidence.reading import EvidenceReader, FileReader, fetch_text
from core.llm.call import ModelCalls
from core.ports import Clock, SourceReader
from core.settings import USUAL_CALLS_AT_ONCE, EvidenceLimits
from core.testing import InMemoryStore, RecordingSink, ScriptedProvider, a_setup
from tests.core.leaping_loop import LoopClock

DEBATE = "dabc2345"
#: Reads only texts pasted with the question.
TEXTS = EvidenceReader(FileReader(EvidenceLimits()), {SourceKind.TEXT: fetch_text})


@dataclass
class Bench:
    """A debate with its store, its model and its engine."""

    provider: ScriptedProvider = field(default_factory=ScriptedProvider)
    store: InMemoryStore = field(default_factory=InMemoryStore)
    sink: RecordingSink = field(default_factory=RecordingSink)
    grace: float = SUMMARY_GRACE
    clock: Clock = field(default_factory=LoopClock)
    reader: SourceReader = TEXTS
    #: Calls at the same time.
    parallel: int = USUAL_CALLS_AT_ONCE

    @property
    def engine(self) -> Engine:
        """A new engine, as after a restart."""
        providers = {self.provider.name: self.provider}
        calls = ModelCalls(providers, self.clock, parallel=self.parallel)
        return Engine(
            store=self.store,
            turns=Turns(calls, reader=self.reader),
            sink=self.sink,
            clock=self.clock,
            summary_grace=self.grace,
        )

    async def start(self, setup: Setup | None = None) -> None:
        event = DebateStarted(setup=setup or a_setup())
        await self.store.create(DEBATE, event, origin="trigger-1", at=self.clock.now())

    async def run(self, setup: Setup | None = None) -> Debate:
        await self.start(setup)
        return await self.engine.run(DEBATE)

    async def add(self, event: Event) -> None:
        """Record an event of a person."""
        await self.store.append(DEBATE, event, at=self.clock.now())
