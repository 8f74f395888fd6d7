"""The written examples, played to their verdicts through the real engine."""

import asyncio
import re

import pytest

from core.acts.act import ACTS
from core.acts.take import Turns
from core.debate.debate_events import DebateStarted
from core.debate.evidence import SourceKind, SourceReference, SourceText
from core.debate.people import Person, Place
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.debate.turn_events import ClarificationsOpened
from core.engine import Engine
from core.errors import RequestRejected
from core.evidence.citations import render_citations
from core.evidence.reading import Section, joined_sections
from core.llm.call import ModelCalls
from core.llm.providers.example import (
    WORDS_PER_SECOND,
    ExampleProvider,
    example_settings,
    examples,
)
from core.opening import DebateRequest, open_debate
from core.ports import ModelReply
from core.request import ModelRequest
from core.rules.options import options_of
from core.testing import InMemoryStore, ManualClock, RecordingSink
from core.transcript.words import confidence_words
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import Bounds
from core.use_cases.messages import AddNote, AnswerQuestions, PersonsReply

NAMES = list(examples())
POSITIONS = {Act.PROPOSAL, Act.REFINEMENT}
DEBATE = "dexample"
DANA = Person(id="U1", name="Dana")


def opened(name: str) -> DebateStarted:
    """The start of a written debate in the demonstration."""
    request = DebateRequest(
        question=examples()[name].question,
        asked_by=DANA,
        place=Place(surface="slack", workspace="T1", channel="C1"),
        references=[
            SourceReference(
                kind=SourceKind.FILE, title=source["name"], fetch=source["text"], by=Person(id="U1")
            )
            for source in examples()[name].sources
        ],
    )
    setup = open_debate(request, example_settings(name, 600), delimiter="d41d8c")
    return DebateStarted(setup=setup)


class Shelf:
    """A `SourceReader` whose files have the text of their references."""

    async def read(self, reference: SourceReference, _place: Place, /) -> SourceText:
        return joined_sections([Section(text=reference.fetch)])


async def played(name: str, note: str = "") -> Debate:
    """The finished debate with the written answers."""
    clock, store, sink = ManualClock(), InMemoryStore(), RecordingSink()
    calls = ModelCalls({"example": ExampleProvider(clock)}, clock)
    engine = Engine(store=store, turns=Turns(calls, reader=Shelf()), sink=sink, clock=clock)
    await store.create(DEBATE, opened(name), origin="test", at=clock.now())
    debate = await engine.run(DEBATE)
    assert any(isinstance(event.event, ClarificationsOpened) for event in sink.events)
    facts = FactLog(store=store, clock=clock, wake=lambda _: None)
    notes = AddNote(facts=facts, bounds=Bounds())
    answers = AnswerQuestions(facts=facts, note=notes)
    asked = [item for opened_ in debate.clarifications.values() for item in opened_.items]
    numbers = {item.question: item.number for item in asked}
    for place, answer in enumerate(examples()[name].answers):
        text = f"{numbers[answer['question']]}: {answer['answer']}"
        who = Person(id=f"U{place}", name=answer["by"])
        reply = PersonsReply(debate_id=DEBATE, by=who, text=text, origin=f"slack/{place}")
        await answers.take(reply)
    if note:
        who = Person(id="U9", name="Sam")
        await answers.take(PersonsReply(debate_id=DEBATE, by=who, text=note, origin="slack/n"))
    return await engine.run(DEBATE)


@pytest.mark.parametrize("name", NAMES)
async def test_an_example_is_played_to_its_verdict(name: str):
    debate = await played(name)
    example = examples()[name]
    assert debate.status is Status.CONCLUDED
    assert not debate.failures
    assert debate.verdict is not None
    assert debate.verdict.decision == example.verdict["decision"].strip()
    assert options_of(debate).name(debate.verdict.option) == example.verdict["option"]
    # Else the option's name is shown before the decision, and says the same.
    assert example.verdict["option"].casefold() in debate.verdict.decision.casefold()
    assert not debate.verdict.warnings
    speeches = [it for it in debate.contributions.values() if ACTS[it.turn.act].is_speech]
    assert all(speech.answer and "In short:" not in speech.text for speech in speeches)
    assert all(speech.points for speech in speeches if speech.turn.act in POSITIONS)
    warnings = [warning for it in debate.contributions.values() for warning in it.warnings]
    # One agent quotes what its source does not say, so that people see what becomes of it.
    struck_out = ["1 quote not found in the sources, and struck out."]
    assert warnings == (struck_out if name == NAMES[0] else [])
    assert debate.usage.cost == 0
    assert confidence_words(debate.verdict) == (
        "Confidence: not given: this is a written example, and no AI model was asked."
    )
    assert {citation.status.value for citation in debate.verdict.citations} <= {"verified"}
    # Every critique quotes the proposal it is posted under.
    proposals = {it.turn.agent: it.text for it in speeches if it.turn.act is Act.PROPOSAL}
    for critique in [it for it in speeches if it.turn.act is Act.CRITIQUE]:
        own = render_citations(critique.text, lambda _found, _is_verified: "")
        quotes = re.findall(r"[\"„]([^\"“”]+)[\"“”]", own)
        target = proposals[critique.turn.target or ""].casefold()
        assert all(quote.casefold() in target for quote in quotes), critique.turn


async def test_a_note_is_marked_as_unused():
    debate = await played(NAMES[0], note="We may hire a third person.")
    assert debate.verdict is not None
    assert [(note.used, note.explanation) for note in debate.verdict.notes] == [
        (False, "A written example: nobody read this note.")
    ]


async def test_a_reply_waits_until_the_previous_one_could_be_read():
    clock = ManualClock()
    provider = ExampleProvider(clock, WORDS_PER_SECOND)
    request = proposal_by("architect")
    before = clock.now()
    first: ModelReply = await provider.complete(request)
    second = clock.now()
    await asyncio.gather(provider.complete(request), provider.complete(request))
    words = len(first.text.rpartition("In short:")[2].split())
    assert 20 < words < len(first.text.split())
    assert (second - before).total_seconds() < 5
    # A first answer is seen on the board, in fewer words.
    seconds = (clock.now() - second).total_seconds()
    assert seconds == pytest.approx(2 * 0.7 * words / WORDS_PER_SECOND)


def proposal_by(role: str) -> ModelRequest:
    return ModelRequest(
        model=NAMES[0], act=Act.PROPOSAL, role=role, system="", parts=(), delimiter="d41d8c"
    )


async def test_a_request_without_a_written_reply_is_refused():
    with pytest.raises(RequestRejected, match="no proposal by wizard"):
        await ExampleProvider(ManualClock()).complete(proposal_by("wizard"))
