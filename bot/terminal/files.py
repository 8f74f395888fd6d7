"""Output of the command line: standard output, files, and messages on standard error."""

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

#: Folders whose entries are devices or open files of this process.
_STREAMS = frozenset({"/dev", "/dev/fd", "/proc/self/fd"})
#: File suffixes that choose the output format.
_SUFFIXES = ("md", "json", "csv")


def error_reason(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()


def _is_device(path: Path) -> bool:
    """Whether a path is a device, pipe or open stream, which must not be replaced by a file."""
    if path.absolute().parent.as_posix() in _STREAMS:
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def form_for(path: Path | None, form: str | None, forms: Sequence[str]) -> str:
    """The output format: the one asked for, else that of the file's suffix, else Markdown."""
    suffix = path.suffix.lower().removeprefix(".") if path else ""
    if form or suffix not in _SUFFIXES:
        return form or "md"
    if suffix not in forms:
        raise BadInput(f"{path}: this can be written as {', '.join(forms)}, and not as {suffix}.")
    return suffix


def check_writable(path: Path | None) -> None:
    """Raise `BadInput` if a file cannot be written there. Called before money is spent."""
    if path is None:
        return
    if path.is_dir():
        raise BadInput(f"{path} is a folder; name a file.")
    if _is_device(path):
        return
    path = path.resolve()
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    if not parent.is_dir():
        raise BadInput(f"{path} cannot be written: {parent} is no folder.")
    if path.exists() and not os.access(path, os.W_OK):
        raise BadInput(f"{path} cannot be written: permission denied.")
    try:  # permissions are not enough: the file system may be read-only
        TemporaryFile(dir=parent).close()
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error_reason(error)}.") from None


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file atomically; create missing parent folders.

    Devices are written to directly. Symbolic links are followed and stay.
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
        # A temporary file is readable by its owner only; give it the usual permissions of new
        # files. The umask can only be read by setting it.
        mask = os.umask(0)
        os.umask(mask)
        Path(draft.name).chmod(0o666 & ~mask)
        Path(draft.name).replace(path)
    except OSError as error:
        raise MootError(f"{path} cannot be written: {error_reason(error)}.") from error


def write_output(text: str, path: Path | None) -> None:
    if path is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    write_file(path, text)
    tell(f"Wrote {path}")


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def write_json(value: object) -> None:
    write_output(as_json(value), None)


def tell_notices(notices: Iterable[str]) -> None:
    for notice in notices:
        tell(f"Notice: {notice}")


def tell(text: str) -> None:
    """Print a message on standard error, separate from the result."""
    from core.transcript.markdown import visible  # noqa: PLC0415 - pydantic, not needed for --help

    sys.stderr.write(f"{visible(text)}\n")
    sys.stderr.flush()


#: Error numbers of a failed write to standard output, such as a full disk.
_OUTPUT_ERRORS = frozenset({errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EBADF})


def prepare_streams() -> None:
    """Replace closed standard streams, and set how encoding errors are handled.

    Output writes "?" for characters that its encoding lacks; input raises `UnicodeDecodeError`.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, pathlib.Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - to the end
        elif isinstance(stream, TextIOWrapper):
            # Python's default in the POSIX locale would decode invalid bytes as lone surrogates.
            stream.reconfigure(errors="strict" if name == "stdin" else "replace")


def is_output_error(error: OSError) -> bool:
    return error.filename is None and error.errno in _OUTPUT_ERRORS


def report_output_error(error: OSError) -> None:
    typer.echo(f"Error: standard output cannot be written: {error_reason(error)}.", err=True)
    with pathlib.Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # discards what is still in the buffer
