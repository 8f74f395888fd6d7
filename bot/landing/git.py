"""Records (ADR) of accepted decisions in a Git repository: a branch per debate, pushed over HTTPS.

Git runs without a shell, a terminal, hooks, or the settings of the account that runs Moot. It gets
the token in its environment, as a header for one address: not in arguments, which all users of the
machine can read, and not in a file.
"""

import asyncio
import base64
import os
import re
import signal
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bot.landing.receivers import LandedRecord, Landing, LandingFailed
from bot.landing.record_files import (
    RecordFolder,
    RecordReceiver,
    needs_record,
    next_number,
    record_name,
    record_text,
)
from bot.log import logger
from core.debate.state import Debate
from core.landing import DEBATE, RecordPlace
from core.redaction import clean

_log = logger(__name__)

_NO_FILE = "/dev/null"
_ORIGIN, _HEADS = "refs/remotes/origin/", "refs/heads/"
_LONGEST_SUBJECT = 72
_ADDRESS = re.compile(r"https://[^\s\"'<>|]{1,500}")
_OVERTAKEN = "Another program pushed to the branch in {where} at the same time."
#: Parts of error messages of git 2.39 and common servers, in lower case, and the text for people.
#: The first match is used.
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
            *("returned error: 403", "permission to", "not allowed to push", "write access"),
        ),
        (
            "{where} refused the token in {token}: it is not valid, or may not push there. "
            "An administrator must set a valid token and restart Moot."
        ),
    ),
    (
        ("unable to update url base from redirection", "returned error: 301", "error: 302"),
        "{where} has moved, and redirects are not followed. Set its new address in the settings.",
    ),
    (
        ("returned error: 404", "repository not found", "' not found"),
        "{where} does not exist, or the token in {token} may not read it.",
    ),
)


class GitFailed(Exception):
    """Git ended with an error; the message is its standard error, with text of the server."""


