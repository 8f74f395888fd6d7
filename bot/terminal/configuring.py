"""`moot config`: check a file, print the schema, import another program's, show what holds."""

import json
from pathlib import Path

import yaml

from bot.building import find_plugins, known_with, load_settings
from bot.settings import read_settings
from bot.terminal.files import check_writable, put_out, tell
from core.config.load import check_file, load_file
from core.config.writing import all_as_yaml, as_yaml, json_schema
from core.errors import ConfigurationBroken
from core.settings import Settings

_BROKEN = 4


async def check_config_file(file: Path, *, as_json: bool = False) -> int:
    """Say that a file can be used, with notices and warnings.

    Returns:
        The exit code: 0 it can be used; 4, only as JSON, it cannot.

    Raises:
        ConfigurationBroken: It cannot be used; every line names file, line and key. As JSON the
            lines are in what is printed.
    """
    known = known_with(find_plugins(read_settings()), Settings())
    try:
        check_file(file, known)
        loaded = load_file(file, known)
    except ConfigurationBroken as broken:
        if not as_json:
            raise
        said = {"usable": False, "problems": str(broken).splitlines(), "notices": []}
        put_out(json.dumps(said, ensure_ascii=False, indent=2) + "\n", None)
        return _BROKEN
    notices = [*loaded.notices, *loaded.settings.warnings]
    if as_json:
        agents = [agent.id for agent in loaded.settings.agents]
        said = {"usable": True, "problems": [], "notices": notices, "agents": agents}
        put_out(json.dumps(said, ensure_ascii=False, indent=2) + "\n", None)
        return 0
    for notice in notices:
        tell(f"Notice: {notice}")
    names = ", ".join(agent.name for agent in loaded.settings.agents) or "the built-in roles"
    put_out(f"{file} can be used. Agents: {names}.\n", None)
    return 0


def print_schema() -> None:
    """Print the JSON Schema of configuration files."""
    put_out(json.dumps(json_schema(), indent=2) + "\n", None)


def import_config_file(file: Path, output: Path | None) -> None:
    """Write a file under our names, with notices about what we do otherwise.

    Raises:
        ConfigurationBroken: It cannot be used.
    """
    check_writable(output)
    checked = check_file(file, known_with(find_plugins(read_settings()), Settings()))
    for notice in checked.notices:
        tell(f"Notice: {notice}")
    put_out(as_yaml(checked.file), output)


async def show_settings(file: Path | None, *, as_json: bool = False) -> None:
    """Print the settings in force as a file that can be used; there are no secrets in them.

    Args:
        file: A configuration file; None: the one of the environment, if any.
        as_json: JSON, which is a file that can be used as well.

    Raises:
        ConfigurationBroken: The file cannot be used.
    """
    environment = read_settings()
    loaded = await load_settings(environment, file, plugins=find_plugins(environment))
    for notice in (*loaded.notices, *loaded.settings.warnings):
        tell(f"Notice: {notice}")
    folder = (file or environment.moot_config or Path()).parent
    text = all_as_yaml(loaded.settings, folder)
    if as_json:
        text = json.dumps(yaml.safe_load(text), ensure_ascii=False, indent=2) + "\n"
    put_out(text, None)
