"""The common behaviour of all model providers, for streams and replies in one piece."""

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import pytest

from core.debate.turn import Act
from core.errors import (
    KeyRefused,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ReplyUnusable,
    RequestRejected,
)
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.offline import OfflineProvider
from core.llm.providers.ollama import OllamaProvider
from core.llm.providers.openai import MOONSHOT, OPENAI, OPENROUTER, OpenAIProvider
from core.ports import ModelProvider, SlowLoadingProvider
from core.request import AnswerForm, ModelReply, ModelRequest, Part, PartKind
from core.settings import StallLimits
from tests.vendors.script import Counts, Fault, Reject, ReplyEnding, Say, VendorRequest
from tests.vendors.server import Vendor, always

KEY = "sk-test-0123456789abcdefghij"
SECRET_WORDS = "the merger with Initech"
REPLY = "Use PostgreSQL, because the team knows it."
#: How long a server may be silent: long, so that a busy machine is none; or short, where one is.
PATIENT = StallLimits(first_token=60, between_tokens=60)
HURRIED = StallLimits(first_token=0.2, between_tokens=0.2)


@dataclass(frozen=True)
class Case:
    """A provider for the scripted vendor."""

    name: str
    model: str
    #: From its address, and how long it may be silent.
    build: Callable[[str, StallLimits], ModelProvider]
    #: The address has no Responses API.
    chat_only: bool = False


def _openai(url: str, stall: StallLimits) -> ModelProvider:
    return OpenAIProvider(KEY, f"{url}/v1", dialect=OPENAI, stall=stall)


def _openrouter(url: str, stall: StallLimits) -> ModelProvider:
    return OpenAIProvider(KEY, f"{url}/v1", dialect=OPENROUTER, stall=stall)


def _moonshot(url: str, stall: StallLimits) -> ModelProvider:
    return OpenAIProvider(KEY, f"{url}/v1", dialect=MOONSHOT, stall=stall)


def _anthropic(url: str, stall: StallLimits) -> ModelProvider:
    return AnthropicProvider(KEY, url, stall=stall)


def _ollama(url: str, stall: StallLimits) -> ModelProvider:
    return OllamaProvider(url, stall=stall)


CASES = (
    Case("openai", "gpt-6.1-terra", _openai),
    Case("openai-chat", "llama-4", _openai, chat_only=True),
    Case("anthropic", "claude-sonnet-5-5", _anthropic),
    Case("openrouter", "anthropic/claude-sonnet-5.5", _openrouter),
    Case("moonshot", "kimi-k3.1-pro", _moonshot),
    Case("ollama", "llama-4:8b", _ollama),
)


@pytest.fixture(autouse=True)
def no_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each client would read all that the machine has, three times what a test takes besides."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))


@pytest.fixture(autouse=True, scope="module")
def loaded_sdks() -> None:
    """No test is about how long it takes to load them."""

    async def load() -> None:
        for build in (_openai, _anthropic):
            provider = build("http://127.0.0.1:1", PATIENT)
            assert isinstance(provider, SlowLoadingProvider)
            await provider.load()
            await provider.close()

    asyncio.run(load())


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture(params=["streamed", "in one piece"])
def way(request: pytest.FixtureRequest) -> str:
    return request.param


