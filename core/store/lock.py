"""A lock file beside a database, so that two processes never share one SQLite file."""

import errno
import fcntl
import os
from pathlib import Path

from core.errors import StoreDown, StoreInUse

_PRIVATE = 0o600
_NOT_WRITABLE = "The database {database} cannot be written. Allow writing in {folder}."
_NO_FOLDER = "The folder {folder} for the database does not exist. Create it first."
_FULL = "The disk with the database {database} is full. Free some space."
_WHY = {
    errno.ENOENT: _NO_FOLDER,
    errno.ENOTDIR: _NO_FOLDER,
    errno.EACCES: _NOT_WRITABLE,
    errno.EPERM: _NOT_WRITABLE,
    errno.EROFS: _NOT_WRITABLE,
    errno.EISDIR: "{database} is a folder, not a database. Name a file in it.",
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
}


class FileLock:
    """Holds a lock on `<database>.lock`, and checks that the database file can be written.

    The operating system releases the lock when the process ends. The lock file is never removed:
    otherwise two processes could lock two files of the same name.
    """

    def __init__(self, database: Path) -> None:
        """Take the lock.

        Raises:
            StoreInUse: Another process has it.
            StoreDown: The files cannot be written.
        """
        self._file: int | None = None
        try:
            self._file = os.open(_lock_of(database), os.O_RDWR | os.O_CREAT, _PRIVATE)
            holder = _take(self._file)
            if not holder:
                os.ftruncate(self._file, 0)
                os.write(self._file, str(os.getpid()).encode())
                # Creates the file with private rights if needed; fails if it is not writable.
                os.close(os.open(database, os.O_RDWR | os.O_CREAT, _PRIVATE))
        except OSError as error:
            self.release()
            usual = f"The database {{database}} cannot be opened: {error.strerror}."
            words = _WHY.get(error.errno or 0, usual)
            raise StoreDown(words.format(database=database, folder=database.parent)) from error
        if holder:
            self.release()
            raise StoreInUse(
                f"Another process (id {holder}) is using the database {database}. "
                "Stop it first, or give this one a database of its own. "
                f"(Lock file: {_lock_of(database)})"
            )

    def release(self) -> None:
        """Release the lock. Safe to call twice."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def is_in_use(database: Path) -> bool:
    """Whether a process holds the lock of this database, even if the file itself is gone."""
    try:
        file = os.open(_lock_of(database), os.O_RDONLY)
    except OSError:
        return False
    try:
        return bool(_take(file))
    except OSError:  # for example a network disk without locks
        return False
    finally:
        os.close(file)


def check_no_orphan_log(database: Path) -> str:
    """Check that a missing or empty database file has left no write-ahead log.

    SQLite deletes a log beside an empty or new file, even if it only reads.

    Returns:
        "empty" or "not there"; an empty string if the file has content or cannot be examined.

    Raises:
        StoreDown: The log exists without its file.
    """
    try:
        if database.stat().st_size:
            return ""
        state = "empty"
    except (FileNotFoundError, NotADirectoryError):
        state = "not there"
    except OSError:
        return ""  # opening the file raises an error with the reason
    file = database.resolve()  # SQLite names the log after the resolved path
    log = file.with_name(file.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise StoreDown(
            f"The database {database} is {state}, and {log.name} beside it holds what was written "
            "last. Put the file back that it belongs to, or move both away."
        )
    return state


def _lock_of(database: Path) -> Path:
    return database.with_name(database.name + ".lock")


def _take(file: int) -> str:
    """Take the lock. Return the id of the process that holds it, or an empty string if taken."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(file, 20, 0).decode(errors="replace") or "unknown"
    return ""
