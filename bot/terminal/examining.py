"""`moot doctor`: a line per check, and what to do where something is wrong."""

from pathlib import Path

from bot.log import set_up_logs
from bot.operations.doctor.examine import examine
from bot.operations.doctor.findings import as_json as as_json_text
from bot.operations.doctor.findings import as_text, exit_code, is_well
from bot.settings import LogLevel, read_settings
from bot.terminal.files import put_out


async def examine_all(file: Path | None, channel: str, *, as_json: bool = False) -> int:
    """Print all findings, as text or JSON.

    Returns:
        The exit code: 0 all is well, 4 settings must be changed, 1 something else must.

    Raises:
        ConfigurationBroken: A variable of the environment cannot be used.
    """
    environment = read_settings()
    set_up_logs(LogLevel.ERROR, environment.moot_log_format, environment.secrets)
    found = await examine(environment, file, channel)
    if as_json:
        put_out(as_json_text(found), None)
        return exit_code(found)
    last = "All is well." if is_well(found) else "Something needs you: see the lines with ✗."
    put_out(f"{as_text(found)}\n\n{last}\n", None)
    return exit_code(found)
