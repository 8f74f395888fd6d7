"""All providers by name, how each is built, and which one is the default."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core.capabilities import Record, UsualModels, usual_models
from core.errors import ConfigurationBroken, ProviderError
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.chat import Dialect
from core.llm.providers.offline import OfflineProvider
from core.llm.providers.ollama import OllamaProvider
from core.llm.providers.openai import MOONSHOT, OPENAI, OPENROUTER, OpenAIProvider
from core.ports import ModelProvider
from core.settings import USUAL_STALL_LIMITS, ModelServer, StallLimits

#: Builds a provider from its key, its address and settings' records of capabilities.
#: Seconds to the first token of a model of Ollama, at least.
_LOADING_SECONDS = 300.0
Build = Callable[[str, str | None, tuple[Record, ...], StallLimits], ModelProvider]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A provider and its models."""

    provider: str
    models: UsualModels


#: The models of each provider; Ollama has what was pulled.
DEFAULT_MODELS: Mapping[str, UsualModels] = usual_models()
#: Providers that need a key, in the order they are chosen.
KEYED = ("anthropic", "openai", "openrouter", "moonshot")
#: Any address that speaks like OpenAI; it needs an address and perhaps a key.
COMPATIBLE = "compatible"
_KEYLESS = "none"


def _while_loading(stall: StallLimits) -> StallLimits:
    """The same for a model that may have to be loaded before its first token."""
    first_token = max(stall.first_token, _LOADING_SECONDS)
    return stall.model_copy(update={"first_token": first_token})


def _openai_like(dialect: Dialect) -> Build:
    """How a provider that speaks like OpenAI is built."""
    return lambda key, url, records, stall: OpenAIProvider(
        key, url, dialect=dialect, records=records, stall=stall
    )


def _compatible(
    key: str, url: str | None, records: tuple[Record, ...], stall: StallLimits
) -> ModelProvider:
    """A provider at any address that speaks like OpenAI."""
    if not url:
        raise ConfigurationBroken(f"The provider {COMPATIBLE!r} needs an address (base URL).")
    return build_server(
        ModelServer(name=COMPATIBLE, base_url=url), key, records, words="The server", stall=stall
    )


_BUILDS: Mapping[str, Build] = {
    "anthropic": lambda key, url, records, stall: AnthropicProvider(
        key, url, records=records, stall=stall
    ),
    "openai": _openai_like(OPENAI),
    "openrouter": _openai_like(OPENROUTER),
    "moonshot": _openai_like(MOONSHOT),
    COMPATIBLE: _compatible,
    "ollama": lambda _key, url, records, stall: OllamaProvider(
        url, records=records, stall=_while_loading(stall)
    ),
    "offline": lambda _key, _url, _records, _stall: OfflineProvider(),
}
#: Names that settings may use.
PROVIDER_NAMES = tuple(_BUILDS)


def build(
    name: str,
    key: str = "",
    base_url: str | None = None,
    records: tuple[Record, ...] = (),
    *,
    stall: StallLimits = USUAL_STALL_LIMITS,
) -> ModelProvider:
    """The provider of this name; nothing is sent and no SDK is loaded yet.

    Args:
        name: One of `PROVIDER_NAMES`.
        key: The API key, where one is needed.
        base_url: An address other than the vendor's own.
        records: Settings' own records of capabilities.
        stall: How long its models may be silent.

    Raises:
        ConfigurationBroken: There is no such provider, or its address is missing.
    """
    if name not in _BUILDS:
        names = ", ".join(PROVIDER_NAMES)
        raise ConfigurationBroken(f"There is no provider {name!r}; there are {names}.")
    return _BUILDS[name](key.strip(), base_url, records, stall)


def build_server(
    server: ModelServer,
    key: str = "",
    records: tuple[Record, ...] = (),
    *,
    words: str = "",
    stall: StallLimits = USUAL_STALL_LIMITS,
) -> ModelProvider:
    """The provider for a server that the settings name; nothing of OpenAI's own is sent to it.

    Args:
        server: Its name, address and protocol.
        key: Its key, where it needs one.
        records: Settings' own records of capabilities.
        words: What people call it; empty: by its name.
        stall: How long its models may be silent.
    """
    dialect = Dialect(
        name=server.name,
        vendor=words or server.name,
        base_url=server.base_url,
        responses=server.api == "responses",
    )
    return OpenAIProvider(key.strip() or _KEYLESS, dialect=dialect, records=records, stall=stall)


async def choose(keys: Mapping[str, str], ollama_url: str | None = None) -> Choice:
    """The provider to use when settings name none.

    The first one whose key is set; else Ollama, if it answers and has a model; else `offline`.

    Args:
        keys: API keys by provider.
        ollama_url: Where Ollama may listen; None: where it does by default.
    """
    keyed = next((name for name in KEYED if keys.get(name)), None)
    if keyed:
        return Choice(provider=keyed, models=DEFAULT_MODELS[keyed])
    ollama = OllamaProvider(ollama_url)
    try:
        names = await ollama.models()
    except ProviderError:  # it does not answer
        names = ()
    finally:
        await ollama.close()
    # The newest model that can write.
    model = next((name for name in names if "embed" not in name.lower()), None)
    if model:
        return Choice(
            provider="ollama", models=UsualModels(agent=model, summary=model, judge=model)
        )
    return Choice(provider="offline", models=DEFAULT_MODELS["offline"])
