"""Several replicas on one PostgreSQL: they share debates, and outlive one another."""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.slack.ids import ActionId
from bot.testing import key_of, quick_workspace
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


@dataclass
class Scene:
    """Replicas, where they are, and the log of what they did."""

    workspace: Workspace
    crew: Crew
    models: CountingModels
    store: SqlDebateStore

    async def ask(self, *questions: str) -> None:
        for question in questions:
            await self.workspace.command("dana", CHANNEL, "/debate", question)

    def boards(self) -> list[dict[str, Any]]:
        messages = self.workspace.messages(CHANNEL)
        return [one for one in messages if key_of(one).endswith("/board")]

    async def until(self, count: int, seconds: float) -> float:
        """Wait until so many debates are decided in Slack; return how long it took."""
        began = time.monotonic()
        async with asyncio.timeout(seconds):
            while len(self.decided()) < count:  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.05)
        return time.monotonic() - began

    def decided(self) -> list[dict[str, Any]]:
        messages = self.workspace.messages(CHANNEL)
        return [one for one in messages if one.get("subtype") == "thread_broadcast"]

    async def events(self) -> int:
        entries = await self.store.find(DebateFilter())
        return sum([len(await self.store.events(one.debate_id)) for one in entries])

    async def stop(self, board: str) -> float:
        """Click Stop; return how long it took until nobody worked on the debate any more."""
        began = time.monotonic()
        await self.workspace.click("dana", CHANNEL, board, ActionId.STOP.value)
        debate_id = key_of(self.workspace.thread(CHANNEL, board)[0]).partition("/")[0]
        async with asyncio.timeout(10):
            while await self.runs(debate_id):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.02)
        return time.monotonic() - began

    async def runs(self, debate_id: str) -> bool:
        return fold(await self.store.events(debate_id)).status is Status.RUNNING

    async def audit(self) -> Audit:
        return await audit(self.store, self.workspace, [CHANNEL], self.models.asked)


@pytest.fixture
async def scene(on_postgres: str, tmp_path: Path) -> AsyncGenerator[Scene]:
    async with (
        run_workspace(quick_workspace()) as workspace,
        counting_models(0.3) as models,
        a_crew(workspace, on_postgres, models.address, tmp_path / "log") as crew,
    ):
        await crew.join()
        async with await Database.open(on_postgres) as database:
            yield Scene(workspace, crew, models, SqlDebateStore(database))


@pytest.mark.timeout(120)
async def test_the_debates_of_a_dead_replica_go_on_elsewhere(scene: Scene) -> None:
    await scene.crew.join()
    await scene.ask("Kafka or SQS?", "Rust or Go?", "Tabs or spaces?")
    await scene.workspace.wait_for(lambda: scene.models.calls >= 6, timeout=20)
    await scene.crew.kill(scene.crew.alive[0])
    seconds = await scene.until(3, 60)
    await asyncio.sleep(1)
    found = await scene.audit()
    assert seconds < 60
    assert (found.faults, found.debates) == ({}, 3)


@pytest.mark.timeout(120)
async def test_a_frozen_replica_that_comes_back_writes_and_posts_nothing(scene: Scene) -> None:
    await scene.ask("Kafka or SQS?", "Rust or Go?")
    await scene.workspace.wait_for(lambda: scene.models.calls >= 4, timeout=20)
    frozen = scene.crew.alive[0]
    frozen.send_signal(signal.SIGSTOP)
    await scene.crew.join()
    await scene.until(2, 60)
    before = await scene.events()
    frozen.send_signal(signal.SIGCONT)
    await asyncio.sleep(4)
    found = await scene.audit()
    assert await scene.events() == before
    assert (found.faults, found.debates) == ({}, 2)
    assert frozen.returncode is None


@pytest.mark.timeout(120)
async def test_a_stop_reaches_the_replica_that_holds_the_debate_within_a_second(
    scene: Scene,
) -> None:
    scene.models.latency = 30
    await scene.ask("Kafka or SQS?", "Rust or Go?")
    await scene.workspace.wait_for(lambda: scene.models.calls >= 6, timeout=20)
    await scene.workspace.wait_for(lambda: len(scene.boards()) == 2, timeout=20)
    await scene.crew.join()
    # Payloads go to the sockets in turn: one of the two clicks goes to the replica that holds none.
    taken = [await scene.stop(board["ts"]) for board in scene.boards()]
    assert max(taken) < 1


@pytest.mark.timeout(120)
async def test_a_restart_of_the_database_fails_no_debate(
    scene: Scene, postgres: PostgresForTests
) -> None:
    await scene.crew.join()
    await scene.ask("Kafka or SQS?", "Rust or Go?", "Tabs or spaces?")
    await scene.workspace.wait_for(lambda: scene.models.calls >= 6, timeout=20)
    await asyncio.to_thread(postgres.restart)
    await scene.until(3, 60)
    await asyncio.sleep(1)
    found = await scene.audit()
    entries = await scene.store.find(DebateFilter())
    debates = [fold(await scene.store.events(entry.debate_id)) for entry in entries]
    assert {debate.status for debate in debates} == {Status.CONCLUDED}
    assert not any(debate.failures for debate in debates)
    assert found.faults == {}


@pytest.mark.timeout(120)
async def test_sigterm_hands_debates_over_within_ten_seconds(scene: Scene) -> None:
    scene.models.latency = 60
    await scene.ask("Kafka or SQS?")
    await scene.workspace.wait_for(lambda: scene.models.calls >= 3, timeout=20)
    await scene.crew.join()
    scene.models.latency = 0.3
    began = time.monotonic()
    asked = scene.models.calls
    ending = asyncio.create_task(scene.crew.kill(scene.crew.alive[0], signal.SIGTERM))
    async with asyncio.timeout(20):
        while scene.models.calls == asked:  # noqa: ASYNC110 - other processes
            await asyncio.sleep(0.05)
        handed_over = time.monotonic() - began
        assert await ending == 0
    assert max(handed_over, time.monotonic() - began) < 10
    await scene.until(1, 30)
    await asyncio.sleep(1)
    assert (await scene.audit()).faults == {}
