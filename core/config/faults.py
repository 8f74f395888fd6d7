"""Finds settings of the right type that cannot be used or are probably mistakes (pure)."""

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from core.acts.prompt import overridable
from core.capabilities import capability
from core.config.source import Path, WrittenFile
from core.debate.agents import ModelChoice, PromptText, Role
from core.debate.turn import RESERVED_IDS
from core.llm.known_models import is_known, nearest_model
from core.rules.formats.registry import formats_with
from core.settings import ROLE_ALIASES, Settings, SettingsFile, role_id, roles_with
from core.wrong_values import complaint, nearest


def faults(
    file: SettingsFile, source: WrittenFile, base: Settings, providers: Mapping[str, str]
) -> Iterator[str]:
    """One line for each value that cannot be used; with no `providers` names are not checked."""
    debate, limits = file.debate, file.limits
    formats = list(formats_with(base.agendas))
    if debate.format not in formats:
        where, hint = source.at(("debate", "format")), nearest(debate.format, formats)
        yield f'{where}: there is no format "{debate.format}". {hint}'
    is_written = "debate_cost" in limits.model_fields_set
    if is_written and limits.with_cost(limits.debate_cost).debate_cost != limits.debate_cost:
        where = source.at(("limits", "debate_cost"))
        yield f"{where}: is above limits.most_debate_cost."
    yield from _agent_faults(file, source, base.roles)
    names = [*providers]
    for at, server in enumerate(file.servers):
        if server.name in names:
            owner = "a provider" if server.name in providers else "another server"
            yield f'{source.at(("servers", at, "name"))}: {owner} has the name "{server.name}".'
        names.append(server.name)
    yield from _model_faults(file, source, base, providers)
    yield from _prompt_faults(file, source)
    for at, record in enumerate(file.models):
        try:
            # It must fit any model, so it is validated on an unknown one.
            fields = {key: item for key, item in record.items() if key not in {"provider", "match"}}
            capability("", "", [fields])
        except ValidationError as error:
            first_error = error.errors(include_url=False)[0]
            key = ".".join(str(step) for step in first_error["loc"])
            yield complaint(f"{source.at(('models', at))}: {key}", first_error)


def doubts(file: SettingsFile, source: WrittenFile) -> Iterator[str]:
    """One line for each value that can be used but is probably a mistake."""
    for at, server in enumerate(file.evidence.mcp_servers):
        for number, tool in enumerate(server.tools):
            where = source.at(("evidence", "mcp_servers", at, "tools", number))
            named = set(re.findall(r"\{(\w{1,30})\}", str(dict(tool.arguments))))
            for name in sorted(named - {"question", "words"}):
                yield f"{where}: {{{name}}} stays as it is: there are {{question}}, {{words}}."
    there = {server.name: server.models for server in file.servers if server.models}
    for path, _, provider, model in _models_in(file, "", there):
        if model and model not in there.get(provider, (model,)):
            hint = nearest(model, there[provider])
            where = source.at((*path, "model"))
            yield f'{where}: "{model}" is none of the models of {provider}. {hint}'.rstrip()
    ids = {agent.id for agent in file.agents}
    for agent_id in file.vote.weights:
        if ids and agent_id not in ids:
            yield f"{source.at(('vote', 'weights', agent_id))}: no agent here has this id."


def _prompt_faults(file: SettingsFile, source: WrittenFile) -> Iterator[str]:
    prompts: list[tuple[Path, Mapping[str, PromptText]]] = [((), file.prompts)]
    prompts += [(("agents", at), agent.prompts) for at, agent in enumerate(file.agents)]
    prompts += [(("judge",), file.judge.prompts)] if file.judge else []
    for path, texts in prompts:
        for name in [name for name in texts if name not in overridable()]:
            hint = nearest(name, overridable())
            yield f"{source.at((*path, 'prompts', name))} is no prompt. {hint}"


