"""Loads and checks playbooks: YAML files, built in or in a folder beside the settings file.

A team's playbook replaces a built-in one of the same name. An invalid playbook is left out.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import yaml
from pydantic import ValidationError

from core.config.load import in_words, text_of
from core.config.source import WrittenFile, read_source
from core.debate.rules import Playbook
from core.errors import BadInput, ConfigurationBroken
from core.opening import find_agent, known_agents
from core.rules.formats.registry import formats_with
from core.settings import Settings
from core.wrong_values import nearest

#: Subfolder with a team's playbooks, in the folder of the settings file.
FOLDER = "playbooks"
_SUFFIXES = frozenset({".yaml", ".yml"})
_BUILT_IN = FilePath(__file__).parent.parent / "playbooks"
_FEWEST_AGENTS = 2


@dataclass(frozen=True, kw_only=True)
class AvailablePlaybooks:
    #: Playbooks by name: built-in ones (or the team's replacements), then the team's other ones.
    playbooks: Mapping[str, Playbook]
    #: Files of the team's playbooks, by name.
    team_files: Mapping[str, FilePath]
    #: Errors of playbooks that are left out, a line each: file, line and key.
    faults: Sequence[str]


def find_playbooks(folder: FilePath | None, settings: Settings) -> AvailablePlaybooks:
    """Load the built-in playbooks, and those in the folder of the settings file, if any."""
    team, team_files, faults = dict[str, Playbook](), dict[str, FilePath](), list[str]()
    files: Sequence[FilePath] = ()
    with suppress(OSError):  # there is no such folder
        in_folder = (folder / FOLDER).iterdir() if folder else ()
        files = sorted(path for path in in_folder if path.suffix in _SUFFIXES and path.is_file())
    for file in files:
        try:
            playbook = load_playbook(file, settings)
        except ConfigurationBroken as broken:
            faults += str(broken).splitlines()
            continue
        if playbook.name in team_files:
            faults.append(
                f'{file}: {team_files[playbook.name].name} has the name "{playbook.name}" already.'
            )
        else:
            team[playbook.name], team_files[playbook.name] = playbook, file
    playbooks = dict[str, Playbook]()
    for name, playbook in built_in().items():
        # Leave out agents that the settings disable; with too few left, the usual agents debate.
        agents = tuple(agent for agent in playbook.agents if _is_available(agent, settings))
        agents = agents if len(agents) >= _FEWEST_AGENTS else ()
        playbooks[name] = playbook.model_copy(update={"agents": agents})
    return AvailablePlaybooks(playbooks=playbooks | team, team_files=team_files, faults=faults)


def load_playbook(file: FilePath, settings: Settings) -> Playbook:
    """The playbook in a file; raises as `read_playbook` does."""
    return read_playbook(text_of(file), str(file), settings)


def read_playbook(text: str, name: str, settings: Settings) -> Playbook:
    """Parse a playbook; agents and roles must exist in these settings.

    Raises:
        ConfigurationBroken: The playbook is invalid; every line names file, line and key.
    """
    source = read_source(text, name, example="title: …")
    try:
        playbook = _checked_playbook(source.values)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        lines = [in_words(source, error, Playbook, noun="key of a playbook") for error in errors]
        raise ConfigurationBroken("\n".join(lines)) from None
    if faults := list(_faults(playbook, source, settings)):
        raise ConfigurationBroken("\n".join(faults))
    return playbook


@cache
def built_in() -> Mapping[str, Playbook]:
    """Return the built-in playbooks by name, in the order of their files."""
    # The C loader is fast but keeps no line numbers. These files need none: tests check them.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    files = sorted(_BUILT_IN.glob("*.yaml"))
    contents = (yaml.load(file.read_text("utf-8"), Loader=loader) for file in files)  # noqa: S506 - both are safe loaders
    playbooks = [_checked_playbook(values) for values in contents]
    return {playbook.name: playbook for playbook in playbooks}


def _checked_playbook(values: Mapping[str, Any]) -> Playbook:
    # In JSON mode strict types accept a text for an enum and a list for a tuple.
    plain = json.dumps(values, default=str)
    return Playbook.model_validate_json(plain, strict=True, extra="forbid")


def built_in_text(name: str) -> str:
    """Return the text of a built-in playbook's file, as a template for a team's playbook."""
    return (_BUILT_IN / f"{name}.yaml").read_text(encoding="utf-8")


def _is_available(name: str, settings: Settings) -> bool:
    try:
        find_agent(name, settings)
    except BadInput:
        return False
    return True


def _faults(playbook: Playbook, source: WrittenFile, settings: Settings) -> Iterator[str]:
    """Yield a line for each value that has the right type but does not fit these settings."""
    form, formats = playbook.format, formats_with(settings.agendas)
    if form is not None and form not in formats:
        hint = nearest(form, list(formats))
        yield f'{source.at(("format",))}: there is no format "{form}". {hint}'
    elif form and playbook.rounds and playbook.rounds > formats[form].most_rounds:
        most = formats[form].most_rounds
        yield f"{source.at(('rounds',))}: the format {form} has {most} at most."
    for index, name in enumerate(playbook.agents):
        if not _is_available(name, settings):
            names = ", ".join(known_agents(settings))
            location = source.at(("agents", index))
            yield f'{location}: there is no agent or role "{name}". There are: {names}.'
    if playbook.agents and len(playbook.agents) < _FEWEST_AGENTS:
        yield f"{source.at(('agents',))}: a debate needs two agents; name at least two, or none."
    yield from _duplicates(playbook, source)


def _duplicates(playbook: Playbook, source: WrittenFile) -> Iterator[str]:
    name_fields = {"agents": "", "criteria": "name", "evidence": "name", "verdict": "title"}
    for key, field in name_fields.items():
        entries: Sequence[Any] = getattr(playbook, key)
        names = [str(getattr(entry, field) if field else entry) for entry in entries]
        for index, name in enumerate(names):
            if name.casefold() in map(str.casefold, names[:index]):
                location = source.at((key, index, field) if field else (key, index))
                yield f'{location}: "{name}" is listed twice.'
