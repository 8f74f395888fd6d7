"""Classifies errors of Slack's Web API: retry, rejected, or unknown whether it happened (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import aiohttp
from slack_sdk.errors import SlackApiError

from bot.slack.payloads import refusal_of

TOO_MANY = 429
SERVER_ERROR = 500


@dataclass(frozen=True)
class Retry:
    """Nothing happened; the same call may succeed later."""

    reason: str
    #: Seconds Slack asks us to wait; None if it did not say.
    after: float | None = None


@dataclass(frozen=True)
class Unknown:
    """The call may have succeeded; check before trying again."""

    reason: str


@dataclass(frozen=True)
class Rejection:
    """Slack rejects the call for good."""

    reason: str
    #: Slack's error code.
    code: str


Outcome = Retry | Unknown | Rejection

#: Errors after which the call may have succeeded: "It's possible some aspect of the operation
#: succeeded before the error was raised"
#: (https://docs.slack.dev/reference/methods/chat.postMessage).
_DOUBTFUL = frozenset({"internal_error", "fatal_error", "request_timeout", "service_unavailable"})
#: The bot's token is invalid. Only a person can repair that; queued posts wait for it.
REFUSED_TOKENS = frozenset(
    {
        "account_inactive",
        "invalid_auth",
        "not_authed",
        "token_expired",
        "token_revoked",
        "team_access_not_granted",
    }
)
#: The channel, thread or message is gone for the bot, so nothing more can be posted there.
PLACE_GONE = frozenset(
    {
        "channel_not_found",
        "is_archived",
        "not_in_channel",
        "not_installed",
        "root_missing",
        "thread_not_found",
        "message_not_found",
    }
)
#: Posting is not allowed there, while the channel and its messages stay.
CLOSED_TO_POSTS = frozenset(
    {
        "restricted_action",
        "restricted_action_non_threadable_channel",
        "restricted_action_read_only_channel",
        "restricted_action_thread_locked",
        "restricted_action_thread_only_channel",
    }
)
#: The app may not call this method at all, whatever the arguments.
NOT_FOR_THIS_APP = frozenset(
    {
        "deprecated_endpoint",
        "feature_not_enabled",
        "method_deprecated",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_an_agent",
        "unknown_method",
    }
)
_TEMPORARY = frozenset(
    {"ratelimited", "rate_limited", "message_limit_exceeded", "team_added_to_org"}
)

_REASONS: Mapping[str, str] = {
    "not_in_channel": "Moot is not in this channel. Type /invite @Moot.",
    "channel_not_found": "Moot cannot see this channel. Type /invite @Moot in it.",
    "is_archived": "This channel is archived.",
    "msg_too_long": "Slack says that the message is too long.",
    "msg_blocks_too_long": "Slack says that the message is too long.",
    "too_many_pins": "This channel has 100 pins, the most that Slack allows.",
    "message_not_found": "The message was deleted.",
    "thread_not_found": "The thread was deleted.",
    "cant_update_message": "Slack does not let Moot edit this message.",
    "edit_window_closed": "This workspace does not allow late edits.",
    **dict.fromkeys(
        CLOSED_TO_POSTS, "The settings of this channel or thread do not let Moot post here."
    ),
}


def outcome_of(error: BaseException) -> Outcome:
    """Classify an exception of the SDK.

    After a timeout or a broken connection the call may have succeeded (`Unknown`). If no connection
    was made, it did not (`Retry`). Any other exception is a bug in Moot and not retried.
    """
    if isinstance(error, SlackApiError):
        return _outcome_of_answer(error)
    if isinstance(error, aiohttp.ClientConnectorError):
        return Retry("Slack cannot be reached")
    if isinstance(error, OSError | aiohttp.ClientError):  # TimeoutError is an OSError
        return Unknown(f"no answer from Slack ({type(error).__name__})")
    return Rejection(f"Moot itself failed ({type(error).__name__})", "our_fault")


def _outcome_of_answer(error: SlackApiError) -> Outcome:
    """Classify an error response of Slack."""
    # The SDK's response, or aiohttp's if the body is not JSON.
    answer = cast("Any", error.response)
    refusal = refusal_of(answer)
    status = int(getattr(answer, "status_code", None) or getattr(answer, "status", None) or 0)
    if status == TOO_MANY or refusal.error in _TEMPORARY:
        header = answer.headers.get("Retry-After") or ""
        after = float(header) if header.replace(".", "", 1).isdecimal() else None
        return Retry("Slack asks for a slower pace", after)
    if status >= SERVER_ERROR or not refusal.error or refusal.error in _DOUBTFUL:
        return Unknown(f"Slack failed ({refusal.error or status})")
    if refusal.error in REFUSED_TOKENS:
        return Retry(f"Slack refuses the bot token ({refusal.error})")
    reason = _REASONS.get(refusal.error, f"Slack refuses it ({refusal.error}).")
    if refusal.error == "missing_scope":
        scope = refusal.needed or "one that this needs"
        reason = f"Moot lacks the permission {scope}; reinstall it with the current manifest."
    return Rejection(reason, refusal.error)
