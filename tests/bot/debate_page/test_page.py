"""A debate's page, and Markdown as HTML: what is in it, and that nothing in it does anything."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from aiohttp import ClientSession, web
from hypothesis import example, given
from hypothesis import strategies as st

from bot.debate_page.page import MOST_CHARACTERS, absent, html, line, page
from bot.debate_page.routes import FOLDER, MOST_OF_LINK, PageRoutes
from bot.slack.connection.http import WebServer
from core.debate.contributions import Note
from core.debate.debate_events import DebateStarted
from core.debate.evidence import Citation, CitationStatus, Source, SourceKind, SourceReference
from core.debate.log import RecordedEvent, fold
from core.debate.message_events import NoteAdded
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.turn import ENGINE, Act, Turn
from core.debate.verdict import Verdict
from core.figures import money
from core.testing import InMemoryChannelChoices, InMemoryStore, ManualClock, a_setup, log_of
from core.use_cases.fact_log import DebateCache
from core.use_cases.share import ShareDebates
from tests.core.transcript.test_transcript import a_call, a_log
from tests.security.test_inert import BAD, PIECES
from tests.security.test_inert import a_log as a_hostile_log

UNTIL = datetime(2026, 12, 6, 9, tzinfo=UTC)
#: Every tag there may be; none of them loads, runs or sends anything.
TAGS = frozenset(
    {
        *("html", "head", "meta", "title", "link", "body", "header", "nav", "main", "footer"),
        *("section", "article", "div", "p", "span", "a", "h1", "h2", "h3", "h4", "h5", "h6"),
        *("ul", "ol", "li", "dl", "dt", "dd", "blockquote", "pre", "code", "em", "strong", "s"),
        *("del", "ins", "details", "summary", "hr", "br"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
)
#: They have no end.
VOID = frozenset({"meta", "link", "hr", "br"})
ATTRIBUTES = frozenset(
    {
        *("lang", "charset", "name", "content", "rel", "href", "class", "id", "scope", "start"),
        *("role", "tabindex", "aria-label"),
    }
)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=14).map("".join)


class Reader(HTMLParser):
    """What a browser finds in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags = list[str]()
        self.attributes = list[tuple[str, str]]()
        self.open = list[str]()
        self.headings = list[int]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag[0] == "h" and tag[1:].isdigit():
            self.headings.append(int(tag[1:]))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    assert set(reader.tags) <= TAGS
    assert {name for name, _ in reader.attributes} <= ATTRIBUTES
    for name, value in reader.attributes:
        if name == "href" and value != "page.css":
            assert value.startswith(("http://", "https://", "mailto:", "#")), value
    assert not any(sign in text for sign in "\x1b\u202e\u2066\x07")
    return reader


@given(texts)
@example("".join(PIECES))
def test_no_markdown_becomes_anything_but_text_lists_tables_and_links(text: str) -> None:
    read(str(line(text)))
    read(str(html(text, 2, {"e1"})))
    levels = read(f"<h2></h2>{html(text, 2)}").headings
    assert all(after <= before + 1 for before, after in pairwise(levels)), "none is left out"
    assert all(level > 2 for level in levels[1:])


def test_a_cited_source_is_a_footnote_but_not_within_a_link() -> None:
    output = html("“lost” (e1, line 2), [e1](https://a.example), e1 and e2", 2, {"e1"})
    assert output.count('<a href="#e1">e1</a>') == 2
    assert "e2</p>" in output


@pytest.mark.parametrize("text", ["[" * 60_000, "> " * 5000 + "x", "a|" * 40_000, "x" * 10**6])
def test_giant_text_is_cut_and_otherwise_unchanged(text: str) -> None:
    output = html(text, 2)
    assert len(output) < 2 * MOST_CHARACTERS
    read(str(output))


def test_the_page_tells_the_decision_first_then_all_that_led_to_it() -> None:
    output = page(fold(a_log()), UNTIL)
    reader = read(output)
    phrases = (
        "Use PostgreSQL.",
        "Kafka would carry more.",
        "The team.",
        "security is clear",
        "Mind the budget.",
        "Security took it up.",
        "```10``` a day",
        "Too large.",
        "It could not be read.",
        "We run PostgreSQL 16.",
        f"<dd>{money(fold(a_log()).usage.cost)}</dd>",
    )
    assert [words for words in phrases if words not in output] == []
    order = [output.index(f'<section id="{name}">') for name in ("decision", "vote", "rounds")]
    assert order == sorted(order)
    assert reader.headings[:2] == [1, 2]
    assert all(b <= a + 1 for a, b in pairwise(reader.headings))
    assert "2026-12-06 09:00:00 UTC" in output


