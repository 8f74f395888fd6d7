"""`moot debate --source`: what was named becomes references, and is fetched on this machine."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from core.errors import BadInput
from core.evidence.earlier import FetchDecision, FetchEarlierDecisions
from core.evidence.reader import Fetch, fetch_path
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
    """All files of a folder and those below it by name, without hidden ones and links."""
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            file = Path(where, name)
            if not name.startswith(".") and not file.is_symlink():
                yield file
