"""Embeddings of texts, from OpenAI or any server with its Embeddings API."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import httpx2

from core.errors import ProviderDown
from core.llm.providers.errors import first_cause
from core.llm.providers.openai import OPENAI, openai_client
from core.values import Value

if TYPE_CHECKING:
    from openai import AsyncOpenAI

#: Texts per request: https://platform.openai.com/docs/api-reference/embeddings (2,048 at most).
_AT_ONCE = 256
#: Timeout of a request; it is short because a person waits.
_SECONDS = 2.0


class _Vector(Value):
    #: The index of the text in the request.
    index: int
    embedding: list[float]


class _Vectors(Value):
    data: tuple[_Vector, ...]


class OpenAIEmbedder:
    def __init__(self, key: str, model: str, base_url: str) -> None:
        self._key, self._model, self._base_url = key, model, base_url
        self._sdk: AsyncOpenAI | None = None
        self._making = asyncio.Lock()

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text, in the same order.

        Raises:
            ProviderDown: There is no readable response in time.
        """
        async with self._making:
            sdk = self._sdk = self._sdk or await asyncio.to_thread(self._new_client)
        vectors = list[Sequence[float]]()
        try:
            for begin in range(0, len(texts), _AT_ONCE):
                part = [text or " " for text in texts[begin : begin + _AT_ONCE]]
                # The SDK's `embeddings` would load all its types and block the event loop for
                # 0.1 s.
                raw = await sdk.post(
                    "/embeddings",
                    cast_to=object,
                    body={"model": self._model, "input": part, "encoding_format": "float"},
                )
                answer = _Vectors.model_validate(raw)
                by_index = {vector.index: vector.embedding for vector in answer.data}
                vectors += [by_index[index] for index in range(len(part))]
        except Exception as error:
            reason = type(first_cause(error)).__name__
            raise ProviderDown(f"The server for embeddings does not answer ({reason}).") from error
        return vectors

    async def close(self) -> None:
        if self._sdk:
            await self._sdk.close()
            self._sdk = None

    def _new_client(self) -> "AsyncOpenAI":
        address = self._base_url or OPENAI.base_url
        return openai_client(self._key or "none", address, timeout=httpx2.Timeout(_SECONDS))