@dataclass(frozen=True, kw_only=True)
class Git:
    folder: Path
    #: PATH and similar variables; `BotSettings.for_program`.
    variables: Mapping[str, str]
    #: Address of the repository; the token is sent only there.
    url: str
    user: str = ""
    token: str = field(default="", repr=False)
    #: Name and email address of the committer.
    author: tuple[str, str] = ("Moot", "moot@localhost")

    async def __call__(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run git; return its standard output. No argument is a secret. May raise `GitFailed`."""
        return (await self.run(*arguments, stdin=stdin))[0]

    async def run(self, *arguments: str, stdin: bytes = b"") -> tuple[str, str]:
        """Run git; return its output and standard error. Cancellation kills its process group."""
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
            streams = await process.communicate(stdin)
        finally:
            if process.returncode is None:  # kills git's helpers too, which have the connections
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        output, errors = (stream.decode("utf-8", "replace") for stream in streams)
        if process.returncode:
            raise GitFailed(clean(errors))
        return output, clean(errors)

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of git, with its settings; needs git 2.31 or newer."""
        name, address = self.author
        settings: list[tuple[str, str]] = [
            ("core.hooksPath", _NO_FILE),
            # A symbolic link in a repository could point outside the folder.
            ("core.symlinks", "false"),
            ("core.fsmonitor", "false"),
            ("core.autocrlf", "false"),
            ("credential.helper", ""),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("commit.gpgSign", "false"),
            ("protocol.version", "2"),
            ("fetch.recurseSubmodules", "false"),
            # A redirect could send the token to another server.
            ("http.followRedirects", "false"),
        ]
        if self.token:
            pair = base64.b64encode(f"{self.user}:{self.token}".encode()).decode()
            settings.append((f"http.{self.url}.extraHeader", f"Authorization: Basic {pair}"))
        config = {"GIT_CONFIG_COUNT": str(len(settings))}
        for index, (key, value) in enumerate(settings):
            config |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
        certificates = self.variables.get("SSL_CERT_FILE")
        return {
            **self.variables,
            **({"GIT_SSL_CAINFO": certificates} if certificates else {}),
            **config,
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": _NO_FILE,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "true",  # prints nothing, so git does not ask for a password
            "GIT_ALLOW_PROTOCOL": "http:https",
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": address,
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": address,
        }


@dataclass(frozen=True, kw_only=True)
class RepositoryReceiver(RecordReceiver):
    """A `Receiver` that commits records to branches of a repository and pushes them."""

    token: str = field(default="", repr=False)
    #: PATH and similar variables; `BotSettings.for_program`.
    variables: Mapping[str, str]

    async def deliver(self, landing: Landing) -> LandedRecord:
        async with self._git() as git:
            return await self._land(git, landing)

    async def check(self) -> str:
        async with self._git() as git:
            await git("ls-remote", "--quiet", "--", self.records.repository, "HEAD")
        return "can be read; whether Moot may push shows with the first record"

    @asynccontextmanager
    async def _git(self) -> AsyncGenerator[Git]:
        """Git in a temporary folder; errors in the block become `LandingFailed` for people."""
        address = self.records.repository
        name, _, mail = self.records.author.partition(" <")
        with tempfile.TemporaryDirectory(prefix="moot-git-", ignore_cleanup_errors=True) as folder:
            try:
                async with asyncio.timeout(self.records.seconds):
                    yield Git(
                        folder=Path(folder),
                        variables=self.variables,
                        url=address,
                        user=self.records.user,
                        token=self.token,
                        author=(name, mail.rstrip(">")),
                    )
            except TimeoutError:
                seconds = f"{self.records.seconds:g} seconds"
                raise LandingFailed(f"{address} did not answer within {seconds}.") from None
            except GitFailed as error:
                _log.warning("git failed", repository=address, said=str(error))
                raise _failure(str(error), self.records) from None
            except OSError:
                words = f"{self.records.path} is no folder in {address}, or cannot be written."
                raise LandingFailed(words, is_final=True) from None

    async def _land(self, git: Git, landing: Landing) -> LandedRecord:
        debate, path = landing.newest, self.records.path
        branch = self.records.branch.replace(DEBATE, debate.id)
        base, commits = await self._fetch(git, branch)
        # If the record was merged, continue from the base branch; otherwise from its own branch.
        start, folder = base, await self._checkout(git, commits[base])
        if branch in commits and not folder.record_of(debate.id):
            start, folder = branch, await self._checkout(git, commits[branch])
        name = folder.record_of(debate.id)
        if not name and not needs_record(landing.debate):
            return LandedRecord()  # no record to update
        # Numbers on unmerged branches are in use, too.
        name = name or landing.places.get(debate.id, "").rpartition("/")[2]
        names = [*folder.records, *landing.places.values()]
        name = name or record_name(next_number(names), debate)
        file = f"{path}/{name}"
        # An earlier attempt may have pushed this text before its result was recorded.
        blob = (await git("hash-object", "--stdin", stdin=record_text(debate))).strip()
        for ref, commit in commits.items():
            if blob in await git("ls-tree", commit, "--", file):
                return self._landed_record(file, ref, commit)
        folder.write(name, debate)
        await git("add", "--sparse", "--force", "--", file)
        # The old branch is a parent too, so that the push needs no force, and the pull request
        # shows only new changes.
        parents = dict.fromkeys([commits[start], commits.get(branch, commits[start])])
        commit = await self._commit(git, list(parents), file, debate)
        output = (await git.run("push", "--no-verify", "origin", f"{commit}:{_HEADS}{branch}"))[1]
        return self._landed_record(file, branch, commit, output)

    async def _fetch(self, git: Git, branch: str) -> tuple[str, Mapping[str, str]]:
        """Fetch the base branch and, if it exists, the debate's branch.

        Returns:
            The name of the base branch, and the newest commit of each branch.
        """
        address, chosen_base = self.records.repository, self.records.base
        heads = [f"{_HEADS}{name}" for name in (chosen_base, branch) if name]
        output = await git("ls-remote", "--symref", "--", address, "HEAD", *heads)
        head = re.search(r"^ref: refs/heads/(\S+)\tHEAD$", output, re.MULTILINE)
        branches = set(re.findall(r"^[0-9a-f]{40,64}\trefs/heads/(\S+)$", output, re.MULTILINE))
        if not output.strip():
            raise LandingFailed(f"{address} is empty: push a first commit to it.", is_final=True)
        base = chosen_base or (head[1] if head else "")
        if not base or (chosen_base and chosen_base not in branches):
            missing = f"no branch {base}" if base else "no default branch; name one with `base`"
            raise LandingFailed(f"{address} has {missing}.", is_final=True)
        await git("init", "--quiet", "--template=")
        await git("remote", "add", "origin", address)
        # Fetches only the newest commits, and only the files in the folder of records.
        refs = [*([branch] if branch in branches and branch != base else []), base]
        await git(
            *("fetch", "--quiet", "--depth=1", "--filter=blob:none", "--no-tags", "origin"),
            *(f"+{_HEADS}{ref}:{_ORIGIN}{ref}" for ref in refs),
        )
        await git("sparse-checkout", "set", "--no-cone", f"/{self.records.path}/")
        return base, {ref: (await git("rev-parse", f"{_ORIGIN}{ref}")).strip() for ref in refs}

    async def _checkout(self, git: Git, commit: str) -> RecordFolder:
        parts = self.records.path.strip("/").split("/")
        folders = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
        entries = await git("ls-tree", commit, "--", *folders)
        if any(line and not line.startswith("040000 ") for line in entries.splitlines()):
            words = f"{self.records.path} is no folder in {self.records.repository}."
            raise LandingFailed(words, is_final=True)
        await git("checkout", "--quiet", "--force", "--detach", commit)
        folder = git.folder / self.records.path
        folder.mkdir(parents=True, exist_ok=True)
        return await asyncio.to_thread(RecordFolder.read, folder)

    async def _commit(self, git: Git, parents: Sequence[str], file: str, debate: Debate) -> str:
        tree = (await git("write-tree")).strip()
        name = file.rpartition("/")[2].removesuffix(".md")
        # No text of people or models: servers act on messages such as "closes #1".
        message = (
            f"{f'Record decision {name}'[:_LONGEST_SUBJECT]}\n\n"
            f"Moot-Debate: {debate.id}\nMoot-Record: {file}\n"
        )
        options = [part for parent in parents for part in ("-p", parent)]
        commit = await git("commit-tree", tree, *options, "-F", "-", stdin=message.encode())
        return commit.strip()

    def _landed_record(self, file: str, branch: str, commit: str, output: str = "") -> LandedRecord:
        address = self.records.repository
        return LandedRecord(
            place=file,
            inside=address,
            branch=branch,
            commit=commit[:10],
            pull_link=suggested_link(address, output),
        )


def suggested_link(repository: str, output: str) -> str:
    """The link for a pull request in the server's output; empty if it is not of the repository."""
    page = repository.removesuffix("/").removesuffix(".git")
    addresses = (address.rstrip(".,)") for address in _ADDRESS.findall(output))
    return next((address for address in addresses if address.startswith(f"{page}/")), "")


def _failure(errors: str, records: RecordPlace) -> LandingFailed:
    """The failure for git's standard error, which is not quoted: it has text of the server."""
    address, token = (
        records.repository,
        records.token_variable or "token_variable, which is not set",
    )
    for parts, sentence in _REFUSALS:
        if any(part in errors.lower() for part in parts):
            text = sentence.format(where=address, branch=records.branch, token=token)
            return LandingFailed(text, is_final=sentence is not _OVERTAKEN)
    return LandingFailed(
        f"{address} cannot be reached, or git failed there. See `git failed` in the log."
    )
