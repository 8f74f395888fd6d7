"""Checks of models: keys accepted, addresses reachable, models there and there to stay."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import urlsplit

from bot.operations.doctor.findings import Finding, bad, good, skipped
from core.capabilities import capability, retirement, says_context
from core.errors import ConfigurationBroken, KeyRefused, MootError
from core.figures import counted, number
from core.models import ModelChoice
from core.settings import Settings

OLLAMA, OFFLINE = "ollama", "offline"
#: A model that goes within so many days is a problem now.
_SOON = timedelta(days=60)
#: Vendors also take names that end in a date or in "-latest", which their lists do not show.
_NAMES_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Vendors:
    """How vendors are asked."""

    #: The models a provider has for our key.
    models: Callable[[str], Awaitable[Sequence[str]]]
    #: Asks a model for a few tokens; what the server refuses of a request and is left out.
    ask: Callable[[ModelChoice], Awaitable[Sequence[str]]]
    #: Tokens the context of a model of Ollama holds.
    context: Callable[[str], Awaitable[int]]
    #: The variable with each provider's key, and whether it is set.
    keys: Mapping[str, tuple[str, bool]]
    #: An address of one's own, if one is set.
    addresses: Mapping[str, str]


def models_of(settings: Settings) -> Mapping[ModelChoice, list[str]]:
    """Every model that the settings use, with its users."""
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


async def check_models(settings: Settings, vendors: Vendors, today: date) -> Sequence[Finding]:
    """All findings about models."""
    users = models_of(settings)
    used = {choice.provider for choice in users}
    names = [
        *vendors.keys,
        OLLAMA,
        *(name for name in vendors.addresses if name not in vendors.keys),
    ]
    groups = await asyncio.gather(
        *(_check_provider(name, settings, vendors) for name in dict.fromkeys(names))
    )
    if used == {OFFLINE}:
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
        rest = [offline] if OFFLINE in used else []
    return [*(finding for group in groups for finding in group), *rest, *_retiring(users, today)]


async def _check_provider(name: str, settings: Settings, vendors: Vendors) -> Sequence[Finding]:
    """Whether a provider takes our key and has the models we ask of it."""
    used = [choice.model for choice in models_of(settings) if choice.provider == name]
    variable, is_set = vendors.keys.get(name, ("", True))
    what = f"{name} ({variable})" if variable else name
    if not is_set:
        if not used:
            return [skipped(what, "no key is set; nothing uses it")]
        words = "the settings use it, but there is no key"
        return [bad(what, words, f"Set {variable}.", is_configuration=True)]
    try:
        there = await vendors.models(name)
    except MootError as error:
        return [_unlisted(what, error, variable, is_used=bool(used))]
    host = urlsplit(vendors.addresses.get(name, "")).hostname  # an address may hold a password
    where = f" at {host}" if host else ""
    reached = "it answers" if name == OLLAMA else "the key is accepted"
    first = good(what, f"{reached}{where}; {len(there)} models")
    answers = await asyncio.gather(*(_model(name, model, there, vendors) for model in used))
    if name != OLLAMA:
        return [first, *answers]
    pulled = [model for model in used if any(_is_same(model, listed) for listed in there)]
    return [first, *answers, *[await _context(model, settings, vendors) for model in pulled]]


def _unlisted(what: str, error: MootError, variable: str, *, is_used: bool) -> Finding:
    """Why a provider did not list its models."""
    match error:
        case KeyRefused():
            return bad(what, str(error), f"Put a valid key into {variable or 'OPENAI_API_KEY'}.")
        case ConfigurationBroken():
            return bad(what, str(error), is_configuration=True)
        case _ if not is_used and not variable:
            return skipped(what, f"{error} Nothing uses it.")
        case _:
            remedy = "Check the network, the proxy and the address, then try again."
            return bad(what, str(error), remedy)


async def _model(provider: str, model: str, there: Sequence[str], vendors: Vendors) -> Finding:
    """Whether a model answers, and what is left out of requests to it."""
    what = f"model {provider}/{model}"
    is_listed = any(_is_same(model, name) for name in there)
    if provider == OLLAMA and not is_listed:
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


async def _context(model: str, settings: Settings, vendors: Vendors) -> Finding:
    """Whether the context of a model of Ollama is as large as settings say; else it is asked."""
    what = f"context of {model}"
    tokens = capability(OLLAMA, model, settings.models).context_tokens
    try:
        size = await vendors.context(model)
    except MootError as error:
        return skipped(what, f"Ollama does not say: {error}")
    if not size:
        return skipped(what, "Ollama does not say")
    if not says_context(OLLAMA, model, settings.models):
        tokens = size
    if size < tokens:
        record = f'models: [{{provider: ollama, match: "{model}", context_tokens: {size}}}]'
        return bad(
            what,
            f"{counted(size, 'token')}, Moot would use {number(tokens)}",
            f"Add to the settings: {record}",
        )
    return good(what, f"{counted(size, 'token')}; Moot asks for up to {number(tokens)}")


def _retiring(users: Mapping[ModelChoice, Sequence[str]], today: date) -> Iterator[Finding]:
    """Models that go out of service."""
    for choice, who in users.items():
        notice = retirement(choice.provider, choice.model)
        if not notice:
            continue
        what = f"model {choice.provider}/{choice.model} ({', '.join(who)})"
        remedy = f"Take {notice.instead}."
        if notice.on is None:
            yield skipped(what, "its vendor will retire it; no day is known", remedy)
        elif notice.on <= today:
            yield bad(what, f"was retired on {notice.on}", remedy, is_configuration=True)
        elif notice.on - today <= _SOON:
            yield bad(what, f"retires on {notice.on}", remedy)
        else:
            yield skipped(what, f"retires on {notice.on}", remedy)
