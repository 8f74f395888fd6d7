"""Plugins installed beside Moot in an environment of their own: they debate, a broken one does not.

The packages are the examples of `docs/extending.md`, as people would copy them.
"""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from core.debate.turn import Act
from core.request import ModelRequest, Part, PartKind
from core.testing import plausible_reply
from tests.frame.files import ROOT

EXAMPLES = ROOT / "docs" / "examples" / "plugins"
QUESTION = "Captions or a transcript for our videos? Nobody may be shut out."
BROKEN = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "moot-broken"
version = "0.3"
[project.entry-points."moot.roles"]
broken = "moot_broken:ROLE"
[tool.hatch.build.targets.wheel]
only-include = ["moot_broken.py"]
"""


class HouseServer(ThreadingHTTPServer):
    """The model server of the example's provider: it remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.asked: list[dict[str, Any]] = []
        self.keys = set[str | None]()


class _Answering(BaseHTTPRequestHandler):
    server: HouseServer  # pyright: ignore[reportIncompatibleVariableOverride] - ours

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(question)
        self.server.keys.add(self.headers["X-Key"])
        form = json.dumps(question["form"])
        labels = list(dict.fromkeys(re.findall(r'"(p\d)"', form)))
        parts = [Part(kind=PartKind.CANDIDATE, label=label, text="") for label in labels]
        options = list(dict.fromkeys(re.findall(r"^(o\d):", question["prompt"], re.MULTILINE)))
        text = "\n".join(f"{option}: it" for option in options)
        parts.append(Part(kind=PartKind.OPTIONS, label="Options", text=text))
        act = Act.BALLOT if labels else Act.PROPOSAL
        request = ModelRequest(
            model="m", act=act, role="any", system="", parts=parts, delimiter="d"
        )
        reply = {"text": plausible_reply(request), "read": 100, "written": 20}
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Say nothing."""


@dataclass(frozen=True)
class Installed:
    """Moot in a fresh environment, with plugins beside it."""

    python: Path
    folder: Path

    def moot(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own program
            [self.python, "-c", "from bot.cli import main; main()", *words],
            cwd=self.folder,
            env={"MOOT_DATABASE": "moot.db", "HOME": str(self.folder), **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("plugins")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    # What the locks installed is there already; only the plugins are installed anew.
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = folder / "venv" / "lib" / version / "site-packages"
    here = [sysconfig.get_path("purelib"), str(ROOT)]
    (site / "moot-here.pth").write_text("\n".join(here) + "\n", encoding="utf-8")
    packages = folder / "packages"
    shutil.copytree(EXAMPLES, packages)
    broken = packages / "moot-broken"
    broken.mkdir()
    (broken / "pyproject.toml").write_text(BROKEN, encoding="utf-8")
    (broken / "moot_broken.py").write_text("import not_there\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    pip += ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*pip, *map(str, sorted(packages.iterdir()))], check=True, timeout=300)  # noqa: S603 - pip
    return Installed(python=python, folder=folder)


@pytest.fixture
def house() -> Iterator[HouseServer]:
    server = HouseServer()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_installed_plugins_debate_and_a_broken_one_is_left_out(
    installed: Installed, house: HouseServer
) -> None:
    journal, settings = installed.folder / "journal.jsonl", installed.folder / "moot.yaml"
    settings.write_text(
        "agents:\n"
        "  - {id: accessibility, role: accessibility, provider: house}\n"
        "  - {id: security, role: security}\n",
        encoding="utf-8",
    )
    variables = {
        "MOOT_PLUGIN_JOURNAL_FILE": str(journal),
        "MOOT_PLUGIN_HOUSE_URL": f"http://127.0.0.1:{house.server_port}",
        "MOOT_PLUGIN_HOUSE_KEY": "a-house-key",
        "MOOT_CONFIG": str(settings),
    }

    listed = installed.moot("doctor", **variables)
    command = ("debate", QUESTION, "--format", "premortem", "--json", "--rounds", "1")
    process = installed.moot(*command, **variables)
    debate_id = json.loads(process.stdout)["debate_id"]
    shown_without = installed.moot("show", debate_id, MOOT_PLUGINS="none")
    # A broken one beside them is named, with the package it comes from.
    missing = "No module named 'not_there'"
    why = f"role broken of moot-broken 0.3{{}} left out: ModuleNotFoundError: {missing}"
    for plugin in ("format premortem", "provider house", "role accessibility", "sink journal"):
        assert f"✓ {plugin} of moot-" in listed.stdout
    assert f"✗ {why.format(':')}" in listed.stdout
    assert listed.returncode == 4
    assert f"Notice: The {why.format(' is')}." in process.stderr
    assert process.returncode == 0, process.stderr
    # Its role debated in its format, and its provider was asked, with its key.
    events = [load["event"] for load in json.loads(process.stdout)["events"]]
    contributions = [item["contribution"] for item in events if item["kind"] == "contribution_made"]
    turns = [item["turn"] for item in contributions]
    acts = {turn["act"] for turn in turns if turn["agent"] == "accessibility"}
    assert acts == {"proposal", "debate", "refinement"}
    prompts = [item["prompt"] for item in house.asked]
    assert all("who see, hear, move or read" in prompt for prompt in prompts)
    assert any("each failed" in prompt for prompt in prompts)
    assert house.keys == {"a-house-key"}
    lines = map(json.loads, journal.read_text(encoding="utf-8").splitlines())  # of its sink
    assert [line["event"] for line in lines] == ["DebateStarted", "DebateConcluded"]
    # Without the plugins the debate can be read: its log holds what it needs.
    assert shown_without.returncode == 0, shown_without.stderr
    assert "premortem" in shown_without.stdout
