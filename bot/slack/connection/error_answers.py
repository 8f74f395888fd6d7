"""Requests that fail: the status that Slack gets, and a log line without what people wrote."""

import logging
import traceback
from pathlib import Path

from pydantic import ValidationError
from slack_bolt import BoltResponse
from slack_bolt.async_app import AsyncApp
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.logger.messages import (
    warning_client_prioritized_and_token_skipped,
    warning_token_skipped,
)
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.log import logger

_log = logger(__name__)

FAILED = 500
#: How Bolt's line about a wrong signature begins; the request itself follows.
_REFUSED = "Invalid request signature detected"
_ROOT = Path(__file__).parents[3]
_OWN = (_ROOT / "bot", _ROOT / "core")
#: Every request passes through this folder, so it is not where an error arose.
_CONNECTION = Path(__file__).parent


def quiet_logger() -> logging.Logger:
    """Return the logger for Bolt: its own logs whole bodies at INFO."""
    quiet = logging.getLogger("slack_bolt")
    quiet.addFilter(_is_news)
    return quiet


def _is_news(record: logging.LogRecord) -> bool:
    """Bolt warns that it does not use SLACK_BOT_TOKEN, and logs what nobody signed as a whole."""
    no_news = {warning_client_prioritized_and_token_skipped(), warning_token_skipped()}
    text = record.getMessage()
    return text not in no_news and not text.startswith(_REFUSED)


def answer_failures(app: AsyncApp) -> None:
    """Take over from Bolt, which writes tracebacks and bodies to the log.

    Slack sends events again whatever the status is, as long as it is not 200.
    """

    @app.error
    async def failed(error: Exception, response: BoltResponse | None) -> BoltResponse | None:
        status = log_failure(error)
        # Without a response the request is acknowledged already.
        return BoltResponse(status=status, body="") if response else None


async def dispatch(app: AsyncApp, request: AsyncBoltRequest) -> BoltResponse:
    """Bolt's answer; a status where a malformed request throws Bolt itself."""
    try:
        return await app.async_dispatch(request)
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not be logged whole
        return BoltResponse(status=log_failure(error), body="")


def log_failure(error: Exception) -> int:
    """Returns the status for Slack: nobody listens to it, it is malformed, or we failed."""
    place, status = place_of(error), FAILED
    if isinstance(error, BoltUnhandledRequestError):
        status = 404
    # Half a surrogate pair is no text: JSON can spell it, no database holds it.
    elif isinstance(error, ValidationError | UnicodeEncodeError) or not place:
        status = 400
    # An error's message may quote what people typed, so it is not logged.
    fields = {"reason": type(error).__name__, "at": place, "status": status}
    if status == FAILED:
        _log.error("request failed", **fields)
    else:
        _log.warning("request not understood", **fields)
    return status


def place_of(error: Exception) -> str:
    """Where in our code the error arose; empty if it never got there."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if any(map(path.is_relative_to, _OWN)) and not path.is_relative_to(_CONNECTION):
            return f"{path.relative_to(_ROOT)}:{frame.lineno}"
    return ""
