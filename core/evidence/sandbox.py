"""Runs what meets content of others in a process of its own: none blocks or fills this one."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from core.errors import BadInput

_SCRIPT = Path(__file__).with_name("in_sandbox.py")
#: Seconds that a process has to end what it has started itself.
_GOODBYE = 8.0


@dataclass(frozen=True, kw_only=True)
class Work:
    """A kind of work, and what people are told of it, as the end of a sentence."""

    #: `core.evidence.in_sandbox` maps it to a module.
    name: str
    #: What its process does: "reads files".
    does: str
    too_long: str
    #: It takes more memory than it may, or crashes.
    too_much: str


async def run(
    work: Work,
    order: Mapping[str, object],
    content: bytes = b"",
    *,
    memory: int,
    cpu: float,
    seconds: float,
) -> dict[str, Any]:
    """Run a piece of work in a sandbox process; return its answer, a JSON object.

    Args:
        work: What is done.
        order: Its arguments, as JSON.
        content: Further input.
        memory: Bytes of address space that it may take.
        cpu: Seconds of computing.
        seconds: From its start to its answer.

    Raises:
        BadInput: There is no answer, or it is a fault; says why.
    """
    head = {**order, "work": work.name, "memory": memory, "cpu": max(1, int(cpu))}
    process = await _start_process(work.does)
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate(json.dumps(head).encode() + b"\n" + content)
    except TimeoutError:
        raise BadInput(work.too_long) from None
    finally:
        await _end(process)
    try:
        answer: dict[str, Any] = json.loads(output)
    except ValueError:  # none, or a part of it
        # Signals that the system sends at the limit of computing time.
        is_late = process.returncode in {-24, -9}
        raise BadInput(work.too_long if is_late else work.too_much) from None
    if fault := answer.get("fault"):
        raise BadInput(fault)
    return answer


async def _start_process(does: str) -> Process:
    """Start a process that no key of ours reaches."""
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            str(_SCRIPT),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={"PYTHONPATH": str(_SCRIPT.parents[2]), "PYTHONDONTWRITEBYTECODE": "1"},
        )
    except OSError as error:
        why = error.strerror or "no reason given"
        raise BadInput(f"Moot cannot start the process that {does} ({why})") from None


async def _end(process: Process) -> None:
    """End a process: kindly, so that it ends what it has started, then at once with all of that."""
    if process.returncode is not None:
        return
    started = _started_by(process.pid)
    try:
        await _stop(process, process.terminate)
        await _stop(process, process.kill)
    finally:
        for handle in started:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)


async def _stop(process: Process, stop: Callable[[], None]) -> None:
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        stop()
    with suppress(TimeoutError):
        async with asyncio.timeout(_GOODBYE):
            await process.wait()


def _started_by(pid: int) -> list[int]:
    """Handles of the processes below one, where the system tells (Linux)."""
    handles = list[int]()
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, children.read_text("ascii").split()):
                handles.append(os.pidfd_open(child))
                handles += _started_by(child)
    return handles


class FairGate:
    """Lets a few in at a time, by turns: of each channel one at most waits among all others."""

    def __init__(self, at_once: int) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._turns = WeakValueDictionary[str, asyncio.Lock]()

    @asynccontextmanager
    async def place(self, whose: str) -> AsyncGenerator[None]:
        async with self._turns.setdefault(whose, asyncio.Lock()):
            await self._places.acquire()
        try:
            yield
        finally:
            self._places.release()
