"""The command line as people use it: words, exit codes, a clean end."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.building import load_settings
from bot.cli import exit_code
from bot.demo_settings import costs_money, models_in_words, offline
from bot.settings import BotSettings
from core.errors import BadInput, ConfigurationBroken, KeyRefused, MootError, StoreDown
from core.settings import ModelChoice, Settings, agent_for
from tests.command_line import moot

ROOT = Path(__file__).parents[2]
MOOT = [sys.executable, "-c", "from bot.cli import main; main()"]


@pytest.fixture
def environment() -> dict[str, str]:
    return {"COLUMNS": "100", "OLLAMA_HOST": "http://127.0.0.1:9"}


@pytest.fixture
def outside(environment: dict[str, str]) -> dict[str, str]:
    """The environment of a process of its own."""
    base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # noqa: TID251 - for the child
    return {**base, **environment, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_help_names_the_commands_and_loads_no_framework(outside: dict[str, str]):
    code = (
        "import sys; from bot.cli import app; "
        "heavy = ('slack_bolt', 'sqlalchemy', 'aiohttp', 'pydantic'); "
        "sys.exit(any(name in sys.modules for name in heavy))"
    )
    process = subprocess.run([sys.executable, "-c", code], env=outside, check=False)  # noqa: S603 - our own program
    assert process.returncode == 0
    result = subprocess.run(  # noqa: S603 - our own program
        [*MOOT, "--help"], env=outside, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0
    assert all(name in result.stdout for name in ("run", "demo", "health"))


def test_the_version_is_shown(environment: dict[str, str], tmp_path: Path):
    assert moot("--version", env=environment, folder=tmp_path).stdout.startswith("moot ")


def test_the_demonstration_prints_a_whole_debate_and_ends(
    environment: dict[str, str], tmp_path: Path
):
    agents = ("--agents", "architect,security,simplicity")
    words = ("demo", "--once", "--fast", "--port", "0", "--rounds", "1", *agents)
    process = moot(*words, env=environment, folder=tmp_path)
    assert process.returncode == 0, process.stderr
    assert "A local Slack is at" not in process.stdout  # it is gone before anybody opens it
    assert "offline engine" in process.stdout
    for name in ("Architect", "Security", "Simplicity"):
        assert f"  {name}: proposal, round 1: done" in process.stdout
        assert f"  {name}: ballot, round 1: " in process.stdout
    assert process.stdout.index("critique, 1 round") < process.stdout.index("proposal, round 1")
    assert process.stdout.index("Vote: ") < process.stdout.index("Verdict: ")
    assert process.stdout.index("Verdict: ") < process.stdout.index("# What would overturn it")
    assert "Traceback" not in process.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_demonstration_plays_an_example_and_spends_nothing(
    environment: dict[str, str], tmp_path: Path
):
    env = {**environment, "OPENAI_API_KEY": "sk-not-a-real-key-000"}
    process = moot("demo", "--once", "--fast", "--port", "0", env=env, folder=tmp_path)
    assert process.returncode == 0, process.stderr
    assert "Examples: debates written by hand" in process.stdout
    assert "Export only what changed: 2 of 3 agents" in process.stdout
    for name in ("Architect", "Performance", "Simplicity"):
        assert f"  {name}: refinement, round 1: done" in process.stdout
    assert "\x1b" not in process.stdout
    assert list(tmp_path.iterdir()) == []


def test_with_a_key_and_nobody_to_ask_no_money_is_spent(
    environment: dict[str, str], tmp_path: Path
):
    env = {**environment, "OPENAI_API_KEY": "sk-not-a-real-key-000"}
    words = ("demo", "--once", "--fast", "--port", "0", "--rounds", "1")
    process = moot(*words, env=env, folder=tmp_path)
    assert process.returncode == 0, process.stderr
    assert "runs offline" in process.stdout
    assert "Models: none" in process.stdout


def test_a_port_that_is_taken_is_told_with_what_to_type(
    environment: dict[str, str], tmp_path: Path, taken_port: int
):
    process = moot("demo", "--port", str(taken_port), env=environment, folder=tmp_path)
    assert process.returncode == 4
    assert f"moot demo --port {taken_port + 1}" in process.stderr
    assert "Traceback" not in process.stderr


def test_an_unknown_role_is_told_with_the_known_ones(environment: dict[str, str], tmp_path: Path):
    process = moot("demo", "--agents", "wizard", env=environment, folder=tmp_path)
    assert process.returncode == 2
    assert 'no role "wizard"' in process.stderr
    assert "architect" in process.stderr


def test_running_without_tokens_says_which_and_ends_with_four(
    environment: dict[str, str], tmp_path: Path
):
    process = moot("run", env=environment, folder=tmp_path)
    assert process.returncode == 4
    assert "SLACK_BOT_TOKEN is missing or empty" in process.stderr
    assert "Traceback" not in process.stderr


def test_traces_without_what_sends_them_are_told_before_slack_is_asked(
    outside: dict[str, str], tmp_path: Path
):
    # A process of its own: what was imported once cannot be missing in this one.
    missing = "import sys; sys.modules['opentelemetry.sdk'] = None"
    code = f"{missing}; from bot.cli import main; sys.argv = ['moot', 'run']; main()"
    process = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", code],
        env=outside
        | {
            "SLACK_BOT_TOKEN": "xoxb-1",
            "SLACK_APP_TOKEN": "xapp-1",
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 4
    assert "make extras" in process.stderr
    assert "Traceback" not in process.stderr


def test_health_of_nobody_is_told_and_ends_with_one(environment: dict[str, str], tmp_path: Path):
    process = moot("health", "--url", "http://127.0.0.1:9/health", env=environment, folder=tmp_path)
    assert process.returncode == 1
    assert "Is the bot running?" in process.stdout


@pytest.mark.slow
def test_ctrl_c_ends_the_demonstration_cleanly(outside: dict[str, str], tmp_path: Path):
    folder = tmp_path / "kept"
    process = subprocess.Popen(  # noqa: S603 - our own program
        [*MOOT, "demo", "--port", "0", "--data", str(folder)],
        env=outside,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert "A local Slack is at" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "Stopped." in out
    assert "Traceback" not in err
    assert {"moot.db", "workspace.json"} <= {file.name for file in folder.iterdir()}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadInput(), 2),
        (KeyRefused(), 3),
        (ConfigurationBroken(), 4),
        (StoreDown(), 1),
        (MootError(), 1),
    ],
)
def test_every_expected_error_has_its_exit_code(error: MootError, code: int):
    assert exit_code(error) == code


PAID = Settings(
    agent_model=ModelChoice(provider="openai", model="some-model"),
    judge_model=ModelChoice(provider="openai", model="some-model"),
)


def test_only_paid_models_cost_money():
    local = ModelChoice(provider="ollama", model="llama")
    assert costs_money(PAID)
    assert not costs_money(Settings())
    assert not costs_money(Settings(agent_model=local, judge_model=local))
    assert costs_money(Settings(agents=(agent_for("architect", PAID.agent_model),)))


@pytest.mark.parametrize(
    ("address", "prices", "is_paid"),
    [
        ("http://127.0.0.1:9/v1", "", False),
        ("http://localhost:9/v1", "", False),
        ("http://127.0.0.1:9/v1", "prices: {m: {input: 1, output: 2}}", True),
        ("https://api.example.com/v1", "", True),
    ],
)
async def test_servers_of_this_machine_are_free_unless_settings_price_them(
    address: str,
    prices: str,
    is_paid: bool,  # noqa: FBT001 - a column of the table
    tmp_path: Path,
):
    file = tmp_path / "moot.yaml"
    file.write_text(f"servers: [{{name: own, base_url: '{address}', models: [m]}}]\n{prices}")
    environment = BotSettings(ollama_host="http://127.0.0.1:9")
    settings = (await load_settings(environment, file)).settings
    assert settings.agent_model.full_name == "own/m"
    assert costs_money(settings) is is_paid


def test_going_offline_replaces_every_model():
    own = PAID.model_copy(update={"agents": (agent_for("architect", PAID.agent_model),)})
    assert not costs_money(offline(own))
    assert "Models: none" in models_in_words(offline(own))
    assert "openai/some-model" in models_in_words(own)


def test_moot_alone_shows_examples_of_commands_that_exist(tmp_path: Path):
    process = moot(folder=tmp_path)
    assert process.returncode == 0
    commands = [line.split()[1] for line in process.stdout.splitlines()[:3]]
    assert commands == ["demo", "debate", "run"]


def test_help_lists_each_command_once_in_groups(tmp_path: Path):
    text = moot("--help", env={"COLUMNS": "80"}, folder=tmp_path).stdout
    headings = re.findall(r"^(\w+):$", text, re.MULTILINE)
    assert headings[:5] == ["Options", "Debate", "Decisions", "Run", "Settings"]
    listed = re.findall(r"^  ([a-z]+)  ", text, re.MULTILINE)
    assert len(listed) == len(set(listed)) > 20


def test_the_shell_completes_ids_of_debates(tmp_path: Path):
    text = moot("debate", "Kafka or SQS?", "--rounds", "1", folder=tmp_path).stderr
    debate_id = text.split()[-1]
    completing = {"_MOOT_COMPLETE": "complete_bash", "COMP_WORDS": "moot show d", "COMP_CWORD": "2"}
    assert moot(env=completing, folder=tmp_path).stdout.split() == [debate_id]
