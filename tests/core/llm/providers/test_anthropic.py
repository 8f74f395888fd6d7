"""Anthropic: what is sent for which model."""

from dataclasses import replace

import pytest
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span

from core.errors import KeyRefused
from core.llm.providers.anthropic import AnthropicProvider
from core.request import Effort, ModelRequest, Part, PartKind
from core.settings import StallLimits
from tests.vendors.script import Counts, Say
from tests.vendors.server import Vendor, always


@pytest.fixture
def claude(request_: ModelRequest) -> ModelRequest:
    return replace(request_, model="claude-sonnet-5-5")


async def sent(vendor: Vendor, request: ModelRequest) -> dict[str, object]:
    """What the vendor was sent."""
    provider = AnthropicProvider("sk-ant-test", vendor.url, stall=StallLimits(first_token=30))
    await provider.complete(request)
    await provider.close()
    return dict(vendor.asked[-1].body)


async def test_shared_beginnings_are_marked_and_the_task_is_not(
    vendor: Vendor, claude: ModelRequest
) -> None:
    await sent(vendor, claude)

    blocks = vendor.asked[0].body["messages"][0]["content"]
    marks = [block.get("cache_control") for block in blocks]
    assert marks == [{"type": "ephemeral"}] * 3 + [None]
    assert vendor.asked[0].body["system"] == [{"type": "text", "text": "You debate."}]


async def test_no_more_than_four_places_are_marked_and_the_cuts_stay(
    vendor: Vendor, claude: ModelRequest
) -> None:
    many = [
        Part(kind=PartKind.SUMMARY, label=f"Round {n}", text="Both.", ends_shared=True)
        for n in range(6)
    ]
    await sent(vendor, replace(claude, parts=(*many, claude.parts[-1])))

    blocks = vendor.asked[0].body["messages"][0]["content"]
    assert ["cache_control" in block for block in blocks] == [False] * 2 + [True] * 4 + [False]


async def test_what_current_models_refuse_is_not_sent(vendor: Vendor, claude: ModelRequest) -> None:
    body = await sent(vendor, claude)

    assert {"temperature", "top_p", "top_k", "tool_choice"}.isdisjoint(body)
    assert claude.temperature is not None


async def test_the_vendor_is_not_told_in_which_trace_it_is_asked(
    vendor: Vendor, claude: ModelRequest
) -> None:
    traced = SpanContext(trace_id=1, span_id=2, is_remote=False, trace_flags=TraceFlags(1))

    with use_span(NonRecordingSpan(traced)):
        await sent(vendor, claude)

    assert "traceparent" not in vendor.asked[0].headers


@pytest.mark.parametrize(
    ("model", "effort", "thinking", "sent_effort", "room"),
    [
        ("claude-sonnet-5-5", Effort.LOW, {"type": "between_tools"}, "low", 0),
        ("claude-sonnet-5-5", Effort.HIGH, None, "high", 24576),
        ("claude-haiku-5-5", Effort.MEDIUM, {"type": "adaptive"}, "medium", 8192),
        ("claude-opus-5-5", Effort.MEDIUM, None, "medium", 12288),
        ("claude-opus-4-6", Effort.MEDIUM, None, None, 0),
    ],
)
async def test_thinking_follows_effort_by_the_table(  # noqa: PLR0913, PLR0917 - one case, one row
    vendor: Vendor,
    claude: ModelRequest,
    model: str,
    effort: Effort,
    thinking: dict[str, str] | None,
    sent_effort: str | None,
    room: int,
) -> None:
    await sent(vendor, replace(claude, model=model, effort=effort))

    body = vendor.asked[0].body
    assert body.get("thinking") == thinking
    assert body.get("output_config", {}).get("effort") == sent_effort
    assert body["max_tokens"] == 1000 + room


async def test_thinking_tokens_are_told_apart(vendor: Vendor, claude: ModelRequest) -> None:
    vendor.script = always(Say(counts=Counts(output=700, reasoning=600)))
    provider = AnthropicProvider("sk-ant-test", vendor.url)

    usage = (await provider.complete(replace(claude, system=""))).usage

    assert (usage.output_tokens, usage.reasoning_tokens) == (700, 600)
    assert "system" not in vendor.asked[0].body
    await provider.close()


async def test_without_a_key_nothing_is_sent(vendor: Vendor, claude: ModelRequest) -> None:
    with pytest.raises(KeyRefused, match="No API key"):
        await AnthropicProvider("", vendor.url).complete(claude)

    assert vendor.asked == []
