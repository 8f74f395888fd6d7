"""The measurement counts all branches of a function; its list of known functions only shrinks."""

import ast
import runpy
from collections.abc import Mapping
from typing import Any

import pytest

from tests.frame.files import ROOT

TOOL: Mapping[str, Any] = runpy.run_path(str(ROOT / "tools" / "complexity.py"))
LISTED = {"a:worse": 25, "a:better": 30, "a:gone": 22, "a:same": 40, "a:small": 25}
NOW = {"a:worse": 26, "a:better": 21, "a:same": 40, "a:small": 15, "a:new": 16, "a:other": 15}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return a", 1),
        ("return a if b and c else c", 3),
        ("return [x for y in a for x in y if x]", 3),
        ("while a: b()\n    for x in a: b(x)", 3),
        ("if a: b()\n    elif c: b()\n    else: c()", 3),
        ("try: a()\n    except ValueError: b()\n    except OSError: c()", 3),
        ("match a:\n        case 1: b()\n        case _: c()", 3),
        ("def g(): return a if b else c\n    return g", 2),
    ],
)
def test_every_way_through_a_function_counts(body: str, expected: int) -> None:
    (function,) = ast.parse(f"def f(a, b, c):\n    {body}").body
    assert TOOL["complexity"](function) == expected


def test_methods_have_the_name_of_their_class() -> None:
    source = "class A:\n    def b(self): ...\n    async def c(self): ...\nif 1:\n    def d(): ..."
    names = [name for name, _ in TOOL["functions"](ast.parse(source))]
    assert names == ["A.b", "A.c", "d"]


def test_a_listed_function_may_not_get_worse_and_the_list_is_kept_up_to_date() -> None:
    assert [line.partition(". ")[0] for line in TOOL["faults"](NOW, LISTED)] == [
        "a:new: complexity 16, at most 15",
        "a:worse: complexity 26, at most 25",
        "a:better: listed with 30, now 21",
        "a:gone: listed with 22, gone",
        "a:small: listed with 25, now 15",
    ]
    assert TOOL["lowered"](NOW, LISTED) == {"a:better": 21, "a:same": 40, "a:worse": 25}
