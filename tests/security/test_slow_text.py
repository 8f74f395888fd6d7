"""No text of others makes a pattern or a function slow: all of them, tried with text made for it.

`python -m bench.patterns` does the same with longer text and shows what is worst.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bench.patterns import (
    FUNCTIONS,
    attacks,
    grows,
    made_while_running,
    modules,
    patterns,
    worst,
    worst_of_function,
    worst_of_pattern,
)

#: Enough to tell a square from a line.
PATTERN_SIZE, FUNCTION_SIZE = 3000, 1000
#: More than any reply is, and than a person may write at once; only where there is time.
VERY_LONG = 50_000
#: What takes less for VERY_LONG cannot be told from noise, and holds nobody up.
FEWEST_SECONDS = 0.05
#: In how many tests the patterns are tried. To name a test for each, all workers would import and
#: parse every module while they collect.
PARTS = range(8)
#: Seconds of CPU for VERY_LONG, several times what it takes where nothing else runs.
MOST_SECONDS = 1.0
#: Patterns made of settings, names, ids, debate's own codes, a schema's names, and of the table of
#: secrets, whose patterns are tried as those of a module are.
MADE_WHILE_RUNNING = {
    "bot.listeners.decide",
    "bot.log",
    "bot.slack.payloads",
    "bot.store.migrations.versions.0020_one_queue",
    "core.evidence.citations",
    "core.evidence.formats",
    "core.evidence.office",
    "core.evidence.word_numbers",
    "core.evidence.words",
    "core.llm.providers.openai",
    "core.llm.quoting",
    "core.redaction",
    "core.rules.playbook",
    "slack_on_loopback.rules",
}

#: What people type, models write, servers say in errors and files hold passes through these first.
ENTRY_POINTS = (
    "bot.listeners.typed.read",
    "bot.slack.typed_text.readable",
    "bot.slack.mrkdwn.convert.mrkdwn",
    "core.redaction.redact",
    "core.transcript.markdown.inert",
)

#: Where public functions take text of others first; every one is tried, or stands below.
PLACES = (
    "core.llm",
    "core.opening",
    "core.redaction",
    "core.acts.replies",
    "core.acts.summarise",
    "core.transcript",
    "bot.listeners.typed",
    "bot.slack.mrkdwn",
    "core.use_cases.reply_parsing",
    "bot.views.message",
)
#: Their text is ours, or a setting: names of vendors, models and packages, the doubles' own words.
OURS = {
    "bot.slack.mrkdwn.newer_blocks.read_all_button",
    "bot.views.message.context",
    "bot.views.message.header",
    "bot.views.message.in_pages",
    "bot.views.message.notice",
    "bot.views.message.sections",
    "core.llm.cache_warmup.beginning_keys",
    "core.llm.providers.example.example_settings",
    "core.llm.reply_faults.cut_off",
    "core.llm.known_models.is_known",
    "core.llm.known_models.nearest_model",
    "core.llm.prices.price",
    "core.llm.prices.worst_cost",
    "core.llm.providers.errors.check_key",
    "core.llm.providers.errors.ended_early",
    "core.llm.providers.errors.refusal",
    "core.llm.providers.errors.too_long",
    "core.llm.providers.errors.translate",
    "core.llm.providers.openai.openai_client",
    "core.llm.providers.factory.build",
}


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_where_text_of_others_comes_in_the_time_grows_with_its_length(name: str) -> None:
    curve = grows(FUNCTIONS[name], FUNCTION_SIZE)

    assert curve is None, f"it grows with power {curve.exponent:.1f}: {curve.text}"


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_no_pattern_takes_long_for_a_very_long_text(part: int) -> None:
    worsts = [worst_of_pattern(name, VERY_LONG) for name in some_patterns(part)]

    grown = [
        f"{item.name}, power {item.exponent:.1f}: {item.text}"
        for item in worsts
        if item.is_superlinear
    ]
    assert grown == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_function_is_slower_than_a_very_long_text_is_long(name: str) -> None:
    worst = worst_of_function(name, VERY_LONG)

    curved = worst.is_superlinear and worst.seconds > FEWEST_SECONDS
    assert not curved, f"it grows with power {worst.exponent:.1f}: {worst.text}"
    assert worst.seconds < MOST_SECONDS, worst


@pytest.mark.slow
def test_a_quadratic_pattern_and_function_are_found() -> None:
    slow = re.compile(r"(a+)b")
    assert worst("slow", slow.search, attacks(slow), PATTERN_SIZE).is_superlinear

    def pairs(text: str) -> int:
        return sum(1 for sign in text for other in text if sign == other)

    assert grows(pairs, FUNCTION_SIZE)


@pytest.mark.slow
def test_no_pattern_is_made_while_running_unseen() -> None:
    modules = {pattern.partition(":")[0] for pattern in made_while_running()}

    assert modules == MADE_WHILE_RUNNING


def test_every_function_that_takes_text_is_tried() -> None:
    names = {*FUNCTIONS, *OURS}
    missing = [name for name, _ in text_functions() if name not in names]

    assert missing == []


def some_patterns(part: int) -> list[str]:
    return sorted(patterns())[part :: len(PARTS)]


def text_functions() -> Iterator[tuple[str, Callable[..., object]]]:
    """Public functions at those places whose first argument is a text."""
    for name, value in public_names():
        function = inspect.unwrap(value) if callable(value) else None
        if not inspect.isfunction(function) or function.__module__ != name.rpartition(".")[0]:
            continue
        first = next(iter(inspect.signature(function).parameters.values()), None)
        if first is not None and first.annotation is str:
            yield name, function


def public_names() -> Iterator[tuple[str, Any]]:
    named = (module for module in modules() if module.__name__.startswith(PLACES))
    return (
        (f"{module.__name__}.{name}", value)
        for module in named
        for name, value in vars(module).items()
        if not name.startswith("_")
    )
