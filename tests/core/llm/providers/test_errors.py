"""What a vendor's failures mean, beyond their status."""

import httpx2
import pytest

from core.errors import KeyRefused, ProviderBusy, ProviderDown, ProviderError, RequestRejected
from core.llm.providers.error_bodies import code_of, wait_in
from core.llm.providers.errors import ReplyFailed, translate
from core.llm.providers.fields import count, dig, items, money, words


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"error": {"code": "insufficient_quota"}}, KeyRefused),
        (429, {"error": {"code": "rate_limit_exceeded"}}, ProviderBusy),
        (400, {"error": {"code": "invalid_api_key"}}, KeyRefused),
        (0, {"error": {"type": "overloaded_error"}}, ProviderBusy),
        (0, {"error": {"type": "api_error"}}, ProviderDown),
        (0, {"error": {"type": "invalid_request_error"}}, RequestRejected),
        (0, {"code": "rate_limit_exceeded"}, ProviderBusy),
        (0, {"code": "server_error"}, ProviderDown),
        (0, {"code": 429}, ProviderBusy),
        (0, {"code": 502}, ProviderDown),
        (0, "text", ProviderDown),
        (0, {}, ProviderDown),
    ],
)
def test_a_failure_is_what_it_says_rather_than_how_it_came(
    status: int, body: object, kind: type[ProviderError]
) -> None:
    raised: Exception = ReplyFailed(body)
    if status:
        request = httpx2.Request("POST", "http://127.0.0.1/")
        answer = httpx2.Response(status, json=body, request=request)
        raised = httpx2.HTTPStatusError("It failed.", request=request, response=answer)

    assert type(translate("Vendor", raised)) is kind


@pytest.mark.parametrize("error", [KeyError("choices"), ValueError("Expecting value")])
def test_what_cannot_be_read_is_a_failure_of_the_vendor(error: Exception) -> None:
    assert type(translate("Vendor", error)) is ProviderDown


@pytest.mark.parametrize(
    "body",
    [
        {"error": True, "message": "The model is away"},
        {"error": 404, "message": "The model is away"},
        {"message": "The model is away", "cause": "BadRequest"},
        {"error": {"message": "The model is away", "input": "word " * 2000}},
    ],
)
def test_the_reason_is_what_the_server_says_in_words(body: object) -> None:
    request = httpx2.Request("POST", "http://127.0.0.1/")
    answer = httpx2.Response(400, json=body, request=request)

    error = translate(
        "Vendor", httpx2.HTTPStatusError("It failed.", request=request, response=answer)
    )

    assert str(error) == "Vendor rejects the request (400): The model is away."


def test_our_own_errors_stay_as_they_are() -> None:
    error = ProviderBusy("Later.", retry_after=3)

    assert translate("Vendor", error) is error


@pytest.mark.parametrize(
    "code", ["sk-ant-secret key", "the merger with Initech", "x" * 80, "1234", "", "naïve"]
)
def test_only_what_looks_like_a_code_is_repeated(code: str) -> None:
    assert code_of({"code": code}) == ""


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan-ish"}, None),
        ({"retry-after": "Fri, 20 Nov 2026 10:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_odd_waits_are_read_carefully(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_in(headers) == seconds


def test_whatever_a_vendor_sends_can_be_read() -> None:
    sent = {"a": [{"b": "text"}, None], "n": True, "m": -3, "cost": "0.5"}

    assert dig(sent, "a", 0, "b") == "text"
    assert dig(sent, "a", 9, "b") is None
    assert dig(sent, "a", 1, "b", "c") is None
    assert (words(sent, "n"), items(sent, "n"), count(sent, "n"), count(sent, "m")) == (
        "",
        [],
        0,
        0,
    )
    assert str(money(sent, "cost")) == "0.5"


@pytest.mark.parametrize("amount", [None, True, "much", float("nan"), float("inf"), -1, []])
def test_what_is_no_amount_of_money_is_none(amount: object) -> None:
    assert money({"cost": amount}, "cost") is None
