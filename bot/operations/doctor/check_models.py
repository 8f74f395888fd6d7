"""Checks of models: keys accepted, addresses reachable, models there and there to stay."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from urllib.parse import urlsplit

from bot.building import KEY_VARIABLES, api_keys, build_providers
from bot.operations.doctor.findings import Finding, bad, good, skip
from bot.settings import BotSettings
from core.capabilities import capability, retirement, says_context
from core.clock import SystemClock
from core.debate.agents import ModelChoice
from core.debate.turn import Act
from core.errors import ConfigurationBroken, KeyRefused, MootError, ReplyCutOff
from core.figures import number, quantity
from core.ports import ContextSizes, ModelLists, ModelProvider, RefusalMemory
from core.request import Effort, ModelRequest, Part, PartKind
from core.settings import Settings

_OLLAMA, _OFFLINE, _COMPATIBLE = "ollama", "offline", "compatible"
#: Tokens of the reply that a check asks for; a model that thinks uses them up.
_CHECK_TOKENS = 256
#: A model that goes within so many days is a problem now.
_SOON = timedelta(days=60)
#: Vendors also take names that end in a date or in "-latest", which their lists do not show.
_NAMES_SHOWN = 3


@dataclass(frozen=True)
class _Vendors:
    environment: BotSettings
    settings: Settings

    @property
    def keys(self) -> Mapping[str, tuple[str, bool]]:
        """The variable with each provider's key, and whether it is set."""
        there = api_keys(self.environment)
        own = {
            server.name: (server.key_variable, bool(self.environment.key_in(server.key_variable)))
            for server in self.settings.servers
            if server.key_variable
        }
        return {name: (variable, name in there) for name, variable in KEY_VARIABLES.items()} | own

    @property
    def addresses(self) -> Mapping[str, str]:
        """An address of one's own, where one is set."""
        addresses = {
            "anthropic": self.environment.anthropic_base_url,
            "openai": self.environment.openai_base_url,
            _COMPATIBLE: self.environment.openai_base_url,
            _OLLAMA: self.environment.ollama_host,
            **{server.name: server.base_url for server in self.settings.servers},
        }
        return {name: address for name, address in addresses.items() if address}

    @asynccontextmanager
    async def serving(self, name: str) -> AsyncGenerator[ModelProvider]:
        settings = self.settings
        providers = build_providers(
            self.environment, settings.models, settings.servers, settings.stall
        )
        try:
            if name not in providers:
                raise ConfigurationBroken(f"Nothing serves {name}: it needs a key or an address.")
            yield providers[name]
        finally:
            await asyncio.gather(*(each.close() for each in providers.values()))

    async def ask(self, choice: ModelChoice) -> Sequence[str]:
        """Ask a model for a few tokens; return what the server refuses of a request."""
        request = ModelRequest(
            model=choice.model,
            act=Act.SUMMARY,
            role="check",
            system="",
            parts=(Part(kind=PartKind.TASK, label="Task", text="Answer with the word OK."),),
            delimiter="check",
            max_output_tokens=_CHECK_TOKENS,
            temperature=0.0,
            effort=Effort.LOW,
        )
        async with self.serving(choice.provider) as provider:
            with suppress(ReplyCutOff):  # it answers
                await provider.complete(request)
            return provider.left_out(choice.model) if isinstance(provider, RefusalMemory) else ()


def models_of(settings: Settings) -> Mapping[ModelChoice, list[str]]:
    users: dict[ModelChoice, list[str]] = {}
    for choice in settings.mixed_models or (settings.agent_model,):
        users.setdefault(choice, []).append("agents")
    for choice in settings.judge_models or (settings.judge_model,):
        users.setdefault(choice, []).append("the judge")
    there = {choice.provider for choice in users} | {agent.provider for agent in settings.agents}
    if background := settings.background_model(there):
        users.setdefault(background, []).append("summaries")
    for choice in settings.fallbacks:
        users.setdefault(choice, []).append("fallback")
    for agent in (*settings.agents, *([settings.judge] if settings.judge else [])):
        own = ModelChoice(provider=agent.provider, model=agent.model)
        users.setdefault(own, []).append(agent.name)
        for choice in agent.fallbacks or ():
            users.setdefault(choice, []).append(f"fallback of {agent.name}")
    return users


async def check_models(
    environment: BotSettings, settings: Settings, today: date | None = None
) -> Sequence[Finding]:
    vendors, users = _Vendors(environment, settings), models_of(settings)
    today = today or SystemClock().now().astimezone(UTC).date()
    used = {choice.provider for choice in users}
    names = [
        *vendors.keys,
        _OLLAMA,
        *(name for name in vendors.addresses if name not in vendors.keys),
    ]
    groups = await asyncio.gather(
        *(_check_provider(name, vendors) for name in dict.fromkeys(names))
    )
    if used == {_OFFLINE}:
        words = "none is set up: the offline engine answers from checklists, which is no debate"
        remedy = (
            "Set ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY or MOONSHOT_API_KEY, or "
            "start Ollama and pull a model; docs/models.md has all ways. Then restart."
        )
        if any(value for _, value in vendors.keys.values()):
            words = "a key is set, but every agent is set to the offline engine, which is no model"
            remedy = "Name a model of it as `default_model` in the settings file. Then restart."
        rest = [bad("models", words, remedy, is_configuration=True)]
    else:
        offline = good("offline", "needs nothing; it is an engine of checklists, not a model")
        rest = [offline] if _OFFLINE in used else []
    return [*(finding for group in groups for finding in group), *rest, *_retiring(users, today)]


