"""Builds `Settings` from a configuration file, or reports each error with file, line and key."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path as FilePath
from typing import Literal, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from core.acts.prompt import override_fault
from core.config.dialectic import translate
from core.config.faults import (
    doubts,
    faults,
    providers_in_names,
    split_name,
    unnamed_models,
)
from core.config.source import (
    Path,
    WrittenFile,
    inside,
    keys_of,
    model_in,
    read_source,
    section_hint,
)
from core.debate.agents import OFFLINE, Agent, ModelChoice, PromptText, Speaker, Summarization
from core.errors import ConfigurationBroken
from core.settings import (
    CommonSettings,
    Settings,
    SettingsFile,
    agent_for,
    judge_for,
    role_id,
)
from core.values import IN_FILE, Value
from core.wrong_values import complaint, nearest

V = TypeVar("V", bound=Value)
#: Reads a prompt file by its path in the settings. Raises OSError or UnicodeDecodeError.
ReadPrompt = Callable[[str], PromptText]
_COMMON = CommonSettings.model_fields.keys()


@dataclass(frozen=True, kw_only=True)
class FileDefaults:
    """Default settings and known providers that a file is merged with and checked against."""

    #: Values for settings that the file does not contain.
    settings: Settings = field(default_factory=Settings)
    #: Existing providers → their default models. Empty: names are not checked.
    providers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class LoadedFile:
    settings: Settings
    #: Notices for the administrator: unsupported keys and probable mistakes.
    notices: tuple[str, ...] = ()
    #: The file's values without defaults.
    file: SettingsFile = field(default_factory=SettingsFile)


def load_file(path: FilePath, defaults: FileDefaults) -> LoadedFile:
    """Load settings from a file. A missing file is an error: its caps would not apply.

    Raises:
        ConfigurationBroken: The file is missing, unreadable or invalid; names file, line and key.
    """
    return load(text_of(path), str(path), defaults, prompt_reader(path.parent))


def load(text: str, name: str, defaults: FileDefaults, read: ReadPrompt) -> LoadedFile:
    """Load settings from the text of a file; `read` reads the prompt files that it names.

    Raises:
        ConfigurationBroken: The file is invalid; every line names file, line and key.
    """
    source = read_source(text, name)
    notices = [*translate(source)]
    values = {key: value for key, value in source.values.items() if value is not None}
    file, problems = _validated_file(source, values)
    if file:
        problems += faults(file, source, defaults.settings, defaults.providers)
    if problems or file is None:

        def line(problem: str) -> int:
            number = problem.removeprefix(f"{name}, line ").partition(":")[0]
            return int(number) if number.isdecimal() else sys.maxsize

        raise ConfigurationBroken("\n".join(sorted(problems, key=line)))
    settings = _FileCompletion(file, defaults, read).settings()
    if defaults.providers and (problems := [*unnamed_models(settings, source)]):
        raise ConfigurationBroken("\n".join(problems))
    return LoadedFile(settings=settings, notices=(*notices, *doubts(file, source)), file=file)


def _validated_file(
    source: WrittenFile, values: Mapping[str, object]
) -> tuple[SettingsFile | None, list[str]]:
    """The file, if it can be read but for unknown keys, and the problems of its values."""
    # In JSON mode strict types accept a text for an enum and a list for a tuple.
    plain = json.dumps(values, default=str)
    try:
        return _file(plain, extra="forbid"), []
    except ValidationError as error:
        errors = error.errors(include_url=False)
    # Skip "too short" for a list with invalid items: pydantic does not count those items.
    parents = {error["loc"][:n] for error in errors for n in range(len(error["loc"]))}
    errors = [
        error for error in errors if error["type"] != "too_short" or error["loc"] not in parents
    ]
    problems = [in_words(source, error, SettingsFile) for error in errors]
    if {"name", "title"} <= values.keys():
        problems.append("If it is a playbook, check it with: moot playbook check FILE")
    if all(error["type"] == "extra_forbidden" for error in errors):
        with suppress(ValidationError):  # a misspelt key may be a required one
            return _file(plain, extra="ignore"), problems
    return None, problems


def _file(plain: str, *, extra: Literal["forbid", "ignore"]) -> SettingsFile:
    return SettingsFile.model_validate_json(
        plain, strict=True, extra=extra, context=IN_FILE, by_alias=True, by_name=False
    )


def prompt_reader(folder: FilePath) -> ReadPrompt:
    """Return a function that reads prompt files in the configuration file's folder or below it.

    The function raises `ConfigurationBroken` for a path outside: otherwise a person who may change
    the settings could send any file of the machine to a model.
    """

    def read(file: str) -> PromptText:
        path = folder / file
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ConfigurationBroken(
                f"The prompt file {file} is outside the folder {folder.resolve()}. Put it into "
                "that folder, or below, and write its path relative to it."
            )
        return PromptText(text=path.read_text(encoding="utf-8-sig"), source=str(path))

    return read


def merged(base: V, top: Value) -> V:
    """Return `base` with every value that is set in `top`, also within sections."""
    changes: dict[str, object] = {}
    for name in top.model_fields_set:
        old, new = getattr(base, name), getattr(top, name)
        is_part = isinstance(new, Value) and type(old) is type(new)
        changes[name] = merged(old, new) if is_part else new
    return base.model_copy(update=changes)


def text_of(path: FilePath) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigurationBroken(f"There is no file {path}.") from None
    except UnicodeDecodeError:
        raise ConfigurationBroken(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise ConfigurationBroken(f"{path} cannot be read: {reason}.") from None


def in_words(
    source: WrittenFile, error: ErrorDetails, model: type[Value], *, noun: str = "setting"
) -> str:
    """Return the error as a line for people; `model` is the model of the whole file."""
    path: Path = tuple(error["loc"])
    location = source.at(path)
    if error["type"] == "extra_forbidden":
        annotation: object = model
        for step in path[:-1]:
            annotation = inside(annotation, step)
        keys = list(keys_of(model_in(annotation) or model))
        name = str(path[-1])
        hint = "" if name.lower() in keys else section_hint(name, model)
        return f"{location} is no {noun}.{hint or f' {nearest(name, keys)}'}"
    return complaint(location, error)


def _is_named(choice: ModelChoice | Speaker | None) -> bool:
    return choice is not None and bool(choice.provider or choice.model)


class _FileCompletion:
    """Builds `Settings` from a file: fills in missing models and names, reads prompt files."""

    def __init__(self, file: SettingsFile, defaults: FileDefaults, read: ReadPrompt) -> None:
        self._file, self._base, self._read = file, defaults.settings, read
        self._providers = defaults.providers
        self._in_names = providers_in_names(file, self._base, self._providers)
        self._warnings: list[str] = []

    def settings(self) -> Settings:
        file, base = self._file, self._with_models()
        # Copy all values of the file; `changes` has those that need more than a copy.
        file_values = {name: getattr(file, name) for name in file.model_fields_set & _COMMON}
        settings = merged(base, file.debate)
        settings = merged(settings, CommonSettings.model_construct(**file_values))
        rules = self._summaries(settings.summarization, "for summaries", None)
        # Read prompts in the order of the file, so that warnings are in that order.
        prompts = self._prompts(file.prompts, "for every agent")
        changes: dict[str, object] = {
            "summarization": rules,
            "agents": self._agents(base.mixed_models or (base.agent_model,), rules),
            "fallbacks": tuple(self._choice(fallback) for fallback in file.fallbacks),
            "prompts": prompts,
            "summary_model": base.summary_model,
            "shadow_model": base.shadow_model,
            # The file's records come last and override those of providers.
            "models": (*base.models, *file.models),
        }
        if file.judge:
            changes["judge"] = self._speaker(file.judge, judge_for(base.judge_model), rules)
        changes["warnings"] = (*base.warnings, *self._warnings)
        return settings.model_copy(update=changes)

    def _with_models(self) -> Settings:
        file, base = self._file, self._base
        server_models = tuple(
            ModelChoice(provider=server.name, model=model)
            for server in file.servers
            for model in server.models
        )
        names_model = _is_named(file.default_model)
        if server_models and not names_model and base.agent_model.provider == OFFLINE:
            first = server_models[0]
            models = {"agent_model": first, "judge_model": first, "mixed_models": server_models}
            base = base.model_copy(update=models)
        agent_model = self._choice(file.default_model, base.agent_model)
        usual_judge = agent_model if names_model else base.judge_model
        judge_model = self._choice(file.judge or ModelChoice(), usual_judge)
        changes: dict[str, object] = {"agent_model": agent_model, "judge_model": judge_model}
        if names_model:
            changes |= {"mixed_models": (), "strongest_model": None}
        if names_model or _is_named(file.judge):
            changes["judge_models"] = ()
        for name in ("summary_model", "shadow_model"):
            choice: ModelChoice | None = getattr(file, name)
            if choice and _is_named(choice):
                changes[name] = self._choice(choice, judge_model)
        return base.model_copy(update=changes)

    def _choice(self, choice: ModelChoice, usual: ModelChoice | None = None) -> ModelChoice:
        """Complete a model choice: use `usual`, or the provider's default model."""
        choice, usual = split_name(choice, self._in_names), usual or ModelChoice()
        provider = choice.provider or usual.provider
        model = choice.model or (usual.model if provider == usual.provider else "")
        model = model or self._providers.get(provider, usual.model)
        return ModelChoice(provider=provider, model=model)

    def _agents(self, usual: Sequence[ModelChoice], rules: Summarization) -> tuple[Agent, ...]:
        """Return the agents. Those without a model get the usual models in turn."""
        agents, models, roles = list[Agent](), cycle(usual), self._base.roles
        for agent in self._file.agents:
            provider = split_name(agent, self._in_names).provider
            of_provider = [choice for choice in usual if choice.provider == provider]
            model = (*of_provider, usual[0])[0] if _is_named(agent) else next(models)
            role = role_id(agent.role, roles) or agent.role
            plain = agent_for(role, self._choice(agent, model), roles)
            plain = plain.model_copy(update={"id": agent.id, "enabled": agent.enabled})
            agents.append(self._speaker(agent, plain, rules))
        return tuple(agents)

    def _speaker(self, speaker: Speaker, plain: Agent, rules: Summarization) -> Agent:
        """Return the agent `plain` with the file's values; `rules` are for all summaries."""
        name, summarization = speaker.name or plain.name, speaker.summarization
        changes: dict[str, object] = {"name": name, "temperature": speaker.temperature}
        if "icon" in speaker.model_fields_set:
            changes["icon"] = speaker.icon
        if speaker.fallbacks is not None:
            changes["fallbacks"] = tuple(map(self._choice, speaker.fallbacks))
        changes["prompts"] = {**plain.prompts, **self._prompts(speaker.prompts, name)}
        if summarization:
            complete = merged(rules, summarization)
            changes["summarization"] = self._summaries(complete, f"{name}, summaries", rules.prompt)
        return plain.model_copy(update=changes)

    def _summaries(
        self, rules: Summarization, purpose: str, default: PromptText | None
    ) -> Summarization:
        """Read the prompt file of these rules; use `default` if it cannot be used."""
        if rules.prompt is None or rules.prompt.text:
            return rules
        prompt = self._prompt(rules.prompt.source, "summary", purpose)
        return rules.model_copy(update={"prompt": prompt or default})

    def _prompts(self, files: Mapping[str, PromptText], agent: str) -> Mapping[str, PromptText]:
        """Read prompt files, by name. Add a warning for each that cannot be used."""
        prompts = {
            name: self._prompt(prompt.source, name, f"{agent}, {name}")
            for name, prompt in files.items()
        }
        return {name: prompt for name, prompt in prompts.items() if prompt}

    def _prompt(self, file: str, name: str, purpose: str) -> PromptText | None:
        """Read a prompt file. Return None and add a warning if it cannot be used."""
        try:
            prompt = self._read(file)
            reason = override_fault(name, prompt.text)
        except OSError as error:
            prompt, reason = None, (error.strerror or "it cannot be read").lower()
        except UnicodeDecodeError:
            prompt, reason = None, "it is not UTF-8 text"
        if not reason:
            return prompt
        self._warnings.append(
            f"The prompt file {file} ({purpose}) cannot be used: {reason}. The prompt for every "
            "agent is used instead, or the built-in one."
        )
        return None
