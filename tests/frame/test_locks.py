"""The lock files: complete, with hashes, and without a trace of the machine that made them."""

import re
import tomllib
from itertools import chain

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.frame.files import ROOT, project_files, read

RUNTIME, BUILD, DEV = "requirements.lock", "requirements-build.lock", "requirements-dev.lock"
EXTRAS = "requirements-extras.lock"
LOCKS = [RUNTIME, EXTRAS, BUILD, DEV]
PYPROJECT = tomllib.loads(read("pyproject.toml"))
#: Installed from its folder, so no lock names it; its requirements are in the lock.
LOCAL_SLACK = tomllib.loads(read("packages/slack-on-loopback/pyproject.toml"))["project"]
PIN = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>\S+)", re.MULTILINE)


def pins(lock: str) -> dict[str, str]:
    return {match["name"]: match["version"] for match in PIN.finditer(read(lock))}


def requirements_of(lock: str) -> list[Requirement]:
    groups = PYPROJECT["dependency-groups"]
    runtime = PYPROJECT["project"]["dependencies"]
    extras = PYPROJECT["project"]["optional-dependencies"]
    optional = chain.from_iterable(extras.values())
    lines = {
        RUNTIME: [*runtime, *LOCAL_SLACK["dependencies"]],
        EXTRAS: [*runtime, *(line for line in optional if line != LOCAL_SLACK["name"])],
        BUILD: groups["build"],
        DEV: [line for line in groups["dev"] if isinstance(line, str)] + groups["build"],
    }[lock]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize(
    "trace", ["://", "--index-url", "--extra-index-url", "--find-links", "/work", "/root", "/opt"]
)
def test_lock_tells_nothing_about_the_machine_that_made_it(lock: str, trace: str) -> None:
    assert trace not in read(lock)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash(lock: str) -> None:
    entries = re.split(r"^(?=[a-z0-9])", read(lock), flags=re.MULTILINE)[1:]
    assert len(entries) == len(pins(lock)) > 0
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_fulfils_what_pyproject_asks_for(lock: str) -> None:
    locked = pins(lock)
    unmet = [
        str(need)
        for need in requirements_of(lock)
        if (version := locked.get(canonicalize_name(need.name))) is None
        or not need.specifier.contains(version, prereleases=True)
    ]
    assert unmet == [], f"{lock} is out of date, run: make lock"


@pytest.mark.parametrize("lock", [RUNTIME, EXTRAS, BUILD])
def test_development_uses_the_versions_that_people_run(lock: str) -> None:
    assert pins(lock).items() <= pins(DEV).items()


def test_the_bot_is_the_same_with_extras() -> None:
    assert pins(RUNTIME).items() <= pins(EXTRAS).items()


def test_no_lock_is_missing_from_the_project() -> None:
    locks = [path for path in project_files() if path.suffix == ".lock"]
    assert sorted(locks) == sorted(ROOT / name for name in LOCKS)
