"""The image: a wheel of exactly the files that Docker would be given can be built, and works.

Docker itself is not needed. What `.dockerignore` lets through and the Dockerfile copies is copied
to a folder, the wheel is built there, and installed beside the packages that Moot needs.
"""

import asyncio
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from asyncio.subprocess import PIPE
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from slack_on_loopback import run_workspace
from tests.frame.files import ROOT, project_files, read
from tests.free_port import free_port
from tests.scenarios.test_http_mode import without_socket_mode

SLACK = ROOT / "packages" / "slack-on-loopback"

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
    """The work folder of the image's build stage."""
    return filled_as_docker_does(tmp_path_factory.mktemp("image"))


def filled_as_docker_does(folder: Path) -> Path:
    """Put into a folder what the Dockerfile's build stage is given; return the folder."""
    for file in project_files():
        path = file.relative_to(ROOT)
        for target in () if is_ignored(path) else copied(path):
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / target)
    return folder


#: Everything is read-only but one folder, and if we may choose, the user is the image's: one who
#: may read everything here and write nothing that is ours.
CONFINED = """
mount --make-rprivate / && mount --bind "$0" "$0" && mount -o remount,bind,ro / || exit 99
for place in /dev/shm /tmp /home /var/tmp; do
  ! mountpoint -q $place || mount -o remount,bind,ro $place || exit 99
done
[ "$(id -u)" = 0 ] && [ -z "$INSIDE" ] || exec "$@"
chown 10001:10001 "$0"
exec setpriv --reuid 10001 --regid 10001 --clear-groups \\
  --inh-caps +dac_read_search --ambient-caps +dac_read_search "$@"
"""


def confined(data: Path, *command: str | Path) -> list[str]:
    """The command as the container runs it: no file can be written but in this folder.

    Skips the test where the machine does not let us.
    """
    own = ("unshare", "-m") if os.getuid() == 0 else ("unshare", "-rm", "env", "INSIDE=yes")
    whole = [*own, "sh", "-c", CONFINED, str(data), *map(str, command)]
    tried = subprocess.run([*whole[: -len(command)], "true"], check=False, capture_output=True)  # noqa: S603
    if tried.returncode:
        pytest.skip(f"no file system of our own here: {tried.stderr.decode().strip()}")
    return whole


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program without any variable of this machine but the path to it."""
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
    """The command `moot` of a wheel built as in the image, in an environment of its own."""
    with public_folder() as folder:
        yield installed(folder, build_folder)


@pytest.fixture(scope="session")
def moot_with_demo(build_folder: Path) -> Iterator[Path]:
    """The same with the local Slack's own wheel beside it."""
    with public_folder() as folder:
        yield installed(folder, build_folder, SLACK)


@pytest.fixture
def data() -> Iterator[Path]:
    """The folder that the container may write to."""
    with public_folder() as folder:
        (folder / "data").mkdir()
        yield folder / "data"


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


def test_the_installed_bot_says_its_version(moot: Path, tmp_path: Path) -> None:
    result = run(moot, "--version", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert re.fullmatch(r"moot \d+\.\d+\.\d+\n", result.stdout)


def test_the_installed_bot_has_its_manifest(moot: Path, tmp_path: Path) -> None:
    python = moot.read_text(encoding="utf-8").splitlines()[0].removeprefix("#!")
    code = (
        "from bot.slack.manifest import manifest; print(manifest()['display_information']['name'])"
    )
    result = run(python, "-c", code, cwd=tmp_path)
    assert result.stdout == "Moot\n", result.stderr


def test_health_of_the_image_says_in_words_that_nothing_runs(moot: Path, tmp_path: Path) -> None:
    result = run(moot, "health", cwd=tmp_path)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert result.stdout.strip()


def test_doctor_of_the_image_looks_at_everything(moot: Path, tmp_path: Path) -> None:
    result = run(moot, "doctor", cwd=tmp_path)
    assert "Traceback" not in result.stderr
    assert "database" in result.stdout


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


@pytest.mark.slow
def test_in_the_image_nothing_can_be_written_but_the_data(moot: Path, data: Path) -> None:
    tried = run(*confined(data, "touch", data / "in", data.parent / "outside"), cwd=data)
    assert tried.returncode != 0
    assert [path.name for path in data.parent.iterdir()] == ["data"]
    assert (data / "in").exists()

    debated = run(*confined(data, moot, "debate", "Kafka or SQS?"), cwd=data)
    assert debated.returncode == 0, debated.stderr
    assert (data / "moot.db").stat().st_size > 0
    if os.getuid() == 0:
        assert (data / "moot.db").stat().st_uid == 10001


@pytest.mark.slow
async def test_the_image_runs_is_healthy_and_stops(moot: Path, data: Path) -> None:
    """The command and the health check of the Dockerfile, with its variables."""
    lines = read("Dockerfile")
    started = json.loads(re.findall(r"^CMD (.+)$", lines, re.MULTILINE)[-1])
    command = json.loads(re.findall(r"CMD (\[\"moot\", \"health\"\])", lines)[0])
    port = free_port()
    async with run_workspace(without_socket_mode()) as workspace:
        env = {
            "PATH": os.defpath,
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(data),
            "MOOT_DATABASE": str(data / "moot.db"),
            "MOOT_PORT": str(port),
            "MOOT_LOG_FORMAT": "json",
            "SLACK_BOT_TOKEN": workspace.bot_token,
            "SLACK_SIGNING_SECRET": workspace.signing_secret,
            "SLACK_API_URL": workspace.api_url,
        }
        bot = await asyncio.create_subprocess_exec(
            *confined(data, moot, *started[1:]), cwd=data, env=env, stderr=PIPE
        )
        assert bot.stderr is not None
        log = ""
        async with asyncio.timeout(300):
            while '"event": "running"' not in log:
                line = await bot.stderr.readline()
                assert line, log
                log += line.decode()
        health = await asyncio.create_subprocess_exec(moot, *command[1:], env=env, stdout=PIPE)
        output, _ = await health.communicate()
        bot.terminate()
        rest = await bot.stderr.read()
        code = await asyncio.wait_for(bot.wait(), 300)
    assert (health.returncode, json.loads(output)["status"]) == (0, "ok")
    assert code == 0, log + rest.decode()
    assert "Traceback" not in log + rest.decode()


def test_the_wheel_holds_every_file_of_the_packages(moot: Path) -> None:
    packages = moot.parents[1]
    ours = [
        path.relative_to(ROOT)
        for path in project_files()
        if path.relative_to(ROOT).parts[0] in {"bot", "core"}
    ]
    assert [path for path in ours if path.suffix not in {".py", ".typed"}]
    assert [path for path in ours if not (packages / path).is_file()] == []
