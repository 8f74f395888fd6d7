"""Configuration and playbooks at the terminal: check, import, list and show them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from bot.building import (
    check_addresses,
    check_settings,
    defaults_with,
    find_plugins,
    load_settings,
)
from bot.landing.build_receivers import build_receivers, check_places
from bot.settings import BotSettings, read_settings
from bot.terminal.files import check_writable, tell, tell_notices, write_json, write_output
from core.clock import SystemClock
from core.config.load import load_file
from core.config.playbooks import (
    AvailablePlaybooks,
    built_in,
    built_in_text,
    find_playbooks,
    load_playbook,
)
from core.config.writing import all_as_yaml, as_yaml
from core.debate.agents import ModelChoice
from core.errors import ConfigurationBroken
from core.opening import find_playbook
from core.settings import Settings
from core.transcript.markdown import visible

_USABLE, _BROKEN = 0, 4


async def check_config_file(file: Path, *, as_json: bool = False) -> int:
    """Check a settings file; return the exit code: 0 usable, 4 not.

    With `as_json`, problems are printed instead of raised.
    """
    environment = read_settings()
    # Without a model of Ollama the file may be meant for a machine that has pulled one.
    pulled = ModelChoice(provider="ollama", model="a pulled model")
    settings = Settings(agent_model=pulled, judge_model=pulled)
    defaults = defaults_with(find_plugins(environment), settings)
    try:
        loaded = load_file(file, defaults)
        check_addresses(loaded.settings)
        check_places(loaded.settings.landing)
    except ConfigurationBroken as broken:
        if not as_json:
            raise
        write_json({"usable": False, "problems": str(broken).splitlines(), "notices": []})
        return _BROKEN
    notices = [
        *environment.misspelt(),
        *loaded.notices,
        *loaded.settings.warnings,
        *_missing_here(loaded.settings, environment),
    ]
    if as_json:
        agents = [agent.id for agent in loaded.settings.agents]
        write_json({"usable": True, "problems": [], "notices": notices, "agents": agents})
        return _USABLE
    tell_notices(notices)
    names = ", ".join(agent.name for agent in loaded.settings.agents) or "the built-in roles"
    write_output(f"{file} can be used. Agents: {names}.\n", None)
    return _USABLE


def _missing_here(settings: Settings, environment: BotSettings) -> Iterator[str]:
    """The variables that a valid file needs may be set where the bot runs, but not here."""
    try:
        check_settings(settings, environment)
        build_receivers(settings.landing, environment, SystemClock())
    except ConfigurationBroken as error:
        yield f"With the variables set here Moot would not start: {error}"


def import_config_file(file: Path, output: Path | None) -> None:
    """Convert another program's file to settings of Moot; print notices about differences."""
    check_writable(output)
    loaded = load_file(file, defaults_with(find_plugins(read_settings()), Settings()))
    tell_notices(loaded.notices)
    write_output(as_yaml(loaded.file), output)


async def show_settings(file: Path | None, *, as_json: bool = False) -> None:
    """Print the settings in force as a usable settings file. Settings contain no secrets."""
    environment = read_settings()
    loaded = await load_settings(environment, file, plugins=find_plugins(environment))
    tell_notices((*loaded.notices, *loaded.settings.warnings))
    folder = (file or environment.moot_config or Path()).parent
    text = all_as_yaml(loaded.settings, folder)
    if as_json:
        write_json(yaml.safe_load(text))
    else:
        write_output(text, None)


async def _playbooks(config: Path | None) -> tuple[Settings, AvailablePlaybooks]:
    environment = read_settings()
    path = config or environment.moot_config
    loaded = await load_settings(environment, config, plugins=find_plugins(environment))
    return loaded.settings, find_playbooks(path.parent if path else None, loaded.settings)


async def list_playbooks(config: Path | None, *, as_json: bool = False) -> None:
    _, playbooks = await _playbooks(config)
    tell_notices(f"{fault} The playbook is ignored." for fault in playbooks.faults)
    if as_json:
        rows = [
            {
                **playbook.model_dump(mode="json"),
                "file": str(playbooks.team_files[name]) if name in playbooks.team_files else None,
            }
            for name, playbook in playbooks.playbooks.items()
        ]
        write_json(rows)
        return
    lines = list[str]()
    for name, playbook in playbooks.playbooks.items():
        file = playbooks.team_files.get(name)
        instead = ", instead of the built-in one" if name in built_in() else ""
        origin = f"{file}{instead}" if file else "built in"
        lines += [f"{name} ({origin})", f"    {playbook.title}: {playbook.description}"]
    write_output(visible("\n".join(lines)) + "\n", None)


async def show_playbook(name: str, config: Path | None, *, as_json: bool = False) -> None:
    settings, playbooks = await _playbooks(config)
    playbook = find_playbook(name, settings)
    if as_json:
        write_json(playbook.model_dump(mode="json"))
        return
    file = playbooks.team_files.get(playbook.name)
    text = file.read_text(encoding="utf-8-sig") if file else built_in_text(playbook.name)
    write_output(visible(text), None)


async def check_playbooks(
    files: Sequence[Path], config: Path | None, *, as_json: bool = False
) -> int:
    """Check playbook files; without `files`, those beside the settings file.

    Returns the exit code: 0 if all are usable, else 4.
    """
    settings, playbooks = await _playbooks(config)
    usable, faults = list[str](), list[str]()
    if files:
        for file in files:
            try:
                usable.append(f"{file} can be used: {load_playbook(file, settings).title}.")
            except ConfigurationBroken as broken:
                faults += str(broken).splitlines()
    else:
        usable = [
            f"{file} can be used: {playbooks.playbooks[name].title}."
            for name, file in playbooks.team_files.items()
        ]
        faults += playbooks.faults
    if as_json:
        write_json({"usable": not faults, "problems": faults, "notices": usable})
        return _BROKEN if faults else _USABLE
    for fault in faults:
        tell(f"Error: {fault}")
    if not faults and not usable:
        usable = ["There is no playbook of your own beside the settings file."]
    write_output("".join(f"{visible(line)}\n" for line in usable), None)
    return _BROKEN if faults else _USABLE
