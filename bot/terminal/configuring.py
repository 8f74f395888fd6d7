"""`moot config`: check a file, print the schema, import another program's, show what holds."""

import json
from pathlib import Path

from bot.building import load_settings, usual_models
from bot.settings import read_settings
from bot.terminal.files import check_writable, put_out, tell
from core.config.load import Known, check_file, load_file
from core.config.writing import all_as_yaml, as_yaml, json_schema

_KNOWN = Known(providers=usual_models())


async def check_config_file(file: Path) -> None:
    """Say that a file can be used, with notices and warnings.

    Raises:
        ConfigurationBroken: It cannot be used; every line names file, line and key.
    """
    check_file(file, _KNOWN)
    loaded = load_file(file, _KNOWN)
    for notice in (*loaded.notices, *loaded.settings.warnings):
        tell(f"Notice: {notice}")
    agents = ", ".join(agent.name for agent in loaded.settings.agents) or "the built-in roles"
    put_out(f"{file} can be used. Agents: {agents}.\n", None)


def print_schema() -> None:
    """Print the JSON Schema of configuration files."""
    put_out(json.dumps(json_schema(), indent=2) + "\n", None)


def import_config_file(file: Path, output: Path | None) -> None:
    """Write a file under our names, with notices about what we do otherwise.

    Raises:
        ConfigurationBroken: It cannot be used.
    """
    check_writable(output)
    checked = check_file(file, _KNOWN)
    for notice in checked.notices:
        tell(f"Notice: {notice}")
    put_out(as_yaml(checked.file), output)


async def show_settings(file: Path | None) -> None:
    """Print the settings in force as a file that can be used; there are no secrets in them.

    Raises:
        ConfigurationBroken: The file cannot be used.
    """
    environment = read_settings()
    loaded = await load_settings(environment, file)
    for notice in (*loaded.notices, *loaded.settings.warnings):
        tell(f"Notice: {notice}")
    folder = (file or environment.moot_config or Path()).parent
    put_out(all_as_yaml(loaded.settings, folder), None)
