"""Sources in a debate: read once before anybody speaks, shown to everybody, every quote checked."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from core.acts.citing import source_parts
from core.acts.take import Turns
from core.debate.contributions import Note
from core.debate.debate_events import DebateStarted
from core.debate.evidence import CitationStatus, SourceKind, SourceReference, SourceText
from core.debate.log import apply, fold
from core.debate.message_events import NoteAdded
from core.debate.people import Person, Place
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.engine import Engine
from core.errors import BadInput
from core.llm.call import ModelCalls
from core.request import ModelRequest, PartKind
from core.store.memory import InMemoryStore
from core.testing import (
    ManualClock,
    RecordingSink,
    Script,
    ScriptedProvider,
    a_setup,
    a_verdict_reply,
    plausible_reply,
)
from core.transcript.report import report

ANN = Person(id="U1", name="Ann")
DEBATE = "dabc2345"
LOAD = "# Load\n\nThe queue took 2,000 jobs/s.\n\n# Food\n\nThe canteen has soup."
TRUE = '[e1: "The queue took 2,000 jobs/s"]'
FAKE = '[e1: "The queue took 9,000 jobs/s"]'


@dataclass
class Shelf:
    """A `SourceReader` with texts at hand; what has none cannot be read."""

    texts: Mapping[str, str]
    read_so_far: list[str] = field(default_factory=list[str])
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    #: Set when the slow text is asked for.
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    slow: str = ""

    async def read(self, reference: SourceReference, place: Place) -> SourceText:
        assert place.channel == "C1"
        if reference.fetch == self.slow:
            self.waiting.set()
            await self.opened.wait()
        self.read_so_far.append(reference.fetch)
        if reference.fetch not in self.texts:
            raise BadInput("it is empty")
        text = self.texts[reference.fetch]
        return SourceText(text=text, sha256=text[:20])


def a_reference(name: str) -> SourceReference:
    return SourceReference(
        kind=SourceKind.FILE,
        title=f"{name}.md",
        address=f"https://f.test/{name}",
        fetch=name,
        by=ANN,
    )


def quoting(request: ModelRequest) -> str:
    """Replies that quote a source truly and falsely, in every speech and in the verdict."""
    if request.act is Act.SYNTHESIS:
        reasons = [f"It is fast {TRUE}.", f"It is faster {FAKE}.", "The team knows it."]
        return json.dumps(a_verdict_reply(reasons=reasons, solution=f"Because {FAKE}."))
    reply = plausible_reply(request)
    is_speech = request.act in {Act.PROPOSAL, Act.CRITIQUE, Act.REFINEMENT}
    return f"{reply}\n\nIt holds: {TRUE} and {FAKE}." if is_speech else reply


def persuaded(request: ModelRequest) -> str:
    """Security is moved from the second option to the first, by the source e1."""
    if request.act is not Act.BALLOT or request.role != "security":
        return quoting(request)
    ballot = json.loads(plausible_reply(request))
    is_last = "Before the debate" in request.parts[-1].text
    ballot["probabilities"] = [80, 20, 0] if is_last else [20, 80, 0]
    return json.dumps(
        ballot
        | {"moved_by": "E1, because it is fast" if is_last else "none"}
        | {"why_moved": "It is fast\nenough."}
    )


class EvidenceRun:
    """A debate with sources, held by a scripted model."""

    def __init__(
        self,
        shelf: Shelf,
        *names: str,
        rounds: int = 1,
        room: int = 24_000,
        script: Script = quoting,
    ) -> None:
        setup = a_setup(rounds=rounds)
        references = tuple(map(a_reference, names))
        changes = {"references": references, "evidence_characters": room}
        self.setup = setup.model_copy(update=changes)
        self.store, self.sink, self.shelf = InMemoryStore(), RecordingSink(), shelf
        self.provider = ScriptedProvider(script)
        self.engine = self.an_engine()

    def an_engine(self) -> Engine:
        calls = ModelCalls({"scripted": self.provider}, ManualClock())
        turns = Turns(calls, reader=self.shelf)
        return Engine(store=self.store, turns=turns, sink=self.sink, clock=ManualClock())

    async def start(self) -> None:
        now = datetime(2026, 1, 5, tzinfo=UTC)
        started = DebateStarted(setup=self.setup)
        await self.store.create(DEBATE, started, origin="o", at=now)

    async def run(self) -> Debate:
        await self.start()
        return await self.engine.run(DEBATE)


async def test_every_quote_is_checked_and_fakes_are_struck_out_for_all_who_read_on() -> None:
    setting = EvidenceRun(Shelf({"load": LOAD}), "load")
    debate = await setting.run()

    contribution = debate.contributions["r1/proposal/architect"]
    assert [citation.status for citation in contribution.citations] == [
        CitationStatus.VERIFIED,
        CitationStatus.UNVERIFIED,
    ]
    struck = f"~~{FAKE}~~ (not found in e1)"
    assert contribution.text.endswith(f"It holds: {TRUE} and {struck}.")
    assert contribution.warnings == ("1 quote not found in the sources, and struck out.",)
    for act in (Act.CRITIQUE, Act.BALLOT, Act.SYNTHESIS):
        for request in setting.provider.requests_of(act):
            texts = "\n".join(part.text for part in request.parts if part.kind is not PartKind.TASK)
            assert struck in texts
            assert FAKE not in texts.replace(struck, "").replace(
                'The queue took 9,000 jobs/s" (e1', ""
            )


async def test_long_sources_are_cut_once() -> None:
    setting = EvidenceRun(Shelf({"load": f"{LOAD}\n\n" + "The queue has lines. " * 2000}), "load")
    debate = await setting.run()
    log = await setting.store.events(DEBATE)
    middle = next(at for at, entry in enumerate(log, 1) if entry.event.kind == "contribution_made")
    before = fold(log[:middle])

    cut = source_parts(before)
    parts = [source_parts(apply(before, entry)) for entry in log[middle : middle + 1]]

    assert debate.status is Status.CONCLUDED
    assert [
        citation.status for citation in debate.contributions["r1/proposal/architect"].citations
    ] == [
        CitationStatus.VERIFIED,
        CitationStatus.UNVERIFIED,
    ]
    assert parts[0] is cut, "nobody cuts them again for the next turn"
    other = replace(before, sources=(*before.sources, *before.sources))
    assert source_parts(other) is not cut


async def test_a_source_is_taken_once() -> None:
    shelf = Shelf({"a": LOAD, "b": LOAD}, slow="b")
    shelf.opened.set()
    setting = EvidenceRun(shelf, "a")
    await setting.start()
    note = Note(id="n", author=ANN, text="again", references=(a_reference("b"),))
    now = datetime(2026, 1, 5, tzinfo=UTC)
    await setting.store.append(DEBATE, NoteAdded(note=note), at=now)
    debate = await setting.engine.run(DEBATE)
    assert [source.fault for source in debate.sources] in (
        ["", "it is the same as e1"],
        ["it is the same as e2", ""],
        ["", ""],  # read at the same moment
    )


async def test_a_reading_that_was_interrupted_is_done_again() -> None:
    shelf = Shelf({"load": LOAD}, slow="load")
    setting = EvidenceRun(shelf, "load")
    await setting.start()
    running = asyncio.create_task(setting.engine.run(DEBATE))
    async with asyncio.timeout(300):
        await shelf.waiting.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert shelf.read_so_far == []
    shelf.opened.set()
    debate = await setting.engine.run(DEBATE)
    assert (debate.status, shelf.read_so_far) == (Status.CONCLUDED, ["load"])


def a_book() -> str:
    pages = "\n\n".join(f"# Part {n}\n\n{'Nothing of note happens here. ' * 30}" for n in range(40))
    return f"{pages}\n\n# Fees\n\nThe zebra tariff is 12 crowns a month."


def looking_up(*replies: str) -> ScriptedProvider:
    """Whoever proposes answers with these, one after the other, then plausibly."""
    remaining = {"architect": list(replies)}

    def script(request: ModelRequest) -> str:
        mine = remaining.get(request.role, [])
        return mine.pop(0) if request.act is Act.PROPOSAL and mine else plausible_reply(request)

    return ScriptedProvider(script)


async def test_an_agent_may_look_something_up_once_before_it_speaks() -> None:
    setting = EvidenceRun(Shelf({"book": a_book()}), "book", room=3000)
    reply = '**Take it.** [e1: "The zebra tariff is 12 crowns a month"]'
    setting.provider = looking_up("LOOK UP: zebra tariff", reply)
    setting.engine = setting.an_engine()
    debate = await setting.run()

    first, second, *_ = [
        request for request in setting.provider.requests if request.role == "architect"
    ]
    assert "LOOK UP:" in first.parts[-1].text
    (part,) = [part for part in second.parts if part.label == "What you looked up"]
    assert "e1 (line 163, Fees)\nThe zebra tariff is 12 crowns a month." in part.text
    contribution = debate.contributions["r1/proposal/architect"]
    assert contribution.looked_up == "zebra tariff"
    assert contribution.citations[0].status is CitationStatus.VERIFIED
    assert contribution.call
    assert contribution.call.usage.attempts == 2


async def test_who_only_looks_things_up_has_failed_to_speak() -> None:
    setting = EvidenceRun(Shelf({"book": a_book()}), "book", room=3000)
    setting.provider = looking_up("LOOK UP: zebra", "LOOK UP: tariff")
    setting.engine = setting.an_engine()
    debate = await setting.run()
    assert debate.status is Status.CONCLUDED
    failure = debate.failures["r1/proposal/architect"]
    assert (failure.reason, failure.usage.attempts) == (
        "It only asked to look something up, twice.",
        2,
    )


async def test_a_source_that_moved_a_voter_is_named_by_whoever_tells_of_it() -> None:
    setting = EvidenceRun(Shelf({"load": LOAD}), "load", script=persuaded)
    debate = await setting.run()

    final = debate.ballots["r1/ballot/security"]
    assert (final.moved_by, final.why_moved) == ("e1", "It is fast enough.")
    assert {ballot.why_moved for ballot in debate.ballots.values() if ballot != final} == {""}
    prompt = setting.provider.requests_of(Act.BALLOT)[-1].parts[-1].text
    assert "or the id of the source (e1)" in prompt
    (vote,) = [
        part.text
        for part in setting.provider.requests_of(Act.SYNTHESIS)[0].parts
        if part.kind is PartKind.TALLY
    ]
    assert "Security held Kafka best before the debate, and PostgreSQL after it" in vote
    moved = "moved by the source e1 (load.md); Security says: “It is fast enough.”"
    assert moved in vote
    assert moved in report(debate)
