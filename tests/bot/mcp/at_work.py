"""Programs that speak MCP: the SDK's client, over HTTP or on this machine's debates at once."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from bot.building import build_tools
from bot.mcp.this_machine import ThisMachine
from bot.mcp.tools import build_server
from bot.settings import BotSettings
from core.clock import SystemClock
from core.debate.people import Person
from core.debate.rules import Clarifying, Playbook
from core.debate.turn import Act
from core.llm.call import ModelCalls
from core.ports import Clock
from core.request import ModelReply, ModelRequest
from core.settings import ModelChoice, Settings
from core.testing import ScriptedProvider, plausible_reply
from core.transcript.record import record_json

KIM = Person(id="kim", name="Kim")
QUESTION = "Kafka or SQS for the job queue?"


def asking(request: ModelRequest) -> str:
    """Replies of agents that ask one question first."""
    if request.act is Act.QUESTIONS:
        question = {"question": "How many jobs a second?", "assumption": "A hundred."}
        return json.dumps({"questions": [question]})
    return plausible_reply(request)


class WaitingProvider(ScriptedProvider):
    """Answers nothing but questions of agents before it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        reply = await super().complete(request, on_first_token)
        await self.go.wait()
        return reply


class HastyClock(SystemClock):
    """Sleeps a twentieth of the time."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 20)


@dataclass(frozen=True)
class Editor:
    """A program that speaks MCP, with one server to talk to."""

    client: Client

    async def calls(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a call that succeeds."""
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error, text_of(answer)
        return cast("dict[str, Any]", answer.structured_content)

    async def is_refused(self, tool: str, **arguments: Any) -> str:
        """The words of a call that is refused."""
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error, text_of(answer)
        return text_of(answer)

    async def starts(self, question: str = QUESTION, **arguments: Any) -> str:
        """Begin a debate; return its id."""
        begun = await self.calls("start_debate", question=question, **arguments)
        return str(begun["debate_id"])

    async def until_asked(self, debate_id: str) -> dict[str, Any]:
        """Poll until agents ask something."""
        while True:
            status = await self.calls("debate_status", debate_id=debate_id, wait_seconds=20)
            if status["open_questions"]:
                return status

    async def follows(self, debate_id: str) -> dict[str, Any]:
        """Poll as the server's instructions say, until the debate has ended."""
        while True:
            status = await self.calls("debate_status", debate_id=debate_id, wait_seconds=30)
            if status["state"] in {"concluded", "failed", "stopped"}:
                return status


@asynccontextmanager
async def program_at(url: str, token: str) -> AsyncGenerator[Editor]:
    """A client of the SDK, over real HTTP."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=300) as http,
        Client(streamable_http_client(url, http_client=http), cache=None) as client,
    ):
        yield Editor(client)


def text_of(answer: CallToolResult) -> str:
    return "\n".join(content.text for content in answer.content if isinstance(content, TextContent))


@dataclass(frozen=True)
class Window(Editor):
    """An editor on its person's machine."""

    machine: ThisMachine

    async def record(self, debate_id: str) -> str:
        """What is in the log of a debate."""
        return record_json(await self.machine.log(debate_id))


@asynccontextmanager
async def editor(
    folder: Path,
    provider: ScriptedProvider,
    *,
    clock: Clock | None = None,
    person: Person = KIM,
    clarifying: Clarifying | None = None,
    playbooks: Mapping[str, Playbook] | None = None,
    **variables: Any,
) -> AsyncGenerator[Window]:
    choice = ModelChoice(provider=provider.name, model="scripted-1")
    settings = Settings(
        agent_model=choice,
        judge_model=choice,
        clarifying=clarifying or Clarifying(),
        casting=False,
        playbooks=playbooks or {},
    )
    environment = BotSettings.model_validate(
        {"moot_database": str(folder / "moot.db"), **variables}
    )
    machine = ThisMachine(
        environment=environment,
        settings=settings,
        calls=ModelCalls({provider.name: provider}, SystemClock()),
        tools=build_tools(settings, environment),
        embedder=None,
        person=person,
        clock=clock or SystemClock(),
        folder=folder,
    )
    server = build_server(lambda _request: machine)
    async with machine.open(), Client(server, cache=None) as client:
        yield Window(client, machine)
