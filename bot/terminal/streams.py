"""Standard streams as they are: closed, full, or of an encoding that lacks a sign."""

import errno
import os
import pathlib
import sys
from io import TextIOWrapper

import typer

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
    """Whether an error means that standard output takes nothing more."""
    return error.filename is None and error.errno in _OF_OUTPUT


def end_output(error: OSError) -> None:
    """Say why output ends here, and write nothing more."""
    reason = (error.strerror or "unknown reason").lower()
    typer.echo(f"Error: standard output cannot be written: {reason}.", err=True)
    with pathlib.Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # what is still in the buffer goes there
