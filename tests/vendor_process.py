"""A vendor's server in a process of its own, which can be killed and started again at its port.

`python -m tests.vendor_process` says that it is ready, reads a port (0: any), prints where it
listens then, and the path of each request.
"""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from dataclasses import replace

from tests.free_port import free_port
from tests.vendor_replies import good_reply
from tests.vendors.script import Say, VendorRequest
from tests.vendors.server import Vendor

_SECONDS = 60.0
_READY = "ready"


class VendorProcess:
    """Starts the server, kills it with SIGKILL, and says what it was asked."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self.port = free_port()
        #: Paths of requests, those of killed processes included.
        self.paths: list[str] = []
        self._process: Process | None = None
        #: The next process: what takes time at a start is done, but it does not listen yet.
        self._next: Process | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Where it listens, without a path; the same after each start."""
        return f"http://127.0.0.1:{self.port}"

    async def prepare(self) -> None:
        """Start the next process, up to where it would listen."""
        command = [sys.executable, "-m", "tests.vendor_process"]
        self._next = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
        if await asyncio.wait_for(_line(self._next), _SECONDS) != _READY:
            raise RuntimeError("The process did not start.")

    async def start(self) -> None:
        """Let the process listen, a new one if none is prepared."""
        if self._next is None:
            await self.prepare()
        self._process, self._next = self._next, None
        if self._process is None or self._process.stdin is None:
            raise RuntimeError("The process did not start.")
        self._process.stdin.write(f"{self.port}\n".encode())
        self.port = int(await asyncio.wait_for(_line(self._process), _SECONDS))
        self._reading = asyncio.create_task(self._read(self._process))

    async def kill(self) -> None:
        """End the process as `kill -9` does: it says nothing to anybody."""
        if self._process and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        if self._reading:
            await self._reading

    async def close(self) -> None:
        """End all processes."""
        await self.kill()
        if self._next:
            self._next.kill()
            await self._next.wait()

    async def _read(self, process: Process) -> None:
        while line := await _line(process):
            self.paths.append(line)


async def _line(process: Process) -> str:
    if process.stdout is None:
        raise RuntimeError("The process cannot be read.")
    return (await process.stdout.readline()).decode().strip()


def _told(request: VendorRequest) -> Say:
    sys.stdout.write(f"{request.path}\n")
    sys.stdout.flush()
    return replace(good_reply(request), wait=0.05)


async def _serve() -> None:
    sys.stdout.write(f"{_READY}\n")
    sys.stdout.flush()
    port = int(await asyncio.to_thread(sys.stdin.readline))
    async with Vendor(_told, port=port) as vendor:
        sys.stdout.write(f"{vendor.port}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve())
