"""A provider for Moot: a model server of one's own that speaks like no other."""

from collections.abc import Callable

import httpx2

from core.errors import ConfigurationBroken, ProviderDown
from core.llm.prompt_text import prompt_text
from core.ports import ServedModels, Variable
from core.request import ModelReply, ModelRequest
from core.usage import Usage


class House:
    name = "house"

    def __init__(self, url: str, key: str) -> None:
        self._http = httpx2.AsyncClient(base_url=url, headers={"X-Key": key}, timeout=60)

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        form = request.answer.schema if request.answer else None
        body = {"model": request.model, "prompt": prompt_text(request), "form": form}
        try:
            answer = (await self._http.post("/write", json=body)).raise_for_status().json()
        except httpx2.HTTPError as error:
            raise ProviderDown(f"The house's server: {type(error).__name__}.") from error
        on_first_token()
        usage = Usage(input_tokens=answer["read"], output_tokens=answer["written"], attempts=1)
        return ModelReply(text=answer["text"], usage=usage, model=request.model)

    async def close(self) -> None:
        await self._http.aclose()


def serve(variable: Variable) -> ServedModels:
    if not (url := variable("MOOT_PLUGIN_HOUSE_URL")):
        raise ConfigurationBroken("it needs MOOT_PLUGIN_HOUSE_URL")
    provider = House(url, variable("MOOT_PLUGIN_HOUSE_KEY"))
    record = {"match": "*", "context_tokens": 32_000, "local": True}
    return ServedModels(provider=provider, model="house-large", capabilities=(record,))
