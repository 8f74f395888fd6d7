"""Explains database errors to people and says which are worth a retry (pure)."""

import asyncio

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from core.errors import StoreDown, StoreError

#: Prefixes of SQLSTATE for temporary failures: connection, resources, operator intervention,
#: conflict with another transaction; and the timeout of an idle transaction
#: (https://www.postgresql.org/docs/current/errcodes-appendix.html).
_PASSING = ("08", "53", "57", "40", "25P03")

#: By SQLite's primary result code (https://sqlite.org/rescode.html).
_SQLITE_WORDS = {
    "SQLITE_FULL": "The disk with the database {place} is full. Free some space.",
    "SQLITE_BUSY": "The database {place} is locked by another program. Close that program.",
    "SQLITE_LOCKED": "The database {place} is locked by another program. Close that program.",
    "SQLITE_NOTADB": "{place} is not a database. Name another file, or move this one away.",
    "SQLITE_CORRUPT": "The database {place} is damaged. Restore it from a backup.",
    "SQLITE_READONLY": "The database {place} cannot be written. Allow writing to it.",
    "SQLITE_CANTOPEN": "The database {place} cannot be opened. Look at its folder and its rights.",
    "SQLITE_IOERR": "The disk with the database {place} fails. Look at the disk.",
}

#: Texts by prefix of SQLSTATE; the longest matching prefix wins.
_SERVER_WORDS = {
    "53100": "The disk of the database server {place} is full. Free some space.",
    "53": "The database server {place} is short of connections or memory.",
    "28": "The database server {place} refuses our user or password. Check the location.",
    "3D": "The database {place} does not exist on its server. Create it first.",
    "42501": "Our user may not do this on the database {place}. Grant the rights.",
    "40": "The database {place} is too busy: other transactions were in conflict with this one.",
}
#: Texts by words in the driver's message: a refused connection has no SQLSTATE.
_REFUSALS = {
    "authentication failed": _SERVER_WORDS["28"],
    "no pg_hba.conf entry": _SERVER_WORDS["28"],
    "role ": _SERVER_WORDS["28"],
    "does not exist": _SERVER_WORDS["3D"],
}
_SERVER_AWAY = "The database server {place} does not answer. Start it, or check its address."


def explain(error: BaseException, place: str) -> StoreError:
    """Return an error whose text is for people. It contains no SQL statement and no values."""
    if isinstance(error, DBAPIError) and error.orig is not None:
        code = _code_of(error.orig)
        for name, words in _SQLITE_WORDS.items():
            if code.startswith(name):
                return StoreDown(words.format(place=place))
        state = _state_of(error.orig)
        fitting = [begin for begin in _SERVER_WORDS if state.startswith(begin)]
        words = _SERVER_WORDS[max(fitting, key=len)] if fitting else _refusal_of(error.orig)
        if words:
            return StoreDown(words.format(place=place))
        if is_passing(error):
            return StoreDown(_SERVER_AWAY.format(place=place))
        detail = code or state or type(error.orig).__name__
        return StoreError(f"The database {place} refused to do it ({detail}).")
    if isinstance(error, PoolTimeoutError):
        return StoreDown(f"The database {place} is too busy: no connection became free.")
    if isinstance(error, OSError):
        return StoreDown(_SERVER_AWAY.format(place=place))
    return StoreError(f"The database {place} could not do it ({type(error).__name__}).")


def is_passing(error: BaseException) -> bool:
    """Whether the same transaction may succeed a little later. For errors of a server."""
    if isinstance(error, OSError | asyncio.TimeoutError | PoolTimeoutError):
        return True
    if not isinstance(error, DBAPIError) or _code_of(error.orig):
        return False
    state = _state_of(error.orig)
    if state:
        return state.startswith(_PASSING)
    if _refusal_of(error.orig):
        return False
    # No SQLSTATE: the server was not reached, or the connection broke.
    return error.connection_invalidated or type(error.orig).__name__ == "OperationalError"


def is_locked_by_others(error: BaseException) -> bool:
    """Whether another program holds SQLite's lock, so that further attempts would wait in vain."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    return _code_of(cause).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _code_of(cause: BaseException | None) -> str:
    return str(getattr(cause, "sqlite_errorname", None) or "")


def _state_of(cause: BaseException | None) -> str:
    return str(getattr(cause, "sqlstate", None) or "")


def _refusal_of(cause: BaseException | None) -> str:
    """Return the text for a connection that the server refuses permanently; else empty."""
    message = str(cause)
    if "FATAL:" not in message or _state_of(cause):
        return ""
    return next((words for sign, words in _REFUSALS.items() if sign in message), "")
