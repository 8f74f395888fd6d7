"""Jobs that replicas share, on a real PostgreSQL."""

import asyncio
from collections.abc import Awaitable, Callable

import psycopg

from bot.running.debate_runner import Heartbeat
from bot.running.job_queue import Jobs, JobTasks


async def _tasks(url: str, work: Callable[[str], Awaitable[None]]) -> tuple[Jobs, JobTasks]:
    """Jobs that run, and a kind of them."""
    jobs = Jobs(url, Heartbeat())
    tasks = JobTasks(jobs, "channels", work)
    await jobs.start()
    return jobs, tasks


async def test_what_is_new_while_a_job_is_queued_is_done_with_few_jobs(on_postgres: str) -> None:
    news, handled, wakes = 0, 0, 60
    is_all_done = asyncio.Event()

    async def work(key: str) -> None:
        nonlocal handled
        assert key == "C1"
        handled = news  # all that was there when it looked
        if handled == wakes:
            is_all_done.set()

    jobs, tasks = await _tasks(on_postgres, work)
    for _ in range(wakes // 20):
        for _ in range(20):
            news += 1
            tasks.wake("C1")
        await asyncio.sleep(0.003)  # now and then before, now and then after it is queued
    async with asyncio.timeout(300):
        await is_all_done.wait()
    await tasks.close(5)
    await jobs.close()
    async with await psycopg.AsyncConnection.connect(jobs.conninfo) as connection:
        # It counts what was queued, or tried to be.
        cursor = await connection.execute("SELECT last_value FROM procrastinate_jobs_id_seq")
        row = await cursor.fetchone()
    assert row is not None
    assert row[0] < wakes / 2
