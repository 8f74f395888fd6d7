"""Each import contract fails for a breach in a copy of the project."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.frame.files import ROOT, read

CONTRACTS = tomllib.loads(read("pyproject.toml"))["tool"]["importlinter"]["contracts"]
BREACHES = {
    "core-layers": ("core/debate/log.py", "import core.engine"),
    "bot-layers": ("bot/slack/payloads.py", "import bot.views"),
    "core-knows-no-slack": ("core/engine.py", "import slack_sdk"),
    "pure-core": ("core/rules/voting.py", "import asyncio"),
    "who-picks-providers": ("bot/listeners/context.py", "import core.llm.providers.factory"),
    "who-picks-the-store": ("bot/slack/access.py", "import core.store.database"),
    "the-local-slack-is-apart": ("slack_on_loopback/rules.py", "import core.debate.state"),
    "who-starts-the-local-slack": ("bot/app.py", "import slack_on_loopback"),
    "moot-without-its-bench": ("bot/cli.py", "import moot_bench"),
    "no-cycles": ("core/rules/formats/shown.py", "import core.rules.formats.critique"),
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copied")
    shutil.copy(ROOT / "pyproject.toml", folder)
    bench, slack = ROOT / "packages" / "moot-bench", ROOT / "packages" / "slack-on-loopback"
    for package in (ROOT / "core", ROOT / "bot", bench / "moot_bench", slack / "slack_on_loopback"):
        shutil.copytree(package, folder / package.name)
    return folder


def test_every_contract_is_shown_a_breach() -> None:
    assert set(BREACHES) == {contract["id"] for contract in CONTRACTS}


@pytest.mark.parametrize("contract", BREACHES)
def test_a_breach_is_found(copied: Path, contract: str) -> None:
    path, breach = BREACHES[contract]
    whole = (copied / path).read_text(encoding="utf-8")
    (copied / path).write_text(f"{whole}\n{breach}\n", encoding="utf-8")
    lint = str(Path(sys.executable).with_name("lint-imports"))
    command = [lint, "--no-cache", "--contract", contract]
    result = subprocess.run(command, cwd=copied, check=False, capture_output=True, text=True)  # noqa: S603 - our own tool
    (copied / path).write_text(whole, encoding="utf-8")
    assert "0 kept, 1 broken" in result.stdout, result.stdout