async def _check_provider(name: str, vendors: _Vendors) -> Sequence[Finding]:
    settings = vendors.settings
    used = [choice.model for choice in models_of(settings) if choice.provider == name]
    variable, is_set = vendors.keys.get(name, ("", True))
    what = f"{name} ({variable})" if variable else name
    if not is_set:
        if not used:
            return [skip(what, "no key is set; nothing uses it")]
        words = "the settings use it, but there is no key"
        return [bad(what, words, f"Set {variable}.", is_configuration=True)]
    try:
        # The cheapest call that shows that a key is accepted.
        async with vendors.serving(name) as provider:
            there = await provider.models() if isinstance(provider, ModelLists) else ()
    except MootError as error:
        return [_listing_failure(what, error, variable, is_used=bool(used))]
    host = urlsplit(vendors.addresses.get(name, "")).hostname  # an address may hold a password
    where = f" at {host}" if host else ""
    reached = "it answers" if name == _OLLAMA else "the key is accepted"
    first = good(what, f"{reached}{where}; {len(there)} models")
    answers = await asyncio.gather(*(_model(name, model, there, vendors) for model in used))
    if name != _OLLAMA:
        return [first, *answers]
    pulled = [model for model in used if any(_is_same(model, listed) for listed in there)]
    return [first, *answers, *[await _context(model, vendors) for model in pulled]]


def _listing_failure(what: str, error: MootError, variable: str, *, is_used: bool) -> Finding:
    match error:
        case KeyRefused():
            return bad(what, str(error), f"Put a valid key into {variable or 'OPENAI_API_KEY'}.")
        case ConfigurationBroken():
            return bad(what, str(error), is_configuration=True)
        case _ if not is_used and not variable:
            return skip(what, f"{error} Nothing uses it.")
        case _:
            remedy = "Check the network, the proxy and the address, then try again."
            return bad(what, str(error), remedy)


async def _model(provider: str, model: str, there: Sequence[str], vendors: _Vendors) -> Finding:
    what = f"model {provider}/{model}"
    is_listed = any(_is_same(model, name) for name in there)
    if provider == _OLLAMA and not is_listed:
        return bad(what, "was not pulled", f"Run: ollama pull {model}")
    try:
        left_out = await vendors.ask(ModelChoice(provider=provider, model=model))
    except MootError as error:
        if is_listed:
            return bad(what, f"is listed and does not answer: {error}")
        text = ", ".join(there[:_NAMES_SHOWN])
        words = f"is not in the provider's list, and does not answer: {error}"
        return bad(what, words, f"Name another one, for example: {text}.")
    without = f"; the server refuses, so requests leave out: {', '.join(left_out)}"
    return good(what, f"answers{without if left_out else ''}")


def _is_same(model: str, listed: str) -> bool:
    """Whether a listed name is the model: itself, its dated version, or its tag `latest`."""
    dated = (
        listed.startswith(f"{model}-")
        and listed.removeprefix(f"{model}-").replace("-", "").isdigit()
    )
    return listed in {model, f"{model}:latest"} or dated


async def _context(model: str, vendors: _Vendors) -> Finding:
    """Whether the context of a model of Ollama is as large as settings say; else it is asked."""
    what, records = f"context of {model}", vendors.settings.models
    tokens = capability(_OLLAMA, model, records).context_tokens
    try:
        async with vendors.serving(_OLLAMA) as ollama:
            size = await ollama.context(model) if isinstance(ollama, ContextSizes) else 0
    except MootError as error:
        return skip(what, f"Ollama does not say: {error}")
    if not size:
        return skip(what, "Ollama does not say")
    if not says_context(_OLLAMA, model, records):
        tokens = size
    if size < tokens:
        record = f'models: [{{provider: ollama, match: "{model}", context_tokens: {size}}}]'
        return bad(
            what,
            f"{quantity(size, 'token')}, Moot would use {number(tokens)}",
            f"Add to the settings: {record}",
        )
    return good(what, f"{quantity(size, 'token')}; Moot asks for up to {number(tokens)}")


def _retiring(users: Mapping[ModelChoice, Sequence[str]], today: date) -> Iterator[Finding]:
    for choice, who in users.items():
        notice = retirement(choice.provider, choice.model)
        if not notice:
            continue
        what = f"model {choice.provider}/{choice.model} ({', '.join(who)})"
        remedy = f"Take {notice.instead}."
        if notice.on is None:
            yield skip(what, "its vendor will retire it; no day is known", remedy)
        elif notice.on <= today:
            yield bad(what, f"was retired on {notice.on}", remedy, is_configuration=True)
        elif notice.on - today <= _SOON:
            yield bad(what, f"retires on {notice.on}", remedy)
        else:
            yield skip(what, f"retires on {notice.on}", remedy)
