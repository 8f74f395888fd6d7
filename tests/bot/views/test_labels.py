"""What screen readers say of a button holds the words that others see on it."""

from collections.abc import Iterator
from typing import Any, cast

from bot.views.board import board
from tests.bot.views.test_golden_forms import ANSWERED, debate_with_questions


def buttons(value: object) -> Iterator[dict[str, Any]]:
    """All buttons in a view or a message."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if fields.get("type") == "button":
            yield fields
        value = list(fields.values())
    for item in cast("list[object]", value) if isinstance(value, list) else ():
        yield from buttons(item)


def test_the_labels_of_a_boards_buttons_hold_their_words() -> None:
    labels: dict[str, str] = {}
    for debate in (debate_with_questions(), debate_with_questions(ANSWERED)):
        for button in buttons(list(board(debate).blocks)):
            words = button["text"]["text"]
            labels[words] = button.get("accessibility_label", words)

    assert {"Answer 3 questions", "Answer 2 questions", "Stop", "Pause"} <= labels.keys()
    for words, label in labels.items():
        assert words.casefold() in label.casefold()
