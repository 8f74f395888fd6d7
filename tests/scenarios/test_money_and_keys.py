"""Refused keys and caps as a team sees them; and nothing of it in the logs."""

import io
import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

import pytest

from bot.app import Parts
from bot.log import set_up_logs
from bot.settings import LogFormat, LogLevel
from bot.testing import (
    QUICK_RETRIES,
    BotSpec,
    Message,
    Team,
    quick_workspace,
    running_bot,
)
from core.clock import SystemClock
from core.debate.state import Status
from core.llm.call import ModelCalls
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.openai import OpenAIProvider
from core.settings import AllLimits, ModelChoice, Settings, StallLimits
from slack_on_loopback import Workspace, run_workspace
from tests.vendor_replies import good_reply
from tests.vendors.script import Counts, Fault, Reject, Say, VendorRequest
from tests.vendors.server import Script, Vendor

CLAUDE_KEY, GPT_KEY = "sk-ant-api03-REFUSED0000", "sk-proj-ACCEPTED1111"
CLAUDE = ModelChoice(provider="anthropic", model="claude-sonnet-5-5")
GPT = ModelChoice(provider="openai", model="gpt-6.1-terra")
QUESTION = "Kafka or PostgreSQL for the zebra queue? It must keep every job."


@dataclass(frozen=True, kw_only=True)
class VendorSpec(BotSpec):
    """A bot whose agents are at real SDKs that speak to one server."""

    url: str = ""
    fallbacks: Sequence[ModelChoice] = ()
    limits: AllLimits = field(default_factory=AllLimits)

    def parts(self, workspace: Workspace, database: Path | str) -> Parts:
        providers = {
            "anthropic": AnthropicProvider(CLAUDE_KEY, self.url, stall=StallLimits(first_token=30)),
            "openai": OpenAIProvider(GPT_KEY, f"{self.url}/v1", stall=StallLimits(first_token=30)),
        }
        settings = Settings(
            agent_model=CLAUDE,
            judge_model=CLAUDE,
            fallbacks=tuple(self.fallbacks),
            limits=self.limits,
            rounds=1,
            casting=False,
        )
        calls = ModelCalls(providers, SystemClock(), retries=QUICK_RETRIES)
        return replace(super().parts(workspace, database), calls=calls, settings=settings)


@asynccontextmanager
async def team_over(
    script: Script, *, fallbacks: Sequence[ModelChoice] = (), cost: str | None = None
) -> AsyncGenerator[Team]:
    limits = AllLimits(debate_cost=None if cost is None else Decimal(cost))
    async with Vendor(script) as vendor, run_workspace(quick_workspace()) as workspace:
        spec = VendorSpec(url=vendor.url, fallbacks=fallbacks, limits=limits)
        async with running_bot(workspace, spec=spec) as team:
            yield team


def refused_after(replies: int) -> Script:
    """Anthropic takes the key for so many replies; its refusal quotes what it should not."""
    remaining = replies

    def script(request: VendorRequest) -> Say | Reject:
        nonlocal remaining
        if request.path != "/v1/messages":
            return good_reply(request)
        remaining -= 1
        message = f"Incorrect API key provided: {CLAUDE_KEY}. You asked: {QUESTION}"
        refusal = Reject(status=401, code="authentication_error", message=message)
        return good_reply(request) if remaining >= 0 else refusal

    return script


def text_of(messages: Sequence[Message]) -> str:
    return "\n".join(f"{message.get('text')}\n{message.get('blocks')}" for message in messages)


async def test_a_key_refused_in_the_middle_is_told_once_and_the_fallback_goes_on() -> None:
    async with team_over(refused_after(4), fallbacks=[GPT]) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        thread = team.thread(board)

    assert debate.status is Status.CONCLUDED
    assert debate.failures == {}
    assert not any("failed" in message["text"] for message in thread)
    assert text_of(thread[:1]).count("stands in for") >= 1
    verdict = next(m for m in thread[1:] if m.get("subtype") == "thread_broadcast")
    assert verdict["text"].count("stands in for") == 1
    assert "Anthropic refuses the API key" in text_of([verdict])
    assert "Check the key and the account" in text_of([verdict])


