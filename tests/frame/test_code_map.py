"""The code map is what the files say of themselves."""

import runpy
from collections.abc import Callable
from typing import cast

from tests.frame.files import ROOT, read


def test_the_code_map_is_up_to_date() -> None:
    updated = runpy.run_path(str(ROOT / "tools" / "code_map.py"))["updated"]
    text = read("docs/code_map.md")

    assert text == cast("Callable[[str], str]", updated)(text), "run `make docs`"
