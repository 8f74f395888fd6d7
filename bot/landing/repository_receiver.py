"""Records (ADR) of accepted decisions in a Git repository: a branch per debate, pushed over HTTPS.

What is on the branch already, by an attempt that nobody remembers, is not pushed again.
"""

import asyncio
import re
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.landing.forges import commit_link, pull_link, suggested_link
from bot.landing.git_failures import refusal_of
from bot.landing.git_program import Git, GitFailed, GitMissing
from bot.landing.receivers import Landed, Landing, NotLanded
from bot.landing.record_files import (
    RECORD_UNDONE,
    RecordFolder,
    is_kept,
    next_number,
    record_name,
    records_due,
    wants_record,
)
from bot.log import logger
from core.events import Recorded
from core.landing import DEBATE, RecordPlace
from core.models import Debate

_log = logger(__name__)

_ORIGIN = "refs/remotes/origin/"
_HEADS = "refs/heads/"
_LONGEST_SUBJECT = 72


@dataclass(frozen=True)
class Tip:
    """The newest commit of a branch, and the records in it."""

    branch: str
    #: Empty: there is no such branch.
    commit: str
    records: RecordFolder

    def holds(self, due: Sequence[Debate]) -> bool:
        """Whether each of these records is there as it is to be."""
        names = ((self.records.name_of(debate.id), debate) for debate in due)
        return all(name and self.records.is_renewed(name, debate) for name, debate in names)


