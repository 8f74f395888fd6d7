"""A machine: `moot run` as a separate process, its disk, its clock, its commands."""

import asyncio
import os
import shutil
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2

from slack_on_loopback import Workspace
from tests.free_port import free_port

ROOT = Path(__file__).parents[2]
_MOOT = (sys.executable, "-c", "from bot.cli import main; main()")
_SETTINGS = """\
default_model: {provider: compatible, model: steady-1}
agents:
  - {id: ada, role: architect}
  - {id: sam, role: security}
  - {id: kim, role: simplicity, model: shaky-1}
debate: {rounds: 1, clarifications: {enabled: false}}
limits: {turn_seconds: TURN_SECONDSDAY_COST}
prices: {steady-1: {input: 1, output: 1}, shaky-1: {input: 1, output: 1}}
"""
#: Bytes of the small disk.
_DISK = 32_000_000
_START_SECONDS = 120.0
#: Shifts the time of day of a process by the number of seconds in a file.
_CLOCK = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile long *ahead;
__attribute__((constructor)) static void begin(void) {
  int file = open(getenv("CLOCK_AHEAD"), O_RDONLY);
  void *found = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
  if (found != MAP_FAILED) ahead = found;
}
int clock_gettime(clockid_t id, struct timespec *at) {
  int failed = syscall(SYS_clock_gettime, id, at);
  if (!failed && ahead && id == CLOCK_REALTIME) at->tv_sec += *ahead;
  return failed;
}
int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}
time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
"""


@dataclass(frozen=True)
class Said:
    code: int
    text: str


@dataclass
class Machine:
    """The machine of a Moot process. Create the disk or the clock before the first start."""

    folder: Path
    workspace: Workspace
    models: str
    #: Empty: a file on the machine's disk.
    database: str = ""
    turn_seconds: float = 60.0
    #: Dollars that all debates of a day may cost; None: any.
    cap: Decimal | None = None
    #: Slack's signed requests instead of a WebSocket.
    http: bool = False
    #: Programs may call it over MCP.
    mcp: bool = False
    #: Variables that add to or replace the usual ones.
    variables: dict[str, str] = field(default_factory=dict[str, str])
    process: Process | None = None
    #: Keeps the small disk mounted, which only processes entered into its namespace see.
    _disk: Process | None = None
    _ports: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        (self.folder / "disk").mkdir(parents=True)
        cap = "" if self.cap is None else f", day_cost: {self.cap}"
        settings = _SETTINGS.replace("TURN_SECONDS", f"{self.turn_seconds:g}")
        settings = settings.replace("DAY_COST", cap)
        (self.folder / "moot.yaml").write_text(settings, encoding="utf-8")
        self._ports = free_port(), free_port()

    @property
    def disk(self) -> Path:
        if self._disk is None:
            return self.folder / "disk"
        return Path(f"/proc/{self._disk.pid}/root{self.folder}/disk")

    @property
    def location(self) -> str:
        """The address of a readable database; for a small disk, a copy."""
        file = self.copied_file() if self._disk and not self.database else self.file
        return self.database or f"sqlite+aiosqlite:///{file}"

    @property
    def file(self) -> Path:
        """The database file, as it is seen from here."""
        return self.disk / "moot.db"

    def copied_file(self) -> Path:
        """A copy of the database, because this process cannot see the small disk."""
        copies = self.folder / "seen"
        shutil.rmtree(copies, ignore_errors=True)  # no old log beside a new file
        copies.mkdir()
        for part in self.disk.glob("moot.db*"):
            shutil.copyfile(part, copies / part.name)
        return copies / "moot.db"

    @property
    def has_clock(self) -> bool:
        return "LD_PRELOAD" in self.variables

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._ports[0]}"

    @property
    def log(self) -> str:
        path = self.folder / "log.json"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    async def make_small_disk(self) -> bool:
        if not shutil.which("unshare") or not shutil.which("nsenter"):
            return False
        mount = f'mount -t tmpfs -o size={_DISK} tmpfs "$0" && echo mounted && exec sleep 600'
        holder = await asyncio.create_subprocess_exec(
            *("unshare", "-rm", "sh", "-c", mount, str(self.folder / "disk")),
            stdout=PIPE,
            stderr=DEVNULL,
        )
        assert holder.stdout is not None
        if await holder.stdout.readline() != b"mounted\n":
            await holder.wait()
            return False
        self._disk = holder
        return True

    async def make_clock(self) -> bool:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            return False
        source, library = self.folder / "clock.c", self.folder / "clock.so"
        source.write_text(_CLOCK, encoding="utf-8")
        command = (compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source))
        if await (await asyncio.create_subprocess_exec(*command)).wait():
            return False
        self.put_clock(0)
        self.variables |= {
            "LD_PRELOAD": str(library),
            "CLOCK_AHEAD": str(self.folder / "ahead"),
        }
        return True

    def put_clock(self, seconds: int) -> None:
        path = self.folder / "ahead"
        with path.open("r+b" if path.exists() else "wb") as file:
            file.write(seconds.to_bytes(8, sys.byteorder, signed=True))

    async def start(self) -> None:
        running = '"event": "running"'
        before = self.log.count(running)
        with (self.folder / "log.json").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self._command("run"),
                cwd=self.folder,
                env=self.environment,
                stdout=DEVNULL,
                stderr=log,
            )
        async with asyncio.timeout(_START_SECONDS):
            while self.log.count(running) == before:
                assert self.process.returncode is None, self.log[-3000:]
                await asyncio.sleep(0.05)
        if self.http:
            await self.workspace.use_http(f"{self.url}/slack/events")

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
        assert self.process is not None
        began = time.monotonic()
        # Not by asyncio, which looks before each signal whether the process has ended, and then
        # takes its exit code away from who waits for it.
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, how)
            os.kill(self.process.pid, signal.SIGCONT)  # a frozen process gets no signal before
        code = await asyncio.wait_for(self.process.wait(), 120)
        self.process = None
        return code, time.monotonic() - began

    async def moot(self, *words: str) -> Said:
        process = await asyncio.create_subprocess_exec(
            *self._command(*words),
            cwd=self.folder,
            env=self.environment,
            stdout=PIPE,
            stderr=PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), 120)
        assert process.returncode is not None
        return Said(process.returncode, (out + err).decode())

    async def health(self) -> Mapping[str, Any]:
        with suppress(httpx2.HTTPError, ValueError):
            async with httpx2.AsyncClient(timeout=5) as client:
                answer = await client.get(f"{self.url}/health")
                return {**answer.json(), "code": answer.status_code}
        return {}

    async def figures(self) -> str:
        with suppress(httpx2.HTTPError):
            async with httpx2.AsyncClient(timeout=5) as client:
                return (await client.get(f"http://127.0.0.1:{self._ports[1]}/metrics")).text
        return ""

    async def close(self) -> None:
        for process in filter(None, (self.process, self._disk)):
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.kill()
            await process.wait()

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],  # noqa: TID251 - for the child
            "PYTHONPATH": str(ROOT),
            "SLACK_BOT_TOKEN": self.workspace.bot_token,
            "SLACK_APP_TOKEN": "" if self.http else self.workspace.app_token,
            "SLACK_SIGNING_SECRET": self.workspace.signing_secret if self.http else "",
            "SLACK_API_URL": self.workspace.api_url,
            "MOOT_DATABASE": self.database or str(self.folder / "disk" / "moot.db"),
            "MOOT_CONFIG": str(self.folder / "moot.yaml"),
            "MOOT_PORT": str(self._ports[0]),
            "MOOT_METRICS_PORT": str(self._ports[1]),
            "MOOT_MCP": str(self.mcp),
            "MOOT_LOG_FORMAT": "json",
            "OPENAI_API_KEY": "sk-fault-0000000000",
            "OPENAI_BASE_URL": f"{self.models}/v1",
            **self.variables,
        }

    def _command(self, *words: str) -> Sequence[str]:
        if self._disk is None:
            return (*_MOOT, *words)
        entered = ("-t", str(self._disk.pid), "-U", "-m", "--preserve-credentials", "--")
        return ("nsenter", *entered, *_MOOT, *words)
