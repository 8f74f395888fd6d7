"""What failed calls mean, in detail: what is told to people, what is kept for the next attempt."""

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.client import slack_client
from bot.slack.outcomes import Outcome, Rejection, Retry, Unknown, in_words, outcome_of
from bot.slack.payloads import Refusal


def answered(status: int, body: object, headers: dict[str, str] | None = None) -> Outcome:
    """What the SDK's error with this answer means."""
    response = AsyncSlackResponse(
        client=None,
        http_verb="POST",
        api_url="http://localhost/",
        req_args={},
        data=body,  # pyright: ignore[reportArgumentType] - the SDK passes what came
        headers=headers or {},
        status_code=status,
    )
    return outcome_of(SlackApiError("no", response))


PACE = Retry("Slack asks for a slower pace")
#: The status of an answer, its code of an error, and what came of the call.
ANSWERS: tuple[tuple[int, str, Outcome], ...] = (
    *(
        (200, code, PACE)
        for code in ("ratelimited", "rate_limited", "message_limit_exceeded", "team_added_to_org")
    ),
    # It may have happened.
    *(
        (200, code, Unknown(f"Slack failed ({code})"))
        for code in ("internal_error", "fatal_error", "request_timeout", "service_unavailable")
    ),
    # A refused token can be mended, and the post waits.
    *(
        (200, code, Retry(f"Slack refuses the bot token ({code})"))
        for code in (
            *("account_inactive", "invalid_auth", "not_authed"),
            *("token_expired", "token_revoked", "team_access_not_granted"),
        )
    ),
    # What is refused for good keeps Slack's code beside the words.
    (200, "is_archived", Rejection("This channel is archived.", "is_archived")),
    (200, "new_to_us", Rejection("Slack refuses it (new_to_us).", "new_to_us")),
    # The status counts before the code.
    (429, "is_archived", PACE),
    (499, "is_archived", Rejection("This channel is archived.", "is_archived")),
    (500, "is_archived", Unknown("Slack failed (is_archived)")),
)


def test_an_answer_is_read_by_its_status_and_code() -> None:
    for status, code, expected in ANSWERS:
        assert answered(status, {"ok": False, "error": code}) == expected, (status, code)
    assert answered(200, {"ok": False}) == Unknown("Slack failed (200)")
    assert answered(503, {}) == Unknown("Slack failed (503)")
    assert isinstance(answered(200, "plain text"), Unknown)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("30", 30.0), ("0.5", 0.5), ("0", 0.0), ("", None), ("soon", None), ("1.2.3", None)],
)
def test_the_pause_slack_asks_for_is_read_where_it_is_a_number(
    header: str, seconds: float | None
) -> None:
    outcome = answered(429, {"error": "ratelimited"}, {"Retry-After": header})

    assert outcome == Retry("Slack asks for a slower pace", seconds)


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (502, {}, Unknown("Slack failed (502)")),
        (429, {"Retry-After": "3"}, Retry("Slack asks for a slower pace", 3.0)),
    ],
)
@pytest.mark.parametrize("kind", ["text/html", "application/json"])
async def test_a_page_of_a_server_between_us_and_slack_is_read_by_its_status(
    status: int, headers: dict[str, str], expected: Outcome, kind: str
) -> None:
    """Where the page says that it is JSON, the SDK passes aiohttp's answer instead of its own."""

    async def page(request: web.Request) -> web.Response:
        return web.Response(status=status, headers=headers, text="<html>", content_type=kind)

    app = web.Application()
    app.router.add_post("/api/auth.test", page)
    async with TestServer(app) as server:
        client = slack_client("xoxb-1", f"{server.make_url('/api/')}")
        with pytest.raises(SlackApiError) as caught:
            await client.auth_test()

    assert outcome_of(caught.value) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TimeoutError(), Unknown("no answer from Slack (TimeoutError)")),
        (
            aiohttp.ServerDisconnectedError(),
            Unknown("no answer from Slack (ServerDisconnectedError)"),
        ),
        (ConnectionResetError(), Unknown("no answer from Slack (ConnectionResetError)")),
        (KeyError("text"), Rejection("Moot itself failed (KeyError)", "our_fault")),
    ],
    ids=["too slow", "cut off", "reset", "a fault of ours"],
)
def test_a_failure_without_an_answer_is_told_by_its_kind(
    error: Exception, expected: Outcome
) -> None:
    assert outcome_of(error) == expected


async def test_a_slack_that_cannot_be_reached_is_told_so() -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorError) as caught:
            await session.get("http://127.0.0.1:9")

    assert outcome_of(caught.value) == Retry("Slack cannot be reached")


def test_a_lacking_permission_is_named_where_slack_names_it() -> None:
    words = "Moot lacks the permission {}; reinstall it with the current manifest."

    assert in_words(Refusal(error="missing_scope", needed="pins:write")) == words.format(
        "pins:write"
    )
    assert in_words(Refusal(error="missing_scope")) == words.format("one that this needs")