@dataclass(frozen=True, kw_only=True)
class RepositoryReceiver:
    """A `Receiver` that commits records to branches of a repository and pushes them."""

    records: RecordPlace
    token: str = field(default="", repr=False)
    #: PATH and the like; `BotSettings.for_program`.
    usual: Mapping[str, str]

    @property
    def name(self) -> str:
        """As the settings have it."""
        return self.records.name

    @property
    def undone(self) -> str:
        """The thread is told where the record is, or that it is nowhere."""
        return RECORD_UNDONE

    def wants(self, debate: Debate, recorded: Recorded) -> bool:
        """Whether the event changes the record of an accepted decision held in its channels."""
        return self.records.serves(debate.setup.place) and wants_record(debate, recorded)

    async def deliver(self, landing: Landing) -> Landed:
        """Have the repository say what the log says; what it says already is not pushed again.

        Raises:
            NotLanded: It was not pushed, or nobody knows.
        """
        due = await records_due(landing)
        with tempfile.TemporaryDirectory(prefix="moot-git-", ignore_cleanup_errors=True) as folder:
            git = self.git_in(Path(folder))
            async with self._in_words():
                return await self._land(git, landing, due)

    async def check(self) -> str:
        """Ask the server for its branches, with the token.

        Raises:
            NotLanded: It does not answer, or refuses.
        """
        with tempfile.TemporaryDirectory(prefix="moot-git-", ignore_cleanup_errors=True) as folder:
            git = self.git_in(Path(folder))
            async with self._in_words():
                await git("ls-remote", "--quiet", "--", self.records.repository, "HEAD")
        return "can be read; whether Moot may push shows with the first record"

    @asynccontextmanager
    async def _in_words(self) -> AsyncGenerator[None]:
        """Say in words for people what goes wrong in the block, within the time there is."""
        address = self.records.repository
        try:
            async with asyncio.timeout(self.records.seconds):
                yield
        except TimeoutError:
            seconds = f"{self.records.seconds:g} seconds"
            raise NotLanded(f"{address} did not answer within {seconds}.") from None
        except GitMissing:
            raise NotLanded("git is not installed where Moot runs.", is_final=True) from None
        except GitFailed as error:
            _log.warning("git failed", repository=address, said=error.said)
            raise refusal_of(error.said, self.records) from None
        except OSError:
            words = f"{self.records.path} is no folder in {address}, or cannot be written."
            raise NotLanded(words, is_final=True) from None

    def git_in(self, folder: Path) -> Git:
        """Return git for this repository, working in a folder."""
        name, _, address = self.records.author.partition(" <")
        return Git(
            folder=folder,
            usual=self.usual,
            url=self.records.repository,
            user=self.records.user,
            token=self.token,
            author=(name, address.rstrip(">")),
        )

    async def _land(self, git: Git, landing: Landing, due: Sequence[Debate]) -> Landed:
        own, places = landing.newest, landing.places
        base, tips = await self._fetch(
            git, [self.records.branch.replace(DEBATE, debate.id) for debate in due]
        )
        # A decision that was superseded is renewed where the newer one is: in the same pull
        # request. But while its own record is not merged yet, that goes on where it is.
        at_newer = len(due) > 1 and bool(base.records.name_of(own.id))
        tip = tips[-1] if at_newer else tips[0]
        if not at_newer:
            due = [own]
        there = [one for one in (tip, base) if one.records.name_of(own.id)]
        if not there and not is_kept(landing.debate):
            return Landed()  # never landed, or its branch was given up: nothing to renew
        name = self._name_of(own, (base, *tips), places)
        for one in there:
            if one.holds(due):
                return self._landed(one, base, name)
        # What was merged, whole or squashed, goes on from the base; the branch stays its parent,
        # so that the push adds to it and the pull request shows only what is new.
        is_behind = at_newer and not tip.records.name_of(own.id)
        merged = bool(base.records.name_of(due[-1].id)) or is_behind or not tip.commit
        start = base if merged else tip
        parents = [start.commit, *([tip.commit] if merged and tip.commit else [])]
        await self._check_path(git, start.commit)
        await git("checkout", "--quiet", "--force", "--detach", start.commit)
        folder = git.folder / self.records.path
        folder.mkdir(parents=True, exist_ok=True)
        found = await asyncio.to_thread(RecordFolder.read, folder)
        for debate in due:
            file = name if debate is own else self._name_of(debate, (base, *tips), places)
            if not found.is_renewed(file, debate):
                found.write(file, debate)
            await git("add", "--sparse", "--force", "--", f"{self.records.path}/{file}")
        tree = (await git("write-tree")).strip()
        subject = f"Record decision {name.removesuffix('.md')}"[:_LONGEST_SUBJECT]
        # No word of people or models: a server may act on what a message says ("closes #1").
        message = "".join(
            [
                f"{subject}\n\n",
                *(f"Moot-Debate: {debate.id}\n" for debate in due),
                f"Moot-Record: {self.records.path}/{name}\n",
            ]
        )
        made = [part for parent in parents for part in ("-p", parent)]
        commit = await git("commit-tree", tree, *made, "-F", "-", given=message.encode())
        pushed = Tip(tip.branch, commit.strip(), found)
        said = await git.push(pushed.commit, f"{_HEADS}{pushed.branch}")
        return self._landed(pushed, base, name, said)

    async def _check_path(self, git: Git, commit: str) -> None:
        """Make sure that nothing but folders is where the folder of records is to be.

        Raises:
            NotLanded: A file or a link is there.
        """
        parts = self.records.path.strip("/").split("/")
        above = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
        listed = await git("ls-tree", commit, "--", *above)
        if any(line and not line.startswith("040000 ") for line in listed.splitlines()):
            words = f"{self.records.path} is no folder in {self.records.repository}."
            raise NotLanded(words, is_final=True)

    async def _fetch(self, git: Git, branches: Sequence[str]) -> tuple[Tip, Sequence[Tip]]:
        """Fetch the newest commits of the base and of those branches that there are."""
        address = self.records.repository
        heads = [f"{_HEADS}{one}" for one in (self.records.base, *branches) if one]
        listed = await git("ls-remote", "--symref", "--", address, "HEAD", *heads)
        head = re.search(r"^ref: refs/heads/(\S+)\tHEAD$", listed, re.MULTILINE)
        there = set(re.findall(r"^[0-9a-f]{40,64}\trefs/heads/(\S+)$", listed, re.MULTILINE))
        if not listed.strip():
            raise NotLanded(f"{address} is empty: push a first commit to it.", is_final=True)
        base = self.records.base or (head[1] if head else "")
        if not base or (self.records.base and base not in there):
            missing = f"no branch {base}" if base else "no default branch; name one with `base`"
            raise NotLanded(f"{address} has {missing}.", is_final=True)
        await git("init", "--quiet", "--template=")
        await git("remote", "add", "origin", address)
        # Only the newest commits, and of files only those in the folder of records.
        refs = [one for one in dict.fromkeys((base, *branches)) if one in {base, *there}]
        await git(
            *("fetch", "--quiet", "--depth=1", "--filter=blob:none", "--no-tags", "origin"),
            *(f"+{_HEADS}{ref}:{_ORIGIN}{ref}" for ref in refs),
        )
        await git("sparse-checkout", "set", "--no-cone", f"/{self.records.path}/")
        found = dict[str, Tip]()
        for branch in dict.fromkeys((base, *branches)):
            if branch not in refs:
                found[branch] = Tip(branch, "", RecordFolder(git.folder, {}))
                continue
            commit = (await git("rev-parse", f"{_ORIGIN}{branch}")).strip()
            await git("checkout", "--quiet", "--force", "--detach", commit)
            found[branch] = Tip(
                branch, commit, await asyncio.to_thread(self._records_here, git, branch)
            )
        return found[base], [found[branch] for branch in branches]

    def _records_here(self, git: Git, branch: str) -> RecordFolder:
        """Read the records that are checked out, and keep them: the next checkout removes them."""
        here = git.folder / self.records.path
        if not here.exists():
            return RecordFolder(here, {})
        kept = git.folder / ".git" / "moot" / branch
        kept.mkdir(parents=True)
        found = RecordFolder.read(here)
        for name, whose in found.records.items():
            if whose:
                (kept / name).write_bytes((here / name).read_bytes())
        return RecordFolder(kept, found.records)

    def _name_of(self, debate: Debate, tips: Sequence[Tip], places: Mapping[str, str]) -> str:
        """The file of a debate's record: as it is, or was, called; else the next free number."""
        known = [tip.records.name_of(debate.id) for tip in reversed(tips)]
        known.append(places.get(debate.id, "").rpartition("/")[2])
        if name := next(filter(None, known), ""):
            return name
        # Numbers on branches that are not merged yet are taken as well.
        taken = [name for tip in tips for name in tip.records.records]
        return record_name(next_number([*taken, *places.values()]), debate)

    def _landed(self, tip: Tip, base: Tip, name: str, said: str = "") -> Landed:
        address = self.records.repository
        is_merged = tip.branch == base.branch
        opened = suggested_link(address, said) or pull_link(address, base.branch, tip.branch)
        return Landed(
            place=f"{self.records.path}/{name}",
            inside=address,
            branch=tip.branch,
            commit=tip.commit[:10],
            commit_link=commit_link(address, tip.commit),
            pull_link="" if is_merged else opened,
        )