async def test_a_key_refused_in_the_middle_without_a_fallback_keeps_what_is_there() -> None:
    async with team_over(refused_after(4)) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        thread = team.thread(board)

    assert debate.verdict
    assert debate.verdict.partial
    # Four replies: three proposals and the options made of them.
    assert len(debate.contributions) == 3
    text = text_of(thread)
    assert "Partial result" in text
    assert "Check the key and the account" in text_of(thread[:1])
    assert CLAUDE_KEY not in text
    assert "Incorrect API key provided" not in text


async def test_a_key_refused_at_once_ends_the_debate_with_what_to_do() -> None:
    async with team_over(refused_after(0)) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        thread = team.thread(board)

    assert debate.status is Status.FAILED
    assert "Check the key and the account" in text_of(thread)
    assert CLAUDE_KEY not in text_of(thread)


async def test_a_cap_is_told_on_the_board_and_in_the_verdict() -> None:
    def costly(request: VendorRequest) -> Say:
        output = min(4000, int(request.body["max_tokens"]))
        return replace(good_reply(request), counts=Counts(input=1000, output=output))

    async with team_over(costly, cost="0.45") as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        thread = team.thread(board)

    assert debate.usage.cost
    assert debate.usage.cost <= Decimal("0.45")
    assert "The cost cap for this debate is $0.45" in text_of(thread[:1])
    verdict = next(m for m in thread[1:] if m.get("subtype") == "thread_broadcast")
    assert "The cost cap for this debate is $0.45" in verdict["text"]
    assert "limits.debate_cost" in text_of([verdict])


class Raw(logging.Handler):
    """Keeps every line as it was logged, before anything is blanked."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name} {record.getMessage()} {record.exc_info or ''}")


@pytest.fixture
def logs() -> Iterator[tuple[io.StringIO, Raw]]:
    stream, raw = io.StringIO(), Raw()
    set_up_logs(LogLevel.DEBUG, LogFormat.JSON, [CLAUDE_KEY, GPT_KEY], stream)
    logging.getLogger().addHandler(raw)
    yield stream, raw
    logging.getLogger().removeHandler(raw)


def stumbling() -> Script:
    """Every kind of trouble, then a refused key; the fallback stumbles too."""
    refused = refused_after(6)
    troubles: list[Say | Reject] = [
        Reject(status=529, message=QUESTION),
        Say(fault=Fault.GARBAGE, text=QUESTION),
        Reject(status=400, code="invalid_request_error", message=f"{QUESTION} {GPT_KEY}"),
        Say(fault=Fault.CUT),
    ]
    count = 0

    def script(request: VendorRequest) -> Say | Reject:
        nonlocal count
        count += 1
        return troubles.pop() if count % 3 == 0 and troubles else refused(request)

    return script


async def test_no_key_no_question_and_no_prompt_is_logged_at_any_level(
    logs: tuple[io.StringIO, Raw],
) -> None:
    stream, raw = logs
    async with team_over(stumbling(), fallbacks=[GPT]) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        tokens = (team.workspace.bot_token, team.workspace.app_token)

    output = stream.getvalue() + "\n".join(raw.lines)
    assert len(raw.lines) > 1
    assert "'event': 'running'" in output
    for secret in (CLAUDE_KEY, GPT_KEY, *tokens):
        assert secret not in output
    for text in ("zebra", "You take part in a structured debate", "Your task", "It keeps every"):
        assert text not in output


async def test_a_failed_debate_logs_why_and_nothing_else(logs: tuple[io.StringIO, Raw]) -> None:
    stream, raw = logs
    async with team_over(refused_after(0)) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)

    text = stream.getvalue() + "\n".join(raw.lines)
    assert "Anthropic refuses the API key" in text
    assert CLAUDE_KEY not in text
    assert "zebra" not in text
