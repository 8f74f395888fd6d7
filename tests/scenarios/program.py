"""`moot run` as a process of its own, as an operator runs it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from bot.listeners import answers
from bot.slack.access import SlackSilent
from bot.testing import PATIENT_PACE, key_of, quick_workspace
from core.store.database import Database
from core.store.debates import SqlDebateStore
from slack_on_loopback import PersonRefusal, Workspace, WorkspaceConfig, run_workspace
from tests.chaos.audit import Audit, audit
from tests.drill.machine import Machine
from tests.drill.models import DrillModels
from tests.vendors.server import Vendor

CHANNEL = "architecture"
#: Seconds that everything may take on a busy machine.
PATIENCE = 300.0
CONFIG = replace(quick_workspace(), pace=PATIENT_PACE)


class Site:
    """A machine on which Moot runs, and the people of one workspace."""

    def __init__(
        self, workspace: Workspace, machine: Machine, models: DrillModels, vendor: Vendor
    ) -> None:
        self.workspace = workspace
        self.machine = machine
        self.models = models
        #: Where the models are asked; its script can be changed.
        self.vendor = vendor

    async def ask(self, question: str, user: str = "dana") -> None:
        """Type a question until somebody hears it."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    await self.workspace.command(user, CHANNEL, "/debate", question)
                except PersonRefusal:
                    await asyncio.sleep(0.2)
                    continue
                told = [str(one["text"]) for one in self.workspace.ephemeral(user, CHANNEL)]
                # On a busy machine it may be told that it was too late: nothing was done.
                if not told or told[-1] not in {answers.TOO_SLOW, str(SlackSilent())}:
                    return

    async def decided(self, count: int) -> None:
        """Wait until so many debates are decided."""

        def all_decided() -> bool:
            messages = self.workspace.messages(CHANNEL)
            return sum(key_of(message).endswith("/headline") for message in messages) >= count

        await self.workspace.wait_for(all_decided, timeout=PATIENCE)

    async def seen(self) -> Audit:
        """What became of the debates."""
        location = self.machine.database or f"sqlite+aiosqlite:///{self.machine.file}"
        async with await Database.look_into(location) as database:
            store = SqlDebateStore(database)
            return await audit(store, self.workspace, [CHANNEL], self.models.asked)


@asynccontextmanager
async def at_work(
    folder: Path,
    database: str = "",
    *,
    http: bool = False,
    mcp: bool = False,
    config: WorkspaceConfig = CONFIG,
) -> AsyncGenerator[Site]:
    """Have `moot run` at work for as long as the block lasts; without a server on SQLite."""
    models = DrillModels(wait=0.3)
    async with run_workspace(config) as workspace, Vendor(models) as vendor:
        machine = Machine(folder / "machine", workspace, vendor.url, http=http)
        machine.database, machine.mcp = database, mcp
        try:
            await machine.start()
            yield Site(workspace, machine, models, vendor)
        finally:
            await machine.close()
