"""What a vendor's failures mean, beyond their status."""

from dataclasses import dataclass, field

import pytest

from core.errors import KeyRefused, ProviderBusy, ProviderDown, ProviderError, RequestRejected
from core.llm.providers.error_bodies import code_of, wait_in
from core.llm.providers.errors import translate
from core.llm.providers.fields import count, dig, items, money, words


@dataclass
class Raised(Exception):
    """An SDK's error."""

    status_code: int | None = None
    code: str | None = None
    body: object = field(default_factory=dict[str, object])


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (Raised(status_code=429, code="insufficient_quota"), KeyRefused),
        (Raised(status_code=429, code="rate_limit_exceeded"), ProviderBusy),
        (Raised(status_code=400, code="invalid_api_key"), KeyRefused),
        (Raised(status_code=200, body={"error": {"type": "overloaded_error"}}), ProviderBusy),
        (Raised(status_code=200, body={"error": {"type": "api_error"}}), ProviderDown),
        (
            Raised(status_code=200, body={"error": {"type": "invalid_request_error"}}),
            RequestRejected,
        ),
        (Raised(code="rate_limit_exceeded"), ProviderBusy),
        (Raised(code="server_error"), ProviderDown),
        (Raised(body={"code": 429}), ProviderBusy),
        (Raised(body={"code": 502}), ProviderDown),
        (Raised(body="text"), ProviderDown),
        (Raised(), ProviderDown),
        (KeyError("choices"), ProviderDown),
        (ValueError("Expecting value"), ProviderDown),
    ],
)
def test_a_failure_is_what_it_says_rather_than_how_it_came(
    raised: Exception, kind: type[ProviderError]
) -> None:
    assert type(translate("Vendor", raised)) is kind


def test_our_own_errors_stay_as_they_are() -> None:
    error = ProviderBusy("Later.", retry_after=3)

    assert translate("Vendor", error) is error


@pytest.mark.parametrize(
    "code", ["sk-ant-secret key", "the merger with Initech", "x" * 80, "1234", "", "naïve"]
)
def test_only_what_looks_like_a_code_is_repeated(code: str) -> None:
    assert code_of(Raised(code=code)) == ""


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
