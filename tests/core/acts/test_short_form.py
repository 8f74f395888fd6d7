"""A speech says its answer and points in its last lines; anything else is text."""

import pytest

from core.acts.short_form import (
    ANSWER_MAX_CHARS,
    MOST_POINTS,
    POINT_MAX_CHARS,
    ShortForm,
    read_short_form,
)

_TEXT = "**Use PostgreSQL.**\n\n- It is there.\n\n```sql\nselect 1;\n```"
_SHORT = "In short: Use PostgreSQL.\n- Nothing new to run.\n- One commit for job and order."
_FORM = ShortForm(
    text=_TEXT,
    answer="Use PostgreSQL.",
    points=("Nothing new to run.", "One commit for job and order."),
)


@pytest.mark.parametrize(
    "end",
    [
        _SHORT,
        f"{_SHORT}\n\n",
        "**In short:** Use PostgreSQL.\n\n* Nothing new to run.\n* One commit for job and order.",
        "# In short: **Use PostgreSQL.**\n1. Nothing new to run.\n2) One commit for job and order.",
        "_in short_: Use PostgreSQL.\r\n• Nothing new to run.\r\n• One commit for job and order.",
    ],
)
def test_the_short_form_is_read_however_it_is_decorated(end: str) -> None:
    assert read_short_form(f"{_TEXT}\n\n{end}") == _FORM


@pytest.mark.parametrize(
    "text",
    [
        "",
        _TEXT,
        _SHORT,  # nothing but a short form is the text
        f"{_SHORT}\n\nAnd one more thing.",
        f"{_TEXT}\n\nIn short:\n- Nothing new to run.",
        f"{_TEXT}\n\nIn short: **\n- Nothing new to run.",
        f"{_TEXT}\n\nIn short, use PostgreSQL.",
        f"{_TEXT}\n\nIn short: Use it.\n" + "- A point.\n" * 40,
        '{"text": "Use it.", "answer": "Use it."}',
    ],
)
def test_a_reply_without_the_form_is_the_text(text: str) -> None:
    assert read_short_form(text) == ShortForm(text=text)


def test_what_is_too_long_is_cut_at_a_word() -> None:
    points = "\n".join(f"- {'point ' * 60}" for _ in range(MOST_POINTS + 2))
    short = read_short_form(f"{_TEXT}\nIn short: {'word ' * 100}\n{points}")

    assert short.answer.endswith("word…")
    assert len(short.answer) <= ANSWER_MAX_CHARS
    assert len(short.points) == MOST_POINTS
    assert all(point.endswith("point…") and len(point) <= POINT_MAX_CHARS for point in short.points)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("In short: Use `asyncpg`", "Use `asyncpg`"),
        ("**In short:** Use `asyncpg`", "Use `asyncpg`"),
        ("**In short: Use `asyncpg`**", "Use `asyncpg`"),
        ("In short: **Two** steps: *this* and **that**", "**Two** steps: *this* and **that**"),
        ("In short: `asyncpg`", "asyncpg"),
        ("In short: ***Use it.***", "Use it."),
    ],
)
def test_marks_within_an_answer_stay_in_pairs(line: str, answer: str) -> None:
    assert read_short_form(f"{_TEXT}\n{line}").answer == answer
