"""House rules without a linter: sizes, names, first lines, no trace of a machine."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.frame.files import (
    LOCAL_SLACK,
    LOCAL_SLACK_TESTS,
    ROOT,
    modules,
    project_files,
    tree,
)

LONGEST_FILE = 500
LONGEST_FUNCTION = 50
#: Functions that are read from top to bottom; splitting them would not help the reader.
LONGER_FUNCTIONS = {
    "bot/app.py running": "starts all parts, in order",
    "bot/app.py __init__": "makes the parts that need each other, in order",
    "bot/app.py _use_cases": "makes one of each thing that people can do",
    "bot/listeners/messages.py _answer_mention": "one case per thing that can be asked for",
    "bot/serving.py serve": "hands every setting on, from the environment to the bot",
    "bot/terminal/debating.py hold": "the command from what was typed to the exit code",
    "bot/terminal/records.py score": "the command from what was typed to the exit code",
    "packages/moot-bench/moot_bench/bench.py hold_bench": "from what was typed to the exit code",
    "bot/views/start_form.py start_form": "the form's fields in their order",
    "bot/views/start_form.py settings_form": "the form's fields in their order",
    "core/transcript/record.py outcome": "the record's keys in their order",
    "tests/core/dice.py outcome": "one case per act",
    "bot/debate_page/page.py page": "the parts of the page in their order",
    "core/opening.py open_debate": "what a debate starts from, field by field",
}
BANNED_WORDS = ("Manager", "Service", "Helper", "Util", "Data", "Info")
TRACES = {
    "a machine's path": r"(?<![\w.~*#-])/(?:work|root|opt|home|Users)/\w",
    "a registry's address": r"pypi\.org|pythonhosted\.|registry\.npmjs",
    "a private package source": r"(?<!no-emit)--(?:index-url|extra-index-url|find-links)",
}
#: The files that define traces.
ABOUT_TRACES = {"tests/frame/test_house_rules.py", "tests/frame/test_locks.py"}
#: The installed packages.
PRODUCTS = ("core", "bot", "packages/moot-bench/moot_bench", LOCAL_SLACK)
EVERYTHING = (*PRODUCTS, "tests", "bench", "packages/moot-bench/tests", LOCAL_SLACK_TESTS)
#: Modules that may format numbers, for people and for programs (CSV).
ALLOWED_TO_FORMAT = {
    "core/figures.py",
    "core/transcript/evaluation.py",
    "bot/operations/backup.py",  # the name of a file
    "bot/listeners/catch_up.py",  # a timestamp as Slack writes it
}
#: Their text is Slack's or a model's, not Moot's.
NOT_MOOTS_WORDS = ("workspace", "providers/offline")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, Function))


def test_every_module_says_what_it_is() -> None:
    silent = [name(path) for path in modules(*PRODUCTS) if not ast.get_docstring(tree(path))]
    assert silent == []


def test_there_is_no_dumping_ground() -> None:
    dumps = {"utils", "util", "helpers", "helper", "misc", "common"}
    assert [name(path) for path in modules(*EVERYTHING) if path.stem in dumps] == []


def test_a_long_file_has_a_reason() -> None:
    long = [
        f"{name(path)}: {lines(path)} lines"
        for path in modules(*PRODUCTS)
        if lines(path) > LONGEST_FILE and "Reason:" not in (ast.get_docstring(tree(path)) or "")
    ]
    assert long == [], f"Over {LONGEST_FILE}: split it, or say why in its docstring (“Reason: …”)."


def is_one_match(function: Function) -> bool:
    """Whether the function is one `match` over all cases, which may be long."""
    last = function.body[-1]
    if len(function.body) > 2 or not isinstance(last, ast.Match):
        return False
    return "assert_never(" in ast.unparse(last.cases[-1])


def test_functions_are_short() -> None:
    long = [
        f"{name(path)}:{function.lineno} {function.name}: {length} lines"
        for path in modules(*EVERYTHING)
        for function in functions(path)
        if (length := (function.end_lineno or 0) - function.lineno + 1) > LONGEST_FUNCTION
        and not is_one_match(function)
        and f"{name(path)} {function.name}" not in LONGER_FUNCTIONS
    ]
    assert long == [], (
        f"Over {LONGEST_FUNCTION}: split it, or add it with its reason to LONGER_FUNCTIONS."
    )


def test_only_one_module_formats_money_time_and_counts() -> None:
    """One amount has one form, not `$0.50` in one place and `$0.5000` in another."""
    spec = re.compile(r"[:][<>]?\d*(?:,|,?\.\df|\.\d%)\}|[$]\{|strftime\(")
    lines = [
        f"{name(path)}: {line.strip()}"
        for path in modules("core", "bot")
        for line in path.read_text(encoding="utf-8").splitlines()
        if spec.search(line)
        and name(path) not in ALLOWED_TO_FORMAT
        and not any(part in name(path) for part in NOT_MOOTS_WORDS)
    ]
    assert lines == []


def classes(*packages: str) -> list[str]:
    return [
        node.name
        for path in modules(*packages)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
    ]


def test_class_names_have_no_empty_words() -> None:
    # CamelCase is split: `ModelDataLoader` is Model, Data, Loader.
    banned = {*BANNED_WORDS, "Utils", "Helpers"}
    split = {
        name: re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", name) for name in classes(*EVERYTHING)
    }
    assert [name for name, words in split.items() if banned & set(words)] == []


def test_no_class_of_the_product_is_called_like_another() -> None:
    counted = Counter(classes("core", "bot"))
    assert [name for name, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("kind", TRACES)
def test_files_carry_no_trace_of_a_machine(kind: str) -> None:
    trace = re.compile(TRACES[kind])
    lines = [
        f"{name(path)}:{number}: {line.strip()[:80]}"
        for path in project_files()
        if name(path) not in ABOUT_TRACES
        if b"\0" not in (content := path.read_bytes())
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1)
        if trace.search(line)
    ]
    assert lines == []
