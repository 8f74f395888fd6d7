"""Pages over HTTP: many readers at once are bounded, and what is known is not read again."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from aiohttp import ClientSession, web

from bot.debate_page.routes import FOLDER, MOST_OF_LINK, PageRoutes
from bot.slack.connection.http import WebServer
from core.debate.contributions import Note
from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.log import RecordedEvent, fold
from core.debate.message_events import NoteAdded
from core.debate.people import Person, Place
from core.debate.state import Debate
from core.store.memory import InMemoryStore
from core.testing import ManualClock, a_setup, log_of
from core.use_cases.choices import ChannelChoices
from core.use_cases.debate_cache import DebateCache
from core.use_cases.share import ShareDebates

DEBATE = "dabc2345"


@dataclass
class Shelf(InMemoryStore):
    """Remembers after which event a log was asked for, and answers once it is let go."""

    asked: list[int] = field(default_factory=list[int])
    go: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        super().__init__()

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        self.asked.append(after)
        await self.go.wait()
        return await super().events(debate_id, after=after)


class Granted:
    """Has a page of every debate."""

    async def grant(self, debate: Debate) -> str:
        del debate
        return "0" * 16

    async def grant_of(self, debate_id: str) -> str:
        del debate_id
        return "0" * 16

    async def withdraw(self, debate_id: str) -> bool:
        del debate_id
        return False


class AsUsual:
    """No channel has set anything."""

    async def get(self, place: Place) -> ChannelChoices:
        del place
        return ChannelChoices()

    async def put(self, place: Place, choices: ChannelChoices) -> None:
        """Forget it."""


@dataclass(frozen=True)
class Served:
    """A debate behind a link."""

    shelf: Shelf
    session: ClientSession
    address: str

    async def fetched(self) -> tuple[int, str]:
        async with self.session.get(self.address) as answer:
            return answer.status, await answer.text()


@asynccontextmanager
async def served() -> AsyncGenerator[Served]:
    clock, shelf = ManualClock(), Shelf()
    started = DebateStarted(setup=a_setup())
    await shelf.create(DEBATE, started, origin="1", at=clock.now())
    share = ShareDebates(
        debates=DebateCache(shelf),
        grants=Granted(),
        channels=AsUsual(),
        clock=clock,
        secret=b"of this installation",
        address=FOLDER,
        holds=timedelta(days=1),
    )
    link = await share.share(fold(log_of([started], DEBATE)))
    application = web.Application()
    PageRoutes(share).add_to(application)
    server = WebServer(application, "127.0.0.1", 0)
    await server.start()
    try:
        async with ClientSession() as session:
            yield Served(shelf, session, f"{server.address}{link.address}")
    finally:
        await server.close()


async def test_too_many_readers_of_one_link_are_asked_to_come_again() -> None:
    async with served() as page:
        readers = [asyncio.create_task(page.fetched()) for _ in range(MOST_OF_LINK)]
        while len(page.shelf.asked) < MOST_OF_LINK:  # noqa: ASYNC110 - requests come from outside
            await asyncio.sleep(0.01)
        status, text = await page.fetched()
        assert (status, "Too many" in text) == (429, True)
        page.shelf.go.set()
        assert {status for status, _ in await asyncio.gather(*readers)} == {200}
        assert (await page.fetched())[0] == 200


async def test_a_page_that_is_opened_again_reads_only_what_is_new() -> None:
    async with served() as page:
        page.shelf.go.set()
        assert (await page.fetched())[0] == 200
        note = Note(id="n1", author=Person(id="U1", name="Dana"), text="Mind the wombats.")
        now = ManualClock().now()
        await page.shelf.append(DEBATE, NoteAdded(note=note), at=now)
        status, text = await page.fetched()
        assert (status, "Mind the wombats." in text) == (200, True)
        await page.shelf.append(DEBATE, DebateConcluded(), at=now)
        assert (await page.fetched())[0] == 200
        assert page.shelf.asked == [0, 1, 2]
