"""The import contracts bite: each is shown a tree that breaks it."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.frame.files import ROOT, read

LINTER: dict[str, Any] = tomllib.loads(read("pyproject.toml"))["tool"]["importlinter"]
CONTRACTS: dict[str, dict[str, Any]] = {
    contract["id"]: contract for contract in LINTER["contracts"]
}
PACKAGES = {
    *("debate", "rules", "acts", "llm", "store", "transcript", "config"),
    *("slack", "listeners", "presenter", "views", "running", "operations", "terminal"),
}

BREACHES = [
    ("core-layers", "core/debate/log.py", "import core.engine"),
    ("core-layers", "core/utils.py", ""),
    ("bot-layers", "bot/slack/payloads.py", "import bot.views"),
    ("core-knows-no-slack", "core/engine.py", "import slack_sdk"),
    ("pure-core", "core/rules/voting.py", "import asyncio"),
    ("who-picks-providers", "bot/listeners/forms.py", "import core.llm.providers.factory"),
    ("who-picks-the-store", "bot/slack/access.py", "import core.store.database"),
    ("the-local-slack-is-apart", "slack_on_loopback/rules.py", "import core.debate.state"),
    ("who-starts-the-local-slack", "bot/app.py", "import slack_on_loopback"),
    ("moot-without-its-bench", "bot/cli.py", "import moot_bench"),
    ("no-cycles", "core/rules/formats/panel.py", "import core.rules.formats.critique"),
]
ALLOWED = [
    ("bot/app.py", "import core.llm.providers.factory\nimport core.store.debates\nimport aiohttp"),
    ("bot/store/records.py", "import core.store.database"),
    ("bot/demo.py", "import slack_on_loopback"),
    ("core/llm/providers/ollama.py", "import httpx2\nimport asyncio\nimport core.ports"),
]


def layers(contract: str) -> list[str]:
    named = " ".join(CONTRACTS[contract]["layers"])
    return re.findall(r"\w+", named)


@pytest.fixture(name="tree")
def build_tree(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for root in ("core", "bot"):
        for module in ["__init__", *layers(f"{root}-layers")]:
            write(tmp_path, f"{root}/{module}" + ("/__init__.py" if module in PACKAGES else ".py"))
    named = CONTRACTS["pure-core"]["source_modules"]
    named += [
        name for contract in CONTRACTS.values() for name in contract.get("allowed_importers", ())
    ]
    for module in named:
        if module.count(".") > 1:
            write(tmp_path, module.replace(".", "/") + ".py")
    write(tmp_path, "moot_bench/__init__.py")
    write(tmp_path, "slack_on_loopback/__init__.py")
    write(tmp_path, "core/llm/providers/factory.py")
    write(tmp_path, "core/store/database.py")
    write(tmp_path, "core/store/debates.py")
    write(tmp_path, "core/rules/formats/critique.py", "import core.rules.formats.panel")
    write(tmp_path, "core/rules/formats/panel.py")
    return tmp_path


def write(tree: Path, path: str, source: str = "") -> None:
    file = tree / path
    file.parent.mkdir(parents=True, exist_ok=True)
    for folder in Path(path).parents[:-1]:
        (tree / folder / "__init__.py").touch()
    file.write_text(source, encoding="utf-8")


def lint(tree: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    options = [word for contract in contracts for word in ("--contract", contract)]
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", *options]
    return subprocess.run(command, cwd=tree, check=False, capture_output=True, text=True)  # noqa: S603 - our own tool


def test_the_layout_as_designed_keeps_every_contract(tree: Path) -> None:
    for path, source in ALLOWED:
        write(tree, path, source)
    result = lint(tree)
    assert result.returncode == 0, result.stdout
    assert f"{len(CONTRACTS)} kept, 0 broken" in result.stdout


@pytest.mark.parametrize(("contract", "path", "source"), BREACHES)
def test_a_breach_is_found(tree: Path, contract: str, path: str, source: str) -> None:
    write(tree, path, source)
    result = lint(tree, contract)
    assert result.returncode == 1
    assert "0 kept, 1 broken" in result.stdout


def test_every_contract_is_shown_a_breach() -> None:
    assert {contract for contract, _, _ in BREACHES} == set(CONTRACTS)
