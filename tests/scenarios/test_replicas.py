"""Several replicas on one PostgreSQL: they share debates, and outlive one another."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from decimal import Decimal
from pathlib import Path

import pytest

from bot.slack.ids import ActionId
from core.debate.state import Status
from tests.faults.drill import AT_ONCE
from tests.faults.site import CHANNEL, PATIENCE, Site, at_work
from tests.postgres import PostgresForTests

pytestmark = pytest.mark.slow
QUESTIONS = ("Kafka or SQS?", "Rust or Go?", "Tabs or spaces?")


@pytest.fixture
async def site(on_postgres: str, tmp_path: Path) -> AsyncGenerator[Site]:
    async with at_work(tmp_path, on_postgres, turn_seconds=3600) as site:
        yield site


async def ask(site: Site, *questions: str) -> None:
    """Ask; return once models are asked."""
    before = site.models.calls
    for question in questions:
        await site.ask(question)
    await site.until(lambda: site.models.calls >= before + AT_ONCE)


async def test_the_debates_of_a_dead_replica_go_on_elsewhere(site: Site) -> None:
    await site.join()
    await ask(site, *QUESTIONS)
    await site.machine.stop(signal.SIGKILL)
    await site.decided(3)
    audit = await site.at_rest(3)
    assert (audit.faults, audit.debates) == ({}, 3)


async def test_a_frozen_replica_that_comes_back_writes_and_posts_nothing(site: Site) -> None:
    site.models.wait = 10
    await ask(site, *QUESTIONS[:2])
    frozen = site.machine.process
    assert frozen
    frozen.send_signal(signal.SIGSTOP)
    site.models.wait = 0.3
    await site.join()
    await site.decided(2)
    before = await site.at_rest(2)
    frozen.send_signal(signal.SIGCONT)
    async with asyncio.timeout(PATIENCE):
        while '"event": "let go"' not in site.machine.log:  # noqa: ASYNC110 - a file
            await asyncio.sleep(0.1)
    await asyncio.sleep(1)  # for what it had under way when it froze
    assert frozen.returncode is None
    assert (await site.at_rest(2), before.faults) == (before, {})


async def test_a_stop_reaches_the_replica_that_holds_the_debate_in_the_middle_of_a_turn(
    site: Site,
) -> None:
    site.models.wait = 3600  # no turn ends by itself
    await ask(site, *QUESTIONS[:2])
    await site.until(lambda: site.models.calls == 2 * AT_ONCE)
    await site.join()
    # Payloads go to the sockets in turn: one of the two clicks goes to the replica that holds none.
    for board in site.boards():
        await site.workspace.click("dana", CHANNEL, board, ActionId.STOP.value)
    async with asyncio.timeout(PATIENCE):
        while any(debate.status is Status.RUNNING for debate in await site.debates()):  # noqa: ASYNC110 - other processes
            await asyncio.sleep(0.1)
    assert site.models.calls == 2 * AT_ONCE


async def test_a_restart_of_the_database_fails_no_debate(
    site: Site, postgres: PostgresForTests
) -> None:
    await site.join()
    await ask(site, *QUESTIONS)
    await asyncio.to_thread(postgres.restart)
    await site.decided(3)
    audit = await site.at_rest(3)
    assert audit.faults == {}
    assert not any(debate.failures for debate in await site.debates())


async def test_sigterm_hands_debates_over_without_waiting_for_replies(site: Site) -> None:
    site.models.wait = 3600
    await ask(site, QUESTIONS[0])
    await site.join()
    site.models.wait = 0.3
    code, _ = await site.machine.stop()
    assert code == 0
    await site.decided()
    assert (await site.at_rest()).faults == {}


async def test_replicas_together_do_not_pass_a_cap_on_the_day(
    on_postgres: str, tmp_path: Path
) -> None:
    """Each holds debates of its own, and all ask at the same moment."""
    cap = Decimal("0.02")
    async with at_work(tmp_path, on_postgres, wait=1.0, cap=cap) as site:
        site.models.dear = True
        await site.join()
        await site.join()
        await ask(site, *QUESTIONS)
        async with asyncio.timeout(PATIENCE):
            while any(debate.status is Status.RUNNING for debate in await site.debates()):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.1)
        audit, debates = await site.audited(), await site.debates()
    assert (audit.debates, audit.overspent) == (3, 0)
    assert audit.spent > cap / 2
    assert any("all debates today" in str(debate.failures) for debate in debates)
