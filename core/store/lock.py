"""A lock file beside a database, so that two processes never share one SQLite file."""

import errno
import fcntl
import os
from pathlib import Path

from core.errors import StoreDown, StoreInUse, StoreMissing

_PRIVATE = 0o600


class FileLock:
    """Holds `<database>.lock`, and makes sure the database file can be written.

    The lock goes with the process, however it ends; the file stays, because removing it would let
    two processes lock two files of one name.
    """

    def __init__(self, database: Path) -> None:
        """Take the lock.

        Raises:
            StoreInUse: Another process has it.
            StoreDown: The files cannot be written.
        """
        path = _lock_of(database)
        self._file: int | None = None
        try:
            self._file = _lock(path, database)
            # Created for our eyes only, if there is none; fails if we may not write.
            os.close(os.open(database, os.O_RDWR | os.O_CREAT, _PRIVATE))
        except OSError as error:
            self.release()
            raise StoreDown(_why(error, database)) from error

    def release(self) -> None:
        """Give the lock back. Safe to call twice."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def is_in_use(database: Path) -> bool:
    """Whether a process holds the lock of this database, whatever has become of the file."""
    try:
        file = os.open(_lock_of(database), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno == errno.EWOULDBLOCK
    finally:
        os.close(file)
    return False


def check_there(database: Path) -> None:
    """Make sure that there is a database to look into, before SQLite is asked for it.

    Beside an empty file SQLite deletes the write-ahead log, also where it may only read; that log
    may belong to a file that was moved away.

    Raises:
        StoreMissing: There is none, and nothing says that there was one.
        StoreDown: Its file was taken away, or cannot be looked at.
    """
    try:
        state = _what_is_missing(database)
    except OSError as error:
        raise StoreDown(f"The database {database} cannot be read: {error.strerror}.") from error
    if not state:
        return
    if is_in_use(database):
        raise StoreDown(
            f"A process works on the database {database}, and its file is {state}: it was moved, "
            "deleted or replaced. Put it back, or stop Moot and restore a backup."
        )
    check_no_log_is_left(database)
    raise StoreMissing(f"The database {database} is {state}.")


def check_no_log_is_left(database: Path) -> None:
    """Raise `StoreDown` where there is a write-ahead log of a file that is not there."""
    try:
        state = _what_is_missing(database)
    except OSError:
        return  # who opens the file says why that cannot be
    if not state:
        return
    file = database.resolve()  # as SQLite does
    log = file.with_name(file.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise StoreDown(
            f"The database {database} is {state}, and {log.name} beside it holds what was written "
            "last. Put the file back that it belongs to, or move both away."
        )


def _what_is_missing(database: Path) -> str:
    """Whether the file is empty or not there, in words; empty where there is one."""
    try:
        return "" if database.stat().st_size else "empty"
    except (FileNotFoundError, NotADirectoryError):
        return "not there"


def _lock_of(database: Path) -> Path:
    return database.with_name(database.name + ".lock")


def _lock(path: Path, database: Path) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT, _PRIVATE)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(file, 0)
        os.write(file, str(os.getpid()).encode())
    except OSError as error:
        holder = os.pread(file, 20, 0).decode(errors="replace") or "unknown"
        os.close(file)
        if error.errno != errno.EWOULDBLOCK:
            raise
        raise StoreInUse(
            f"Another process (id {holder}) is using the database {database}. "
            f"Stop it first, or give this one a database of its own. (Lock file: {path})"
        ) from error
    return file


def _why(error: OSError, database: Path) -> str:
    folder = database.parent
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return f"The folder {folder} for the database does not exist. Create it first."
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"The database {database} cannot be written. Allow writing in {folder}."
        case errno.EISDIR:
            return f"{database} is a folder, not a database. Name a file in it."
        case errno.ENOSPC | errno.EDQUOT:
            return f"The disk with the database {database} is full. Free some space."
        case _:
            return f"The database {database} cannot be opened: {error.strerror}."
