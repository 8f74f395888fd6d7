"""Models that go away and come back, as a team sees it in Slack."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.app import Parts
from bot.testing import QUICK_RETRIES, BotSpec, Team, quick_workspace, running_bot
from core.clock import SystemClock
from core.debate.agents import Agent, ModelChoice
from core.debate.state import Status
from core.llm.call import ModelCalls
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.factory import build_server
from core.retry import RetryPolicy
from core.settings import ModelServer, Settings, agent_for
from slack_on_loopback import Workspace, run_workspace
from tests.vendor_replies import good_reply
from tests.vendors.script import Say, VendorRequest
from tests.vendors.server import Vendor

QUESTION = "Kafka or PostgreSQL for the queue? It must keep every job."
CLAUDE = ModelChoice(provider="anthropic", model="claude-sonnet-5-5")
QWEN = ModelChoice(provider="workshop", model="qwen-4")


def slow_reply(request: VendorRequest) -> Say:
    return replace(good_reply(request), wait=0.1)


# Where a debate stands is said by what its vendors hold, however fast or slow the machine is.


def is_critique(request: VendorRequest) -> bool:
    return "Your task: criticise" in str(request.body)


def is_second_critique(request: VendorRequest) -> bool:
    return is_critique(request) and "Your critique of its earlier version" in str(request.body)


def is_refinement(request: VendorRequest) -> bool:
    return "Your task: refine" in str(request.body)


@dataclass(frozen=True, kw_only=True)
class MixedSpec(BotSpec):
    """A bot with two agents at Anthropic and one at a server of the team's own."""

    vendor: Vendor
    workshop: Vendor
    agents: tuple[Agent, ...] = field(
        default=(
            agent_for("architect", CLAUDE),
            agent_for("security", CLAUDE),
            agent_for("simplicity", QWEN),
        )
    )

    def parts(self, workspace: Workspace, database: Path | str) -> Parts:
        server = ModelServer(name="workshop", base_url=f"{self.workshop.url}/v1")
        providers = {
            "anthropic": AnthropicProvider("sk-test", self.vendor.url),
            "workshop": build_server(server),
        }
        probes = RetryPolicy(first_wait=0.02, longest_wait=0.1)
        calls = ModelCalls(providers, SystemClock(), retries=QUICK_RETRIES, probes=probes)
        settings = Settings(
            agents=self.agents,
            agent_model=CLAUDE,
            judge_model=CLAUDE,
            rounds=2,
            when=self.when,  # all of them answer the same, and shall debate for all that
        )
        return replace(super().parts(workspace, database), calls=calls, settings=settings)


@asynccontextmanager
async def a_team() -> AsyncGenerator[tuple[Team, Vendor, Vendor]]:
    async with (
        Vendor(slow_reply) as vendor,
        Vendor(slow_reply) as workshop,
        run_workspace(quick_workspace()) as workspace,
    ):
        spec = MixedSpec(vendor=vendor, workshop=workshop)
        async with running_bot(workspace, spec=spec) as team:
            yield team, vendor, workshop


async def until_shown(team: Team, board: str, words: str) -> None:
    """Wait until the board or its thread says so."""

    def is_shown() -> bool:
        return any(words in message["text"] for message in team.thread(board))

    await team.workspace.wait_for(is_shown, timeout=300)


async def until_nobody_waits(team: Team, board: str) -> None:
    """Wait until the board says of no agent any more that its model is away."""

    def is_back() -> bool:
        text = team.thread(board)[0]["text"]
        return "for a model" not in text and "Debate waiting" not in text

    await team.workspace.wait_for(is_back, timeout=300)


async def test_the_board_says_whose_model_is_away_and_the_others_go_on() -> None:
    async with a_team() as (team, vendor, workshop):
        workshop.hold(is_critique)  # Simplicity has turns left
        vendor.hold(is_refinement)
        board = await team.debate(QUESTION)
        await until_shown(team, board, "Round 1 of at most 2 · critiques")
        workshop.go_away()
        await until_shown(team, board, "Simplicity waits for a model")
        await team.wait_until_sent()
        during = team.thread(board)
        vendor.hold(is_second_critique)  # the others may refine, and end nothing yet
        await team.wait_for_posts(len(during), board)  # one more: the board is no reply
        without = team.thread(board)
        workshop.let_go()
        await workshop.come_back()
        await until_nobody_waits(team, board)
        vendor.let_go()
        debate = await team.wait_for_end(board)
        after = team.thread(board)

    assert "The others go on" in during[0]["text"]
    assert "Simplicity waits for a model" in without[0]["text"]
    assert debate.status is Status.CONCLUDED
    assert debate.failures == {}
    assert not any("No model can be reached" in message["text"] for message in after)


async def test_where_no_model_is_there_board_and_thread_say_so_and_it_goes_on_by_itself() -> None:
    async with a_team() as (team, vendor, workshop):
        vendor.hold(is_second_critique)
        workshop.hold(is_second_critique)
        board = await team.debate(QUESTION)
        await team.wait_for_posts(3, board)
        vendor.go_away()
        workshop.go_away()
        await until_shown(team, board, "Debate waiting: no model answers")
        await until_shown(team, board, "*No model can be reached*")
        await team.wait_until_sent()
        count = len(team.thread(board))
        await asyncio.sleep(1)
        assert len(team.thread(board)) == count, "nothing is said while it waits"
        # Whoever is back first refines without those who are still away, unless that is held.
        vendor.hold(is_refinement)
        workshop.hold(is_refinement)
        await vendor.come_back()
        await workshop.come_back()
        await until_nobody_waits(team, board)
        vendor.let_go()
        workshop.let_go()
        debate = await team.wait_for_end(board)
        thread = team.thread(board)

    assert debate.status is Status.CONCLUDED
    assert debate.failures == {}
    assert len(debate.contributions) == 2 * (3 + 6 + 3)
    assert any("The debate goes on." in message["text"] for message in thread)
    assert "waits for a model" not in thread[0]["text"]
