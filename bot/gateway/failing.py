"""Requests that cannot be handled: a status for Slack, a line in the log without a word of them."""

import traceback
from pathlib import Path

from pydantic import ValidationError
from slack_bolt import BoltResponse
from slack_bolt.async_app import AsyncApp
from slack_bolt.error import BoltUnhandledRequestError

from bot.log import logger

_log = logger(__name__)

NOBODY_LISTENS = 404
MALFORMED = 400
FAILED = 500
_OWN = frozenset({"bot", "core"})
_ROOT = Path(__file__).parents[2]


def answer_failures(app: AsyncApp) -> None:
    """Take over from Bolt, which writes tracebacks and bodies to the log.

    Slack sends events again whatever the status is, as long as it is not 200.
    """

    @app.error
    async def failed(error: Exception, response: BoltResponse | None) -> BoltResponse | None:
        status = status_of(error)
        # The words of an error may quote what people typed, so they stay out of the log.
        said = {"reason": type(error).__name__, "at": place_of(error), "status": status}
        if status == FAILED:
            _log.error("request failed", **said)
        else:
            _log.warning("request not understood", **said)
        # Without a response the request is acknowledged already.
        return BoltResponse(status=status, body="") if response else None


def status_of(error: Exception) -> int:
    """Return what Slack is told: nobody listens to it, it is malformed, or we failed."""
    if isinstance(error, BoltUnhandledRequestError):
        return NOBODY_LISTENS
    if isinstance(error, ValidationError) or not place_of(error):
        return MALFORMED
    return FAILED


def place_of(error: Exception) -> str:
    """Return where in our code the error arose; empty if it never got there."""
    frames = reversed(traceback.extract_tb(error.__traceback__))
    for frame in frames:
        path = Path(frame.filename)
        if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in _OWN:
            return f"{path.relative_to(_ROOT)}:{frame.lineno}"
    return ""
