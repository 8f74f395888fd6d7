"""Amounts of money and durations as text."""

from decimal import ROUND_DOWN, ROUND_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.figures import duration, money


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
def test_amounts_are_rounded_to_cents_and_small_ones_to_hundredths(
    amount: str | None, words: str
) -> None:
    assert money(None if amount is None else Decimal(amount)) == words
    # Remaining money is rounded down, and the worst case is rounded up.
    assert money(Decimal("0.0199"), rounding=ROUND_DOWN) == "$0.01"
    assert money(Decimal("0.0201"), rounding=ROUND_UP) == "$0.03"


@given(st.decimals(min_value="0.000001", max_value="1000000", places=6))
def test_a_positive_amount_is_never_shown_as_zero(amount: Decimal) -> None:
    assert Decimal(money(amount).strip("$").replace(",", "")) > 0


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
