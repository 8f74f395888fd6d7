"""`moot debate --source`: what was named becomes references, and is fetched on this machine."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

from bot.terminal.files import tell
from core.errors import BadInput
from core.evidence.earlier import FetchDecision, FetchEarlierDecisions
from core.evidence.reader import Fetch, fetch_path
from core.figures import counted
from core.models import Person, SourceKind, SourceReference
from core.ports import DebateStore
from core.rules.sources import MOST_SOURCES, page_reference


def references_to(named: Sequence[str], by: Person) -> tuple[SourceReference, ...]:
    """Return the sources that were named; a folder is all its files.

    Args:
        named: Files, folders and addresses of pages.
        by: Who named them.

    Raises:
        BadInput: One is not there, or there are too many.
    """
    found = dict[str, SourceReference]()
    for name in named:
        if name.startswith(("http://", "https://")):
            found[name] = page_reference(name, by)
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
            found[whole] = SourceReference(
                kind=SourceKind.FILE, title=title, address=str(file), fetch=whole, by=by
            )
    if len(found) > MOST_SOURCES:
        raise BadInput(f"There are {len(found)} sources; a debate has {MOST_SOURCES} at most.")
    return tuple(found.values())


def fetchers_here(store: DebateStore) -> Mapping[SourceKind, Fetch]:
    """What fetches sources here: whoever sits at this machine may read every file they name."""
    return {
        SourceKind.FILE: fetch_path,
        SourceKind.REGISTER: FetchEarlierDecisions(store),
        SourceKind.DECISION: FetchDecision(store),
    }


def _files_below(folder: Path) -> Iterator[Path]:
    """All files of a folder and those below it by name, without hidden ones, links, ignored ones.

    What `.gitignore` names, here or in a folder above of the same repository, is said and left out.
    """
    ignored = 0
    rules = _rules_above(folder)
    for where, folders, files in os.walk(folder):
        here = Path(where)
        rules = [*(rule for rule in rules if here.is_relative_to(rule[0])), *_rules_in(here)]
        seen = [name for name in folders if not name.startswith(".")]
        folders[:] = sorted(name for name in seen if not _is_ignored(here / name, rules, "/"))
        ignored += len(seen) - len(folders)
        for name in sorted(files):
            file = here / name
            if name.startswith(".") or file.is_symlink():
                continue
            if _is_ignored(file, rules):
                ignored += 1
            else:
                yield file
    if ignored:
        tell(f"Left out of {folder}: {counted(ignored, 'entry', 'entries')} that .gitignore names.")


def _rules_in(folder: Path) -> list[tuple[Path, GitIgnoreSpec]]:
    """The rules of a folder's own `.gitignore`."""
    try:
        lines = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
        return [(folder, GitIgnoreSpec.from_lines(lines))]
    except (OSError, GitIgnorePatternError):
        return []


def _rules_above(folder: Path) -> list[tuple[Path, GitIgnoreSpec]]:
    """The rules of the folders above, up to the repository's own."""
    whole = folder.resolve()
    repository = next((one for one in (whole, *whole.parents) if (one / ".git").exists()), whole)
    above = [one for one in whole.parents if one.is_relative_to(repository)]
    return [rule for one in reversed(above) for rule in _rules_in(one)]


def _is_ignored(path: Path, rules: Sequence[tuple[Path, GitIgnoreSpec]], end: str = "") -> bool:
    """Whether the last rule that speaks of a path leaves it out; `end` is a slash of a folder."""
    whole = path.absolute()
    verdicts = (
        spec.check_file(f"{whole.relative_to(base.absolute()).as_posix()}{end}").include
        for base, spec in reversed(rules)
        if whole.is_relative_to(base.absolute())
    )
    return next((verdict for verdict in verdicts if verdict is not None), False)
