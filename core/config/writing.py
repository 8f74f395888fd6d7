"""Writes settings as a configuration file, for `moot config` (pure)."""

from pathlib import Path
from typing import Any

import yaml

from core.debate.agents import ModelChoice, Speaker
from core.debate.rules import DebateRules
from core.settings import CommonSettings, Settings, SettingsFile, judge_for
from core.values import Value

_HEAD = "# Configuration of Moot: docs/configuration.md says what each setting does.\n"


def as_yaml(file: SettingsFile) -> str:
    """Return the file as YAML with Moot's keys, without defaults."""
    values = file.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
    # Keep an explicit "no cap", which differs from a missing key.
    if "debate_cost" in file.limits.model_fields_set:
        values["limits"].setdefault("debate_cost", None)
    return _HEAD + _yaml({key: value for key, value in values.items() if value})


def all_as_yaml(settings: Settings, folder: Path) -> str:
    """Return all settings as the YAML of a file in this folder."""
    judge = settings.judge or judge_for(settings.judge_model)
    if settings.judge_models:
        judge = judge.model_copy(update={"provider": "", "model": ""})
    file = SettingsFile(
        # Mixed models are not written.
        default_model=ModelChoice() if settings.mixed_models else settings.agent_model,
        judge=Speaker(**_fields(judge, Speaker)),
        debate=DebateRules(**_fields(settings, DebateRules)),
        **_fields(settings, CommonSettings),
    )
    values = file.model_dump(mode="json", by_alias=True)
    parts: list[Any] = [values["debate"], values["judge"], *values["agents"]]
    rules = [settings.summarization, judge.summarization]
    rules += [agent.summarization for agent in settings.agents]
    for part, summarization in zip(parts, rules, strict=True):
        # A method that is not set explicitly depends on the format.
        if summarization and "method" not in summarization.model_fields_set:
            del part["summarization"]["method"]
        if summarization and summarization.prompt:
            file_path = _relative(summarization.prompt.source, folder)
            part["summarization"]["prompt_file"] = file_path
    for part in (values, *parts[1:]):
        prompts = part["prompts"]
        part["prompts"] = {name: _relative(file, folder) for name, file in prompts.items()}
    return _yaml(values)


def json_schema() -> dict[str, Any]:
    schema = SettingsFile.model_json_schema(by_alias=True)
    for part in (schema, *schema["$defs"].values()):
        if "properties" in part:
            part["additionalProperties"] = False
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _fields(value: Value, part: type[Value]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in part.model_fields}


def _relative(file: str, folder: Path) -> str:
    path = Path(file)
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _yaml(values: dict[str, Any]) -> str:
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)
