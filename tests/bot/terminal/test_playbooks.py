"""`moot playbook`: what it lists, shows and checks, and with which exit code."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.cli import app
from core.config.playbooks import built_in, built_in_text

OWN = built_in_text("rfc-review").replace("title: RFC review", "title: Our review")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A settings file with a playbook of the team's and a broken one beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moot.yaml").write_text("debate:\n  rounds: 2\n")
    (tmp_path / "playbooks").mkdir()
    (tmp_path / "playbooks" / "own.yaml").write_text(OWN)
    (tmp_path / "playbooks" / "broken.yaml").write_text("name: x\nrouns: 2\n")
    return tmp_path


def moot(*words: str) -> Result:
    return CliRunner().invoke(app, ["playbook", *words, "--config", "moot.yaml"])


def test_all_are_listed_with_whose_they_are_and_broken_ones_are_named(folder: Path) -> None:
    listed = moot("list")

    assert listed.exit_code == 0
    assert "rfc-review (playbooks/own.yaml, instead of the built-in one)" in listed.stdout
    assert "vendor-choice (built in)" in listed.stdout
    assert 'broken.yaml, line 2: rouns is no key of a playbook. Did you mean "rounds"?' in (
        listed.stderr
    )
    assert len(json.loads(moot("list", "--json").stdout)) == len(built_in())


def test_one_is_shown_as_its_file_has_it(folder: Path) -> None:
    assert moot("show", "rfc-review").stdout == OWN
    assert moot("show", "build-or-buy").stdout == built_in_text("build-or-buy")
    assert json.loads(moot("show", "build-or-buy", "--json").stdout)["title"] == "Build or buy"


def test_checking_exits_with_4_where_one_cannot_be_used(folder: Path) -> None:
    broken = moot("check")
    (folder / "playbooks" / "broken.yaml").unlink()
    mended = moot("check")

    assert broken.exit_code == 4
    assert "line 2: rouns" in broken.stderr
    assert mended.exit_code == 0
    assert mended.stdout == "playbooks/own.yaml can be used: Our review.\n"
    assert moot("check", "playbooks/own.yaml").exit_code == 0
    assert json.loads(moot("check", "moot.yaml", "--json").stdout)["usable"] is False
