"""Checks of models: keys, addresses, models that exist, and models that will be retired."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from urllib.parse import urlsplit

from bot.building import api_keys, build_providers
from bot.operations.doctor.findings import Finding, bad, good, skip
from bot.settings import BotSettings
from core.capabilities import KEY_VARIABLES, Record, capability, retirement, says_context
from core.clock import SystemClock
from core.debate.agents import OFFLINE, ModelChoice
from core.debate.turn import Act
from core.errors import ConfigurationBroken, KeyRefused, MootError, ReplyCutOff
from core.figures import number, quantity
from core.ports import ContextSizes, ModelLists, ModelProvider, RefusalMemory
from core.request import Effort, ModelRequest, Part, PartKind
from core.settings import Settings
from core.transcript.words import ANY_KEY

_OLLAMA = "ollama"
#: Most reply tokens of a check; a reasoning model may use all of them for reasoning.
_CHECK_TOKENS = 256
#: A retirement within this time is reported as a problem.
_SOON = timedelta(days=60)
#: Names of existing models that are suggested.
_NAMES_SHOWN = 3
_NETWORK = "Check the network, the proxy and the address, then try again."
_HOW_TO_SET_UP = (
    f"Set {ANY_KEY}, or start Ollama and pull a model; docs/models.md has all ways. Then restart."
)


@dataclass(frozen=True)
class _Server:
    name: str
    #: The environment variable of its key (empty: it needs none), and whether a key is set.
    variable: str
    is_set: bool
    #: Its address if the environment or settings name one; else empty.
    address: str
    #: The models of this server that the settings use.
    models: Sequence[str]


def models_in_use(settings: Settings) -> Mapping[ModelChoice, list[str]]:
    """All models that the settings use, each with the names of its users."""
    users: dict[ModelChoice, list[str]] = {}
    for choice in settings.mixed_models or (settings.agent_model,):
        users.setdefault(choice, []).append("agents")
    for choice in settings.judge_models or (settings.judge_model,):
        users.setdefault(choice, []).append("the judge")
    providers = {choice.provider for choice in users} | {
        agent.provider for agent in settings.agents
    }
    if background := settings.background_model(providers):
        users.setdefault(background, []).append("summaries")
    for choice in settings.fallbacks:
        users.setdefault(choice, []).append("fallback")
    for agent in (*settings.agents, *([settings.judge] if settings.judge else [])):
        choice = ModelChoice(provider=agent.provider, model=agent.model)
        users.setdefault(choice, []).append(agent.name)
        for fallback in agent.fallbacks or ():
            users.setdefault(fallback, []).append(f"fallback of {agent.name}")
    return users


def _servers(
    environment: BotSettings, settings: Settings, users: Mapping[ModelChoice, object]
) -> Iterator[_Server]:
    keys = api_keys(environment)
    addresses = {"anthropic": environment.anthropic_base_url, "openai": environment.openai_base_url}
    rows = [
        *(
            (name, key, name in keys, addresses.get(name, ""))
            for name, key in KEY_VARIABLES.items()
        ),
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
    users = models_in_use(settings)
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
        text = "none is set up: the offline engine answers from checklists, without a model"
        remedy = _HOW_TO_SET_UP
        if any(server.variable and server.is_set for server in servers):
            text = "a key is set, but the settings give every agent the offline engine"
            remedy = "Set `default_model` in the settings file to one of its models. Then restart."
        findings.append(bad("models", text, remedy, is_configuration=True))
    elif OFFLINE in used:
        text = "needs no key; it answers from checklists, without a model"
        findings.append(good(OFFLINE, text))
    return [*findings, *_retiring(users, today or SystemClock().now().astimezone(UTC).date())]


async def _check(
    server: _Server, provider: ModelProvider | None, records: Sequence[Record]
) -> Sequence[Finding]:
    subject = f"{server.name} ({server.variable})" if server.variable else server.name
    if provider is None or not server.is_set:
        if not server.models:
            return [skip(subject, "no key is set; nothing uses it")]
        text = "the settings use it, but no key is set"
        return [bad(subject, text, f"Set {server.variable}.", is_configuration=True)]
    try:
        # The cheapest call that shows whether a key is accepted.
        names = await provider.models() if isinstance(provider, ModelLists) else ()
    except MootError as error:
        return [_server_problem(server, subject, error)]
    host = urlsplit(server.address).hostname  # the whole address may contain a password
    place = f" at {host}" if host else ""
    state = "the key is accepted" if server.variable else "it answers"
    first = good(subject, f"{state}{place}; {quantity(len(names), 'model')}")
    answers = await asyncio.gather(
        *(_ask(server.name, provider, model, names) for model in server.models)
    )
    contexts = [
        await _context(model, provider, records)
        for model in server.models
        if server.name == _OLLAMA and any(_is_same(model, name) for name in names)
    ]
    return [first, *answers, *contexts]


def _server_problem(server: _Server, subject: str, error: MootError) -> Finding:
    match error:
        case KeyRefused():
            remedy = f"Put a valid key into {server.variable or 'OPENAI_API_KEY'}."
            return bad(subject, str(error), remedy)
        case ConfigurationBroken():
            return bad(subject, str(error), is_configuration=True)
        case _ if not server.models and not server.variable:
            return skip(subject, f"{error} Nothing uses it.")
        case _:
            return bad(subject, str(error), _NETWORK)


async def _ask(name: str, provider: ModelProvider, model: str, names: Sequence[str]) -> Finding:
    """Ask a model for a few tokens; `names` are the models in the server's list."""
    subject = f"model {name}/{model}"
    is_listed = any(_is_same(model, listed) for listed in names)
    if name == _OLLAMA and not is_listed:
        return bad(subject, "is not pulled", f"Run: ollama pull {model}")
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
        with suppress(ReplyCutOff):  # a truncated reply is an answer
            await provider.complete(request)
    except MootError as error:
        if is_listed:
            return bad(subject, f"is listed but does not answer: {error}")
        text = f"is not in the provider's list and does not answer: {error}"
        return bad(
            subject, text, f"Name another one, for example: {', '.join(names[:_NAMES_SHOWN])}."
        )
    left_out = provider.left_out(model) if isinstance(provider, RefusalMemory) else ()
    suffix = f"; the server refuses, so requests leave out: {', '.join(left_out)}"
    return good(subject, f"answers{suffix if left_out else ''}")


