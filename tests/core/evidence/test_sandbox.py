"""The sandbox: fair sharing between channels, and messages about crashes."""

import asyncio
from collections.abc import Callable

import pytest

from core.errors import BadInput
from core.evidence import sandbox
from core.evidence.sandbox import FairGate, Work


async def settled(until: Callable[[], bool]) -> None:
    for _ in range(100):
        if until():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never happens")


@pytest.mark.parametrize(
    ("at_once", "order"),
    [(1, ["a1", "a2", "b1", "c1", "a3", "a4"]), (2, ["a1", "a2", "a3", "b1", "c1", "a4"])],
)
async def test_at_most_one_file_per_channel_waits_in_the_common_queue(
    at_once: int, order: list[str]
) -> None:
    gate, begun = FairGate(at_once), list[str]()
    names = ("a1", "a2", "a3", "a4", "b1", "c1")
    ends = {name: asyncio.Event() for name in names}

    async def read(name: str) -> None:
        async with gate.place(name[0]):
            begun.append(name)
            await ends[name].wait()

    tasks = [asyncio.create_task(read(name)) for name in names]
    for count, name in enumerate(order):
        await settled(lambda done=count: len(begun) == min(done + at_once, len(order)))
        ends[name].set()
    await asyncio.gather(*tasks)

    assert begun == order


@pytest.mark.parametrize(("end", "words"), [("-KILL", "late"), ("-SEGV", "much")])
async def test_a_truncated_answer_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, end: str, words: str
) -> None:
    pipe, script = asyncio.subprocess.PIPE, f"cat > /dev/null; printf '{{\"sec'; kill {end} $$"

    async def start(_does: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec("sh", "-c", script, stdin=pipe, stdout=pipe)

    monkeypatch.setattr(sandbox, "_start_process", start)
    work = Work(name="file", does="reads files", too_long="late", too_much="much")

    with pytest.raises(BadInput, match=words):
        await sandbox.run(work, {}, memory=1, cpu=1, seconds=30)
