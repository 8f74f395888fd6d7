"""The gauge counts every way through a function, and its list of known ones may only shrink."""

import ast
import runpy
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.frame.files import ROOT

TOOL: Mapping[str, Any] = runpy.run_path(str(ROOT / "tools" / "complexity.py"))


def complexity_of(body: str) -> int:
    (function,) = ast.parse(f"def f(a, b, c):\n    {body}").body
    return int(TOOL["complexity"](function))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return a", 1),
        ("return a if b else c", 2),
        ("return a and b and c", 3),
        ("return [x for x in a if x]", 2),
        ("return [x for y in a for x in y]", 3),
        ("while a: b()", 2),
        ("for x in a: b(x)", 2),
        ("if a: b()\n    elif c: b()\n    else: c()", 3),
        ("try: a()\n    except ValueError: b()\n    except OSError: c()", 3),
        ("match a:\n        case 1: b()\n        case _: c()", 3),
        ("def g(): return a if b else c\n    return g", 2),
    ],
)
def test_every_way_through_a_function_counts(body: str, expected: int) -> None:
    assert complexity_of(body) == expected


def test_methods_have_the_name_of_their_class() -> None:
    source = "class A:\n    def b(self): ...\n    async def c(self): ...\nif 1:\n    def d(): ..."
    names = [name for name, _ in TOOL["functions"](ast.parse(source))]
    assert names == ["A.b", "A.c", "d"]


def faults(values: Mapping[str, int], limits: Mapping[str, int]) -> list[str]:
    lines: Iterator[str] = TOOL["faults"](values, limits)
    return [line.partition(". ")[0] for line in lines]


def test_what_is_too_complex_and_not_listed_is_named() -> None:
    assert faults({"core/a.py:f": 21, "core/a.py:g": 20}, {}) == [
        "core/a.py:f: complexity 21, at most 20"
    ]


def test_a_listed_function_may_not_get_worse_and_the_list_is_kept_up_to_date() -> None:
    limits = {"a:worse": 25, "a:better": 30, "a:gone": 22, "a:same": 40}
    values = {"a:worse": 26, "a:better": 21, "a:same": 40}
    assert faults(values, limits) == [
        "a:worse: complexity 26, at most 25",
        "a:better: listed with 30, now 21",
        "a:gone: listed with 22, gone",
    ]


def test_the_list_is_only_lowered() -> None:
    limits = {"a:better": 30, "a:gone": 22, "a:small": 25, "a:worse": 21}
    values = {"a:better": 23, "a:small": 20, "a:worse": 50, "a:new": 99}
    assert TOOL["lowered"](values, limits) == {"a:better": 23, "a:worse": 21}
