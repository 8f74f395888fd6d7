"""Several replicas on one PostgreSQL: they share debates, and outlive one another."""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bot.queue.rows import Posts
from bot.slack.ids import ActionId
from bot.testing import PATIENT_PACE, key_of, quick_workspace
from core.events import fold
from core.models import Status
from core.ports import DebateFilter
from core.store.database import Database
from core.store.debates import SqlDebateStore
from slack_on_loopback import Workspace, run_workspace
from tests.chaos.audit import Audit, audit
from tests.chaos.crew import Crew, a_crew
from tests.chaos.models import CountingModels, counting_models
from tests.postgres import PostgresForTests

CHANNEL = "architecture"
#: Seconds that everything may take to come to its end on a busy machine.
PATIENCE = 300.0
#: Replicas are processes that share the machine: how soon one acknowledges is not the matter here.


@dataclass
class Scene:
    """Replicas, where they are, and the log of what they did."""

    workspace: Workspace
    crew: Crew
    models: CountingModels
    store: SqlDebateStore
    posts: Posts

    async def ask(self, *questions: str) -> None:
        for question in questions:
            await self.workspace.command("dana", CHANNEL, "/debate", question)

    def boards(self) -> list[dict[str, Any]]:
        messages = self.workspace.messages(CHANNEL)
        return [message for message in messages if key_of(message).endswith("/board")]

    async def until(self, count: int) -> None:
        """Wait until so many debates are decided in Slack."""
        async with asyncio.timeout(PATIENCE):
            while len(self.decided()) < count:  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.05)

    def decided(self) -> list[dict[str, Any]]:
        messages = self.workspace.messages(CHANNEL)
        return [message for message in messages if message.get("subtype") == "thread_broadcast"]

    async def events(self) -> int:
        entries = await self.store.find(DebateFilter())
        return sum([len(await self.store.events(entry.debate_id)) for entry in entries])

    async def stop(self, board: str) -> None:
        """Click Stop; wait until nobody works on the debate any more."""
        await self.workspace.click("dana", CHANNEL, board, ActionId.STOP.value)
        debate_id = key_of(self.workspace.thread(CHANNEL, board)[0]).partition("/")[0]
        async with asyncio.timeout(PATIENCE):
            while await self.runs(debate_id):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.02)

    async def runs(self, debate_id: str) -> bool:
        return fold(await self.store.events(debate_id)).status is Status.RUNNING

    async def at_rest(self) -> Audit:
        """Wait until every debate and every post of it is there; return what is to be seen then.

        What never comes is a fault in what is returned.
        """
        ends = time.monotonic() + PATIENCE
        while True:
            found = await audit(self.store, self.workspace, [CHANNEL], self.models.asked)
            coming = found.unfinished or found.lost or await self.posts.backlog()
            if not coming or time.monotonic() > ends:
                return found
            await asyncio.sleep(0.1)

    async def logged(self, words: str) -> None:
        """Wait until a replica has logged these words."""
        async with asyncio.timeout(PATIENCE):
            while words not in self.crew.log.read_text(encoding="utf-8"):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.1)


@pytest.fixture
async def scene(on_postgres: str, tmp_path: Path) -> AsyncGenerator[Scene]:
    async with (
        run_workspace(replace(quick_workspace(), pace=PATIENT_PACE)) as workspace,
        counting_models(0.3) as models,
        a_crew(workspace, on_postgres, models.address, tmp_path / "log") as crew,
    ):
        await crew.join()
        async with await Database.open(on_postgres) as database:
            yield Scene(workspace, crew, models, SqlDebateStore(database), Posts(database))


@pytest.mark.slow
async def test_the_debates_of_a_dead_replica_go_on_elsewhere(scene: Scene) -> None:
    await scene.crew.join()
    await scene.ask("Kafka or SQS?", "Rust or Go?", "Tabs or spaces?")
    await scene.workspace.wait_for(lambda: scene.models.calls >= 6, timeout=PATIENCE)
    await scene.crew.kill(scene.crew.alive[0])
    await scene.until(3)
    found = await scene.at_rest()
    assert (found.faults, found.debates) == ({}, 3)


