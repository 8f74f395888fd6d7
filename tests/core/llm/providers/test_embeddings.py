"""Embeddings over OpenAI's protocol, and searches with them."""

import json
from collections.abc import Sequence

import pytest

from core.errors import ProviderDown
from core.llm.providers.embeddings import OpenAIEmbedder
from core.use_cases.recall import nearness
from tests.core.use_cases.test_recall import a_register
from tests.vendors.script import Reject, VendorRequest
from tests.vendors.server import Vendor, always

#: What the server takes a text to be about: a number for each of these words.
ABOUT = (("queue", "postgres", "pipeline"), ("party", "sommerfest"))


def vector(text: str) -> Sequence[float]:
    return [float(any(word in text.lower() for word in group)) for group in ABOUT]


def embedding(request: VendorRequest) -> Reject:
    """An answer of the Embeddings API in another order than the request."""
    texts = request.body["input"]
    data = [{"index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
    return Reject(status=200, body=json.dumps({"object": "list", "data": data[::-1]}))


async def test_vectors_come_in_the_order_of_the_texts() -> None:
    async with Vendor(embedding) as vendor:
        embedder = OpenAIEmbedder("key", "text-embedding-3-small", f"{vendor.url}/v1")
        vectors = await embedder.embed(["the summer party", "a queue"])
        await embedder.close()
    assert vectors == [[0.0, 1.0], [1.0, 0.0]]
    (request,) = vendor.asked
    assert request.path == "/v1/embeddings"
    assert request.body["model"] == "text-embedding-3-small"
    assert request.body["encoding_format"] == "float"


@pytest.mark.parametrize(
    "body",
    [
        *("[]", "no json", '{"data": []}', '{"data": [{"index": 0, "embedding": "AACAPw=="}]}'),
        '{"data": [{"index": 1, "embedding": [1.0]}]}',
    ],
)
async def test_an_unreadable_answer_is_an_error_with_a_reason(body: str) -> None:
    async with Vendor(always(Reject(status=200, body=body))) as vendor:
        embedder = OpenAIEmbedder("", "m", f"{vendor.url}/v1")
        with pytest.raises(ProviderDown, match="embeddings"):
            await embedder.embed(["a queue"])
        await embedder.close()


async def test_decisions_are_found_by_meaning_or_by_words_without_a_server() -> None:
    question = "How do batch pipelines hand things over?"
    async with Vendor(embedding) as vendor:
        embedder = OpenAIEmbedder("key", "m", f"{vendor.url}/v1")
        register = await a_register(embedder=embedder)
        assert len(await register.anywhere(question)) == 1
        assert not await register.anywhere("Who pays for the party?")
        assert len(vendor.asked[-1].body["input"]) == 1  # only the question is new
        await register.anywhere("Why Postgres with sk-proj-abcdefghijklmnop1234?")
        assert vendor.asked[-1].body["input"] == ["Why Postgres with [redacted]?"]
        vendor.go_away()
        with pytest.raises(ProviderDown, match=r"\((Connection|Server)\w+Error\)"):
            await embedder.embed(["a queue"])
        assert not await register.anywhere(question)
        assert await register.anywhere("Why Postgres as a queue?")
        await embedder.close()


def test_vectors_of_another_model_are_not_compared() -> None:
    assert nearness([1.0, 0.0], [[1.0, 0.0], [1.0], [], [0.0, 0.0], [0.0, 1.0]]) == [1, 0, 0, 0, 0]
