"""The image: a wheel of exactly the files that Docker would be given can be built, and works.

Docker itself is not needed. What `.dockerignore` lets through and the Dockerfile copies is copied
to a folder, the wheel is built there, and installed beside the packages that Moot needs.
"""

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.frame.files import ROOT, project_files, read

IGNORED = [line for line in read(".dockerignore").splitlines() if line and line[0] != "#"]


def is_ignored(path: Path) -> bool:
    """Whether `.dockerignore` keeps a file away: the last rule that names it decides."""
    names = [path.as_posix(), *(folder.as_posix() for folder in path.parents)]
    ignored = False
    for rule in IGNORED:
        pattern = rule.lstrip("!").removeprefix("**/")
        whole = names if "**/" not in rule else [part for name in names for part in name.split("/")]
        if any(fnmatch.fnmatchcase(name, pattern) for name in whole):
            ignored = not rule.startswith("!")
    return ignored


def copied(path: Path) -> Iterator[Path]:
    """Yield where the build stage of the Dockerfile copies a file to, below its work folder."""
    for line in re.findall(r"^COPY (?!--from)(.+)$", read("Dockerfile"), re.MULTILINE):
        *sources, target = line.split()
        for source in map(Path, sources):
            if source == path:
                yield Path(target) / path.name if target.endswith("/") else Path(target)
            elif source in path.parents:
                yield Path(target) / path.relative_to(source)


@pytest.fixture(scope="session")
def build_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The work folder of the image's build stage, as Docker would fill it."""
    folder = tmp_path_factory.mktemp("image")
    for file in project_files():
        path = file.relative_to(ROOT)
        for target in () if is_ignored(path) else copied(path):
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / target)
    return folder


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program without any variable of this machine but the path to it."""
    return subprocess.run(  # noqa: S603 - our own programs
        list(map(str, command)),
        cwd=cwd,
        env={"PATH": os.defpath, "MOOT_DATABASE": str(cwd / "moot.db"), "MOOT_PORT": "1"},
        check=False,
        capture_output=True,
        text=True,
        timeout=50,
    )


@pytest.fixture(scope="session")
def moot(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command `moot` of a wheel built as in the image, in an environment of its own."""
    folder = tmp_path_factory.mktemp("installed")
    built = run(
        sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=build_folder
    )
    assert built.returncode == 0, built.stderr
    environment = folder / "venv"
    made = run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=folder)
    assert made.returncode == 0, made.stderr
    # The packages that are installed here, without those that are installed from this checkout:
    # the `.pth` files of a folder that a `.pth` file names are not read.
    paths = {"base": str(environment), "platbase": str(environment)}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    (packages / "here.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    python, wheel = environment / "bin" / "python", next(folder.glob("*.whl"))
    options = ("--no-deps", "--no-index", "--no-compile", "--force-reinstall", "--target", packages)
    command = (sys.executable, "-m", "pip", "install", "-q", *options, wheel)
    installed = run(*command, cwd=folder)
    assert installed.returncode == 0, installed.stderr
    script = packages / "bin" / "moot"
    text = script.read_text(encoding="utf-8")
    script.write_text(text.replace(sys.executable, str(python)), encoding="utf-8")
    return script


def test_image_gets_what_the_wheel_is_made_of_and_no_more(build_folder: Path) -> None:
    found = {path.relative_to(build_folder).parts[0] for path in build_folder.rglob("*")}
    assert {"bot", "core", "manifest.yaml", "pyproject.toml", "README.md", "LICENSE"} <= found
    assert not found & {"tests", "bench", "packages", ".env", "moot.db", ".git"}


def test_the_installed_bot_is_the_wheels(moot: Path, tmp_path: Path) -> None:
    python = moot.read_text(encoding="utf-8").splitlines()[0].removeprefix("#!")
    where = "import bot, core; print(bot.__file__, core.__file__)"
    found = run(python, "-c", where, cwd=tmp_path).stdout.split()
    assert [Path(file).parents[1] for file in found] == [moot.parents[1]] * 2


def test_the_installed_bot_says_its_version(moot: Path, tmp_path: Path) -> None:
    said = run(moot, "--version", cwd=tmp_path)
    assert (said.returncode, said.stderr) == (0, "")
    assert re.fullmatch(r"moot \d+\.\d+\.\d+\n", said.stdout)


def test_the_installed_bot_has_its_manifest(moot: Path, tmp_path: Path) -> None:
    python = moot.read_text(encoding="utf-8").splitlines()[0].removeprefix("#!")
    code = (
        "from bot.slack.manifest import manifest; print(manifest()['display_information']['name'])"
    )
    said = run(python, "-c", code, cwd=tmp_path)
    assert said.stdout == "Moot\n", said.stderr


def test_health_of_the_image_says_in_words_that_nothing_runs(moot: Path, tmp_path: Path) -> None:
    said = run(moot, "health", cwd=tmp_path)
    assert said.returncode == 1
    assert "Traceback" not in said.stderr
    assert said.stdout.strip()


def test_doctor_of_the_image_looks_at_everything(moot: Path, tmp_path: Path) -> None:
    said = run(moot, "doctor", cwd=tmp_path)
    assert "Traceback" not in said.stderr
    assert "database" in said.stdout


def test_the_image_has_no_demonstration_and_says_what_is_missing(
    moot: Path, tmp_path: Path
) -> None:
    said = run(moot, "demo", "--once", cwd=tmp_path)
    assert said.returncode == 4
    assert said.stdout == ""
    assert said.stderr.startswith("Error: `moot demo` needs the local Slack")
    assert said.stderr.count("\n") == 1
