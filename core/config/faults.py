"""Checks settings of the right type: values that cannot be used, or are probably wrong (pure)."""

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from core.acts.prompt import overridable
from core.capabilities import Capability, Record, capability
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
    """Yield a line for each value that cannot be used.

    Without `providers` the names of providers and models are not checked.
    """
    debate, limits = file.debate, file.limits
    formats = list(formats_with(base.agendas))
    if debate.format not in formats:
        location, hint = source.at(("debate", "format")), nearest(debate.format, formats)
        yield f'{location}: there is no format "{debate.format}". {hint}'
    is_written = "debate_cost" in limits.model_fields_set
    if is_written and limits.with_cost(limits.debate_cost).debate_cost != limits.debate_cost:
        location = source.at(("limits", "debate_cost"))
        yield f"{location}: is above limits.most_debate_cost."
    yield from _agent_faults(file, source, base.roles)
    names = [*providers]
    for index, server in enumerate(file.servers):
        if server.name in names:
            owner = "a provider" if server.name in providers else "another server"
            yield f'{source.at(("servers", index, "name"))}: {owner} has the name "{server.name}".'
        names.append(server.name)
    yield from _model_faults(file, source, base, providers)
    yield from _prompt_faults(file, source)
    for index, record in enumerate(file.models):
        yield from _record_faults(record, source, ("models", index))


def _record_faults(record: Record, source: WrittenFile, path: Path) -> Iterator[str]:
    try:
        # The record must be valid for every model, so check it with an unknown one.
        fields = {key: item for key, item in record.items() if key not in {"provider", "match"}}
        capability("", "", [fields])
    except ValidationError as error:
        errors = error.errors(include_url=False)
    else:
        errors = []
    for fault in errors:
        location, keys = source.at((*path, *fault["loc"])), ("match", *Capability.model_fields)
        if fault["type"] == "extra_forbidden":
            yield f"{location} is no setting. {nearest(str(fault['loc'][-1]), keys)}"
        else:
            yield complaint(location, fault)


def unnamed_models(settings: Settings, source: WrittenFile) -> Iterator[str]:
    """Yield a line for the first use of each provider that has no default model."""
    told = set[str]()
    uses: list[tuple[Path, ModelChoice | None]] = [
        (("default_model",), settings.agent_model),
        (("judge",), settings.judge or settings.judge_model),
        (("summary_model",), settings.summary_model),
        (("shadow_model",), settings.shadow_model),
        *((("fallbacks", index), choice) for index, choice in enumerate(settings.fallbacks)),
    ]
    for index, agent in enumerate(settings.agents):
        uses.append((("agents", index), agent))
        uses += [(("agents", index, "fallbacks"), choice) for choice in agent.fallbacks or ()]
    for path, choice in uses:
        if choice and choice.provider not in told and not choice.model:
            told.add(choice.provider)
            yield f'{source.at(path)}: name a model of "{choice.provider}" too.'


def doubts(file: SettingsFile, source: WrittenFile) -> Iterator[str]:
    """Yield a line for each value that can be used but is probably a mistake."""
    for index, server in enumerate(file.evidence.mcp_servers):
        for tool_index, tool in enumerate(server.tools):
            location = source.at(("evidence", "mcp_servers", index, "tools", tool_index))
            placeholders = set(re.findall(r"\{(\w{1,30})\}", str(dict(tool.arguments))))
            for name in sorted(placeholders - {"question", "words"}):
                yield (
                    f"{location}: {{{name}}} is not replaced: only {{question}} and {{words}} are."
                )
    server_models = {server.name: server.models for server in file.servers if server.models}
    for path, _, provider, model in _models_in(file, "", server_models):
        if model and model not in server_models.get(provider, (model,)):
            hint = nearest(model, server_models[provider])
            location = source.at((*path, "model"))
            yield f'{location}: "{model}" is none of the models of {provider}. {hint}'.rstrip()
    ids = {agent.id for agent in file.agents}
    for agent_id in file.vote.weights:
        if ids and agent_id not in ids:
            yield f"{source.at(('vote', 'weights', agent_id))}: no agent here has this id."


