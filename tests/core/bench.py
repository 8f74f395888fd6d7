"""An engine over a log in memory and a scripted model, for tests of whole debates."""

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
from core.settings import EvidenceLimits
from core.testing import InMemoryStore, RecordingSink, ScriptedProvider, a_setup
from tests.core.leaping_loop import LoopClock

DEBATE = "dabc2345"
#: Reads what was written with a question, and nothing else.
TEXTS = EvidenceReader(FileReader(EvidenceLimits()), {SourceKind.TEXT: fetch_text})


@dataclass
class Bench:
    """An engine over a log in memory and a scripted model."""

    provider: ScriptedProvider = field(default_factory=ScriptedProvider)
    store: InMemoryStore = field(default_factory=InMemoryStore)
    sink: RecordingSink = field(default_factory=RecordingSink)
    grace: float = SUMMARY_GRACE

    @property
    def engine(self) -> Engine:
        """A new engine, as after a restart."""
        clock = LoopClock()
        calls = ModelCalls({self.provider.name: self.provider}, clock)
        return Engine(
            store=self.store,
            turns=Turns(calls, reader=TEXTS),
            sink=self.sink,
            clock=clock,
            summary_grace=self.grace,
        )

    async def start(self, setup: Setup | None = None) -> None:
        event = DebateStarted(setup=setup or a_setup())
        await self.store.create(DEBATE, event, origin="trigger-1", at=LoopClock().now())

    async def run(self, setup: Setup | None = None) -> Debate:
        await self.start(setup)
        return await self.engine.run(DEBATE)

    async def add(self, event: Event) -> None:
        """What a person does."""
        await self.store.append(DEBATE, event, at=LoopClock().now())
