"""The terminal as people have it: a process, its exit code, what it says, kill -9 and Ctrl-C."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Ended, moot
from tests.vendors.server import Vendor

QUESTION = "Kafka or PostgreSQL for our job queue? No job may be lost."
ROOT = Path(__file__).parents[2]
MOOT = (sys.executable, "-c", "from bot.cli import main; main()")
#: Enough turns that there is time to interrupt it.
LONG = (
    *("debate", QUESTION, "--rounds", "5"),
    *("--agents", "architect,security,simplicity,testing,finance,product"),
)


class Shell:
    """Runs `moot` in a folder of its own, without anybody's keys."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # noqa: TID251 - a child process needs them
        self.program: Sequence[str] = MOOT
        self.environment = {**base, "PYTHONPATH": str(ROOT), "MOOT_DATABASE": "moot.db"}
        self._started: list[subprocess.Popen[str]] = []

    def run(self, *words: str, **variables: str) -> Ended:
        """Run a command to its end, in this process."""
        env = {"MOOT_DATABASE": "moot.db", **variables}
        return moot(*words, folder=self.folder, env=env)

    def start(self, *words: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [*self.program, *words],
            cwd=self.folder,
            env=self.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def close(self) -> None:
        """End what still runs, as where a test failed: else it is the next test's trouble."""
        for process in self._started:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe:
                    pipe.close()

    def record(self, debate_id: str) -> Any:
        return json.loads(self.run("export", debate_id, "--format", "json").stdout)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path)
    yield shell
    shell.close()


def until(process: subprocess.Popen[str], words: str) -> list[str]:
    """Lines of standard error up to the first that has these words."""
    assert process.stderr
    lines: list[str] = []
    for line in process.stderr:
        lines.append(line)
        if words in line:
            return lines
    raise AssertionError(f"it ended without {words!r}: {lines}")


def test_what_is_no_text_is_refused_in_words(shell: Shell) -> None:
    odd = os.fsdecode(b"Rust or \xff Go?")

    attempt = shell.run("debate", odd)

    assert (attempt.returncode, attempt.stdout) == (2, "")
    assert attempt.stderr == "Error: 'Rust or \\udcff Go?' is not UTF-8 text.\n"


def test_a_database_somebody_uses_can_be_read_and_is_said_in_words_to_others(shell: Shell) -> None:
    process = shell.start(*LONG)
    until(process, "Round 1 of 5")
    process.send_signal(signal.SIGSTOP)  # so that it cannot end meanwhile
    attempt = shell.run("debate", "Kafka or SQS?")
    listed = shell.run("list")
    process.kill()
    process.communicate()

    assert listed.stdout.count("Kafka") == 1
    assert attempt.returncode == 1
    assert "Another process" in attempt.stderr
    assert "Traceback" not in attempt.stderr


@pytest.mark.slow
def test_a_debate_killed_at_any_point_can_be_taken_up(shell: Shell) -> None:
    process = shell.start(*LONG)
    debate_id = until(process, "Debate d")[-1].split()[1].rstrip(":")
    until(process, "Round 1 of 5: refinement")
    process.kill()
    process.communicate()
    before = shell.record(debate_id)["events"]
    second_run = shell.run("debate", "--resume", debate_id)
    after = shell.record(debate_id)

    assert second_run.returncode == 0, second_run.stderr
    assert before == after["events"][: len(before)]
    assert len(before) < len(after["events"])
    keys = [event["key"] for event in after["events"]]
    assert len(keys) == len(set(keys))
    assert second_run.stdout.strip()
    assert keys[-1] == "end"


def test_ctrl_c_leaves_a_partial_decision(shell: Shell) -> None:
    process = shell.start(*LONG)
    until(process, "Round 1 of 5: refinement")
    process.send_signal(signal.SIGINT)
    decision, text = process.communicate(timeout=300)

    assert process.returncode == 0, text
    assert "Stopping: the judge decides on what is there." in text
    assert "Partial result: not all turns were taken." in decision
    assert "stopped the debate." in decision
    assert "Traceback" not in text


def test_help_needs_nothing_heavy() -> None:
    check = (
        "import sys; import bot.terminal.subcommands; "
        "print([name for name in sys.modules if name.split('.')[0] in "
        "{'pydantic', 'sqlalchemy', 'openai', 'anthropic', 'slack_bolt', 'jinja2', 'yaml'}])"
    )
    process = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert process.stdout.strip() == "[]"


#: What nobody needs before the first model is asked: each costs 10 to 120 ms of CPU.
NOT_YET = (
    *("alembic", "anthropic", "openai.resources.responses", "packaging"),
    *("slack_bolt", "sqlalchemy.dialects.postgresql"),
)
#: `moot`, which writes down whom it connects to, and what of that is loaded by then.
WATCHED = f"""
import atexit, json, pathlib, sys

seen = []

def watch(event, given):
    if event == "socket.connect":
        loaded = [name for name in {NOT_YET} if name in sys.modules]
        seen.append(dict(to=str(given[1]), loaded=loaded))

sys.addaudithook(watch)
found = pathlib.Path("seen.json")
atexit.register(lambda: found.write_text(json.dumps(dict(seen=seen))))
from bot.cli import main
main()
"""


@pytest.mark.slow
async def test_the_first_model_is_asked_without_a_migration(shell: Shell) -> None:
    shell.program = (sys.executable, "-c", WATCHED)
    async with Vendor() as vendor:
        shell.environment |= {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"{vendor.url}/v1"}
        process = shell.start("debate", QUESTION, "--rounds", "1", "--yes")
        text, errors = await asyncio.to_thread(process.communicate, timeout=300)

    assert process.returncode == 0, errors
    assert "# Reasoning and solution" in text
    record = json.loads((shell.folder / "seen.json").read_text())
    addresses = {item["to"] for item in record["seen"]}
    assert addresses == {f"('127.0.0.1', {vendor.port})"}
    assert [item["loaded"] for item in record["seen"]] == [[]] * len(record["seen"])


def test_the_database_is_only_for_whoever_made_it(shell: Shell) -> None:
    shell.run("debate", QUESTION, "--rounds", "1")

    assert (shell.folder / "moot.db").stat().st_mode & 0o077 == 0


def test_it_waits_for_answers_only_as_long_as_it_says_and_then_ends(shell: Shell) -> None:
    (shell.folder / "quick.yaml").write_text(
        "debate: {clarifications: {wait_seconds: 1}}\n", encoding="utf-8"
    )
    words = ("debate", QUESTION, "--rounds", "1", "--clarify", "--config", "quick.yaml")
    process = shell.start(*words, stdin=subprocess.PIPE)  # open, and nobody types

    assert process.wait(timeout=300) == 0
    text, errors = process.communicate()
    assert "Nobody answered; assumed: " in text.partition("# Assumptions")[2]
    assert "The time to answer is over; the assumptions hold." in errors
