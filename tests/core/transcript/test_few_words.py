"""Texts in fewer words: what is cut, and what is left out rather than cut."""

import pytest

from core.transcript.few_words import few_words


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("It keeps every job.", 4, "It keeps every job."),
        ("It keeps every job, always.", 4, "It keeps every job…"),
        ("It keeps jobs. (no source quoted)", 4, "It keeps jobs…"),
        ("It says “2,000 jobs a second” (e1).", 4, "It says…"),
        ("It says “2,000 jobs” (e1) and more.", 4, "It says…"),
        ("“2,000 jobs a second” is said.", 2, ""),
    ],
)
def test_a_quote_or_brackets_are_left_out_rather_than_cut(text: str, most: int, shown: str) -> None:
    assert few_words(text, most) == shown