@dataclass(frozen=True)
class Line:
    """A provider and its scripted vendor."""

    case: Case
    vendor: Vendor
    provider: ModelProvider
    #: Some servers send a reply in one piece, though asked for a stream.
    streamed: bool

    def script(self, answer: Say | Reject) -> None:
        """Set the vendor's answer at the path of the provider."""
        no_responses = Reject(status=404, message="Not found")

        if isinstance(answer, Say) and not self.streamed:
            answer = replace(answer, streamed=False)

        def reply(request: VendorRequest) -> Say | Reject:
            nowhere = self.case.chat_only and request.path == "/v1/responses"
            return no_responses if nowhere else answer

        self.vendor.script = reply

    async def ask(
        self, answer: AnswerForm | None = None, began: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Send the request of these tests."""
        request = a_request(self.case.model, answer)
        return await self.provider.complete(request, began)


@pytest.fixture
async def line(case: Case, way: str) -> AsyncIterator[Line]:
    async with Vendor() as vendor:
        provider = case.build(vendor.url, PATIENT)
        yield Line(case, vendor, provider, way == "streamed")
        await provider.close()


@pytest.fixture
async def hurried(case: Case, way: str) -> AsyncIterator[Line]:
    """A provider with a silence limit of 0.2 s."""
    async with Vendor() as vendor:
        provider = case.build(vendor.url, HURRIED)
        yield Line(case, vendor, provider, way == "streamed")
        await provider.close()


def a_request(model: str, answer: AnswerForm | None = None) -> ModelRequest:
    question = Part(kind=PartKind.QUESTION, label="Question", text=SECRET_WORDS, ends_shared=True)
    task = Part(kind=PartKind.TASK, label="Task", text="Propose a solution.")
    return ModelRequest(
        model=model,
        act=Act.PROPOSAL,
        role="architect",
        system="You debate.",
        parts=(question, task),
        delimiter="k7f3q9",
        answer=answer,
        temperature=0.4,
        cache_key="d1234567",
    )


async def test_a_reply_has_its_full_text_and_usage(line: Line) -> None:
    line.script(Say(text=REPLY, counts=Counts(input=120, output=40)))

    reply = await line.ask()

    assert reply.text == REPLY
    assert reply.model == line.case.model
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (120, 40)
    assert reply.usage.attempts == 1
    assert line.vendor.asked[-1].body["stream"] is True


async def test_the_first_token_is_announced_once(line: Line) -> None:
    line.script(Say())
    began: list[None] = []

    await line.ask(began=lambda: began.append(None))

    assert len(began) == 1


@pytest.mark.parametrize("way", ["streamed"])
async def test_the_first_token_of_a_stream_is_announced_before_the_end(line: Line) -> None:
    line.script(Say(pieces=20, fault=Fault.STALL))
    began = asyncio.Event()

    asking = asyncio.create_task(line.ask(began=began.set))
    beginning = asyncio.create_task(began.wait())
    async with asyncio.timeout(300):
        await asyncio.wait([asking, beginning], return_when=asyncio.FIRST_COMPLETED)

    assert (beginning.done(), asking.done()) == (True, False)
    asking.cancel()
    await asyncio.wait([asking])


async def test_cached_and_written_tokens_count_as_input(line: Line) -> None:
    line.script(Say(counts=Counts(input=900, cached=600, written=200, output=7)))

    usage = (await line.ask()).usage

    assert usage.input_tokens == 900
    if line.case.name != "ollama":  # which has no cache to charge for
        assert (usage.cached_tokens, usage.written_tokens) == (600, 200)


async def test_missing_figures_are_zeros_of_unknown_cost(line: Line) -> None:
    line.script(Say(text=REPLY, counts=None))

    reply = await line.ask()

    assert reply.text == REPLY
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (0, 0)
    assert reply.usage.cost == (Decimal(0) if line.case.name == "ollama" else None)


async def test_thinking_before_the_text_is_left_out(line: Line) -> None:
    line.script(Say(text=REPLY, thinking="Let me see. They want a database."))

    assert (await line.ask()).text == REPLY


#: Failure of a server, the exact class of the error, and a pattern of its message.
FAILURES: tuple[tuple[Say | Reject, type[ProviderError], str], ...] = (
    *(
        (Reject(status=status), kind, "")
        for kind, statuses in {
            RequestRejected: (400, 413),
            KeyRefused: (401, 403),
            ProviderDown: (408, 500, 502),
            ProviderBusy: (429, 503, 529),
        }.items()
        for status in statuses
    ),
    *(
        (Say(fault=fault), ProviderDown, "")
        for fault in (Fault.CUT, Fault.EARLY, Fault.GARBAGE, Fault.NOT_UTF8)
    ),
    *(
        (Reject(status=200, body=body), ProviderDown, "")
        for body in (
            *("[]", "", "null", '{"id": 3}', "[" * 200_000),
            '{"choices": 7, "output": {}, "content": "text", "type": "message", "done": 1}',
            '{"choices": [7, {}], "output": [7, {"content": 7}], "content": [7, {}], "message": 7}',
        )
    ),
    *(
        (
            Reject(status=200, body=page),
            RequestRejected,
            rf"A web page.* answered in place of.*{whose}",
        )
        for page, whose in (
            ("<html>Bad gateway</html>", "a firewall"),
            ("<title>Sign in</title>", "a sign-in"),
        )
    ),
    (Say(text="so " * 300_000), ReplyUnusable, r"did not keep to the length.*characters"),
    # Quadratic, it takes minutes.
    (Reject(status=400, message="Not so: " + "un not in no " * 20_000), RequestRejected, ""),
    # The last: an address without the newer API is not asked for it again.
    (Reject(status=404), RequestRejected, ""),
)


@pytest.mark.timeout(300)
async def test_a_failure_becomes_the_error_that_says_what_to_do(line: Line) -> None:
    for answer, kind, words in FAILURES:
        line.script(answer)
        with pytest.raises(ProviderError) as caught:
            await line.ask()
        assert type(caught.value) is kind, answer
        assert re.search(words, str(caught.value)), answer


async def test_a_rate_limit_is_reported_at_once_with_the_wait_it_asks_for(line: Line) -> None:
    dates = {
        "retry-after": "Fri, 20 Nov 2026 10:00:30 GMT",
        "date": "Fri, 20 Nov 2026 10:00:00 GMT",
    }
    waits: tuple[tuple[dict[str, str], float | None], ...] = (
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        (dates, 30.0),
    )
    for number, (headers, expected) in enumerate(waits):
        line.script(Reject(status=429, headers=headers))
        with pytest.raises(ProviderBusy) as caught:
            await line.ask()
        assert caught.value.retry_after == expected, headers
        # Once in vain for the newer API, and never again by the SDK itself.
        assert len(line.vendor.asked) == number + (2 if line.case.chat_only else 1), headers


async def test_a_stalled_reply_is_provider_down(hurried: Line) -> None:
    hurried.script(Say(fault=Fault.STALL))

    with pytest.raises(ProviderDown, match="stopped answering"):
        await hurried.ask()


@pytest.mark.slow
async def test_a_slow_server_that_sends_bytes_is_not_silent() -> None:
    """The whole reply takes longer than the silence limit of 4 s; each byte takes far less."""

    async def ask(case: Case, *, streamed: bool) -> tuple[str, float]:
        dripping = Say(text="Yes.", fault=Fault.DRIP, pace=0.04, streamed=streamed)
        async with Vendor(always(dripping)) as vendor:
            provider = case.build(vendor.url, StallLimits(first_token=4, between_tokens=4))
            begun = time.monotonic()
            reply = await provider.complete(a_request(case.model))
            await provider.close()
        return reply.text, time.monotonic() - begun

    replies = await asyncio.gather(
        *(ask(case, streamed=streamed) for case in CASES for streamed in (True, False))
    )
    assert {text for text, _ in replies} == {"Yes."}
    assert min(seconds for _, seconds in replies) > 4


@pytest.mark.parametrize(
    ("answer", "stall"),
    [
        (Say(fault=Fault.STALL), StallLimits(first_token=60, between_tokens=0.2)),
        (Say(wait=60), StallLimits(first_token=0.2, between_tokens=60)),
    ],
    ids=["amid", "before it begins"],
)
async def test_the_silence_limit_is_longer_before_the_first_token(
    case: Case, answer: Say, stall: StallLimits
) -> None:
    async with Vendor(always(answer)) as vendor:
        provider = case.build(vendor.url, stall)
        with pytest.raises(ProviderDown, match="stopped answering"):
            async with asyncio.timeout(300):
                await provider.complete(a_request(case.model))
        await provider.close()


async def test_an_overload_within_a_reply_is_retryable(line: Line) -> None:
    line.script(Say(fault=Fault.OVERLOAD))

    with pytest.raises(ProviderError) as caught:
        await line.ask()

    assert caught.value.retryable


async def test_an_oversized_body_is_not_read_to_its_end(case: Case) -> None:
    """The body has 5 MB."""
    async with Vendor(always(Say(text="so " * 1_700_000, streamed=False))) as vendor:
        provider = case.build(vendor.url, PATIENT)
        with pytest.raises(ReplyUnusable, match=r"did not keep to the length.*4 MB"):
            await provider.complete(a_request(case.model))
        await provider.close()


async def test_the_status_decides_for_an_oversized_error_body(line: Line) -> None:
    line.script(Reject(status=500, body="so " * 1_700_000))

    with pytest.raises(ProviderDown, match=r"failed \(500\)"):
        await line.ask()


async def test_an_endless_error_body_is_not_read_to_its_end(case: Case) -> None:
    sent, ended = 0, asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 500 Scripted\r\ncontent-type: text/html\r\n\r\n")
        try:
            while sent < 200_000_000:
                writer.write(b"so " * 10_000)
                sent += 30_000
                await writer.drain()
        except ConnectionError:
            pass
        writer.transport.abort()  # what was not read is not waited for
        ended.set()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        provider = case.build(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", PATIENT)
        with pytest.raises(ProviderDown, match="500"):
            await provider.complete(a_request(case.model))
        await provider.close()
        await ended.wait()
    assert sent < 100_000_000


async def test_a_failed_reply_reports_its_cost() -> None:
    error = {"type": "server_error", "code": "server_error", "message": "It failed."}
    usage = {"input_tokens": 5000, "output_tokens": 900, "total_tokens": 5900}
    body = json.dumps({"object": "response", "status": "failed", "error": error, "usage": usage})
    async with Vendor(always(Reject(status=200, body=body))) as vendor:
        provider = _openai(vendor.url, PATIENT)
        with pytest.raises(ProviderDown) as caught:
            await provider.complete(a_request("gpt-6.1-terra"))
        await provider.close()
    assert (caught.value.usage.input_tokens, caught.value.usage.output_tokens) == (5000, 900)


async def test_a_stream_with_a_json_content_type_is_read_as_a_stream() -> None:
    piece = {"model": "m", "choices": [{"delta": {"content": REPLY}, "finish_reason": "stop"}]}
    body = f": hello\n\ndata: {json.dumps(piece)}\n\ndata: [DONE]\n\n"
    async with Vendor(always(Reject(status=200, body=body))) as vendor:
        provider = _moonshot(vendor.url, PATIENT)
        reply = await provider.complete(a_request("m"))
        await provider.close()
    assert reply.text == REPLY


async def test_a_refused_connection_is_provider_down(case: Case) -> None:
    async with Vendor() as vendor:
        provider = case.build(vendor.url, PATIENT)

    with pytest.raises(ProviderDown):
        await provider.complete(a_request(case.model))
    await provider.close()


async def test_an_empty_cut_off_or_refused_reply_is_unusable_and_its_usage_counts(
    line: Line,
) -> None:
    counts = Counts(input=120, output=40)
    refusal = [] if line.case.name == "ollama" else [Say(ending=ReplyEnding.REFUSAL, counts=counts)]
    for say in (
        *refusal,
        Say(ending=ReplyEnding.LENGTH, counts=counts),
        Say(text="", counts=counts),
        Say(text="  \n ", counts=counts),
    ):
        line.script(say)
        with pytest.raises(ReplyUnusable) as caught:
            await line.ask()
        usage = caught.value.usage
        assert usage.input_tokens == 120, say
        assert usage.output_tokens == 40 or not say.text.strip(), say


async def test_foreign_text_is_sent_as_data_between_delimiters(line: Line) -> None:
    line.script(Say())

    await line.ask()

    sent = _prompt(line.vendor.asked[-1])
    assert f'<<<k7f3q9 TEAM "Question"\n{SECRET_WORDS}\n>>>k7f3q9' in sent
    assert sent.rstrip().endswith("Propose a solution.")


def _prompt(request: VendorRequest) -> str:
    """The text of the user's message."""
    body = request.body
    message = (body.get("input") or body["messages"])[-1]
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


async def test_a_structured_answer_is_asked_for_in_the_vendors_way(line: Line) -> None:
    line.script(Say())
    schema = {
        "type": "object",
        "properties": {"ranking": {"type": "array", "items": {"type": "string"}}},
        "required": ["ranking"],
        "additionalProperties": False,
    }

    await line.ask(AnswerForm(name="ballot", schema=schema))

    body = line.vendor.asked[-1].body
    strict = {"name": "ballot", "schema": schema, "strict": True}
    expected = {
        "openai": lambda: body["text"]["format"] == {"type": "json_schema", **strict},
        "openai-chat": lambda: (
            body["response_format"] == {"type": "json_schema", "json_schema": strict}
        ),
        "openrouter": lambda: (
            body["response_format"] == {"type": "json_schema", "json_schema": strict}
        ),
        "anthropic": lambda: (
            body["output_config"]["format"] == {"type": "json_schema", "schema": schema}
        ),
        "moonshot": lambda: (
            body["response_format"] == {"type": "json_object"}
            and '"ranking"' in _prompt(line.vendor.asked[-1])
        ),
        "ollama": lambda: body["format"] == schema,
    }
    assert expected[line.case.name]()


async def test_neither_keys_nor_prompts_reach_logs_or_error_texts(
    line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for answer in (
        Say(),
        Say(fault=Fault.CUT),
        Say(fault=Fault.GARBAGE),
        Reject(status=400, message=f"Invalid: {SECRET_WORDS}"),
        Reject(status=401, message=f"Incorrect API key provided: {KEY}"),
        Reject(status=500, message=f"{SECRET_WORDS} {KEY}", code=f"oops {KEY}"),
    ):
        line.script(answer)
        words = ""
        try:
            await line.ask()
        except ProviderError as error:
            words = str(error)
        for text in (caplog.text, words):
            assert KEY not in text, answer
            assert SECRET_WORDS not in text, answer
            assert "Propose a solution" not in text, answer


async def test_a_cancelled_request_closes_its_connection(line: Line) -> None:
    line.script(Say(wait=30))

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await line.ask()
    line.script(Say(text=REPLY))

    assert (await line.ask()).text == REPLY


async def test_closing_twice_is_safe(line: Line) -> None:
    line.script(Say())
    await line.ask()

    await line.provider.close()
    await line.provider.close()


async def test_the_offline_provider_keeps_the_contract_too() -> None:
    offline = OfflineProvider()
    began: list[None] = []

    reply = await offline.complete(
        a_request("offline-checklists"),
        lambda: began.append(None),
    )

    assert reply.text
    assert len(began) == 1
    assert reply.usage.cost == 0
    await offline.close()
    await offline.close()