def test_quotes_stand_with_their_source_found_or_struck_out() -> None:
    by = Person(id="U1", name="Dana")
    reference = SourceReference(
        kind=SourceKind.LINK, title="load.md", address="https://a.example", fetch="x", by=by
    )
    turn = Turn(act=Act.READING, round=0, agent=ENGINE, target="1")
    source = Source(turn=turn, reference=reference, text="Jobs are lost.")
    found, missing = CitationStatus.VERIFIED, CitationStatus.UNVERIFIED
    quotes = (
        Citation(source="e1", words="Jobs are lost.", status=found, place="line 1"),
        Citation(source="e1", words="None is.", status=missing, fault="not there"),
    )
    debate = fold(a_log())
    key, speech = next(iter(debate.contributions.items()))
    changes = {"text": 'So [e1: "Jobs are lost."].', "citations": quotes, "call": a_call()}
    said = {**debate.contributions, key: speech.model_copy(update=changes)}
    output = page(replace(debate, sources=(source,), contributions=said, verdict=None), UNTIL)
    read(output)
    for words in (
        '“Jobs are lost.” (<a href="#e1">e1</a>, line 1)',
        '<article id="e1">',
        "“Jobs are lost.”, quoted by",
        "“None is.”</del>, said by",
    ):
        assert words in output


def test_a_page_says_who_wrote_it() -> None:
    debate, offline = fold(a_log()), {"provider": "offline"}
    agents = tuple(agent.model_copy(update=offline) for agent in debate.setup.agents)
    setup = debate.setup.model_copy(update={"agents": agents})
    assert "Written by AI agents" in page(replace(debate, setup=setup), UNTIL)
    setup = setup.model_copy(update={"judge": setup.judge.model_copy(update=offline)})
    assert "no AI model was asked" in page(replace(debate, setup=setup), UNTIL)


def test_a_long_question_is_complete_below_the_heading() -> None:
    debate = fold(a_log())
    question = "Should we? " + "Because of this and that. " * 20
    setup = debate.setup.model_copy(update={"question": question})
    output = page(replace(debate, setup=setup), UNTIL)
    assert output.count("<h1>") == 1
    assert f"<blockquote>\n<p>{question.strip()}</p>" in output


def test_hostile_text_has_no_effect_in_any_field() -> None:
    debate = fold(a_hostile_log())
    verdict = Verdict(
        decision=BAD, solution=BAD, implementation=BAD, dissent=BAD, tradeoffs=(BAD,),
        recommendations=(BAD,), confidence=50, warnings=(BAD,), open_questions=(BAD,),
        overturned_by=(BAD,),
    )  # fmt: skip
    agents = tuple(
        agent.model_copy(update={"name": f'{BAD}"\u202e>'}) for agent in debate.setup.agents
    )
    setup = debate.setup.model_copy(update={"agents": agents})
    contributions = {
        key: contribution.model_copy(update={"call": a_call(), "warnings": (BAD,)})
        for key, contribution in debate.contributions.items()
    }
    for case in (
        debate,
        replace(debate, setup=setup, verdict=verdict, contributions=contributions),
    ):
        read(page(case, UNTIL))
    read(absent())


DEBATE = "dabc2345"
STARTED = DebateStarted(setup=a_setup())


class HeldStore(InMemoryStore):
    """Answers once it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = list[int](), asyncio.Event()

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        self.asked.append(after)
        await self.go.wait()
        return await super().events(debate_id, after=after)


class Granted:
    """Has a page of every debate."""

    async def grant(self, debate: Debate) -> str:
        return await self.grant_of(debate.id)

    async def grant_of(self, debate_id: str) -> str:
        del debate_id
        return "0" * 16

    async def withdraw(self, debate_id: str) -> bool:
        del debate_id
        return False


async def test_too_many_readers_of_one_link_are_asked_to_come_again() -> None:
    clock, store = ManualClock(), HeldStore()
    await store.create(DEBATE, STARTED, origin="1", at=clock.now())
    share = ShareDebates(
        debates=DebateCache(store),
        grants=Granted(),
        channels=InMemoryChannelChoices(),
        clock=clock,
        secret=b"of this installation",
        address=FOLDER,
        holds=timedelta(days=1),
    )
    link = await share.share(fold(log_of([STARTED], DEBATE)))
    application = web.Application()
    PageRoutes(share).add_to(application)
    server = WebServer(application, "127.0.0.1", 0)
    await server.start()

    async def fetched(session: ClientSession) -> tuple[int, str]:
        async with session.get(f"{server.address}{link.address}") as answer:
            return answer.status, await answer.text()

    try:
        async with ClientSession() as session:
            readers = [asyncio.create_task(fetched(session)) for _ in range(MOST_OF_LINK)]
            while len(store.asked) < MOST_OF_LINK:  # noqa: ASYNC110 - requests come from outside
                await asyncio.sleep(0.01)
            status, text = await fetched(session)
            assert (status, "Too many" in text) == (429, True)
            store.go.set()
            assert {status for status, _ in await asyncio.gather(*readers)} == {200}
            note = Note(id="n1", author=Person(id="U1", name="Dana"), text="Mind the wombats.")
            await store.append(DEBATE, NoteAdded(note=note), at=clock.now())
            status, text = await fetched(session)
            assert (status, "Mind the wombats." in text) == (200, True)
            assert store.asked == [*(0 for _ in readers), 1], "only what is new is read again"
    finally:
        await server.close()
