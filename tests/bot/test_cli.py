"""The command line as people use it: words, exit codes, a clean end."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.command_line import moot
from tests.frame.files import ROOT

ENVIRONMENT = {"COLUMNS": "100", "OLLAMA_HOST": "http://127.0.0.1:9"}
KEY = {**ENVIRONMENT, "OPENAI_API_KEY": "sk-not-a-real-key-000"}
MAIN = "from bot.cli import main; main()"


def process(
    code: str, *words: str, folder: Path, variables: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """A process of its own, for what can be tried once in each."""
    base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # noqa: TID251 - for the child
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", code, *words],
        env={**base, **ENVIRONMENT, "PYTHONPATH": str(ROOT), **(variables or {})},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_help_loads_no_framework_and_lists_each_command_once_in_groups(tmp_path: Path) -> None:
    heavy = "('slack_bolt', 'sqlalchemy', 'aiohttp', 'pydantic')"
    code = f"import bot.cli, sys; print([name for name in {heavy} if name in sys.modules])"
    assert process(code, folder=tmp_path).communicate(timeout=300) == ("[]\n", "")
    text = moot("--help", env={"COLUMNS": "80"}, folder=tmp_path).stdout
    headings = re.findall(r"^(\w+):$", text, re.MULTILINE)
    assert headings[:5] == ["Options", "Debate", "Decisions", "Run", "Settings"]
    listed = re.findall(r"^  ([a-z]+)  ", text, re.MULTILINE)
    assert len(listed) == len(set(listed)) > 20


def test_moot_alone_shows_examples_of_commands_that_exist(tmp_path: Path) -> None:
    lines = moot(folder=tmp_path).stdout.splitlines()
    assert [line.split()[1] for line in lines[:3]] == ["demo", "debate", "run"]
    assert moot("--version", folder=tmp_path).stdout.startswith("moot ")


def test_the_demonstration_prints_a_whole_debate_and_ends(tmp_path: Path) -> None:
    agents = ("--agents", "architect,security,simplicity")
    words = ("demo", "--once", "--fast", "--port", "0", "--rounds", "1", *agents)
    # There is a key and nobody to ask, so no money is spent.
    result = moot(*words, env=KEY, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    text = result.stdout
    assert "A local Slack is at" not in text  # it is gone before anybody opens it
    assert "runs offline" in text
    assert "Models: none" in text
    for name in ("Architect", "Security", "Simplicity"):
        assert f"  {name}: proposal, round 1: done" in text
        assert f"  {name}: ballot, round 1: " in text
    order = ("critique, 1 round", "proposal, round 1", "Vote: ", "Verdict: ", "# What would over")
    assert [text.index(words) for words in order] == sorted(text.index(words) for words in order)
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_demonstration_plays_an_example_and_spends_nothing(tmp_path: Path) -> None:
    result = moot("demo", "--once", "--fast", "--port", "0", env=KEY, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Examples: written debates" in result.stdout
    assert "Export only what changed: 2 of 3 agents" in result.stdout
    for name in ("Architect", "Performance", "Simplicity"):
        assert f"  {name}: refinement, round 1: done" in result.stdout
    assert "\x1b" not in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_port_in_use_is_reported_with_the_command_to_type(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        result = moot("demo", "--port", str(port), env=ENVIRONMENT, folder=tmp_path)
    assert result.returncode == 4
    assert f"moot demo --port {port + 1}" in result.stderr
    assert "Traceback" not in result.stderr


def test_traces_without_an_exporter_are_reported_before_slack_is_called(tmp_path: Path) -> None:
    # A process of its own: what was imported once cannot be missing in this one.
    missing = "import sys; sys.modules['opentelemetry.sdk'] = None"
    variables = {
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_APP_TOKEN": "xapp-1",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
    }
    run = process(f"{missing}; {MAIN}", "run", folder=tmp_path, variables=variables)
    _, errors = run.communicate(timeout=300)
    assert run.returncode == 4
    assert "make extras" in errors
    assert "Traceback" not in errors


def test_health_without_a_running_bot_is_reported_and_exits_with_one(tmp_path: Path) -> None:
    result = moot("health", "--url", "http://127.0.0.1:9/health", folder=tmp_path)
    assert result.returncode == 1
    assert "Is the bot running?" in result.stdout


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"status": "ok"}', b"SSH-2.0-x\r\n\r\n"])
def test_another_program_at_the_address_is_no_healthy_bot(tmp_path: Path, body: bytes) -> None:
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not body.startswith(b"SSH"):  # another protocol has no status line
                self.send_response(200)
                self.end_headers()
            self.wfile.write(body)

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/health"
        result = moot("health", "--url", address, folder=tmp_path)
    assert (result.returncode, "is not a bot of Moot" in result.stdout) == (1, True)


@pytest.mark.slow
def test_ctrl_c_ends_the_demonstration_cleanly(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    demo = process(MAIN, "demo", "--port", "0", "--data", str(folder), folder=tmp_path)
    assert demo.stdout is not None
    assert "A local Slack is at" in demo.stdout.readline()
    demo.send_signal(signal.SIGINT)
    out, err = demo.communicate(timeout=300)
    assert demo.returncode == 0
    assert "Stopped." in out
    assert "Traceback" not in err
    assert {"moot.db", "workspace.json"} <= {file.name for file in folder.iterdir()}


def test_the_shell_completes_commands_formats_and_ids_of_debates(tmp_path: Path) -> None:
    debate_id = moot("debate", "A or B?", "--rounds", "1", folder=tmp_path).stderr.split()[-1]
    for typed, offered in (("deb", "debate"), ("debate --format c", "co"), ("show d", debate_id)):
        place = str(len(typed.split()))
        completing = {"_MOOT_COMPLETE": "complete_bash", "COMP_WORDS": f"moot {typed}"}
        result = moot(env={**completing, "COMP_CWORD": place}, folder=tmp_path)
        assert offered in result.stdout
