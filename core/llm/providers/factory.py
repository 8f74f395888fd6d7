"""Builds providers by name, and chooses the default one."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.capabilities import KEYED, Record, UsualModels, usual_models
from core.errors import ConfigurationBroken, ProviderError
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.offline import OfflineProvider
from core.llm.providers.ollama import OllamaProvider
from core.llm.providers.openai import MOONSHOT, OPENAI, OPENROUTER, Dialect, OpenAIProvider
from core.ports import ModelProvider
from core.settings import USUAL_STALL_LIMITS, ModelServer, StallLimits

#: Least timeout, in seconds, for the first token of Ollama, which may have to load the model.
_LOADING_SECONDS = 300.0
_DIALECTS = {dialect.name: dialect for dialect in (OPENAI, OPENROUTER, MOONSHOT)}
#: The default models of each provider; those of Ollama are the pulled ones.
DEFAULT_MODELS: Mapping[str, UsualModels] = usual_models()
#: Any server with OpenAI's API; it needs an address and perhaps a key.
COMPATIBLE = "compatible"
#: Names that settings may use.
PROVIDER_NAMES = (*KEYED, COMPATIBLE, "ollama", "offline")


@dataclass(frozen=True, kw_only=True)
class Choice:
    provider: str
    models: UsualModels


def build(
    name: str,
    key: str = "",
    base_url: str | None = None,
    records: tuple[Record, ...] = (),
    *,
    stall: StallLimits = USUAL_STALL_LIMITS,
) -> ModelProvider:
    """The provider of this name, at the vendor's address or at `base_url`; loads no SDK.

    Raises:
        ConfigurationBroken: The provider is unknown, or its address is missing.
    """
    key = key.strip()
    match name:
        case "anthropic":
            return AnthropicProvider(key, base_url, records=records, stall=stall)
        case _ if dialect := _DIALECTS.get(name):
            return OpenAIProvider(key, base_url, dialect=dialect, records=records, stall=stall)
        case "compatible":
            if not base_url:
                raise ConfigurationBroken(f"The provider {name!r} needs an address (base URL).")
            server = ModelServer(name=COMPATIBLE, base_url=base_url)
            return build_server(server, key, records, words="OPENAI_BASE_URL", stall=stall)
        case "ollama":
            first_token = max(stall.first_token, _LOADING_SECONDS)
            stall = stall.model_copy(update={"first_token": first_token})
            return OllamaProvider(base_url, records=records, stall=stall)
        case "offline":
            return OfflineProvider()
        case _:
            names = ", ".join(PROVIDER_NAMES)
            raise ConfigurationBroken(f"There is no provider {name!r}; there are {names}.")


def build_server(
    server: ModelServer,
    key: str = "",
    records: tuple[Record, ...] = (),
    *,
    words: str = "",
    stall: StallLimits = USUAL_STALL_LIMITS,
) -> ModelProvider:
    """The provider for a server in the settings; it gets no fields of OpenAI alone.

    `words` is its name for people; empty: its name in the settings.
    """
    dialect = Dialect(
        name=server.name,
        vendor=words or server.name,
        base_url=server.base_url,
        responses=server.api == "responses",
    )
    return OpenAIProvider(key.strip() or "none", dialect=dialect, records=records, stall=stall)


async def choose(keys: Mapping[str, str], ollama_url: str | None = None) -> Choice:
    """The provider to use if the settings name none.

    The first one with a key and default models; else Ollama, if it answers and has a model; else
    `offline`.
    """
    name = next((name for name in KEYED if keys.get(name) and name in DEFAULT_MODELS), None)
    if name:
        return Choice(provider=name, models=DEFAULT_MODELS[name])
    ollama = OllamaProvider(ollama_url)
    try:
        names = await ollama.models()
    except ProviderError:  # it does not answer
        names = ()
    finally:
        await ollama.close()
    # The newest model that generates text.
    model = next((name for name in names if "embed" not in name.lower()), None)
    if model:
        return Choice(
            provider="ollama", models=UsualModels(agent=model, summary=model, judge=model)
        )
    return Choice(provider="offline", models=DEFAULT_MODELS["offline"])
