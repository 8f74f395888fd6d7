"""What is said of work that fails: a reason for what is expected, a traceback for our faults."""

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.running.keyed_tasks import KeyedTasks
from core.errors import StoreDown

EXPECTED = [StoreDown("The database is locked."), ConnectionResetError("gone"), TimeoutError()]


async def logged_about(error: Exception) -> dict[str, Any]:
    """What is logged when work raises this once; it is begun again."""
    done = asyncio.Event()
    failures = [error]

    async def work(_key: str) -> None:
        if failures:
            raise failures.pop()
        done.set()

    with capture_logs() as logs:
        tasks = KeyedTasks[str](work, restart_after=0)
        tasks.wake("C1")
        await asyncio.wait_for(done.wait(), 300)
        await tasks.close(1)
    (entry,) = logs
    return dict(entry)


@pytest.mark.parametrize("error", EXPECTED, ids=lambda error: type(error).__name__)
async def test_an_expected_error_is_one_line_with_its_reason(error: Exception) -> None:
    entry = await logged_about(error)

    assert entry["reason"] == (str(error) or "TimeoutError")
    assert (entry["work"], entry["log_level"]) == ("C1", "warning")
    assert "exc_info" not in entry


async def test_a_fault_of_ours_has_its_traceback() -> None:
    fault = KeyError("ours")

    assert (await logged_about(fault))["exc_info"] is fault
