"""`moot plugins`: what is installed, from which package, and what is wrong with it."""

import json

from bot.building import find_plugins
from bot.log import set_up_logs
from bot.settings import LogLevel, read_settings
from bot.terminal.files import put_out

_DONE, _BROKEN = 0, 4


def print_plugins(*, as_json: bool = False) -> int:
    """Print a line for each plugin, as text or JSON.

    Returns:
        The exit code: 0; 4 where one is left out because it cannot be used.

    Raises:
        ConfigurationBroken: A variable of the environment cannot be used.
    """
    environment = read_settings()
    set_up_logs(LogLevel.ERROR, environment.moot_log_format, environment.secrets)
    found = find_plugins(environment).found
    if as_json:
        listed = [
            {
                "kind": one.kind.name.lower(),
                "name": one.name,
                "package": one.package,
                "used": one.is_allowed and not one.fault,
                "fault": one.fault,
            }
            for one in found
        ]
        put_out(json.dumps({"plugins": listed}, ensure_ascii=False, indent=2) + "\n", None)
    else:
        lines = [
            f"✗ {one.title}: left out: {one.fault}"
            if one.fault
            else f"✓ {one.title}"
            if one.is_allowed
            else f"– {one.title}: not allowed by MOOT_PLUGINS"
            for one in found
        ]
        put_out("\n".join(lines or ["No plugin is installed."]) + "\n", None)
    return _BROKEN if any(one.fault for one in found) else _DONE
