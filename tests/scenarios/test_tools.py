"""Tools of MCP servers as sources of debates in Slack: real servers, a real program each."""

import sys

import pytest

from bot.testing import BotSpec, Team, team_at_work
from core.debate.state import Debate, Status
from core.settings import EvidenceLimits, ToolServer, ToolSource
from tests.core.evidence.test_tools import STDIO
from tests.scenarios.test_evidence import QUESTION, quoting, texts
from tests.seen import seen_in

SEARCH = ToolSource(name="search", arguments={"query": "{question}"}, title="Price list")


def asking(*servers: ToolServer) -> EvidenceLimits:
    return EvidenceLimits(mcp_servers=servers)


def shelf(**fields: object) -> ToolServer:
    whole = {"name": "shelf", "channels": ("*",), "seconds": 60, **fields}
    return ToolServer.model_validate({"command": STDIO, "tools": [dict(SEARCH)], **whole})


async def debated(team: Team) -> tuple[str, Debate]:
    await team.say(f"@Moot {QUESTION}")
    board = await team.new_board()
    return board, await team.wait_for_end(board)


@pytest.mark.slow
async def test_what_a_tool_answers_is_quoted_and_checked() -> None:
    model = quoting('[e1: "costs $1,840 per month"]', '[e1: "costs $1,480 per month"]')
    async with team_at_work(spec=BotSpec(provider=model, evidence=asking(shelf()))) as team:
        board, debate = await debated(team)
        text = "\n".join(seen_in(team.replies(board), opened=True))

    assert [source.reference.title for source in debate.evidence] == ["Price list"]
    assert debate.verdict
    assert [citation.status.value for citation in debate.verdict.citations] == [
        "verified",
        "unverified",
    ]
    assert "Agents quote Price list as `e1`: 41 characters read." in text
    assert "“costs $1,840 per month” (e1, line 1)" in text
    assert "~“costs $1,480 per month”~ (not found in e1)" in text


@pytest.mark.slow
async def test_a_dead_server_costs_its_source_and_is_told() -> None:
    dead = shelf(name="dead", command=(sys.executable, "-c", "raise SystemExit(1)"))
    absent = shelf(name="absent", command=("/no/such/program",))
    elsewhere = shelf(name="elsewhere", channels=("C0ELSEWHERE",))
    evidence = asking(dead, absent, elsewhere, shelf())
    async with team_at_work(spec=BotSpec(evidence=evidence)) as team:
        board, debate = await debated(team)
        text = texts(team.replies(board))

    assert debate.status is Status.CONCLUDED
    assert [source.fault for source in debate.sources] == [
        "the server ended before it answered",
        "the program /no/such/program cannot be started",
        "",
    ]
    assert "I could not read Price list: the server ended before it answered." in text
    assert "I could not read Price list: the program /no/such/program cannot be started." in text