@pytest.mark.slow
async def test_a_frozen_replica_that_comes_back_writes_and_posts_nothing(scene: Scene) -> None:
    scene.models.answers.clear()
    await scene.ask("Kafka or SQS?", "Rust or Go?")
    await scene.workspace.wait_for(lambda: scene.models.calls == 6, timeout=PATIENCE)
    frozen = scene.crew.alive[0]
    frozen.send_signal(signal.SIGSTOP)
    scene.models.answers.set()
    await scene.crew.join()
    await scene.until(2)
    await scene.at_rest()
    before = await scene.events()
    frozen.send_signal(signal.SIGCONT)
    await scene.logged("let go")
    await asyncio.sleep(1)  # for what it had under way when it froze
    found = await scene.at_rest()
    assert await scene.events() == before
    assert (found.faults, found.debates) == ({}, 2)
    assert frozen.returncode is None


@pytest.mark.slow
async def test_a_stop_reaches_the_replica_that_holds_the_debate_in_the_middle_of_a_turn(
    scene: Scene,
) -> None:
    scene.models.latency = 3600  # no turn ends by itself
    await scene.ask("Kafka or SQS?", "Rust or Go?")
    await scene.workspace.wait_for(lambda: scene.models.calls >= 6, timeout=PATIENCE)
    await scene.workspace.wait_for(lambda: len(scene.boards()) == 2, timeout=PATIENCE)
    await scene.crew.join()
    # Payloads go to the sockets in turn: one of the two clicks goes to the replica that holds none.
    for board in scene.boards():
        await scene.stop(board["ts"])
    assert scene.models.calls == 6


@pytest.mark.slow
async def test_a_restart_of_the_database_fails_no_debate(
    scene: Scene, postgres: PostgresForTests
) -> None:
    await scene.crew.join()
    await scene.ask("Kafka or SQS?", "Rust or Go?", "Tabs or spaces?")
    await scene.workspace.wait_for(lambda: scene.models.calls >= 6, timeout=PATIENCE)
    await asyncio.to_thread(postgres.restart)
    await scene.until(3)
    found = await scene.at_rest()
    entries = await scene.store.find(DebateFilter())
    debates = [fold(await scene.store.events(entry.debate_id)) for entry in entries]
    assert {debate.status for debate in debates} == {Status.CONCLUDED}
    assert not any(debate.failures for debate in debates)
    assert found.faults == {}


@pytest.mark.slow
async def test_sigterm_hands_debates_over_without_waiting_for_replies(scene: Scene) -> None:
    scene.models.latency = 3600
    await scene.ask("Kafka or SQS?")
    await scene.workspace.wait_for(lambda: scene.models.calls >= 3, timeout=PATIENCE)
    await scene.crew.join()
    scene.models.latency = 0.3
    asked = scene.models.calls
    ending = asyncio.create_task(scene.crew.kill(scene.crew.alive[0], signal.SIGTERM))
    async with asyncio.timeout(300):
        while scene.models.calls == asked:  # noqa: ASYNC110 - other processes
            await asyncio.sleep(0.05)
        assert await ending == 0
    await scene.until(1)
    assert (await scene.at_rest()).faults == {}


@pytest.mark.slow
async def test_replicas_together_do_not_pass_a_cap_on_the_day(scene: Scene) -> None:
    """Each holds debates of its own, and all ask at the same moment."""
    cap = Decimal(2)
    await scene.crew.kill(scene.crew.alive[0])
    scene.crew.day_cost = str(cap)
    for _ in range(3):
        await scene.crew.join()
    scene.models.latency = 1  # so that many are under way together
    asking = ("Kafka or SQS?", "Rust or Go?", "Tabs or spaces?")
    await scene.ask(*asking)
    entries = await scene.store.find(DebateFilter())
    async with asyncio.timeout(PATIENCE):
        while any([await scene.runs(entry.debate_id) for entry in entries]):  # noqa: ASYNC110 - other processes
            await asyncio.sleep(0.1)
    debates = [fold(await scene.store.events(entry.debate_id)) for entry in entries]
    spent = sum((debate.usage.cost or Decimal(0) for debate in debates), start=Decimal(0))
    assert len(debates) == len(asking)
    assert cap / 2 < spent <= cap
    assert any("all debates today" in str(debate.failures) for debate in debates)
