"""The image: the wheel of exactly the files that Docker copies can be built and works.

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
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.frame.files import ROOT, project_files, read

SLACK = ROOT / "packages" / "slack-on-loopback"

IGNORED = [line for line in read(".dockerignore").splitlines() if line and line[0] != "#"]


def is_ignored(path: Path) -> bool:
    """Whether `.dockerignore` excludes a file: the last matching rule decides."""
    names = [path.as_posix(), *(folder.as_posix() for folder in path.parents)]
    ignored = False
    for rule in IGNORED:
        pattern = rule.lstrip("!").removeprefix("**/")
        whole = names if "**/" not in rule else [part for name in names for part in name.split("/")]
        if any(fnmatch.fnmatchcase(name, pattern) for name in whole):
            ignored = not rule.startswith("!")
    return ignored


def copied(path: Path) -> Iterator[Path]:
    """Yield the paths, below the work folder, to which the Dockerfile's build stage copies it."""
    for line in re.findall(r"^COPY (?!--from)(.+)$", read("Dockerfile"), re.MULTILINE):
        *sources, target = line.split()
        for source in map(Path, sources):
            if source == path:
                yield Path(target) / path.name if target.endswith("/") else Path(target)
            elif source in path.parents:
                yield Path(target) / path.relative_to(source)


@pytest.fixture(scope="session")
def build_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled_as_docker_does(tmp_path_factory.mktemp("image"))


def filled_as_docker_does(folder: Path) -> Path:
    for file in project_files():
        path = file.relative_to(ROOT)
        for target in () if is_ignored(path) else copied(path):
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / target)
    return folder


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program with no variable of this machine but PATH."""
    return subprocess.run(  # noqa: S603 - our own programs
        list(map(str, command)),
        cwd=cwd,
        env={
            "PATH": os.defpath,
            "HOME": str(cwd),
            "MOOT_DATABASE": str(cwd / "moot.db"),
            "MOOT_PORT": "1",
        },
        stdin=subprocess.DEVNULL,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )


@contextmanager
def public_folder() -> Generator[Path]:
    """Make a folder that every user can read: pytest's own are for us only."""
    with TemporaryDirectory(prefix="moot-image-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="session")
def moot(build_folder: Path) -> Iterator[Path]:
    with public_folder() as folder:
        yield installed(folder, build_folder)


@pytest.fixture(scope="session")
def moot_with_demo(build_folder: Path) -> Iterator[Path]:
    with public_folder() as folder:
        yield installed(folder, build_folder, SLACK)


def installed(folder: Path, *sources: Path) -> Path:
    """Build a wheel of each source, install them into an empty environment; return `moot`."""
    for source in sources:
        command = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
        built = run(*command, cwd=source)
        assert built.returncode == 0, built.stderr
    environment = folder / "venv"
    result = run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=folder)
    assert result.returncode == 0, result.stderr
    # The packages that are installed here, without those that are installed from this checkout:
    # the `.pth` files of a folder that a `.pth` file names are not read.
    paths = {"base": str(environment), "platbase": str(environment)}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    (packages / "here.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    python, wheels = environment / "bin" / "python", folder.glob("*.whl")
    options = ("--no-deps", "--no-index", "--no-compile", "--force-reinstall", "--target", packages)
    command = (sys.executable, "-m", "pip", "install", "-q", *options, *wheels)
    put_in = run(*command, cwd=folder)
    assert put_in.returncode == 0, put_in.stderr
    script = packages / "bin" / "moot"
    text = script.read_text(encoding="utf-8")
    script.write_text(text.replace(sys.executable, str(python)), encoding="utf-8")
    return script


def test_image_gets_what_the_wheel_is_made_of_and_no_more(build_folder: Path) -> None:
    names = {path.relative_to(build_folder).parts[0] for path in build_folder.rglob("*")}
    assert {"bot", "core", "manifest.yaml", "pyproject.toml", "README.md", "LICENSE"} <= names
    assert not names & {"tests", "bench", "packages", ".env", "moot.db", ".git"}


def test_the_installed_bot_is_the_wheels(moot: Path, tmp_path: Path) -> None:
    python = moot.read_text(encoding="utf-8").splitlines()[0].removeprefix("#!")
    where = "import bot, core; print(bot.__file__, core.__file__)"
    files = run(python, "-c", where, cwd=tmp_path).stdout.split()
    assert [Path(file).parents[1] for file in files] == [moot.parents[1]] * 2


def test_the_image_has_no_demonstration_and_says_what_is_missing(
    moot: Path, tmp_path: Path
) -> None:
    result = run(moot, "demo", "--once", cwd=tmp_path)
    assert result.returncode == 4
    assert result.stdout == ""
    assert result.stderr.startswith("Error: `moot demo` needs the local Slack")
    assert result.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        ("demo --once --fast --port 0", 0, "What would overturn it"),
        ("debate Kafka or PostgreSQL for our job queue? --rounds 1", 0, "PostgreSQL"),
        ("--version", 0, "moot "),
        ("health", 1, ""),
        ("list", 0, ""),
        ("mcp", 0, ""),
        ("run", 4, "SLACK_BOT_TOKEN is missing"),
        ("config show", 0, "debate:"),
        ("playbook list", 0, "vendor-choice"),
    ],
    ids=lambda call: call[0].split()[0],
)
def test_the_wheels_alone_work_in_an_empty_folder(
    moot_with_demo: Path, tmp_path: Path, call: tuple[str, int, str]
) -> None:
    line, code, text = call
    result = run(moot_with_demo, *line.split(), cwd=tmp_path)
    assert result.returncode == code, result.stderr
    assert text in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


def test_the_wheel_holds_every_file_of_the_packages(moot: Path) -> None:
    packages = moot.parents[1]
    ours = [
        path.relative_to(ROOT)
        for path in project_files()
        if path.relative_to(ROOT).parts[0] in {"bot", "core"}
    ]
    assert [path for path in ours if path.suffix not in {".py", ".typed"}]
    assert [path for path in ours if not (packages / path).is_file()] == []
