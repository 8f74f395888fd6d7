"""An app without some scopes: the debate is held, and the thread names the missing scope."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from bot.testing import BotSpec, Team, quick_workspace, team_at_work
from core.debate.state import Status
from core.debate.turn import Act
from core.testing import ScriptedProvider
from slack_on_loopback import WorkspaceConfig

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"


def a_workspace_without(*scopes: str) -> WorkspaceConfig:
    """A workspace whose admin did not allow these scopes."""
    base = quick_workspace()
    oauth: Mapping[str, Any] = base.manifest["oauth_config"]
    remaining = [scope for scope in oauth["scopes"]["bot"] if scope not in scopes]
    assert len(remaining) == len(oauth["scopes"]["bot"]) - len(scopes)
    return replace(base, manifest={**base.manifest, "oauth_config": {"scopes": {"bot": remaining}}})


async def post_with(team: Team, board: str, words: str) -> str:
    """Wait for the post with these words; return its text."""
    matches = await team.workspace.wait_for(
        lambda: [str(reply["text"]) for reply in team.replies(board) if words in reply["text"]]
    )
    assert len(matches) == 1
    return matches[0]


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ("pins:write", "The board could not be pinned"),
        ("files:write", "The report could not be attached"),
    ],
)
async def test_the_debate_is_held_and_the_thread_names_the_permission_that_lacks(
    scope: str, words: str
) -> None:
    async with team_at_work(config=a_workspace_without(scope)) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)

        assert debate.status is Status.CONCLUDED
        assert f"Moot lacks the permission {scope}" in await post_with(team, board, words)


async def test_files_that_slack_refused_are_not_said_to_be_there_and_are_tried_again() -> None:
    async with team_at_work(config=a_workspace_without("files:write")) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        await team.wait_until_sent()
        tried = [len(team.workspace.calls.of("files.getUploadURLExternal"))]
        for _ in range(2):
            await team.type(f"export {debate.id}")
            assert "come into" in team.ephemeral_texts()[-1]
            assert "already" not in team.ephemeral_texts()[-1]
            await team.wait_until_sent()
            tried.append(len(team.workspace.calls.of("files.getUploadURLExternal")))
    assert tried[0] < tried[1] < tried[2]


async def test_without_names_of_their_own_agents_are_heard_all_the_same() -> None:
    async with team_at_work(config=a_workspace_without("chat:write.customize")) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)

        assert debate.status is Status.CONCLUDED
        replies = team.replies(board)
        assert not [reply for reply in replies if "username" in reply]
        assert [reply for reply in replies if "Because of the question" in reply["text"]]


async def test_a_note_that_cannot_be_marked_as_read_is_taken_in() -> None:
    provider = ScriptedProvider()
    provider.hold(Act.CRITIQUE)
    spec = BotSpec(provider=provider)
    async with team_at_work(config=a_workspace_without("reactions:write"), spec=spec) as team:
        board = await team.debate(QUESTION)
        await team.say("Mind the budget.", board)
        await team.wait_for_log(board, lambda debate: debate.notes)
        provider.let_go()
        debate = await team.wait_for_end(board)

        assert debate.status is Status.CONCLUDED
        assert [note.text for note in debate.notes] == ["Mind the budget."]
        assert team.workspace.calls.of("reactions.add")[-1].outcome == "missing_scope"