def _prompt_faults(file: SettingsFile, source: WrittenFile) -> Iterator[str]:
    prompts: list[tuple[Path, Mapping[str, PromptText]]] = [((), file.prompts)]
    prompts += [(("agents", index), agent.prompts) for index, agent in enumerate(file.agents)]
    prompts += [(("judge",), file.judge.prompts)] if file.judge else []
    for path, texts in prompts:
        for name in [name for name in texts if name not in overridable()]:
            hint = nearest(name, overridable())
            yield f"{source.at((*path, 'prompts', name))} is no prompt. {hint}"


def _agent_faults(
    file: SettingsFile, source: WrittenFile, more_roles: Sequence[Role]
) -> Iterator[str]:
    ids, roles = set[str](), roles_with(more_roles)
    for index, agent in enumerate(file.agents):
        location = source.at(("agents", index, "id"))
        if agent.id in RESERVED_IDS:
            yield f'{location}: "{agent.id}" is reserved for Moot itself.'
        elif not all(letter.isalnum() or letter in "-_." for letter in agent.id):
            yield f'{location}: "{agent.id}" may only have letters, digits, "-", "_" and ".".'
        elif agent.id in ids:
            yield f'{location}: another agent has the id "{agent.id}".'
        ids.add(agent.id)
        if role_id(agent.role, more_roles) is None:
            hint = nearest(agent.role, list(roles), ROLE_ALIASES)
            location = source.at(("agents", index, "role"))
            yield f'{location}: there is no role "{agent.role}". {hint}'


def split_name(choice: ModelChoice, providers: Container[str]) -> ModelChoice:
    """Split `model: groq/llama-4` into provider `groq` and model `llama-4`.

    Only if no `provider` is set, and the part before the slash is one of `providers`: names of
    resellers' models contain a slash, too.
    """
    provider, _, model = choice.model.partition("/")
    if choice.provider or not model or provider not in providers:
        return choice
    return ModelChoice(provider=provider, model=model)


def providers_in_names(
    file: SettingsFile, base: Settings, providers: Iterable[str]
) -> Collection[str]:
    """Return the providers that can be written before a model's name (`groq/llama-4`)."""
    servers = {server.name for server in file.servers}
    # OpenRouter's own names of models look like `anthropic/…`.
    is_reseller = (file.default_model.provider or base.agent_model.provider) == "openrouter"
    return servers if is_reseller else servers | {*providers}


class _NamedModel(NamedTuple):
    path: Path
    #: The provider in the file (may be empty), and the provider that serves the model.
    named: str
    provider: str
    model: str


def _models_in(file: SettingsFile, usual: str, in_names: Container[str]) -> Iterator[_NamedModel]:
    """Yield every model in the file; `usual` is the provider if none is named.

    Providers in `in_names` can be written before a model's name.
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
    for index, agent in enumerate(file.agents):
        yield model_at(("agents", index), agent, default.provider)
        lists.append((("agents", index), agent.fallbacks))
    for path, choices in lists:
        for index, choice in enumerate(choices or ()):
            yield model_at((*path, "fallbacks", index), choice)


def _model_faults(
    file: SettingsFile, source: WrittenFile, base: Settings, providers: Mapping[str, str]
) -> Iterator[str]:
    """Yield a line for each unknown provider or model, with the nearest existing name."""
    servers = {server.name for server in file.servers}
    in_names = providers_in_names(file, base, providers)
    for path, name, provider, model in _models_in(file, base.agent_model.provider, in_names):
        if name in servers and not model:
            yield f'{source.at(path)}: name a model of "{name}" too.'
        elif not providers:  # names are not checked
            continue
        elif not provider:
            yield f"{source.at(path)}: a fallback needs a provider."
        elif provider not in providers and provider not in servers:
            if name:  # an inherited provider is reported where it is named
                hint = nearest(provider, [*providers, *servers])
                location = source.at((*path, "provider"))
                yield f'{location}: there is no provider "{provider}". {hint}'
        elif model and not is_known(provider, model, file.models, file.prices):
            suggestion = nearest_model(provider, model)
            hint = f'Did you mean "{suggestion}"? ' if suggestion else ""
            yield (
                f'{source.at((*path, "model"))}: Moot knows no model "{model}" of {provider}. '
                f"{hint}If it is new, set its price under `prices`."
            )
