"""The examples of the README run as they stand, and it names every module and every fault."""

import re
from pathlib import Path
from typing import get_args

import slack_on_loopback
from slack_on_loopback.faults import FaultKind

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
EXAMPLE = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)[0]


async def test_the_example_runs() -> None:
    names: dict[str, object] = {}
    exec(compile(EXAMPLE, "README.md", "exec"), names)  # noqa: S102 - our own example
    tests = [names[name] for name in names if name.startswith("test_")]
    assert len(tests) == 1
    await tests[0]()  # pyright: ignore[reportCallIssue]


def test_every_module_public_name_and_fault_is_named() -> None:
    package = ROOT / "slack_on_loopback"
    modules = [
        path.relative_to(package).with_suffix("").as_posix()
        for path in package.rglob("*.py")
        if path.stem != "__init__"
    ]
    names = (*modules, *slack_on_loopback.__all__, *get_args(FaultKind))
    assert [name for name in names if not re.search(rf"`[^`\n]*\b{name}\b", README)] == []
