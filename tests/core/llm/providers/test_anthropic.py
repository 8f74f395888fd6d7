"""Anthropic: the fields of requests by model."""

from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span

from core.llm.providers.anthropic import AnthropicProvider
from core.request import Effort, ModelRequest, Part, PartKind
from tests.vendors.script import Counts, Say
from tests.vendors.server import Vendor, always


@pytest.fixture
def claude(request_: ModelRequest) -> ModelRequest:
    return replace(request_, model="claude-sonnet-5-5")


async def sent(vendor: Vendor, request: ModelRequest) -> dict[str, Any]:
    """The body of the request at the vendor."""
    provider = AnthropicProvider("sk-ant-test", vendor.url)
    await provider.complete(request)
    await provider.close()
    return dict(vendor.asked[-1].body)


async def test_at_most_four_prefixes_are_marked_and_all_are_cut(
    vendor: Vendor, claude: ModelRequest
) -> None:
    many = [
        Part(kind=PartKind.SUMMARY, label=f"Round {n}", text="Both.", ends_shared=True)
        for n in range(6)
    ]
    body = await sent(vendor, replace(claude, parts=(*many, claude.parts[-1])))

    marks = [block.get("cache_control") for block in body["messages"][0]["content"]]
    assert marks == [None] * 2 + [{"type": "ephemeral"}] * 4 + [None]
    assert body["system"] == [{"type": "text", "text": "You debate."}]
    # What current models refuse, though the agent has a temperature.
    assert {"temperature", "top_p", "top_k", "tool_choice"}.isdisjoint(body)


async def test_the_vendor_gets_no_trace_id(vendor: Vendor, claude: ModelRequest) -> None:
    traced = SpanContext(trace_id=1, span_id=2, is_remote=False, trace_flags=TraceFlags(1))

    with use_span(NonRecordingSpan(traced)):
        await sent(vendor, claude)

    assert "traceparent" not in vendor.asked[0].headers


@pytest.mark.parametrize(
    ("model", "effort", "thinking", "room"),
    [
        ("claude-sonnet-5-5", Effort.LOW, {"type": "between_tools"}, 0),
        ("claude-sonnet-5-5", Effort.HIGH, None, 24576),
        ("claude-haiku-5-5", Effort.MEDIUM, {"type": "adaptive"}, 8192),
        ("claude-opus-4-6", Effort.MEDIUM, None, 0),
    ],
)
async def test_thinking_follows_effort_by_the_table(  # noqa: PLR0917 - one case, one row
    vendor: Vendor,
    claude: ModelRequest,
    model: str,
    effort: Effort,
    thinking: dict[str, str] | None,
    room: int,
) -> None:
    body = await sent(vendor, replace(claude, model=model, effort=effort))

    assert body.get("thinking") == thinking
    is_known = model != "claude-opus-4-6"
    assert body.get("output_config", {}).get("effort") == (effort.value if is_known else None)
    assert body["max_tokens"] == 1000 + room


async def test_thinking_tokens_are_counted_separately(vendor: Vendor, claude: ModelRequest) -> None:
    vendor.script = always(Say(counts=Counts(output=700, reasoning=600)))
    provider = AnthropicProvider("sk-ant-test", vendor.url)

    usage = (await provider.complete(claude)).usage

    assert (usage.output_tokens, usage.reasoning_tokens) == (700, 600)
    await provider.close()
