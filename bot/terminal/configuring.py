"""`moot config`: check a file, print the schema, import another program's, show what holds."""

import json
from pathlib import Path

import yaml

from bot.building import load_settings, usual_models
from bot.settings import read_settings
from bot.terminal.files import check_writable, put_out, tell
from core.config.dialectic import as_yaml
from core.config.entries import json_schema
from core.config.files import check_file, load_file
from core.config.parse import Known

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
    put_out(as_yaml(checked), output)


async def show_settings(file: Path | None) -> None:
    """Print the settings in force; there are no secrets in them.

    Raises:
        ConfigurationBroken: The file cannot be used.
    """
    loaded = await load_settings(read_settings(), file)
    for notice in (*loaded.notices, *loaded.settings.warnings):
        tell(f"Notice: {notice}")
    shown = loaded.settings.model_dump(mode="json", exclude={"warnings"})
    put_out(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=100), None)
