"""No text makes a pattern or a function slow: all are tried with generated hostile text."""

import re

import pytest

from tests.security.slow_text import (
    WITH_MORE,
    attacks,
    functions,
    makers_of_patterns,
    needs_more,
    patterns,
    runs,
    slow_text,
    text_functions,
    texts,
)

#: Characters: enough to distinguish quadratic from linear time.
SIZE = 1000
#: More than the longest reply or message; used only if there is time.
VERY_LONG = 50_000
#: In how many tests all are tried. To name a test for each, all workers would import and parse
#: every module while they collect.
PARTS = range(8)
#: Seconds of CPU for VERY_LONG, several times what it takes where nothing else runs.
MOST_SECONDS = 1.0
#: Patterns made of settings, names, ids, subcommands, debate's own codes, a schema's names, and of
#: the table of secrets, whose patterns are tried as those of a module are.
MADE_WHILE_RUNNING = {
    "bot.listeners.buttons",
    "bot.listeners.typed",
    "bot.log",
    "bot.slack.payloads",
    "bot.store.migrations.versions.0020_one_queue",
    "core.evidence.citations",
    "core.evidence.clauses",
    "core.evidence.formats",
    "core.evidence.office",
    "core.evidence.words",
    "core.llm.providers.openai",
    "core.llm.prompt_text",
    "core.redaction",
    "core.rules.playbook",
    "slack_on_loopback.rules",
}

#: Functions that first read text of people, models, servers and files.
ENTRY_POINTS = (
    "bot.listeners.typed.parse_typed",
    "bot.slack.typed_text.readable",
    "bot.slack.mrkdwn.mrkdwn",
    "core.redaction.redact",
    "core.transcript.markdown.inert",
)


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_where_text_of_others_comes_in_the_time_grows_with_its_length(name: str) -> None:
    assert slow_text(functions()[name], texts(), SIZE, noticed=0.002) == ""


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_no_pattern_takes_long_for_a_very_long_text(part: int) -> None:
    slow = {
        name: words
        for name in sorted(patterns())[part :: len(PARTS)]
        for run in runs(name)
        if (
            words := slow_text(
                run, attacks(patterns()[name][0]), VERY_LONG, noticed=0.004, patience=1.0
            )
        )
    }
    assert slow == {}


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_no_function_is_slower_than_a_very_long_text_is_long(part: int) -> None:
    slow = {
        name: words
        for name, act in sorted(functions().items())[part :: len(PARTS)]
        if (
            words := slow_text(
                act, texts(), VERY_LONG, noticed=0.05, most=MOST_SECONDS, patience=1.0
            )
        )
    }
    assert slow == {}


@pytest.mark.slow
def test_a_quadratic_pattern_and_function_are_found() -> None:
    slow = re.compile(r"(a+)b")
    assert "power" in slow_text(slow.search, attacks(slow), 3 * SIZE, noticed=0.004)

    def pairs(text: str) -> int:
        return sum(1 for sign in text for other in text if sign == other)

    assert "power" in slow_text(pairs, texts(), SIZE, noticed=0.002)


@pytest.mark.slow
def test_no_pattern_is_made_while_running_unseen() -> None:
    assert makers_of_patterns() == MADE_WHILE_RUNNING


def test_every_function_that_takes_text_is_tried() -> None:
    untried = [
        name
        for name, function in text_functions().items()
        if needs_more(function) and name not in WITH_MORE
    ]
    assert untried == [], "Say in WITH_MORE how each is called, or in OURS that its text is ours."
