"""Sources in a debate: read before the first turn, in all prompts, every quote checked."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from core.acts.citing import source_parts
from core.acts.take import read_source
from core.debate.debate_events import DebateStarted
from core.debate.evidence import CitationStatus, Source, SourceKind, SourceReference, SourceText
from core.debate.log import fold
from core.debate.people import Person, Place
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.debate.turn_events import SourceRead
from core.errors import BadInput
from core.request import ModelRequest, PartKind
from core.rules.sources import MOST_CHARACTERS, MOST_SOURCES, reading_turn
from core.testing import ScriptedProvider, a_setup, a_verdict_reply, log_of, plausible_reply
from tests.core.bench import Bench

ANN = Person(id="U1", name="Ann")
LOAD = "# Load\n\nThe queue took 2,000 jobs/s.\n\n# Food\n\nThe canteen has soup."
TRUE = '[e1: "The queue took 2,000 jobs/s"]'
FAKE = '[e1: "The queue took 9,000 jobs/s"]'


@dataclass
class Shelf:
    """A `SourceReader` with given texts; other sources cannot be read."""

    texts: Mapping[str, str]
    warnings: tuple[str, ...] = ()

    async def read(self, reference: SourceReference, place: Place) -> SourceText:
        assert place.channel == "C1"
        if reference.fetch not in self.texts:
            raise BadInput("it is empty")
        text = self.texts[reference.fetch]
        return SourceText(text=text, sha256=text[:20], warnings=self.warnings)


def with_files(*names: str, room: int = 24_000) -> Setup:
    """A setup whose question came with these files."""
    references = tuple(
        SourceReference(kind=SourceKind.FILE, title=f"{name}.md", fetch=name, by=ANN)
        for name in names
    )
    changes = {"references": references, "evidence_characters": room}
    return a_setup(rounds=1).model_copy(update=changes)


def quoting(request: ModelRequest) -> str:
    """Replies with a true and an invented quote, in every speech and in the verdict."""
    if request.act is Act.SYNTHESIS:
        reasons = [f"It is fast {TRUE}.", f"It is faster {FAKE}.", "The team knows it."]
        return json.dumps(a_verdict_reply(reasons=reasons, solution=f"Because {FAKE}."))
    reply = plausible_reply(request)
    is_speech = request.act in {Act.PROPOSAL, Act.CRITIQUE, Act.REFINEMENT}
    return f"{reply}\n\nIt holds: {TRUE} and {FAKE}." if is_speech else reply


async def test_invented_quotes_are_struck_out_in_all_later_prompts() -> None:
    bench = Bench(ScriptedProvider(quoting), reader=Shelf({"load": LOAD}))
    debate = await bench.run(with_files("load"))

    contribution = debate.contributions["r1/proposal/architect"]
    assert [citation.status for citation in contribution.citations] == [
        CitationStatus.VERIFIED,
        CitationStatus.UNVERIFIED,
    ]
    struck = f"~~{FAKE}~~ (not found in e1)"
    assert contribution.text.endswith(f"It holds: {TRUE} and {struck}.")
    assert contribution.warnings == ("1 quote not found in the sources, and struck out.",)
    for act in (Act.CRITIQUE, Act.BALLOT, Act.SYNTHESIS):
        for request in bench.provider.requests_of(act):
            texts = "\n".join(part.text for part in request.parts if part.kind is not PartKind.TASK)
            assert struck in texts
            fault = 'The queue took 9,000 jobs/s" (e1'
            assert FAKE not in texts.replace(struck, "").replace(fault, "")


async def test_prompts_say_what_was_not_read_of_a_source() -> None:
    shelf = Shelf({"load": LOAD}, warnings=("pages 2, 3: no text (a scan?)",))
    contents, _ = source_parts(await Bench(reader=shelf).run(with_files("load")))
    assert contents.text.partition("\n")[0] == (
        "e1: load.md (file, brought by Ann; 67 characters, what was read is below; pages 2, 3: no "
        "text (a scan?))"
    )


async def lookup(*replies: str) -> tuple[Bench, Debate]:
    """A debate on a long book; the architect answers with `replies` one after the other."""
    pages = "\n\n".join(
        f"# Part {n}\n\n{'The zebra does nothing of note here. ' * 30}" for n in range(40)
    )
    more = "# Jobs\n\nPostgreSQL is the queue.\n\n# Fees\n\nThe zebra tariff is 12 crowns a month."
    book = f"{pages}\n\n{more}"
    remaining = list(replies)

    def script(request: ModelRequest) -> str:
        is_architect = request.act is Act.PROPOSAL and request.role == "architect"
        return remaining.pop(0) if is_architect and remaining else plausible_reply(request)

    bench = Bench(ScriptedProvider(script), reader=Shelf({"book": book}))
    return bench, await bench.run(with_files("book", room=3000))


async def test_an_agent_may_look_up_passages_once_before_it_speaks() -> None:
    reply = '**Take it.** [e1: "The zebra tariff is 12 crowns a month"]'
    bench, debate = await lookup("LOOK UP: zebra tariff", reply)
    requests = bench.provider.requests
    first, second, *_ = [request for request in requests if request.role == "architect"]
    assert "LOOK UP:" in first.parts[-1].text
    assert any("[…]" in part.text for part in first.parts if part.kind is PartKind.SOURCE)
    (part,) = [part for part in second.parts if part.label == "What you looked up"]
    # Passages that do not fit are left out.
    assert part.text == "e1 (line 167, Fees)\nThe zebra tariff is 12 crowns a month."
    contribution = debate.contributions["r1/proposal/architect"]
    assert contribution.looked_up == "zebra tariff"
    assert contribution.citations[0].status is CitationStatus.VERIFIED
    assert contribution.call
    assert contribution.call.usage.attempts == 2


async def test_a_second_lookup_fails_the_turn() -> None:
    _, debate = await lookup("LOOK UP: zebra", "LOOK UP: tariff")

    assert debate.status is Status.CONCLUDED
    failure = debate.failures["r1/proposal/architect"]
    words = "It only asked to look something up, twice."
    assert (failure.reason, failure.usage.attempts) == (words, 2)


@pytest.mark.parametrize(
    ("number", "text", "fault"),
    [
        (2, LOAD, "it is the same as e1"),
        (2, "x" * MOST_CHARACTERS, "the sources of this debate have too much text already"),
        (MOST_SOURCES + 1, "x", "a debate has 50 sources at most"),
        (2, "x", ""),
    ],
)
async def test_a_source_is_refused_if_it_is_a_duplicate_or_too_long(
    number: int, text: str, fault: str
) -> None:
    names = [f"f{at}" for at in range(1, number + 1)]
    setup, shelf = with_files(*names), Shelf({names[-1]: text})
    first = setup.references[0]
    there = Source(turn=reading_turn(1), reference=first, text=LOAD, sha256=LOAD[:20])
    debate = fold(log_of([DebateStarted(setup=setup), SourceRead(source=there)]))

    assert (await read_source(shelf, debate, reading_turn(number))).source.fault == fault
