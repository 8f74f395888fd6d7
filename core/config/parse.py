"""The text of a configuration file → `Settings`, or every problem in it with file, line and key."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from core.capabilities import capability
from core.config.entries import SECTIONS, FileEntry, PriceEntry
from core.config.keys import nearest, translate
from core.config.making import make_settings
from core.config.model_names import model_faults
from core.config.source import Path, Source, read_source
from core.config.wanted import Prompts, ReadPrompt, unknown_names
from core.errors import ConfigurationBroken
from core.models import RESERVED_IDS
from core.rules.formats.registry import FORMATS
from core.settings import Settings, role_id
from core.turns.prompts import overrides


@dataclass(frozen=True, kw_only=True)
class Known:
    """What the file is laid over and checked against."""

    #: Hold where the file says nothing.
    settings: Settings = field(default_factory=Settings)
    #: Providers that exist, with the model each serves when none is named; empty = unchecked.
    providers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A configuration file as settings."""

    settings: Settings
    #: For whoever starts the program: what the file lacks or asks for in vain.
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A file whose every value is of the right kind."""

    entry: FileEntry
    source: Source
    #: The values as written, in our words.
    values: Mapping[str, Any]
    notices: tuple[str, ...]


def load(text: str, name: str, known: Known, read: ReadPrompt) -> Loaded:
    """Settings from the text of a file.

    Args:
        text: Its content.
        name: Its name, for people; `.json` is read as JSON, anything else as YAML.
        known: What holds where the file says nothing.
        read: Reads the prompt files it names.

    Raises:
        ConfigurationBroken: It cannot be used; every line names file, line and key.
    """
    checked = check(text, name, known)
    prompts = Prompts(read)
    settings = make_settings(checked.entry, known.settings, known.providers, prompts)
    warnings = tuple(prompts.warnings)
    settings = settings.model_copy(update={"warnings": (*known.settings.warnings, *warnings)})
    return Loaded(settings=settings, notices=checked.notices)


def check(text: str, name: str, known: Known) -> Checked:
    """The file's entries, if all of them can be used.

    Raises:
        ConfigurationBroken: They cannot; every line names file, line and key.
    """
    source = read_source(text, name)
    done = translate(source)
    entry = None
    problems = list(done.problems)
    try:
        entry = FileEntry.model_validate(done.values)
    except ValidationError as error:
        problems += [_in_words(source, found) for found in error.errors(include_url=False)]
    if entry:
        problems += _contradictions(entry, source, known)
    if problems or entry is None:
        raise ConfigurationBroken("\n".join(problems))
    notices = (*done.notices, *_missing(done.values, name), *_doubtful(entry, source))
    return Checked(entry=entry, source=source, values=done.values, notices=notices)


def _in_words(source: Source, error: ErrorDetails) -> str:
    """One problem as a line for people."""
    path: Path = tuple(error["loc"])
    where = source.at(path)
    match error["type"]:
        case "extra_forbidden":
            return f"{where} is no setting. {nearest(str(path[-1]), list(PriceEntry.model_fields))}"
        case "missing":
            return f"{where} is missing."
        case "literal_error":
            return f"{where} must be {error.get('ctx', {}).get('expected')}."
        case _:
            message = error["msg"].removeprefix("Input ")
            return f"{where}: {message[:1].lower()}{message[1:]}."


def _missing(values: Mapping[str, Any], name: str) -> Iterator[str]:
    missing = [section for section in SECTIONS if section not in values]
    if missing:
        yield f"{name} says nothing about {', '.join(missing)}: the built-in settings hold there."


def _doubtful(entry: FileEntry, source: Source) -> Iterator[str]:
    """What can be used, though hardly as meant."""
    for index, agent in enumerate(entry.agents):
        if role_id(agent.role) is None:
            where = source.at(("agents", index, "role"))
            yield f'{where}: there is no role "{agent.role}"; it argues as a generalist.'
    ids = {agent.id for agent in entry.agents}
    for agent_id in entry.vote.weights:
        if ids and agent_id not in ids:
            yield f"{source.at(('vote', 'weights', agent_id))}: no agent here has this id."


def _contradictions(entry: FileEntry, source: Source, known: Known) -> Iterator[str]:
    """What is of the right kind and still wrong."""
    if entry.debate.format not in FORMATS:
        where = source.at(("debate", "format"))
        hint = nearest(entry.debate.format, list(FORMATS))
        yield f'{where}: there is no format "{entry.debate.format}". {hint}'
    yield from _ids(entry, source)
    yield from model_faults(entry, source, known.settings.agent_model.provider, known.providers)
    yield from _prompt_names(entry, source)
    yield from _records(entry, source)


def _ids(entry: FileEntry, source: Source) -> Iterator[str]:
    seen: set[str] = set()
    for index, agent in enumerate(entry.agents):
        where = source.at(("agents", index, "id"))
        if agent.id in RESERVED_IDS:
            yield f'{where}: "{agent.id}" is taken by Moot itself.'
        elif not all(letter.isalnum() or letter in "-_." for letter in agent.id):
            yield f'{where}: "{agent.id}" may only have letters, digits, "-", "_" and ".".'
        elif agent.id in seen:
            yield f'{where}: another agent has the id "{agent.id}".'
        seen.add(agent.id)


def _prompt_names(entry: FileEntry, source: Source) -> Iterator[str]:
    named: list[tuple[Path, Mapping[str, str]]] = [
        (("prompts",), entry.prompts),
        (("judge", "prompts"), entry.judge.prompts),
    ]
    named += [(("agents", at, "prompts"), one.prompts) for at, one in enumerate(entry.agents)]
    for path, wanted in named:
        for name in unknown_names(wanted):
            hint = nearest(name, overrides.NAMES)
            yield f"{source.at((*path, name))} is no prompt. {hint}"


def _records(entry: FileEntry, source: Source) -> Iterator[str]:
    for index, record in enumerate(entry.models):
        reason = _record_fault(record)
        if reason:
            yield f"{source.at(('models', index))}: {reason}"


def _record_fault(record: Mapping[str, Any]) -> str:
    """What is wrong with a record of a model's capabilities."""
    try:
        # It must fit whatever it is laid over, so it is tried on a model nobody knows.
        fields = {key: value for key, value in record.items() if key not in {"provider", "match"}}
        capability("", "", [fields])
    except ValidationError as error:
        found = error.errors(include_url=False)[0]
        return f"{'.'.join(str(step) for step in found['loc'])}: {found['msg']}."
    return ""
