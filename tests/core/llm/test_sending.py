"""Who stood still between the proof and the first byte sends nothing that is another's."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.vendors.script import Say
from tests.vendors.server import Vendor, always

ROOT = Path(__file__).parents[3]


def stands_still(pid: int) -> bool:
    return "State:\tT" in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("taken_over", [False, True])
async def test_a_call_is_made_only_by_whoever_holds_the_debate_when_its_bytes_go(
    tmp_path: Path, *, taken_over: bool
) -> None:
    async with Vendor(always(Say(text="Oak."))) as vendor:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(Path(__file__).with_name("frozen_asker.py"))),
            *(vendor.url, str(tmp_path / "taken")),
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},  # noqa: TID251 - for the child
            stdout=PIPE,
        )
        while not stands_still(process.pid):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
        if taken_over:
            (tmp_path / "taken").touch()
        process.send_signal(signal.SIGCONT)
        said, _ = await process.communicate()
        asked = [one for one in vendor.asked if one.path == "/api/chat"]
    assert (said, len(asked)) == ((b"not asked\n", 0) if taken_over else (b"Oak.\n", 1))
