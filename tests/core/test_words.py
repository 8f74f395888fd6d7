"""How money, spans of time, counts, shares and dates are said, on every surface."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import ROUND_DOWN, ROUND_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.figures import counted, day, duration, money, number, percent, roughly, when
from core.models import Usage
from core.transcript.words import usage_words


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (None, "n/a"),
        ("0", "$0.00"),
        ("0.000001", "$0.0001"),
        ("0.0031", "$0.0031"),
        ("0.01", "$0.01"),
        ("0.0125", "$0.01"),
        ("0.5", "$0.50"),
        ("1", "$1.00"),
        ("1234.5", "$1,234.50"),
    ],
)
def test_money_is_said_to_the_cent_and_small_money_to_a_hundredth_of_it(
    amount: str | None, words: str
) -> None:
    assert money(None if amount is None else Decimal(amount)) == words


@given(st.decimals(min_value="0.000001", max_value="1000000", places=6))
def test_what_costs_anything_never_reads_as_nothing(amount: Decimal) -> None:
    assert Decimal(money(amount).strip("$").replace(",", "")) > 0


def test_what_is_left_is_never_said_too_high_nor_the_worst_case_too_low() -> None:
    assert money(Decimal("0.0199"), rounding=ROUND_DOWN) == "$0.01"
    assert money(Decimal("0.0201"), rounding=ROUND_UP) == "$0.03"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.0001, "1 ms"),
        (0.34, "340 ms"),
        (2, "2 s"),
        (2.44, "2.4 s"),
        (9.96, "10 s"),
        (59.94, "1 min"),
        (60, "1 min"),
        (185, "3 min 5 s"),
        (3599.9, "1 h"),
        (3900, "1 h 5 min"),
    ],
)
def test_durations_are_readable(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (44.6, "45 s"), (75, "1 min"), (100, "2 min")]
)
def test_an_estimate_does_not_look_exact(seconds: float, words: str) -> None:
    assert roughly(seconds) == words


@pytest.mark.parametrize(
    ("value", "words"), [(0, "0"), (10, "10"), (1200, "1,200"), (2.5, "2.5"), (2.25, "2.25")]
)
def test_numbers_have_no_needless_zeros(value: float, words: str) -> None:
    assert number(value) == words


def test_one_thing_is_not_many() -> None:
    assert [counted(n, "turn") for n in (0, 1, 1200)] == ["0 turns", "1 turn", "1,200 turns"]


def test_only_all_of_it_is_a_hundred_percent() -> None:
    assert [percent(share) for share in (0, 0.154, 0.999, 1, 1.2)] == [
        "0%",
        "15%",
        "99%",
        "100%",
        "120%",
    ]


def test_times_are_in_utc() -> None:
    berlin = timezone(timedelta(hours=1))
    assert when(datetime(2026, 1, 5, 10, 0, 7, tzinfo=berlin)) == "2026-01-05 09:00:07 UTC"
    assert day(date(2026, 1, 5)) == day(datetime(2026, 1, 5, 9, tzinfo=UTC)) == "2026-01-05"


def test_usage_in_a_line() -> None:
    usage = Usage(input_tokens=1200, output_tokens=80, cached_tokens=400, attempts=1, cost=None)
    assert usage_words(usage) == "1,200 tokens in (400 cached), 80 out, 1 attempt, n/a"