def _agent_faults(
    file: SettingsFile, source: WrittenFile, more_roles: Sequence[Role]
) -> Iterator[str]:
    ids, roles = set[str](), roles_with(more_roles)
    for at, agent in enumerate(file.agents):
        where = source.at(("agents", at, "id"))
        if agent.id in RESERVED_IDS:
            yield f'{where}: "{agent.id}" is taken by Moot itself.'
        elif not all(letter.isalnum() or letter in "-_." for letter in agent.id):
            yield f'{where}: "{agent.id}" may only have letters, digits, "-", "_" and ".".'
        elif agent.id in ids:
            yield f'{where}: another agent has the id "{agent.id}".'
        ids.add(agent.id)
        if role_id(agent.role, more_roles) is None:
            hint = nearest(agent.role, list(roles), ROLE_ALIASES)
            yield f'{source.at(("agents", at, "role"))}: there is no role "{agent.role}". {hint}'


def split_name(choice: ModelChoice, providers: Container[str]) -> ModelChoice:
    """`model: groq/llama-4` as the model `llama-4` of `groq`, where no `provider` is named.

    Vendors that sell others' models have such names themselves: what is in front of the slash
    counts only if it is one of these providers.
    """
    provider, _, model = choice.model.partition("/")
    if choice.provider or not model or provider not in providers:
        return choice
    return ModelChoice(provider=provider, model=model)


def providers_in_names(
    file: SettingsFile, base: Settings, providers: Iterable[str]
) -> Collection[str]:
    """Providers that may stand in front of a model's name."""
    own = {server.name for server in file.servers}
    # Where OpenRouter serves, `anthropic/…` is a name of its own.
    resells = (file.default_model.provider or base.agent_model.provider) == "openrouter"
    return own if resells else own | {*providers}


class _NamedModel(NamedTuple):
    path: Path
    #: The provider that is named here, and the one that serves.
    named: str
    provider: str
    model: str


def _models_in(file: SettingsFile, usual: str, in_names: Container[str]) -> Iterator[_NamedModel]:
    """Every model that the file names; `usual` serves where no provider is named.

    Those `in_names` may stand in front of a model's name.
    """

    def model_at(path: Path, choice: ModelChoice | None, usual: str = "") -> _NamedModel:
        choice = split_name(choice or ModelChoice(), in_names)
        return _NamedModel(path, choice.provider, choice.provider or usual, choice.model)

    default = model_at(("default_model",), file.default_model, usual)
    judge = model_at(("judge",), file.judge, default.provider)
    yield from (default, judge)
    yield model_at(("summary_model",), file.summary_model, judge.provider)
    yield model_at(("shadow_model",), file.shadow_model, judge.provider)
    lists: list[tuple[Path, Sequence[ModelChoice] | None]] = [((), file.fallbacks)]
    lists.append((("judge",), file.judge and file.judge.fallbacks))
    for at, agent in enumerate(file.agents):
        yield model_at(("agents", at), agent, default.provider)
        lists.append((("agents", at), agent.fallbacks))
    for path, choices in lists:
        for at, choice in enumerate(choices or ()):
            yield model_at((*path, "fallbacks", at), choice)


def _model_faults(
    file: SettingsFile, source: WrittenFile, base: Settings, providers: Mapping[str, str]
) -> Iterator[str]:
    """A line for each unknown provider or model, with the nearest name that exists."""
    own = {server.name for server in file.servers}
    in_names = providers_in_names(file, base, providers)
    for path, named, provider, model in _models_in(file, base.agent_model.provider, in_names):
        if named in own and not model:
            yield f'{source.at(path)}: name a model of "{named}" too.'
        elif not providers:  # their names are not checked
            continue
        elif not provider:
            yield f"{source.at(path)}: a fallback needs a provider."
        elif provider not in providers and provider not in own:
            if named:  # else the line is yielded for the place that names it
                hint = nearest(provider, [*providers, *own])
                where = source.at((*path, "provider"))
                yield f'{where}: there is no provider "{provider}". {hint}'
        elif model and not is_known(provider, model, file.models, file.prices):
            suggestion = nearest_model(provider, model)
            hint = f'Did you mean "{suggestion}"? ' if suggestion else ""
            yield (
                f'{source.at((*path, "model"))}: {provider} has no model "{model}" that '
                f"Moot knows. {hint}If it is new, name its price under `prices`."
            )
