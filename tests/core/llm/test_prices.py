"""Token estimates, prices, worst cases and caps."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from genai_prices import Usage as ListedUsage
from genai_prices import calc_price
from genai_prices.data_snapshot import get_snapshot
from hypothesis import example, given
from hypothesis import strategies as st

from core.capabilities import Price
from core.errors import CapReached
from core.llm.budget import check_caps
from core.llm.prices import (
    corrected_factor,
    estimate_tokens,
    price,
    worst_cost,
)
from core.usage import Cap, Usage

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def test_chinese_japanese_and_korean_count_double() -> None:
    assert estimate_tokens("東京都の天気" * 10) == 2 * estimate_tokens("abcdef" * 10) - 1
    assert estimate_tokens("한국어" * 70) == 120


@given(st.floats(0.5, 3.0), st.integers(0, 10**6), st.integers(0, 10**7))
def test_a_single_report_changes_a_factor_little(
    factor: float, estimated: int, reported: int
) -> None:
    assert 0.5 <= corrected_factor(factor, estimated, reported) <= 3.0


@pytest.mark.parametrize(
    ("book", "size"),  # from the last one some have dearer tiers
    [("openai", 3), ("openai", 90_000), ("anthropic", 90_000), ("openrouter", 90_000)],
)
def test_costs_equal_those_of_the_price_list(book: str, size: int) -> None:
    provider = get_snapshot().find_provider(None, book, None)
    counts = {"input_tokens": 4 * size, "output_tokens": size}
    usage = Usage(
        input_tokens=4 * size,
        output_tokens=size,
        cached_tokens=size,
        written_tokens=2 * size,
    )
    listed = ListedUsage(cache_read_tokens=size, cache_write_tokens=2 * size, **counts)

    named = [model.id for model in provider.models if provider.find_model(model.id)]
    for model in named:  # some are patterns of names only
        expected = calc_price(listed, model, provider_id=book, genai_request_timestamp=NOON)
        assert price(book, model, usage, time=NOON) == expected.total_price, model
    assert len(named) > 10


@pytest.mark.parametrize("key", ["compatible/llama-4", "llama-4"])
def test_settings_give_prices_of_private_models(key: str) -> None:
    prices = {key: Price(input=Decimal(1), output=Decimal(3), cached=Decimal("0.1"))}
    usage = Usage(input_tokens=1_000_000, cached_tokens=500_000, output_tokens=1_000_000)

    assert price("compatible", "llama-4", usage, prices) == Decimal("3.55")


def test_inconsistent_usage_still_has_a_price() -> None:
    odd = Usage(input_tokens=10, cached_tokens=500, output_tokens=1)

    assert price("anthropic", "claude-sonnet-5-5", odd)


@given(st.integers(0, 200_000), st.integers(0, 200_000), st.integers(0, 20_000))
@example(0, 200_000, 20_000)
def test_the_worst_case_is_never_passed(cached: int, stored: int, output: int) -> None:
    real = Usage(
        input_tokens=400_000, cached_tokens=cached, written_tokens=stored, output_tokens=output
    )
    worst = worst_cost("anthropic", "claude-sonnet-5-5", (400_000, 20_000))
    cost = price("anthropic", "claude-sonnet-5-5", real)

    assert worst is not None
    assert cost is not None
    assert cost <= worst


def a_cap(limit: str, spent: str = "0") -> Cap:
    return Cap("debate/d1", "this debate", Decimal(limit), Decimal(spent))


def test_a_call_that_could_pass_a_cap_is_refused() -> None:
    with pytest.raises(CapReached, match=r"this debate is \$1\.00; \$0\.10 is left"):
        check_caps([a_cap("5.00"), a_cap("1.00", "0.90")], Decimal("0.11"))

    kept = Cap("debate/d1", "this debate", Decimal(1), kept=Decimal("0.2"), remedy="Raise it.")
    check_caps([kept], Decimal("0.80"))
    with pytest.raises(CapReached, match=r"\$0\.20 are kept for the vote .* Raise it\.$"):
        check_caps([kept], Decimal("0.81"))

    check_caps([], None)
    with pytest.raises(CapReached, match="price is unknown"):
        check_caps([kept], worst_cost("compatible", "llama-4", (10, 10)))


def test_tokens_and_attempts_of_several_calls_are_added_up() -> None:
    names = ("input", "output", "cached", "written", "reasoning")
    first, second = (
        Usage(
            input_tokens=unit,
            output_tokens=2 * unit,
            cached_tokens=3 * unit,
            written_tokens=4 * unit,
            reasoning_tokens=5 * unit,
        )
        for unit in (1, 10)
    )
    total = first + second

    assert [getattr(total, f"{name}_tokens") for name in names] == [11, 22, 33, 44, 55]
