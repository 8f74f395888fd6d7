"""`moot debate --diff`: changes as a source, from a file, standard input or git."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bot.terminal.sources import references_to
from core.errors import BadInput
from core.figures import size
from core.models import Person, SourceKind, SourceReference
from core.redaction import redact

#: More than anybody reviews in one go.
_MOST_BYTES = 1_000_000
_SECONDS = 60
#: Stands for standard input.
INPUT = "-"
#: Names of files as they are, and no program of the repository's settings.
_PLAIN_NAMES = ("-c", "core.fsmonitor=false", "-c", "core.quotepath=false")


def diff_references(named: str, by: Person) -> tuple[SourceReference, ...]:
    """Return the changes that were named: a file, `-`, or what `git diff` understands.

    Raises:
        BadInput: There are none, or too many; says what to do.
    """
    if named != INPUT and Path(named).expanduser().is_file():
        return references_to([named], by)
    if named == INPUT:
        text, title = _typed_in(), "changes from standard input"
    else:
        text, title = _git_diff(named), f"changes {named}"
    if len(text.encode()) > _MOST_BYTES:
        raise BadInput(f"These changes have more than {size(_MOST_BYTES)}: review them in parts.")
    if not text.strip():
        where = "on standard input" if named == INPUT else f"in {named}"
        raise BadInput(f"There are no changes {where}.")
    kept = redact(text)
    return (SourceReference(kind=SourceKind.TEXT, title=title, fetch=kept, by=by),)


def _typed_in() -> str:
    """Changes on standard input; a line that is not UTF-8 is read as Windows-1252."""
    content = sys.stdin.buffer.read(_MOST_BYTES + 1).removeprefix(b"\xef\xbb\xbf")
    return "".join(map(_line, content.splitlines(keepends=True)))


def _line(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def handed_in(named: str, by: Person) -> tuple[SourceReference, ...]:
    """Return what an author hands in: a file, a page, or changes that git shows.

    Raises:
        BadInput: There is nothing of that name.
    """
    is_page = named.startswith(("http://", "https://"))
    if is_page or (named != INPUT and Path(named).expanduser().exists()):
        return references_to([named], by)
    return diff_references(named, by)


def _git_diff(named: str) -> str:
    """What git shows of a range in the current folder.

    No program of the repository's settings shows or watches anything. Its filters (`git lfs` is
    one) do read changed files, as with every other command of git.
    """
    git = shutil.which("git")
    if git is None:
        raise BadInput(f"There is no file {named}, and git is not installed here.")
    plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--end-of-options")
    try:
        # A file: git, which may warn of every file there is, never waits for us to read it.
        with (
            tempfile.TemporaryFile() as warned,
            subprocess.Popen(  # noqa: S603 - no shell, and what was named is no option
                [git, *_PLAIN_NAMES, "diff", *plain, named, "--"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=warned,
            ) as running,
        ):
            assert running.stdout  # noqa: S101 - it is a pipe
            shown = running.stdout.read(_MOST_BYTES + 1)
            if len(shown) > _MOST_BYTES:
                running.kill()
                return "".join(map(_line, shown.splitlines(keepends=True)))
            code = running.wait(_SECONDS)
            warned.seek(0)
            said = warned.read(_MOST_BYTES).decode(errors="replace").strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(f"git cannot be asked for the changes {named}: {error}.") from None
    if code:
        why = said.partition("\n")[0].removeprefix("fatal: ") or "it gives no reason"
        raise BadInput(f"There is no file {named}, and git cannot show such changes: {why}.")
    return "".join(map(_line, shown.splitlines(keepends=True)))
