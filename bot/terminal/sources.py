"""Sources named on the command line: files, folders, pages, changes for git."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

from bot.terminal.files import tell
from core.debate.evidence import SourceKind, SourceReference
from core.debate.people import Person
from core.errors import BadInput
from core.evidence.earlier import FetchDecision, FetchEarlierDecisions
from core.evidence.reading import Fetch, fetch_path
from core.figures import quantity, size
from core.ports import DebateStore
from core.redaction import redact
from core.rules.sources import MOST_SOURCES, page_reference


def references_to(names: Sequence[str], person: Person) -> tuple[SourceReference, ...]:
    references = dict[str, SourceReference]()
    for name in names:
        if name.startswith(("http://", "https://")):
            references[name] = page_reference(name, person)
            continue
        path = Path(name).expanduser()
        if not path.exists():
            raise BadInput(f"There is no file or folder {name} to take as a source.")
        files = list(_files_below(path)) if path.is_dir() else [path]
        if not files:
            raise BadInput(f"The folder {name} has no files to take as sources.")
        for file in files:
            title = str(file.relative_to(path)) if path.is_dir() else file.name
            full_path = str(file.resolve())
            references[full_path] = SourceReference(
                kind=SourceKind.FILE, title=title, address=str(file), fetch=full_path, by=person
            )
    if len(references) > MOST_SOURCES:
        raise BadInput(f"There are {len(references)} sources; a debate has {MOST_SOURCES} at most.")
    return tuple(references.values())


def fetchers_here(store: DebateStore) -> Mapping[SourceKind, Fetch]:
    """Fetchers for the terminal. Any file may be read: the person has access to this machine."""
    return {
        SourceKind.FILE: fetch_path,
        SourceKind.REGISTER: FetchEarlierDecisions(store),
        SourceKind.DECISION: FetchDecision(store),
    }


def _files_below(folder: Path) -> Iterator[Path]:
    """Files sorted by name, without hidden files, links and those that a `.gitignore` excludes.

    A notice counts the excluded ones.
    """
    excluded = 0
    rules = _rules_above(folder)
    for parent, folders, files in os.walk(folder):
        here = Path(parent)
        rules = [*(rule for rule in rules if here.is_relative_to(rule[0])), *_rules_in(here)]
        names = [name for name in folders if not name.startswith(".")]
        folders[:] = sorted(name for name in names if not _is_ignored(here / name, rules, "/"))
        excluded += len(names) - len(folders)
        for name in sorted(files):
            file = here / name
            if name.startswith(".") or file.is_symlink():
                continue
            if _is_ignored(file, rules):
                excluded += 1
            else:
                yield file
    if excluded:
        count = quantity(excluded, "entry", "entries")
        tell(f"Left out of {folder}: {count} that .gitignore excludes.")


def _rules_in(folder: Path) -> list[tuple[Path, GitIgnoreSpec]]:
    try:
        lines = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
        return [(folder, GitIgnoreSpec.from_lines(lines))]
    except (OSError, GitIgnorePatternError):
        return []


def _rules_above(folder: Path) -> list[tuple[Path, GitIgnoreSpec]]:
    """The rules of the parent folders, up to the root of the repository."""
    full_path = folder.resolve()
    folders = (full_path, *full_path.parents)
    repository = next((path for path in folders if (path / ".git").exists()), full_path)
    parents = [path for path in full_path.parents if path.is_relative_to(repository)]
    return [rule for path in reversed(parents) for rule in _rules_in(path)]


def _is_ignored(path: Path, rules: Sequence[tuple[Path, GitIgnoreSpec]], end: str = "") -> bool:
    """Whether the last rule that matches a path excludes it; `end` is "/" for a folder."""
    full_path = path.absolute()
    verdicts = (
        spec.check_file(f"{full_path.relative_to(base.absolute()).as_posix()}{end}").include
        for base, spec in reversed(rules)
        if full_path.is_relative_to(base.absolute())
    )
    return next((verdict for verdict in verdicts if verdict is not None), False)


#: Size limit of a diff.
_MOST_BYTES = 1_000_000
_SECONDS = 60
#: The argument that means standard input.
INPUT = "-"
#: Settings for git: run no file monitor of the repository's settings; do not escape file names.
_GIT_SETTINGS = ("-c", "core.fsmonitor=false", "-c", "core.quotepath=false")


def diff_references(name: str, person: Person) -> tuple[SourceReference, ...]:
    """Changes as a source: a file, `-` for standard input, or a range for `git diff`."""
    if name != INPUT and Path(name).expanduser().is_file():
        return references_to([name], person)
    if name == INPUT:
        content = sys.stdin.buffer.read(_MOST_BYTES + 1)
        text, title = _decode(content), "changes from standard input"
    else:
        text, title = _git_diff(name), f"changes {name}"
    if len(text.encode()) > _MOST_BYTES:
        raise BadInput(f"These changes have more than {size(_MOST_BYTES)}: review them in parts.")
    if not text.strip():
        place = "on standard input" if name == INPUT else f"in {name}"
        raise BadInput(f"There are no changes {place}.")
    clean = redact(text)
    return (SourceReference(kind=SourceKind.TEXT, title=title, fetch=clean, by=person),)


def _decode(changes: bytes) -> str:
    """Decode as UTF-8; a line that is not UTF-8 is read as Windows-1252."""

    def decode(line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            return line.decode("cp1252", errors="replace")

    lines = changes.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True)
    return "".join(map(decode, lines))


def revision_references(name: str, person: Person) -> tuple[SourceReference, ...]:
    """The changed text of a review, as sources: a file, a page, or a range for `git diff`."""
    is_page = name.startswith(("http://", "https://"))
    if is_page or (name != INPUT and Path(name).expanduser().exists()):
        return references_to([name], person)
    return diff_references(name, person)


def _git_diff(revisions: str) -> str:
    """The diff of a range in the current folder.

    External diff programs and text converters of the repository's settings are not run. Its filters
    (such as `git lfs`) do read changed files, as with every other command of git.
    """
    git = shutil.which("git")
    if git is None:
        raise BadInput(f"There is no file {revisions}, and git is not installed here.")
    plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--end-of-options")
    try:
        # Output goes to files: git never blocks on a full pipe, and memory use is bounded.
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            code = subprocess.run(  # noqa: S603 - no shell, and the range cannot be an option
                [git, *_GIT_SETTINGS, "diff", *plain, revisions, "--"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                timeout=_SECONDS,
                check=False,
            ).returncode
            output.seek(0)
            errors.seek(0)
            diff, message = output.read(_MOST_BYTES + 1), errors.read(_MOST_BYTES)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(f"git cannot be asked for the changes {revisions}: {error}.") from None
    if code:
        reason = message.decode(errors="replace").strip().partition("\n")[0]
        reason = reason.removeprefix("fatal: ") or "it gives no reason"
        raise BadInput(f"There is no file {revisions}, and git cannot show such changes: {reason}.")
    return _decode(diff)
