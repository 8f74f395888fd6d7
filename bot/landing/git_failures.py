"""What git and its server said, as a sentence for people, and whether to try again (pure)."""

from collections.abc import Sequence

from bot.landing.receivers import NotLanded
from core.landing import RecordPlace

#: Parts of what git says, in small letters, as git 2.39 and the usual servers say it.
_TOKEN = (
    "authentication failed",
    "could not read username",
    "could not read password",
    "access denied",
    "invalid credentials",
    "returned error: 401",
)
_MAY_NOT = ("returned error: 403", "permission to", "not allowed to push", "write access")
_NOT_THERE = ("returned error: 404", "repository not found", "' not found")
_MOVED = ("unable to update url base from redirection", "returned error: 301", "error: 302")
_PROTECTED = ("protected branch", "gh006", "gh013", "hook declined")
_OVERTAKEN = ("non-fast-forward", "fetch first", "stale info", "cannot lock ref", "already exists")


def refusal_of(said: str, records: RecordPlace) -> NotLanded:
    """Return what git's words come to. They are not quoted: a server may say anything.

    Args:
        said: What git said on standard error.
        records: The repository, its token's variable, its branches.
    """
    words, where = said.lower(), records.repository
    variable = records.token_variable or "token_variable"

    def says(parts: Sequence[str]) -> bool:
        return any(part in words for part in parts)

    if says(_PROTECTED):
        return NotLanded(
            f"{where} does not let Moot push to {records.branch}: a rule of the repository "
            "forbids it. Allow it there, or name another branch in the settings.",
            is_final=True,
        )
    if says(_OVERTAKEN):
        return NotLanded(f"Somebody else pushed to the branch in {where} at the same time.")
    if says(_TOKEN):
        what = f"refused the token in {variable}" if records.token_variable else "wants a token"
        return NotLanded(
            f"{where} {what}. An administrator puts a valid one into {variable} and restarts Moot.",
            is_final=True,
        )
    if says(_MAY_NOT):
        return NotLanded(
            f"The token in {variable} may not write to {where}. Give it the right to push.",
            is_final=True,
        )
    if says(_MOVED):
        return NotLanded(
            f"{where} has moved, and redirects are not followed. Put its new address into the "
            "settings.",
            is_final=True,
        )
    if says(_NOT_THERE):
        return NotLanded(
            f"{where} is not there, or the token in {variable} may not see it.", is_final=True
        )
    return NotLanded(
        f"{where} cannot be reached, or git failed there. The log has its words: `git failed`."
    )
