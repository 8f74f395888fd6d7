"""What the terminal writes: standard output, files, and words on standard error."""

import errno
import json
import os
import pathlib
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile

import typer

from core.errors import BadInput, MootError

#: Folders of devices and of this process' own open files.
_STREAMS = frozenset({"/dev", "/dev/fd", "/proc/self/fd"})
#: Suffixes of files that say in which form they are written.
_SUFFIXES = ("md", "json", "csv")


def reason_of(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()


def _is_device(path: Path) -> bool:
    """Whether writing there must not put a file in its place: devices, pipes, open streams."""
    if path.absolute().parent.as_posix() in _STREAMS:
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def form_for(path: Path | None, form: str | None, forms: Sequence[str]) -> str:
    """The form that is asked for, else the one of the file's suffix, else Markdown."""
    suffix = path.suffix.lower().removeprefix(".") if path else ""
    if form or suffix not in _SUFFIXES:
        return form or "md"
    if suffix not in forms:
        raise BadInput(f"{path}: this can be written as {', '.join(forms)}, and not as {suffix}.")
    return suffix


def check_writable(path: Path | None) -> None:
    """Make sure that a file can be written there, before anything is paid for."""
    if path is None:
        return
    if path.is_dir():
        raise BadInput(f"{path} is a folder; name a file.")
    if _is_device(path):
        return
    path = path.resolve()
    there = next(folder for folder in path.absolute().parents if folder.exists())
    if not there.is_dir():
        raise BadInput(f"{path} cannot be written: {there} is no folder.")
    if path.exists() and not os.access(path, os.W_OK):
        raise BadInput(f"{path} cannot be written: permission denied.")
    try:  # permissions do not tell all: file systems can be read-only, or hold no files of ours
        TemporaryFile(dir=there).close()
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {reason_of(error)}.") from None


def write_file(path: Path, content: str | bytes) -> None:
    """Write the file, with the folders on the way to it; a reader never sees half of it.

    A device gets the text, and a link stays: the file that it leads to is written.
    """
    content = content if isinstance(content, bytes) else content.encode()
    try:
        if _is_device(path):
            sys.stdout.flush()
            with path.open("ab") as device:
                device.write(content)
            return
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=".moot-", delete=False) as draft:
            draft.write(content)
        # A temporary file is for one's own eyes only; this one gets the permissions that new files
        # of this process have. There is no way to read the mask but to set it.
        mask = os.umask(0)
        os.umask(mask)
        Path(draft.name).chmod(0o666 & ~mask)
        Path(draft.name).replace(path)
    except OSError as error:
        raise MootError(f"{path} cannot be written: {reason_of(error)}.") from error


def put_out(text: str, path: Path | None) -> None:
    if path is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    write_file(path, text)
    tell(f"Wrote {path}")


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def put_json(value: object) -> None:
    put_out(as_json(value), None)


def tell_notices(notices: Iterable[str]) -> None:
    for notice in notices:
        tell(f"Notice: {notice}")


def tell(text: str) -> None:
    """Say something beside the result: on standard error."""
    from core.transcript.markdown import visible  # noqa: PLC0415 - pydantic, not needed for --help

    sys.stderr.write(f"{visible(text)}\n")
    sys.stderr.flush()


#: Errors of whoever reads our output, not of this program.
_OF_OUTPUT = frozenset({errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EBADF})


def prepare_streams() -> None:
    """Stand in for closed streams, write "?" for signs an encoding lacks, refuse odd input."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, pathlib.Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - to the end
        elif isinstance(stream, TextIOWrapper):
            # Python's own choice for the POSIX locale keeps other bytes as halves of characters.
            stream.reconfigure(errors="strict" if name == "stdin" else "replace")


def is_of_output(error: OSError) -> bool:
    return error.filename is None and error.errno in _OF_OUTPUT


def end_output(error: OSError) -> None:
    typer.echo(f"Error: standard output cannot be written: {reason_of(error)}.", err=True)
    with pathlib.Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # what is still in the buffer goes there
