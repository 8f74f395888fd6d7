"""`/debate doctor` as people in a channel have it, and `moot doctor` in the terminal."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.listeners.answers import ADMINS_ONLY, CHECKING, NO_CHECKS
from bot.operations.doctor.examine import check_access
from bot.operations.doctor.findings import Finding, bad, good
from bot.testing import (
    WAIT_SECONDS,
    BotSpec,
    quick_workspace,
    running_bot,
    socket_access,
    team_at_work,
)
from slack_on_loopback import run_workspace
from tests.command_line import moot


async def test_the_findings_come_to_the_one_who_asked_and_nobody_else() -> None:
    async def examine() -> Sequence[Finding]:
        return [
            good("anthropic", "answers"),
            bad("scopes", "<!channel> is missing", "Install it anew."),
        ]

    async with team_at_work(spec=BotSpec(examine=examine)) as team:
        await team.type("doctor")
        await team.workspace.wait_for(lambda: len(team.ephemeral_texts()) > 1, timeout=WAIT_SECONDS)
        first, second = sorted(team.ephemeral_texts(), key=lambda words: words != CHECKING)

        assert first == CHECKING
        assert "✓ anthropic: answers" in second
        assert "→ Install it anew." in second
        assert "Whoever runs Moot must look" in second
        assert "<!channel>" not in second
        assert list(team.workspace.messages(team.channel)) == []


async def test_only_admins_of_the_workspace_may_look() -> None:
    looked: list[str] = []

    async def examine() -> Sequence[Finding]:
        looked.append("once")
        return []

    async with team_at_work(spec=BotSpec(examine=examine)) as team:
        await team.type("doctor", user="alex")
        await team.type("doctor")
        await team.workspace.wait_for(lambda: len(team.ephemeral_texts()) > 1, timeout=WAIT_SECONDS)

        assert team.ephemeral_texts("alex") == [ADMINS_ONLY]
        assert len(looked) == 1


async def test_a_bot_that_cannot_look_says_where_to_look() -> None:
    async with team_at_work() as team:
        await team.type("doctor")

        assert team.ephemeral_texts() == [NO_CHECKS]


async def test_the_real_checks_of_slack_run_from_a_channel() -> None:
    async with run_workspace(quick_workspace()) as workspace:

        async def examine() -> Sequence[Finding]:
            return await check_access(socket_access(workspace))

        async with running_bot(workspace, spec=BotSpec(examine=examine)) as team:
            await team.type("doctor")
            await workspace.wait_for(lambda: len(team.ephemeral_texts()) > 1, timeout=WAIT_SECONDS)
            text = next(words for words in team.ephemeral_texts() if words != CHECKING)

    assert text.count("✓") == 4  # both tokens, the needed scopes, the optional one
    assert "✓ optional scope files:read" in text
    assert "All is well." in text
    assert workspace.bot_token not in text
    assert workspace.app_token not in text


#: A model is set up; nothing answers there.
UNREACHED_MODEL = {"ANTHROPIC_API_KEY": "k" * 20, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("variables", "code", "words"),
    [
        ({}, 4, "✗ models: none is set up"),
        ({}, 4, "Set ANTHROPIC_API_KEY, "),
        (
            {"MOOT_DATABASE": "no/such/folder/moot.db", **UNREACHED_MODEL},
            1,
            "✗ folder of the database",
        ),
        ({"SLACK_BOT_TOKEN": "nonsense"}, 4, "✗ Slack: SLACK_BOT_TOKEN"),
    ],
)
def test_the_exit_code_says_how_things_are(
    tmp_path: Path, variables: dict[str, str], code: int, words: str
) -> None:
    env = {"OLLAMA_HOST": "http://127.0.0.1:9", **variables}
    process = moot("doctor", folder=tmp_path, env=env)

    assert (process.returncode, words in process.stdout) == (code, True), (
        process.stdout + process.stderr
    )
    assert "Traceback" not in process.stderr
