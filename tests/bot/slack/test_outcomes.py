"""Outcomes of failed calls: their class, and the reason for people."""

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.client import slack_client
from bot.slack.outcomes import Outcome, Rejection, Retry, Unknown, outcome_of

PACE = "Slack asks for a slower pace"
REINSTALL = "Moot lacks the permission {}; reinstall it with the current manifest."
ARCHIVED = Rejection("This channel is archived.", "is_archived")
#: Status and error code of a response, and the outcome.
ANSWERS: tuple[tuple[int, str, Outcome], ...] = (
    *(
        (200, code, Retry(PACE))
        for code in ("ratelimited", "rate_limited", "message_limit_exceeded", "team_added_to_org")
    ),
    # The call may have succeeded.
    *(
        (200, code, Unknown(f"Slack failed ({code})"))
        for code in ("internal_error", "fatal_error", "request_timeout", "service_unavailable")
    ),
    # A token can be repaired, so the post waits.
    *(
        (200, code, Retry(f"Slack refuses the bot token ({code})"))
        for code in (
            *("account_inactive", "invalid_auth", "not_authed"),
            *("token_expired", "token_revoked", "team_access_not_granted"),
        )
    ),
    # Rejected for good.
    (200, "is_archived", ARCHIVED),
    (200, "thread_not_found", Rejection("The thread was deleted.", "thread_not_found")),
    (200, "new_to_us", Rejection("Slack refuses it (new_to_us).", "new_to_us")),
    # The status counts more than the code.
    (429, "is_archived", Retry(PACE)),
    (499, "is_archived", ARCHIVED),
    (500, "is_archived", Unknown("Slack failed (is_archived)")),
    (200, "", Unknown("Slack failed (200)")),
    (503, "", Unknown("Slack failed (503)")),
)


def refusal(status: int, body: object, headers: dict[str, str] | None = None) -> SlackApiError:
    """The SDK's error with this response."""
    response = AsyncSlackResponse(
        client=None,
        http_verb="POST",
        api_url="http://localhost/",
        req_args={},
        data=body,  # pyright: ignore[reportArgumentType] - the SDK passes what came
        headers=headers or {},
        status_code=status,
    )
    return SlackApiError("no", response)


def test_the_outcome_of_a_response() -> None:
    for status, code, expected in ANSWERS:
        error = refusal(status, {"ok": False, "error": code})
        assert outcome_of(error) == expected, (status, code)
    headers = {"30": 30.0, "0.5": 0.5, "0": 0.0, "soon": None, "1.2.3": None}
    for header, seconds in headers.items():
        assert outcome_of(refusal(429, {}, {"Retry-After": header})) == Retry(PACE, seconds)
    lacking = {"error": "missing_scope", "needed": "pins:write"}
    assert outcome_of(refusal(200, lacking)).reason == REINSTALL.format("pins:write")
    del lacking["needed"]
    assert outcome_of(refusal(200, lacking)).reason == REINSTALL.format("one that this needs")


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
async def test_the_outcome_of_an_error_page_of_a_proxy_depends_on_its_status(kind: str) -> None:
    """If the page claims to be JSON, the SDK raises with aiohttp's response instead of its own."""
    statuses = [502, 429]

    async def page(request: web.Request) -> web.Response:
        status, headers = statuses.pop(0), {"Retry-After": "3"}
        return web.Response(status=status, headers=headers, text="<html>", content_type=kind)

    app = web.Application()
    app.router.add_post("/api/auth.test", page)
    async with TestServer(app) as server:
        client = slack_client("xoxb-1", f"{server.make_url('/api/')}")
        for expected in (Unknown("Slack failed (502)"), Retry(PACE, 3.0)):
            with pytest.raises(SlackApiError) as caught:
                await client.auth_test()
            assert outcome_of(caught.value) == expected


async def test_the_outcome_without_a_response_depends_on_the_exception() -> None:
    for lost in (TimeoutError(), aiohttp.ServerDisconnectedError(), ConnectionResetError()):
        assert outcome_of(lost) == Unknown(f"no answer from Slack ({type(lost).__name__})")
    fault = outcome_of(KeyError("text"))
    assert fault == Rejection("Moot itself failed (KeyError)", "our_fault")
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorError) as caught:
            await session.get("http://127.0.0.1:9")
    assert outcome_of(caught.value) == Retry("Slack cannot be reached")
