"""Names of buttons for screen readers and voice control."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

VIEWS = sorted((Path(__file__).parents[2] / "golden" / "views").glob("*.json"))


def buttons(part: Any) -> Iterator[dict[str, Any]]:
    """Everything in a view that has a name of its own for screen readers."""
    if isinstance(part, dict):
        block = cast("dict[str, Any]", part)
        if block.get("type") in {"button", "workflow_button"} or "accessibility_label" in block:
            yield block
        part = list(block.values())
    if isinstance(part, list):
        for inner in cast("list[Any]", part):
            yield from buttons(inner)


def named(view: Path) -> list[tuple[str, str]]:
    elements = buttons(json.loads(view.read_text(encoding="utf-8")))
    return [(element["text"]["text"], element["accessibility_label"]) for element in elements]


@pytest.mark.parametrize("view", VIEWS, ids=lambda path: path.stem)
def test_a_buttons_name_holds_what_is_written_on_it(view: Path):
    # https://www.w3.org/WAI/WCAG22/Understanding/label-in-name: who says the words, presses it.
    assert [
        element for element in named(view) if element[0].lower() not in element[1].lower()
    ] == []


def test_the_views_have_buttons():
    assert len({name for view in VIEWS for name in named(view)}) > 10
