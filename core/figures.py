"""The only place that formats money, spans of time, counts, shares and dates for people (pure)."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal

_MINUTE, _HOUR = 60, 3600
#: Below so many seconds a tenth of one is shown.
_PRECISE = 9.95
_CENT, _LEAST = Decimal("0.01"), Decimal("0.0001")


def when(at: datetime) -> str:
    """A time, in UTC: `2026-01-05 09:00:07 UTC`."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def day(at: date) -> str:
    """A date: `2026-01-05`."""
    return f"{at.year:04}-{at.month:02}-{at.day:02}"


def duration(seconds: float) -> str:
    """A span of time: `340 ms`, `2.4 s`, `45 s`, `3 min 5 s`, `1 h 5 min`."""
    if seconds and seconds < 1:
        return f"{number(max(1, round(seconds * 1000)))} ms"
    if seconds < _PRECISE:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        minutes, rest = divmod(whole, _MINUTE)
        return f"{minutes} min" + (f" {rest} s" if rest else "")
    hours, minutes = divmod(round(whole / _MINUTE), _MINUTE)
    return f"{number(hours)} h" + (f" {minutes} min" if minutes else "")


def tenths(seconds: float) -> str:
    """Seconds with one decimal, so that they line up: `0.4`, `12.0`."""
    return f"{seconds:.1f}"


def roughly(seconds: float) -> str:
    """An estimated span of time: whole seconds, or whole minutes from one minute on."""
    if seconds < _MINUTE:
        return duration(max(1, round(seconds)))
    return duration(_MINUTE * max(1, round(seconds / _MINUTE)))


def money(amount: Decimal | None, *, rounding: str = ROUND_HALF_UP) -> str:
    """US dollars, rounded to cents, or to a hundredth of a cent below one cent; `n/a` for None.

    A cost above zero is never shown as zero. `rounding` is a constant of `decimal`.
    """
    if amount is None:
        return "n/a"
    if not 0 < amount < _CENT:
        return f"${amount.quantize(_CENT, rounding):,}"
    return f"${max(_LEAST, amount.quantize(_LEAST, rounding))}"


def number(value: float) -> str:
    """A number with at most two decimals: `1,200`, `2.5`, `3`."""
    whole, _, decimals = f"{value:,.2f}".partition(".")
    return f"{whole}.{decimals}".rstrip("0").rstrip(".")


def quantity(count: float, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 turn`, `1,200 turns`; `plural` for others: `2 summaries`."""
    return f"{number(count)} {noun if count == 1 else plural or f'{noun}s'}"


def size(count: int) -> str:
    """Bytes: "730 bytes", "12 kB", "3.4 MB"."""
    if count < 1000:  # noqa: PLR2004 - the next unit
        return quantity(count, "byte")
    if count < 1_000_000:  # noqa: PLR2004 - the next unit
        return f"{count // 1000} kB"
    return f"{count / 1_000_000:.1f} MB".replace(".0 MB", " MB")


def percent(share: float) -> str:
    """A share of 1 in percent: `64%`. A share below 1 is never shown as 100%."""
    rounded = round(share * 100)
    return f"{min(rounded, 99) if share < 1 else rounded}%"


def score(value: float) -> str:
    """A score between 0 and 1 that differs in its third decimal: `0.1543`."""
    return f"{value:.4f}"


def points(share: float) -> str:
    """A difference of shares in percentage points, with its sign: `+3.5`, `−10`, `0`."""
    size = number(round(abs(share) * 100, 1))
    sign = "" if size == "0" else "+" if share > 0 else "−"
    return f"{sign}{size}"


def times(factor: float) -> str:
    """How many times as much: `27 ×`, `1.4 ×`."""
    return f"{number(round(factor, 1 if factor < 10 else None))} ×"  # noqa: PLR2004 - two digits


def listed(names: Sequence[str], joint: str = "and") -> str:
    """Several names in a sentence: `Ann, Bob and Cleo`."""
    return f" {joint} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
