"""Sources that a program names on this machine: files below one folder, and pages."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bot.terminal.sources import references_to
from core.debate.evidence import SourceReference
from core.debate.people import Person
from core.errors import BadInput
from core.transcript.markdown import visible

_LONGEST_NAME = 80


def references_below(folder: Path, named: Sequence[str], by: Person) -> tuple[SourceReference, ...]:
    """The sources that a program named: the terminal's rules, limited to a folder.

    Stricter than at a terminal, as text that the program has read may make it name files: only
    files below the folder, without hidden ones; no file at all where it is the root or contains
    the home folder, where some editors start servers.

    Raises:
        BadInput: One cannot be a source; says which and why.
    """
    sources = list[str]()
    is_too_wide = folder.parent == folder
    with suppress(RuntimeError):  # nobody's account has no home
        is_too_wide = is_too_wide or Path.home().resolve().is_relative_to(folder)
    for name in named:
        if name.startswith(("http://", "https://")):
            sources.append(name)
            continue
        text = visible(name)[:_LONGEST_NAME]
        if is_too_wide:
            raise BadInput(
                f"The source “{text}” may not be read: this server was started in {folder}, which "
                "is no project. Have your editor start it in the project's folder, or put what "
                "matters into the context. Nothing was started."
            )
        try:
            path = (folder / name).resolve()
            is_inside = path.is_relative_to(folder)
            path.exists()
        except (OSError, ValueError, RuntimeError):
            raise BadInput(f"The source “{text}” cannot be looked at.") from None
        hidden = is_inside and any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not is_inside or hidden:
            raise BadInput(
                f"The source “{text}” is hidden or outside of the folder in which "
                "this server was started: it may not be read. Name a file below it, or put what "
                "matters into the context. Nothing was started."
            )
        sources.append(str(path))
    return references_to(sources, by)
