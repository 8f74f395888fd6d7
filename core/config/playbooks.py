"""Playbooks: a YAML file each, built in or beside the settings file; what is wrong in one is said.

A team's own with the name of a built-in one stands in its place. A broken one is left out.
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

#: Where a team's own are, in the folder of the settings file.
FOLDER = "playbooks"
_SUFFIXES = frozenset({".yaml", ".yml"})
_BUILT_IN = FilePath(__file__).parent.parent / "playbooks"
#: One alone is no debate.
_FEWEST_AGENTS = 2


@dataclass(frozen=True, kw_only=True)
class AvailablePlaybooks:
    #: Built-in ones, with a team's own in place of or after them, by name.
    playbooks: Mapping[str, Playbook]
    #: Files of the team's own, by name.
    own: Mapping[str, FilePath]
    #: What is wrong with those that are left out, a line each: file, line and key.
    faults: Sequence[str]


def find_playbooks(folder: FilePath | None, settings: Settings) -> AvailablePlaybooks:
    """The built-in playbooks, and those in the folder of the settings file, if there is one."""
    team, own, faults = dict[str, Playbook](), dict[str, FilePath](), list[str]()
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
        if playbook.name in own:
            faults.append(
                f'{file}: {own[playbook.name].name} has the name "{playbook.name}" already.'
            )
        else:
            team[playbook.name], own[playbook.name] = playbook, file
    playbooks = dict[str, Playbook]()
    for name, playbook in built_in().items():
        # Without agents that these settings disable; where too few are left, with the usual ones.
        there = tuple(agent for agent in playbook.agents if _is_there(agent, settings))
        agents = there if len(there) >= _FEWEST_AGENTS else ()
        playbooks[name] = playbook.model_copy(update={"agents": agents})
    return AvailablePlaybooks(playbooks=playbooks | team, own=own, faults=faults)


def load_playbook(file: FilePath, settings: Settings) -> Playbook:
    """The playbook in a file; raises as `read_playbook` does."""
    return read_playbook(text_of(file), str(file), settings)


def read_playbook(text: str, name: str, settings: Settings) -> Playbook:
    """The playbook in the text of a file, which may name agents and roles of these settings.

    Raises:
        ConfigurationBroken: It cannot be used; every line names file, line and key.
    """
    source = read_source(text, name, example="title: …")
    try:
        playbook = _checked_playbook(source.values)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        lines = [in_words(source, error, Playbook, noun="key of a playbook") for error in errors]
        raise ConfigurationBroken("\n".join(lines)) from None
    if wrong := list(_misfits(playbook, source, settings)):
        raise ConfigurationBroken("\n".join(wrong))
    return playbook


@cache
def built_in() -> Mapping[str, Playbook]:
    """The playbooks that come with Moot, by name, in the order of their files."""
    # Somebody waits for them, and they are without faults, so that no lines are needed.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    files = sorted(_BUILT_IN.glob("*.yaml"))
    read = (yaml.load(file.read_text("utf-8"), Loader=loader) for file in files)  # noqa: S506 - both are safe loaders
    playbooks = [_checked_playbook(values) for values in read]
    return {playbook.name: playbook for playbook in playbooks}


def _checked_playbook(values: Mapping[str, Any]) -> Playbook:
    # As JSON: there strict types accept a text for an enum and a list for a tuple.
    plain = json.dumps(values, default=str)
    return Playbook.model_validate_json(plain, strict=True, extra="forbid")


def built_in_text(name: str) -> str:
    """The file of a built-in playbook, to begin one's own from."""
    return (_BUILT_IN / f"{name}.yaml").read_text(encoding="utf-8")


def _is_there(name: str, settings: Settings) -> bool:
    try:
        find_agent(name, settings)
    except BadInput:
        return False
    return True


def _misfits(playbook: Playbook, source: WrittenFile, settings: Settings) -> Iterator[str]:
    """A line for each value that is of the right type and does not fit this Moot."""
    form, formats = playbook.format, formats_with(settings.agendas)
    if form is not None and form not in formats:
        hint = nearest(form, list(formats))
        yield f'{source.at(("format",))}: there is no format "{form}". {hint}'
    elif form and playbook.rounds and playbook.rounds > formats[form].most_rounds:
        most = formats[form].most_rounds
        yield f"{source.at(('rounds',))}: a {form} has {most} at most."
    for at, name in enumerate(playbook.agents):
        if not _is_there(name, settings):
            names = ", ".join(known_agents(settings))
            where = source.at(("agents", at))
            yield f'{where}: there is no agent or role "{name}". There are: {names}.'
    if playbook.agents and len(playbook.agents) < _FEWEST_AGENTS:
        yield f"{source.at(('agents',))}: one agent alone is no debate; name at least two, or none."
    yield from _repeated(playbook, source)


def _repeated(playbook: Playbook, source: WrittenFile) -> Iterator[str]:
    named = {"agents": "", "criteria": "name", "evidence": "name", "verdict": "title"}
    for key, field in named.items():
        entries: Sequence[Any] = getattr(playbook, key)
        names = [str(getattr(entry, field) if field else entry) for entry in entries]
        for at, name in enumerate(names):
            if name.casefold() in map(str.casefold, names[:at]):
                where = source.at((key, at, field) if field else (key, at))
                yield f'{where}: "{name}" is here already.'
