"""What is said of work that fails: a reason for what is expected, a traceback for our faults."""

import asyncio
from typing import Any

from structlog.testing import capture_logs

from bot.running.keyed_tasks import KeyedTasks


async def logged_about(error: Exception) -> dict[str, Any]:
    """What is logged when work raises this once; it is begun again."""
    end = asyncio.Event()
    failures = [error]

    async def work(_key: str) -> None:
        if failures:
            raise failures.pop()
        end.set()

    with capture_logs() as logs:
        tasks = KeyedTasks[str](work, restart_after=0)
        tasks.wake("C1")
        await asyncio.wait_for(end.wait(), 300)
        await tasks.close(1)
    (entry,) = logs
    return dict(entry)


async def test_a_fault_of_ours_has_its_traceback() -> None:
    fault = KeyError("ours")

    assert (await logged_about(fault))["exc_info"] is fault
