"""Pages over HTTP: many readers at once are bounded, and what is known is not read again."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from aiohttp import ClientSession, web

from bot.debate_page.routes import FOLDER, MOST_OF_LINK, PageRoutes
from bot.slack.connection.http import WebServer
from core.debate.contributions import Note
from core.debate.debate_events import DebateStarted
from core.debate.log import RecordedEvent, fold
from core.debate.message_events import NoteAdded
from core.debate.people import Person
from core.debate.state import Debate
from core.testing import InMemoryChannelChoices, InMemoryStore, ManualClock, a_setup, log_of
from core.use_cases.debate_cache import DebateCache
from core.use_cases.share import ShareDebates

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
