"""Sources that somebody names at the terminal: files, folders, pages, changes for git."""

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


def references_to(named: Sequence[str], by: Person) -> tuple[SourceReference, ...]:
    references = dict[str, SourceReference]()
    for name in named:
        if name.startswith(("http://", "https://")):
            references[name] = page_reference(name, by)
            continue
        path = Path(name).expanduser()
        if not path.exists():
            raise BadInput(f"There is no file or folder {name} to take as a source.")
        files = list(_files_below(path)) if path.is_dir() else [path]
        if not files:
            raise BadInput(f"The folder {name} has no files to take as sources.")
        for file in files:
            title = str(file.relative_to(path)) if path.is_dir() else file.name
            whole = str(file.resolve())
            references[whole] = SourceReference(
                kind=SourceKind.FILE, title=title, address=str(file), fetch=whole, by=by
            )
    if len(references) > MOST_SOURCES:
        raise BadInput(f"There are {len(references)} sources; a debate has {MOST_SOURCES} at most.")
    return tuple(references.values())


def fetchers_here(store: DebateStore) -> Mapping[SourceKind, Fetch]:
    """What fetches sources here: whoever sits at this machine may read every file they name."""
    return {
        SourceKind.FILE: fetch_path,
        SourceKind.REGISTER: FetchEarlierDecisions(store),
        SourceKind.DECISION: FetchDecision(store),
    }


def _files_below(folder: Path) -> Iterator[Path]:
    """By name, without hidden files, links and what a `.gitignore` names; a notice counts those."""
    ignored = 0
    rules = _rules_above(folder)
    for where, folders, files in os.walk(folder):
        here = Path(where)
        rules = [*(rule for rule in rules if here.is_relative_to(rule[0])), *_rules_in(here)]
        names = [name for name in folders if not name.startswith(".")]
        folders[:] = sorted(name for name in names if not _is_ignored(here / name, rules, "/"))
        ignored += len(names) - len(folders)
        for name in sorted(files):
            file = here / name
            if name.startswith(".") or file.is_symlink():
                continue
            if _is_ignored(file, rules):
                ignored += 1
            else:
                yield file
    if ignored:
        tell(
            f"Left out of {folder}: {quantity(ignored, 'entry', 'entries')} that .gitignore names."
        )


def _rules_in(folder: Path) -> list[tuple[Path, GitIgnoreSpec]]:
    try:
        lines = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
        return [(folder, GitIgnoreSpec.from_lines(lines))]
    except (OSError, GitIgnorePatternError):
        return []


def _rules_above(folder: Path) -> list[tuple[Path, GitIgnoreSpec]]:
    """The rules of the folders above, up to the repository's own."""
    whole = folder.resolve()
    repository = next((path for path in (whole, *whole.parents) if (path / ".git").exists()), whole)
    above = [path for path in whole.parents if path.is_relative_to(repository)]
    return [rule for path in reversed(above) for rule in _rules_in(path)]


def _is_ignored(path: Path, rules: Sequence[tuple[Path, GitIgnoreSpec]], end: str = "") -> bool:
    """Whether the last rule that speaks of a path leaves it out; `end` is a slash of a folder."""
    whole = path.absolute()
    verdicts = (
        spec.check_file(f"{whole.relative_to(base.absolute()).as_posix()}{end}").include
        for base, spec in reversed(rules)
        if whole.is_relative_to(base.absolute())
    )
    return next((verdict for verdict in verdicts if verdict is not None), False)


#: More than anybody reviews in one go.
_MOST_BYTES = 1_000_000
_SECONDS = 60
#: Stands for standard input.
INPUT = "-"
#: Names of files as they are, and no program of the repository's settings.
_PLAIN_NAMES = ("-c", "core.fsmonitor=false", "-c", "core.quotepath=false")


def diff_references(named: str, by: Person) -> tuple[SourceReference, ...]:
    """Changes as a source: a file, `-` for standard input, or a range for `git diff`."""
    if named != INPUT and Path(named).expanduser().is_file():
        return references_to([named], by)
    if named == INPUT:
        content = sys.stdin.buffer.read(_MOST_BYTES + 1)
        text, title = _decoded(content), "changes from standard input"
    else:
        text, title = _git_diff(named), f"changes {named}"
    if len(text.encode()) > _MOST_BYTES:
        raise BadInput(f"These changes have more than {size(_MOST_BYTES)}: review them in parts.")
    if not text.strip():
        where = "on standard input" if named == INPUT else f"in {named}"
        raise BadInput(f"There are no changes {where}.")
    clean = redact(text)
    return (SourceReference(kind=SourceKind.TEXT, title=title, fetch=clean, by=by),)


def _decoded(changes: bytes) -> str:
    """A line that is not UTF-8 is read as Windows-1252."""

    def decoded(line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            return line.decode("cp1252", errors="replace")

    lines = changes.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True)
    return "".join(map(decoded, lines))


def handed_in(named: str, by: Person) -> tuple[SourceReference, ...]:
    """What an author hands in: a file, a page, or changes that git shows."""
    is_page = named.startswith(("http://", "https://"))
    if is_page or (named != INPUT and Path(named).expanduser().exists()):
        return references_to([named], by)
    return diff_references(named, by)


def _git_diff(named: str) -> str:
    """The diff of a range in the current folder.

    External diff programs and text converters of the repository's settings are not run. Its filters
    (such as `git lfs`) do read changed files, as with every other command of git.
    """
    git = shutil.which("git")
    if git is None:
        raise BadInput(f"There is no file {named}, and git is not installed here.")
    plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--end-of-options")
    # Both go to files: git never blocks on a full pipe, and no memory is too small.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as warned:
        try:
            code = subprocess.run(  # noqa: S603 - no shell, and what was named is no option
                [git, *_PLAIN_NAMES, "diff", *plain, named, "--"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=warned,
                timeout=_SECONDS,
                check=False,
            ).returncode
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BadInput(f"git cannot be asked for the changes {named}: {error}.") from None
        output.seek(0)
        warned.seek(0)
        if code:
            why = warned.read(_MOST_BYTES).decode(errors="replace").strip().partition("\n")[0]
            why = why.removeprefix("fatal: ") or "it gives no reason"
            raise BadInput(f"There is no file {named}, and git cannot show such changes: {why}.")
        return _decoded(output.read(_MOST_BYTES + 1))
