"""The Makefile, `.ci/run` and the image: what people type is what runs."""

import re
import shutil
import subprocess
import sys
from functools import cache

import pytest

from tests.frame.files import ROOT, read

MAKEFILE = read("Makefile")
DOCKERFILE = re.sub(r"\\\n", " ", read("Dockerfile"))
CI = read(".ci/run")
INSTRUCTIONS = re.findall(r"^([A-Z]+) +(.+)$", DOCKERFILE, re.MULTILINE)


@cache
def make(*words: str) -> str:
    program = shutil.which("make")
    assert program, "make is missing"
    command = [program, "--no-print-directory", *words]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S603 - make


def arguments(instruction: str) -> list[str]:
    return [text for name, text in INSTRUCTIONS if name == instruction]


def test_only_ci_runs_slow_tests_and_has_hypothesis_try_harder() -> None:
    assert "pytest -q -n 4 --dist worksteal -m 'not slow and not drill'" in make("-n", "check")
    assert "--hypothesis-profile=large" not in make("-n", "check")
    harder = re.sub(r"\s*\\\n\s*", " ", make("-n", "check-all"))
    assert (
        "--hypothesis-profile=large --timeout=600 -m '(slow or hypothesis) and not drill'" in harder
    )


def test_the_local_slack_is_tested_apart_and_by_check() -> None:
    # What is to be installed first depends on the age of files.
    installed = [f"--old-file=.venv/bin/{one}" for one in (".runtime", ".project", ".dev")]
    assert "packages" not in make("-n", *installed, "test")
    assert "cd packages/slack-on-loopback && ../../.venv/bin/pytest" in make("-n", "test-package")
    assert make("-n", "check-all").count("bin/pytest") == 3


def test_the_local_slack_is_installed_from_its_folder_alone() -> None:
    printed = make("-n", "-W", "packages/slack-on-loopback/pyproject.toml", "demo")
    install = next(line for line in printed.splitlines() if "--editable" in line)
    assert "--no-deps --no-build-isolation --editable . --editable packages/slack-on-loopback" in (
        install
    )


def test_an_old_python_is_refused_in_plain_words() -> None:
    program = shutil.which("make")
    assert program
    command = [program, "PYTHON=", "BIN=no-such-folder", "no-such-folder/.python"]
    result = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)  # noqa: S603 - make
    assert result.returncode != 0
    assert "Moot needs Python 3.11 or newer" in result.stderr


def test_group_prints_included_groups_too() -> None:
    command = [sys.executable, str(ROOT / "tools" / "group.py"), "dev"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own tool
    assert {"editables", "pytest"} <= {re.split(r"[^\w-]", line)[0] for line in printed.split("\n")}


def test_ci_ends_with_what_people_type() -> None:
    _, ending = CI.split("\nexport CI=true\n")
    assert ending.startswith("make test\n")
    made = re.findall(r"^make (?:-\S+ )*(.*)$", ending, re.MULTILINE)
    everything = re.search(r"^check-all: (.*?) ##", MAKEFILE, re.MULTILINE)
    assert everything
    assert sorted(" ".join(made).split()) == sorted(everything[1].split())


def test_image_does_not_run_as_root() -> None:
    assert arguments("USER")
    assert arguments("USER")[-1] not in {"0", "root"}


def test_image_is_built_on_a_pinned_version() -> None:
    assert re.fullmatch(r"PYTHON=3\.\d+\.\d+-slim-\w+", arguments("ARG")[0])
    assert [base.split()[0] for base in arguments("FROM")] == ["python:${PYTHON}"] * 2


def test_image_fetches_nothing_but_locked_packages() -> None:
    assert arguments("ADD") == []
    installs = re.findall(r"pip install ([^&]+)", DOCKERFILE)
    assert installs
    for install in installs:
        assert "--no-cache-dir" in install
        assert "--no-deps" in install
        assert "--require-hashes" in install or "--no-index" in install


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        ("HEALTHCHECK", 'CMD ["moot", "health"]'),
        ("CMD", '["moot", "run"]'),
        ("EXPOSE", "3000"),
        ("VOLUME", "/data"),
        ("ENV", "MOOT_DATABASE=/data/moot.db"),
    ],
)
def test_image_says(instruction: str, text: str) -> None:
    assert text in arguments(instruction)[-1]


@pytest.mark.parametrize(
    "source",
    [word for line in arguments("COPY") if "--from" not in line for word in line.split()[:-1]],
)
def test_image_is_given_what_it_copies(source: str) -> None:
    assert f"!{source}" in read(".dockerignore").splitlines()


def test_image_is_given_no_secrets() -> None:
    rules = read(".dockerignore").splitlines()
    assert "*" in rules
    assert "**/.env" in rules
