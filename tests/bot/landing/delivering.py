"""A process that delivers, to be killed.

`python delivering.py DATABASE WEBHOOK REPOSITORY [begin]`

With `begin` it holds a debate first, whose decision is accepted. It ends when all has landed.
"""

import asyncio
import sys

import core.store.tables
from bot.landing.git import RepositoryReceiver
from bot.store.tables import prepare
from core.clock import SystemClock
from core.landing import RecordPlace
from core.store.database import Database
from core.store.debates import SqlDebateStore
from tests.bot.landing.git_server import TOKEN
from tests.bot.landing.office import Office
from tests.bot.landing.test_webhooks import a_webhook, receiver


async def main(location: str, webhook: str, address: str, *, begin: bool) -> None:
    place = RecordPlace(name="adr", repository=address, token_variable="ADR_TOKEN")
    shop = receiver(a_webhook(webhook), SystemClock())
    repository = RepositoryReceiver(records=place, token=TOKEN, variables={"PATH": "/usr/bin:/bin"})
    async with await Database.open(location) as database:
        await core.store.tables.prepare(database)
        await prepare(database)
        office = Office(database, [shop, repository], SqlDebateStore(database))
        if begin:
            await office.debated()
            await office.decide()
        await office.queue.outbox.start()
        await office.settle()
        await office.queue.outbox.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], begin=sys.argv[4:] == ["begin"]))
