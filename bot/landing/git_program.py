"""Runs git: without a shell, a terminal, hooks, or settings of whoever runs Moot.

A token reaches git in its environment only, as a header for one address: never in arguments, which
everybody on the machine can read, nor in a file.
"""

import asyncio
import base64
import os
import signal
from asyncio.subprocess import PIPE
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from bot.landing.receivers import LandingFailed
from core.landing import RecordPlace
from core.redaction import clean

_NOBODY = "/dev/null"
_OVERTAKEN = "Somebody else pushed to the branch in {where} at the same time."


class GitFailed(Exception):
    """Git ended with an error; the message is its standard error, with text of the server."""


@dataclass(frozen=True, kw_only=True)
class Git:
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
        """Run git; return its standard output. No argument is a secret.

        Raises:
            GitFailed: It ended with an error.
            LandingFailed: It is not installed.
        """
        return (await self._run(arguments, stdin))[0]

    async def push(self, commit: str, ref: str) -> str:
        """Add a commit to a branch of the server; return what the server said. Raises as above."""
        return (await self._run(["push", "--no-verify", "origin", f"{commit}:{ref}"], b""))[1]

    async def _run(self, arguments: Sequence[str], stdin: bytes) -> tuple[str, str]:
        """Run git; end its whole process group if this is cancelled, as by a time limit."""
        try:
            process = await asyncio.create_subprocess_exec(
                "git",
                *arguments,
                cwd=self.folder,
                env=self.environment,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise LandingFailed("git is not installed where Moot runs.", is_final=True) from None
        try:
            spoken = await process.communicate(stdin)
        finally:
            if process.returncode is None:  # git's helpers hold the connections, too
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
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


#: What git 2.39 and the usual servers say, in small letters, and what that means for people; the
#: first that fits counts.
_REFUSALS = (
    (
        ("protected branch", "gh006", "gh013", "hook declined"),
        (
            "{where} does not let Moot push to {branch}: a rule of the repository forbids it. "
            "Allow it there, or name another branch in the settings."
        ),
    ),
    (
        ("non-fast-forward", "fetch first", "stale info", "cannot lock ref", "already exists"),
        _OVERTAKEN,
    ),
    (
        (
            *("authentication failed", "could not read username", "could not read password"),
            *("access denied", "invalid credentials", "returned error: 401"),
        ),
        "{where} {wants}. An administrator puts a valid one into {token} and restarts Moot.",
    ),
    (
        ("returned error: 403", "permission to", "not allowed to push", "write access"),
        "The token in {token} may not write to {where}. Give it the right to push.",
    ),
    (
        ("unable to update url base from redirection", "returned error: 301", "error: 302"),
        "{where} has moved, and redirects are not followed. Put its new address into the settings.",
    ),
    (
        ("returned error: 404", "repository not found", "' not found"),
        "{where} is not there, or the token in {token} may not see it.",
    ),
)


def refusal_of(errors: str, records: RecordPlace) -> LandingFailed:
    """The failure for git's standard error, which is not quoted, as a server wrote it."""
    where, words = records.repository, errors.lower()
    for parts, sentence in _REFUSALS:
        if any(part in words for part in parts):
            token = records.token_variable or "token_variable"
            wants = f"refused the token in {token}" if records.token_variable else "wants a token"
            text = sentence.format(where=where, branch=records.branch, token=token, wants=wants)
            return LandingFailed(text, is_final=sentence is not _OVERTAKEN)
    return LandingFailed(
        f"{where} cannot be reached, or git failed there. The log has its words: `git failed`."
    )
