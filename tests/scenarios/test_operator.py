"""`moot run` as an operator starts it: a whole debate, a quiet log, a clean end."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from bot.testing import key_of, quick_workspace, socket_access
from slack_on_loopback import Workspace, run_workspace

CHANNEL = "architecture"
QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
SETTINGS = "debate:\n  rounds: 1\n  clarifications: {enabled: false}\n"


def environment(workspace: Workspace) -> dict[str, str]:
    access = socket_access(workspace)
    return {
        "PATH": os.defpath,
        "SLACK_BOT_TOKEN": access.bot_token,
        "SLACK_APP_TOKEN": access.app_token,
        "SLACK_API_URL": access.api_url,
        "MOOT_PORT": "0",
        "MOOT_LOG_FORMAT": "json",
        "MOOT_CONFIG": "moot.yaml",
    }


@pytest.mark.slow
async def test_the_command_warns_that_no_model_is_set_up_and_not_of_a_right_file(
    tmp_path: Path,
):
    (tmp_path / "moot.yaml").write_text(SETTINGS, encoding="utf-8")
    async with run_workspace(quick_workspace()) as workspace:
        process = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("moot")),
            "run",
            cwd=tmp_path,
            env=environment(workspace),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        await workspace.wait_for(lambda: workspace.connected, timeout=300)
        await workspace.command("dana", CHANNEL, "/debate", QUESTION)
        await workspace.wait_for(
            lambda: any(
                key_of(message).endswith("/headline") for message in workspace.messages(CHANNEL)
            ),
            timeout=300,
        )
        process.send_signal(signal.SIGTERM)
        printed, logged = await asyncio.wait_for(process.communicate(), 300)
    lines = [json.loads(line) for line in logged.decode().splitlines()]
    warnings = [line for line in lines if line["level"] != "info"]
    assert (process.returncode, printed) == (0, b"")
    assert [line["event"] for line in warnings] == ["models"]
    assert warnings[0]["words"].startswith("NO MODEL IS SET UP")
    assert {"running", "ended"} <= {line["event"] for line in lines}
