"""Runs git: without a shell, a terminal, hooks, or settings of whoever runs Moot.

A token reaches git in its environment only, as a header for one address: never in arguments, which
everybody on the machine can read, nor in a file.
"""

import asyncio
import base64
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from bot.landing.receivers import LandingFailed
from core.landing import RecordPlace
from core.redaction import clean

#: Of what git says, in bytes; the rest is read and dropped.
_MOST_SAID = 1_000_000
_CHUNK = 65_536
_NOBODY = "/dev/null"


class GitFailed(Exception):
    """Git ended with an error."""

    def __init__(self, words: str) -> None:
        """Keep its standard error, which may hold text of the server."""
        super().__init__(words)
        self.words = words


class GitMissing(Exception):
    """There is no git on this machine."""


@dataclass(frozen=True, kw_only=True)
class Git:
    """Git in a folder of its own."""

    folder: Path
    #: PATH and the like; `BotSettings.for_program`.
    usual: Mapping[str, str]
    #: Address of the repository that the token is for.
    url: str
    user: str = ""
    token: str = field(default="", repr=False)
    #: Name and address of who commits.
    author: tuple[str, str] = ("Moot", "moot@localhost")

    async def __call__(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run git with these arguments; return its standard output.

        Args:
            arguments: No secret.
            stdin: Its standard input.

        Raises:
            GitFailed: It ended with an error.
            GitMissing: It is not installed.
        """
        return (await self._run(arguments, stdin))[0]

    async def push(self, commit: str, ref: str) -> str:
        """Add a commit to a branch of the server; return what the server said.

        Raises:
            GitFailed: It ended with an error: the branch went on meanwhile, for example.
            GitMissing: It is not installed.
        """
        return (await self._run(["push", "--no-verify", "origin", f"{commit}:{ref}"], b""))[1]

    async def _run(self, arguments: Sequence[str], stdin: bytes) -> tuple[str, str]:
        """Run git; end its whole process group if this is cancelled, as by a time limit."""
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                "git",
                *arguments,
                cwd=self.folder,
                env=self.environment,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,
            )
        )

        def end_group(begun: asyncio.Future[Process]) -> None:
            # Git's helpers hold the connections: end the whole group.
            if not begun.exception() and begun.result().returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(begun.result().pid, signal.SIGKILL)

        try:
            process = await asyncio.shield(starting)
            spoken = await _talk(process, stdin)
        except FileNotFoundError:
            raise GitMissing from None
        finally:
            # Not cancelled while it starts: asyncio would end git alone, and wait for its helpers.
            # A callback, because a second cancellation may come meanwhile.
            starting.add_done_callback(end_group)
            await asyncio.wait([starting])
            if not starting.exception():
                await starting.result().wait()
        out, text = (body.decode("utf-8", "replace") for body in spoken)
        if process.returncode:
            raise GitFailed(clean(text))
        return out, clean(text)

    @property
    def environment(self) -> Mapping[str, str]:
        """Everything git is told beside its arguments; git 2.31 and newer reads it."""
        name, address = self.author
        settings: list[tuple[str, str]] = [
            ("core.hooksPath", _NOBODY),
            # A link in a repository could lead out of the folder: it becomes a plain file.
            ("core.symlinks", "false"),
            ("core.fsmonitor", "false"),
            ("core.autocrlf", "false"),
            ("credential.helper", ""),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("commit.gpgSign", "false"),
            ("protocol.version", "2"),
            ("fetch.recurseSubmodules", "false"),
            # Else whoever answers could have the token sent elsewhere.
            ("http.followRedirects", "false"),
        ]
        if self.token:
            pair = base64.b64encode(f"{self.user}:{self.token}".encode()).decode()
            settings.append((f"http.{self.url}.extraHeader", f"Authorization: Basic {pair}"))
        numbered = {"GIT_CONFIG_COUNT": str(len(settings))}
        for at, (key, value) in enumerate(settings):
            numbered |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": value}
        certificates = self.usual.get("SSL_CERT_FILE")
        return {
            **self.usual,
            **({"GIT_SSL_CAINFO": certificates} if certificates else {}),
            **numbered,
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": _NOBODY,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "true",  # a program that says nothing: nobody is asked
            "GIT_ALLOW_PROTOCOL": "http:https",
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": address,
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": address,
        }


async def _talk(process: Process, stdin: bytes) -> Sequence[bytes]:
    """Give a process its input and read both its outputs, each up to a bound, to their end."""

    async def read(stream: asyncio.StreamReader | None) -> bytes:
        content = bytearray()
        while stream and (chunk := await stream.read(_CHUNK)):
            content += chunk[: _MOST_SAID - len(content)]
        return bytes(content)

    async def write() -> None:
        if process.stdin:
            with suppress(BrokenPipeError, ConnectionResetError):
                process.stdin.write(stdin)
                await process.stdin.drain()
            process.stdin.close()

    out, errors, _ = await asyncio.gather(read(process.stdout), read(process.stderr), write())
    await process.wait()
    return out, errors


#: Parts of what git says, in small letters, as git 2.39 and the usual servers say it.
_TOKEN = (
    "authentication failed",
    "could not read username",
    "could not read password",
    "access denied",
    "invalid credentials",
    "returned error: 401",
)
_MAY_NOT = ("returned error: 403", "permission to", "not allowed to push", "write access")
_NOT_THERE = ("returned error: 404", "repository not found", "' not found")
_MOVED = ("unable to update url base from redirection", "returned error: 301", "error: 302")
_PROTECTED = ("protected branch", "gh006", "gh013", "hook declined")
_OVERTAKEN = ("non-fast-forward", "fetch first", "stale info", "cannot lock ref", "already exists")


def refusal_of(errors: str, records: RecordPlace) -> LandingFailed:
    """Return the failure for git's error output, which is not quoted, as a server wrote it.

    Args:
        errors: Git's standard error.
        records: The repository, its token's variable, its branches.
    """
    words, where = errors.lower(), records.repository
    variable = records.token_variable or "token_variable"

    def says(parts: Sequence[str]) -> bool:
        return any(part in words for part in parts)

    if says(_PROTECTED):
        return LandingFailed(
            f"{where} does not let Moot push to {records.branch}: a rule of the repository "
            "forbids it. Allow it there, or name another branch in the settings.",
            is_final=True,
        )
    if says(_OVERTAKEN):
        return LandingFailed(f"Somebody else pushed to the branch in {where} at the same time.")
    if says(_TOKEN):
        what = f"refused the token in {variable}" if records.token_variable else "wants a token"
        return LandingFailed(
            f"{where} {what}. An administrator puts a valid one into {variable} and restarts Moot.",
            is_final=True,
        )
    if says(_MAY_NOT):
        return LandingFailed(
            f"The token in {variable} may not write to {where}. Give it the right to push.",
            is_final=True,
        )
    if says(_MOVED):
        return LandingFailed(
            f"{where} has moved, and redirects are not followed. Put its new address into the "
            "settings.",
            is_final=True,
        )
    if says(_NOT_THERE):
        return LandingFailed(
            f"{where} is not there, or the token in {variable} may not see it.", is_final=True
        )
    return LandingFailed(
        f"{where} cannot be reached, or git failed there. The log has its words: `git failed`."
    )