def _is_same(model: str, name: str) -> bool:
    """Whether a name in a list is the model: itself, its dated version, or its tag `latest`."""
    suffix = name.removeprefix(f"{model}-")
    is_dated = suffix != name and suffix.replace("-", "").isdigit()
    return name in {model, f"{model}:latest"} or is_dated


async def _context(model: str, provider: ModelProvider, records: Sequence[Record]) -> Finding:
    """Whether a model of Ollama has the context size that Moot would use."""
    subject = f"context of {model}"
    try:
        size = await provider.context(model) if isinstance(provider, ContextSizes) else 0
    except MootError as error:
        return skip(subject, f"Ollama does not say: {error}")
    if not size:
        return skip(subject, "Ollama does not say")
    tokens = capability(_OLLAMA, model, records).context_tokens
    if not says_context(_OLLAMA, model, records):
        tokens = size
    if size < tokens:
        record = f'models: [{{provider: ollama, match: "{model}", context_tokens: {size}}}]'
        text = f"{quantity(size, 'token')}, Moot would use {number(tokens)}"
        return bad(subject, text, f"Add to the settings: {record}")
    return good(subject, f"{quantity(size, 'token')}; Moot asks for up to {number(tokens)}")


def _retiring(users: Mapping[ModelChoice, Sequence[str]], today: date) -> Iterator[Finding]:
    for choice, names in users.items():
        notice = retirement(choice.provider, choice.model)
        if not notice:
            continue
        subject = f"model {choice.provider}/{choice.model} ({', '.join(names)})"
        remedy = f"Take {notice.instead}."
        if notice.on is None:
            yield skip(subject, "its vendor will retire it; the date is unknown", remedy)
        elif notice.on <= today:
            yield bad(subject, f"was retired on {notice.on}", remedy, is_configuration=True)
        elif notice.on - today <= _SOON:
            yield bad(subject, f"retires on {notice.on}", remedy)
        else:
            yield skip(subject, f"retires on {notice.on}", remedy)
