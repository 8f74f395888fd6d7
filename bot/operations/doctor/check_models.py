"""Checks of models: keys accepted, addresses reachable, models there and there to stay."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from urllib.parse import urlsplit

from bot.building import KEY_VARIABLES, api_keys, build_providers
from bot.operations.doctor.findings import Finding, bad, good, skip
from bot.settings import BotSettings
from core.capabilities import Record, capability, retirement, says_context
from core.clock import SystemClock
from core.debate.agents import OFFLINE, ModelChoice
from core.debate.turn import Act
from core.errors import ConfigurationBroken, KeyRefused, MootError, ReplyCutOff
from core.figures import number, quantity
from core.ports import ContextSizes, ModelLists, ModelProvider, RefusalMemory
from core.request import Effort, ModelRequest, Part, PartKind
from core.settings import Settings

_OLLAMA = "ollama"
#: Tokens of the reply that a check asks for; a model that thinks uses them up.
_CHECK_TOKENS = 256
#: A model that goes within so many days is a problem now.
_SOON = timedelta(days=60)
#: Vendors also take names that end in a date or in "-latest", which their lists do not show.
_NAMES_SHOWN = 3
_NETWORK = "Check the network, the proxy and the address, then try again."
_HOW_TO_SET_UP = (
    "Set ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY or MOONSHOT_API_KEY, or start "
    "Ollama and pull a model; docs/models.md has all ways. Then restart."
)


@dataclass(frozen=True)
class _Server:
    name: str
    #: The variable with its key, where it needs one, and whether that is set.
    variable: str
    is_set: bool
    #: An address of one's own, where one is set.
    address: str
    #: The models that the settings use of it.
    models: Sequence[str]


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


def _servers(
    environment: BotSettings, settings: Settings, users: Mapping[ModelChoice, object]
) -> Iterator[_Server]:
    keys = api_keys(environment)
    own = {"anthropic": environment.anthropic_base_url, "openai": environment.openai_base_url}
    rows = [
        *((name, key, name in keys, own.get(name, "")) for name, key in KEY_VARIABLES.items()),
        (_OLLAMA, "", True, environment.ollama_host),
    ]
    if environment.openai_base_url:
        rows.append(("compatible", "", True, environment.openai_base_url))
    for server in settings.servers:
        key = server.key_variable
        is_set = not key or bool(environment.key_in(key))
        rows.append((server.name, key, is_set, server.base_url))
    for name, key, is_set, address in rows:
        models = [choice.model for choice in users if choice.provider == name]
        yield _Server(name, key, is_set, address, models)


async def check_models(
    environment: BotSettings, settings: Settings, today: date | None = None
) -> Sequence[Finding]:
    users = models_of(settings)
    servers = list(_servers(environment, settings, users))
    providers = build_providers(environment, settings.models, settings.servers, settings.stall)
    try:
        groups = await asyncio.gather(
            *(_check(server, providers.get(server.name), settings.models) for server in servers)
        )
    finally:
        await asyncio.gather(*(provider.close() for provider in providers.values()))
    findings = [finding for group in groups for finding in group]
    used = {choice.provider for choice in users}
    if used == {OFFLINE}:
        words = "none is set up: the offline engine answers from checklists, which is no debate"
        remedy = _HOW_TO_SET_UP
        if any(server.variable and server.is_set for server in servers):
            words = "a key is set, but every agent is set to the offline engine, which is no model"
            remedy = "Name a model of it as `default_model` in the settings file. Then restart."
        findings.append(bad("models", words, remedy, is_configuration=True))
    elif OFFLINE in used:
        words = "needs nothing; it is an engine of checklists, not a model"
        findings.append(good(OFFLINE, words))
    return [*findings, *_retiring(users, today or SystemClock().now().astimezone(UTC).date())]


async def _check(
    server: _Server, provider: ModelProvider | None, records: Sequence[Record]
) -> Sequence[Finding]:
    what = f"{server.name} ({server.variable})" if server.variable else server.name
    if provider is None or not server.is_set:
        if not server.models:
            return [skip(what, "no key is set; nothing uses it")]
        words = "the settings use it, but there is no key"
        return [bad(what, words, f"Set {server.variable}.", is_configuration=True)]
    try:
        # The cheapest call that shows that a key is accepted.
        there = await provider.models() if isinstance(provider, ModelLists) else ()
    except KeyRefused as error:
        remedy = f"Put a valid key into {server.variable or 'OPENAI_API_KEY'}."
        return [bad(what, str(error), remedy)]
    except ConfigurationBroken as error:
        return [bad(what, str(error), is_configuration=True)]
    except MootError as error:
        if not server.models and not server.variable:
            return [skip(what, f"{error} Nothing uses it.")]
        return [bad(what, str(error), _NETWORK)]
    host = urlsplit(server.address).hostname  # an address may hold a password
    reached = "it answers" if server.name == _OLLAMA else "the key is accepted"
    first = good(what, f"{reached}{f' at {host}' if host else ''}; {len(there)} models")
    answers = await asyncio.gather(
        *(_ask(server.name, provider, model, there) for model in server.models)
    )
    contexts = [
        await _context(model, provider, records)
        for model in server.models
        if server.name == _OLLAMA and any(_is_same(model, listed) for listed in there)
    ]
    return [first, *answers, *contexts]


async def _ask(name: str, provider: ModelProvider, model: str, there: Sequence[str]) -> Finding:
    """Ask a model for a few tokens; say what the server refuses of a request."""
    what = f"model {name}/{model}"
    is_listed = any(_is_same(model, listed) for listed in there)
    if name == _OLLAMA and not is_listed:
        return bad(what, "was not pulled", f"Run: ollama pull {model}")
    request = ModelRequest(
        model=model,
        act=Act.SUMMARY,
        role="check",
        system="",
        parts=(Part(kind=PartKind.TASK, label="Task", text="Answer with the word OK."),),
        delimiter="check",
        max_output_tokens=_CHECK_TOKENS,
        temperature=0.0,
        effort=Effort.LOW,
    )
    try:
        with suppress(ReplyCutOff):  # it answers
            await provider.complete(request)
    except MootError as error:
        if is_listed:
            return bad(what, f"is listed and does not answer: {error}")
        words = f"is not in the provider's list, and does not answer: {error}"
        return bad(
            what, words, f"Name another one, for example: {', '.join(there[:_NAMES_SHOWN])}."
        )
    left_out = provider.left_out(model) if isinstance(provider, RefusalMemory) else ()
    without = f"; the server refuses, so requests leave out: {', '.join(left_out)}"
    return good(what, f"answers{without if left_out else ''}")


def _is_same(model: str, listed: str) -> bool:
    """Whether a listed name is the model: itself, its dated version, or its tag `latest`."""
    dated = (
        listed.startswith(f"{model}-")
        and listed.removeprefix(f"{model}-").replace("-", "").isdigit()
    )
    return listed in {model, f"{model}:latest"} or dated


async def _context(model: str, provider: ModelProvider, records: Sequence[Record]) -> Finding:
    """Whether the context of a model of Ollama is as large as settings say; else it is asked."""
    what = f"context of {model}"
    try:
        size = await provider.context(model) if isinstance(provider, ContextSizes) else 0
    except MootError as error:
        return skip(what, f"Ollama does not say: {error}")
    if not size:
        return skip(what, "Ollama does not say")
    tokens = capability(_OLLAMA, model, records).context_tokens
    if not says_context(_OLLAMA, model, records):
        tokens = size
    if size < tokens:
        record = f'models: [{{provider: ollama, match: "{model}", context_tokens: {size}}}]'
        words = f"{quantity(size, 'token')}, Moot would use {number(tokens)}"
        return bad(what, words, f"Add to the settings: {record}")
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
