"""Agents chosen for the question, and models mixed, as a team sees it."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bot.app import Parts
from bot.testing import (
    QUICK_RETRIES,
    BotSpec,
    Team,
    quick_workspace,
    running_bot,
    team_at_work,
)
from core.clock import SystemClock
from core.debate.log import fold
from core.debate.turn import Act
from core.debate.turn_events import AgentsCast
from core.llm.call import ModelCalls
from core.llm.known_models import strongest
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.openai import OpenAIProvider
from core.ports import DebateFilter
from core.request import ModelReply, ModelRequest
from core.settings import ModelChoice, Settings, StallLimits
from core.testing import ScriptedProvider
from core.use_cases.choices import ChannelChoices, Choices
from slack_on_loopback import Workspace, run_workspace
from tests.vendor_replies import good_reply
from tests.vendors.script import Say, VendorRequest
from tests.vendors.server import Vendor

QUESTION = "Kafka or PostgreSQL for our job queue?"


class HeldBack(ScriptedProvider):
    """Keeps one act waiting until it is let go."""

    def __init__(self, act: Act) -> None:
        super().__init__()
        self.act = act
        self.go = asyncio.Event()

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        reply = await super().complete(request, on_first_token)
        if request.act is self.act:
            await self.go.wait()
        return reply


async def board_saying(team: Team, board: str, words: str) -> str:
    def match() -> str:
        text = json.dumps(team.thread(board)[0], ensure_ascii=False)
        return text if words in text else ""

    return await team.workspace.wait_for(match)


async def test_a_slow_choice_of_agents_keeps_nobody_waiting_for_the_board() -> None:
    provider = HeldBack(Act.CASTING)
    async with team_at_work(spec=BotSpec(provider=provider, casting=True)) as team:
        board = await team.debate(QUESTION)  # while nobody lets the choice end
        await board_saying(team, board, "Being chosen for this question")
        assert not provider.requests_of(Act.PROPOSAL)
        provider.go.set()
        text = await board_saying(team, board, "Agents, chosen for this question")
        assert ":wrench: Operations: Jobs must not be lost." in text
        assert "Sceptic: Looks for what is wrong with the favourite answer." in text
        assert "3 points of view, 1 model" in text
        debate = await team.wait_for_end(board)

    assert [agent.id for agent in debate.setup.agents] == ["operations", "finance", "sceptic"]
    assert len(provider.requests_of(Act.CASTING)) == 1


async def test_a_choice_that_was_made_is_not_made_again_after_a_restart(tmp_path: Path) -> None:
    provider = HeldBack(Act.PROPOSAL)
    spec = BotSpec(provider=provider, casting=True)
    database = tmp_path / "moot.db"
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=database, spec=spec) as team:
            board = await team.debate(QUESTION)
            await provider.wait_until_asked(Act.PROPOSAL, 3)
        provider.go.set()
        async with running_bot(workspace, database=database, spec=spec) as team:
            debate = await team.wait_for_end(board)
            log = await team.moot.store.events(debate.id)

    assert len(provider.requests_of(Act.CASTING)) == 1
    assert sum(isinstance(entry.event, AgentsCast) for entry in log) == 1
    assert fold(log).setup.reasons["finance"] == "Somebody has to pay for it."


async def test_the_form_shows_who_would_be_chosen_and_takes_other_agents() -> None:
    async with team_at_work(spec=BotSpec(casting=True)) as team:
        await team.type("")
        view = await form_saying(team, "else three to five chosen for the question")
        agents = next(block for block in view["blocks"] if block["block_id"] == "agents")
        assert agents["optional"]
        # Choosing something brings the form up to date with the question that was typed.
        values = {"question": {"question": {"value": QUESTION}}}
        await team.workspace.click_view(
            *("dana", view["id"], "rounds"),
            block_id="rounds",
            selected_option={"value": "1"},
            values=values,
        )
        form = await form_saying(team, "by its words Performance, Architect, Operations")
        assert "initial_options" not in json.dumps(
            next(block for block in form["blocks"] if block["block_id"] == "agents")
        )
        named = {"agents": {"agents": {"selected_options": [{"value": v} for v in AGENTS]}}}
        await team.workspace.submit("dana", form["id"], {**values, **named})
        boards = await team.workspace.wait_for(lambda: team.workspace.messages(team.channel))
        debate = await team.wait_for_end(boards[-1]["ts"])

    assert [agent.id for agent in debate.setup.agents] == AGENTS
    assert not debate.setup.reasons


AGENTS = ["legal", "security"]


async def form_saying(team: Team, words: str) -> Mapping[str, Any]:
    def match() -> Any:
        views = team.workspace.views("dana")
        return views[-1] if views and words in json.dumps(views[-1]) else None

    return await team.workspace.wait_for(match)


async def test_agents_gone_from_a_channels_settings_are_left_out_and_told() -> None:
    async with team_at_work(spec=BotSpec(casting=True)) as team:
        first = await team.wait_for_end(await team.debate("Tabs or spaces?"))
        choices = ChannelChoices(choices=Choices(agents=("wizard", "security")))
        await team.moot.context.records.channels.put(first.setup.place, choices)
        board = await team.debate(QUESTION)
        text = await board_saying(team, board, "wizard")
        debate = await team.wait_for_end(board)

    assert "is left out: it is gone, or disabled." in text
    assert "One agent alone is no debate" in text
    assert [agent.id for agent in debate.setup.agents] == ["security"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "NO MODEL IS SET UP: the offline engine answers from checklists"),
        (
            {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"},
            "Models: anthropic/claude-opus-5-5 and openai/gpt-6.1-sol, dealt to the agents in turn",
        ),
    ],
)
async def test_the_bot_says_at_its_start_which_models_serve(
    tmp_path: Path, keys: Mapping[str, str], words: str
) -> None:
    async with run_workspace(quick_workspace()) as workspace:
        environment = {
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "SLACK_BOT_TOKEN": workspace.bot_token,
            "SLACK_APP_TOKEN": workspace.app_token,
            "SLACK_API_URL": workspace.api_url,
            "MOOT_DATABASE": str(tmp_path / "moot.db"),
            "OLLAMA_HOST": "http://127.0.0.1:9",
            **keys,
        }
        started = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", "from bot.cli import main; main()", "run"),
            cwd=tmp_path,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert started.stderr
        logged = (await started.stderr.readline()).decode()
        started.terminate()
        await started.communicate()

    assert words in logged


async def test_home_says_which_models_serve() -> None:
    async with team_at_work() as team:
        await team.workspace.open_home("dana")
        home = await team.workspace.wait_for(lambda: team.workspace.home("dana"))

    assert "Models: scripted/scripted-1, for every agent; scripted/scripted-1 judges." in str(home)


@dataclass(frozen=True, kw_only=True)
class MixedSpec(BotSpec):
    """A bot with keys of two vendors, whose servers are one."""

    url: str = ""

    def parts(self, workspace: Workspace, database: Path | str) -> Parts:
        providers = {
            "anthropic": AnthropicProvider("k", self.url, stall=StallLimits(first_token=30)),
            "openai": OpenAIProvider("k", f"{self.url}/v1", stall=StallLimits(first_token=30)),
        }
        mixed = strongest(providers)
        settings = Settings(
            agent_model=mixed[0],
            judge_model=mixed[0],
            mixed_models=mixed,
            judge_models=mixed,
            background_models=(ModelChoice(provider="openai", model="gpt-6-luna"),),
            rounds=1,
        )
        calls = ModelCalls(providers, SystemClock(), retries=QUICK_RETRIES)
        return replace(super().parts(workspace, database), calls=calls, settings=settings)


@pytest.mark.slow
async def test_two_vendors_are_mixed_and_the_judge_is_of_the_one_that_did_not_win() -> None:
    calls = list[tuple[str, str]]()

    def script(request: VendorRequest) -> Say:
        reply = good_reply(request)
        calls.append((str(request.body["model"]), reply.text))
        return reply

    async with (
        Vendor(script) as vendor,
        run_workspace(quick_workspace()) as workspace,
        running_bot(workspace, spec=MixedSpec(url=vendor.url)) as team,
    ):
        board = await team.debate(QUESTION)
        # The vendors' SDKs are loaded with the first calls.
        debate = await team.wait_for_end(board, seconds=90)
        thread = team.thread(board)
        board_json = json.dumps(thread[0], ensure_ascii=False)

    models = {agent.id: agent.model for agent in debate.setup.agents}
    assert models == {
        "operations": "claude-opus-5-5",
        "finance": "gpt-6.1-sol",
        "sceptic": "claude-opus-5-5",
    }
    assert [model for model, text in calls if '"agents"' in text] == ["gpt-6-luna"]
    assert "Operations `claude-opus-5-5`: It needs operations." in board_json
    assert "points of view, 1 model" not in board_json
    assert debate.tally
    assert debate.verdict
    assert debate.verdict.call
    won = {debate.setup.agent(winner).maker for winner in debate.tally.winners}
    if len(won) == 1:
        assert debate.verdict.call.provider not in won
        assert "none of whose maker's agents won the vote" in json.dumps(thread[1:])


@pytest.mark.parametrize("name", ["Secruity", "wizard"])
async def test_an_agent_asked_for_by_name_that_is_not_there_starts_nothing(name: str) -> None:
    """The form's menu may be older than the settings."""
    async with team_at_work() as team:
        await team.type("")
        view = await form_saying(team, "Estimated:")
        values = {
            "question": {"question": {"value": QUESTION}},
            "agents": {
                "agents": {"selected_options": [{"value": text} for text in ("legal", name)]}
            },
        }
        await team.workspace.submit("dana", view["id"], values)
        answers = await team.workspace.wait_for(
            lambda: (
                [text for text in map(str, team.workspace.views("dana")) if name in text]
                or [text for text in team.ephemeral_texts() if name in text]
            )
        )
        assert "There is no agent or role" in answers[-1]
        assert not await team.moot.store.find(DebateFilter())
