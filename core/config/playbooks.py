"""Playbooks: a YAML file each, built in or beside the settings file; what is wrong in one is said.

A team's own with the name of a built-in one stands in its place. A broken one is named and left
out: it never keeps the others, or the bot, from working.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from core.config.keys import nearest
from core.config.load import in_words, text_of
from core.config.written import WrittenFile
from core.debate.playbook import Playbook
from core.errors import BadInput, ConfigurationBroken
from core.figures import number
from core.opening import find_agent, known_agents
from core.rules.formats.registry import formats_with
from core.settings import Settings

#: Where a team's own are, in the folder of the settings file.
FOLDER = "playbooks"
_SUFFIXES = frozenset({".yaml", ".yml"})
_BUILT_IN = FilePath(__file__).parent.parent / "playbooks"
#: More files, or longer ones, are no playbooks.
_MOST_FILES = 50
_MOST_CHARACTERS = 50_000
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
    """The built-in playbooks, and those of a team.

    Args:
        folder: Where the settings file is; None: there is none.
        settings: Whose agents and roles a playbook may name.
    """
    team, own, faults = dict[str, Playbook](), dict[str, FilePath](), list[str]()
    files: Sequence[FilePath] = ()
    with suppress(OSError):  # there is no such folder
        in_folder = (folder / FOLDER).iterdir() if folder else ()
        files = sorted(path for path in in_folder if path.suffix in _SUFFIXES and path.is_file())
    for file in files[:_MOST_FILES]:
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
    faults += [f"{file} is left out: {_MOST_FILES} are read." for file in files[_MOST_FILES:]]
    return AvailablePlaybooks(playbooks=_Playbooks(settings, team), own=own, faults=faults)


class _Playbooks(Mapping[str, Playbook]):
    """The built-in playbooks and a team's; the built-in ones are read when somebody asks for any.

    Every command would wait for that, and few need one.
    """

    def __init__(self, settings: Settings, team: Mapping[str, Playbook]) -> None:
        self._settings, self._team = settings, team

    @cached_property
    def _all(self) -> Mapping[str, Playbook]:
        fitting = {
            name: _fitting(playbook, self._settings) for name, playbook in built_in().items()
        }
        return {**fitting, **self._team}

    def __getitem__(self, name: str) -> Playbook:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def _fitting(playbook: Playbook, settings: Settings) -> Playbook:
    """Without agents that these settings disable; where too few are left, with the usual ones."""
    there = tuple(agent for agent in playbook.agents if _is_there(agent, settings))
    agents = there if len(there) >= _FEWEST_AGENTS else ()
    return playbook.model_copy(update={"agents": agents})


def load_playbook(file: FilePath, settings: Settings) -> Playbook:
    """The playbook in a file.

    Raises:
        ConfigurationBroken: The file cannot be read or used; every line names file, line and key.
    """
    text = text_of(file)
    if len(text) > _MOST_CHARACTERS:
        most = number(_MOST_CHARACTERS)
        raise ConfigurationBroken(f"{file} is too large: a playbook has {most} characters at most.")
    return read_playbook(text, str(file), settings)


def read_playbook(text: str, name: str, settings: Settings) -> Playbook:
    """The playbook in a text.

    Args:
        text: YAML.
        name: The name of its file, for people.
        settings: Whose agents and roles it may name.

    Raises:
        ConfigurationBroken: It cannot be used; every line names file, line and key.
    """
    from core.config.source import read_source  # noqa: PLC0415 - without a file no YAML is needed

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
    import yaml  # noqa: PLC0415 - most debates have no playbook

    # Somebody waits for them, and they are without faults, so that no lines are needed.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    files = sorted(_BUILT_IN.glob("*.yaml"))
    read = (yaml.load(file.read_text("utf-8"), Loader=loader) for file in files)  # noqa: S506 - both are safe loaders
    playbooks = [_checked_playbook(values) for values in read]
    return {playbook.name: playbook for playbook in playbooks}


def _checked_playbook(values: Mapping[str, Any]) -> Playbook:
    """The playbook with these values, which are taken as JSON.

    There an enum is a text and a tuple a list, also where types are strict.
    """
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
    yield from _repeated(playbook, source)
    if playbook.agents and len(playbook.agents) < _FEWEST_AGENTS:
        yield f"{source.at(('agents',))}: one agent alone is no debate; name at least two, or none."


def _repeated(playbook: Playbook, source: WrittenFile) -> Iterator[str]:
    named: Mapping[str, Sequence[tuple[str, str]]] = {
        "agents": [("", name) for name in playbook.agents],
        "criteria": [("name", criterion.name) for criterion in playbook.criteria],
        "evidence": [("name", evidence.name) for evidence in playbook.evidence],
        "verdict": [("title", part.title) for part in playbook.verdict],
    }
    for key, entries in named.items():
        folded = [name.casefold() for _, name in entries]
        for at, (field, name) in enumerate(entries):
            if folded[at] in folded[:at]:
                where = source.at((key, at, field) if field else (key, at))
                yield f'{where}: "{name}" is here already.'
