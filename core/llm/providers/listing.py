"""Asks a vendor which models it has: the cheapest call that shows whether a key is accepted."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx2

from core.errors import ConfigurationBroken, ProviderDown
from core.llm.providers.errors import from_body
from core.llm.providers.fields import dig, items, words
from core.llm.providers.ollama import OllamaProvider
from core.llm.providers.openai import MOONSHOT, OPENAI, OPENROUTER
from core.llm.providers.reading import BROKEN, http_client
from core.proxies import proxy_hint

_VENDORS: Mapping[str, str] = {
    "anthropic": "Anthropic",
    "openai": "OpenAI",
    "openrouter": "OpenRouter",
    "moonshot": "Moonshot",
    "compatible": "The server",
}
_ADDRESSES: Mapping[str, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": OPENAI.base_url,
    "openrouter": OPENROUTER.base_url,
    "moonshot": MOONSHOT.base_url,
}
_SECONDS = 10.0
_FIRST_ERROR = 400


async def list_models(name: str, key: str, base_url: str | None = None) -> Sequence[str]:
    """The models a provider has for this key.

    Args:
        name: The provider's name in settings; not `offline`.
        key: The API key; none for Ollama.
        base_url: An address other than the vendor's own.

    Raises:
        KeyRefused: The key is not accepted.
        ProviderError: There is no answer, or not one of the vendor's form.
        ConfigurationBroken: There is no address.
    """
    if name == "ollama":
        ollama = OllamaProvider(base_url)
        try:
            return await ollama.models()
        finally:
            await ollama.close()
    address = (base_url or _ADDRESSES.get(name, "")).rstrip("/")
    if not address:
        raise ConfigurationBroken(f"The provider {name!r} needs an address (base URL).")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    if name == "anthropic":
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    async with http_client(headers=headers, timeout=_SECONDS) as client:
        if name == "openrouter":  # everybody may see its models; only this shows the key
            await _fetch_json(client, name, f"{address}/key", key)
        path = "/v1/models?limit=1000" if name == "anthropic" else "/models"
        answer = await _fetch_json(client, name, address + path, key)
    if not isinstance(dig(answer, "data"), list):
        vendor = _VENDORS.get(name, name)
        raise ProviderDown(f"What answers in the place of {vendor} has no list of models.")
    return [model_id for model in items(answer, "data") if (model_id := words(model, "id"))]


async def ollama_context(model: str, base_url: str | None = None) -> int:
    """Tokens the model's own context holds; 0 when Ollama does not say.

    Raises:
        ProviderError: Nobody answers as Ollama does, or the model is not there.
    """
    ollama = OllamaProvider(base_url)
    try:
        return await ollama.context(model)
    finally:
        await ollama.close()


async def _fetch_json(client: httpx2.AsyncClient, name: str, url: str, key: str) -> Any:
    """The JSON at an address.

    Raises:
        ProviderError: It is refused, or nobody answers.
    """
    vendor = _VENDORS.get(name, name)
    try:
        response = await client.get(url)
        if response.status_code >= _FIRST_ERROR:
            raise from_body(vendor, response.status_code, response.text, key=key)
        return response.json()
    except BROKEN as error:
        raise ProviderDown(
            f"{vendor} does not answer ({type(error).__name__}){proxy_hint()}."
        ) from None
