"""Slack's newer blocks: a plan on the board, a chart of the vote, and what older workspaces see."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.testing import BotSpec, Message, Team, quick_workspace, running_bot, team_at_work
from core.debate.turn import Act
from core.testing import ScriptedProvider
from slack_on_loopback import run_workspace

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
NEWER = ("container", "plan", "data_visualization")


def blocks(message: Message, kind: str) -> Sequence[dict[str, Any]]:
    return [block for block in message.get("blocks", ()) if block["type"] == kind]


def text_of(message: Message) -> str:
    return "\n".join(block["text"]["text"] for block in blocks(message, "section"))


def vote_of(team: Team, board: str) -> Message:
    """The vote stands in the verdict's post."""
    return team.posts(board, "headline")[0]


def states(message: Message) -> dict[str, str]:
    (plan,) = blocks(message, "plan")
    return {task["task_id"]: task["status"] for task in plan["tasks"]}


async def test_the_board_shows_the_way_as_a_plan_and_the_vote_as_a_chart():
    models = ScriptedProvider()
    models.hold(Act.PROPOSAL)
    async with team_at_work(spec=BotSpec(provider=models, rounds=2)) as team:
        board = await team.debate(QUESTION)
        (plan,) = blocks(team.thread(board)[0], "plan")
        assert "Round 1 of at most 2 · proposals" in plan["title"]
        assert states(team.thread(board)[0]) == {
            "Round 1": "in_progress",
            "Round 2": "pending",
            "Vote": "pending",
            "Decision": "pending",
        }
        models.let_go()
        models.hold(Act.SYNTHESIS)
        await models.wait_until_asked(Act.REFINEMENT, 6)
        await team.workspace.wait_for(
            lambda: (
                blocks(team.thread(board)[0], "plan")
                and states(team.thread(board)[0])["Round 1"] == "complete"
            )
        )
        models.let_go()
        await team.wait_for_end(board)
        assert blocks(team.thread(board)[0], "plan") == []
        (chart,) = blocks(vote_of(team, board), "data_visualization")
        assert sum(point["value"] for point in chart["chart"]["series"][0]["data"]) in {
            99,
            100,
            101,
        }
        assert len(blocks(vote_of(team, board), "table")) == 1
        assert team.workspace.calls.of("chat.postMessage", "invalid_blocks") == []
        assert team.workspace.calls.of("chat.update", "invalid_blocks") == []


async def test_a_workspace_that_refuses_one_gets_older_blocks_and_is_asked_once(tmp_path: Path):
    file = tmp_path / "moot.db"
    models = ScriptedProvider()
    models.hold(Act.PROPOSAL)
    spec = BotSpec(provider=models, rounds=1)
    async with run_workspace(quick_workspace()) as workspace:
        workspace.faults.refuse_blocks("plan")
        async with running_bot(workspace, database=file, spec=spec) as team:
            board = await team.debate(QUESTION)
            root = team.thread(board)[0]
            assert blocks(root, "plan") == []
            assert "░`" in text_of(root)
            models.let_go()
            await team.wait_for_end(board)
            voted = vote_of(team, board)
            assert blocks(voted, "data_visualization") == []
            assert len(blocks(voted, "table")) == 1
            assert len(refused(team)) == 1
        # After a restart they are tried once more.
        async with running_bot(workspace, database=file, spec=spec) as team:
            await team.wait_for_end(await team.debate("And which cloud should we use for it?"))
            assert len(refused(team)) == 2


@pytest.mark.parametrize("named", [True, False])
async def test_a_workspace_without_any_of_them_gets_the_whole_debate(
    named: bool,  # noqa: FBT001 - a table of cases
):
    async with run_workspace(quick_workspace()) as workspace:
        workspace.faults.refuse_blocks(*NEWER, named=named)
        async with running_bot(workspace, spec=BotSpec(rounds=1)) as team:
            board = await team.debate(QUESTION)
            await team.wait_for_end(board)
            for message in team.thread(board):
                assert not [kind for kind in NEWER if blocks(message, kind)]
            assert "Read it all" in str([blocks(reply, "actions") for reply in team.replies(board)])
            # Two channels' posts may be refused at the same time.
            assert len(refused(team)) <= 2


def refused(team: Team) -> Sequence[Any]:
    calls = team.workspace.calls
    methods = ("chat.postMessage", "chat.update")
    return [call for method in methods for call in calls.of(method, "invalid_blocks")]
