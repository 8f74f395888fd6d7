"""Runs work on foreign content in a separate process with limits of memory and time."""

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
#: Seconds that a process has to end its child processes.
_GOODBYE = 8.0


@dataclass(frozen=True, kw_only=True)
class Work:
    """A kind of work, with words for messages about it."""

    #: A key of `core.evidence.in_sandbox._WORKS`.
    name: str
    #: A predicate for the process: "reads files".
    does: str
    too_long: str
    #: The reason if it exceeds its memory or crashes, as the end of a sentence.
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
        work: The kind of work.
        order: Its arguments, as JSON.
        content: Further input.
        memory: Limit of address space in bytes.
        cpu: Limit of CPU time in seconds.
        seconds: Timeout from start to answer.

    Raises:
        BadInput: There is no answer, or it reports a fault; the message has the reason.
    """
    head = {**order, "work": work.name, "memory": memory, "cpu": max(1, int(cpu))}
    process = await _start_process(work.does)
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate(json.dumps(head).encode() + b"\n" + content)
    except TimeoutError:
        raise BadInput(work.too_long) from None
    finally:
        await _terminate(process)
    try:
        answer: dict[str, Any] = json.loads(output)
    except ValueError:  # none, or a part of it
        # SIGXCPU and SIGKILL, which the system sends at the limit of CPU time.
        is_late = process.returncode in {-24, -9}
        raise BadInput(work.too_long if is_late else work.too_much) from None
    if fault := answer.get("fault"):
        raise BadInput(fault)
    return answer


async def _start_process(does: str) -> Process:
    """Start a process whose environment contains no key."""
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
        reason = error.strerror or "no reason given"
        raise BadInput(f"Moot cannot start the process that {does} ({reason})") from None


async def _terminate(process: Process) -> None:
    """Terminate a process, so that it ends its children; then kill it and them."""
    if process.returncode is not None:
        return
    started = _child_processes(process.pid)
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


def _child_processes(pid: int) -> list[int]:
    """Handles of the child processes (on Linux; elsewhere empty)."""
    handles = list[int]()
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, children.read_text("ascii").split()):
                handles.append(os.pidfd_open(child))
                handles += _child_processes(child)
    return handles


class FairGate:
    """Admits a few tasks at a time; of each channel at most one waits in the common queue."""

    def __init__(self, at_once: int) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._turns = WeakValueDictionary[str, asyncio.Lock]()

    @asynccontextmanager
    async def place(self, channel: str) -> AsyncGenerator[None]:
        async with self._turns.setdefault(channel, asyncio.Lock()):
            await self._places.acquire()
        try:
            yield
        finally:
            self._places.release()
