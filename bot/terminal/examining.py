"""`moot doctor`."""

from pathlib import Path

from bot.operations.doctor.examine import examine
from bot.operations.doctor.findings import as_json as as_json_text
from bot.operations.doctor.findings import as_text, exit_code, is_well
from bot.terminal.files import put_out
from bot.terminal.records import quiet_settings


async def examine_all(file: Path | None, *, as_json: bool = False) -> int:
    """Print all findings, as text or JSON.

    Returns:
        The exit code: 0 all is well, 4 settings must be changed, 1 another fault.

    Raises:
        ConfigurationBroken: A variable of the environment cannot be used.
    """
    environment = quiet_settings()
    findings = await examine(environment, file)
    if as_json:
        put_out(as_json_text(findings), None)
        return exit_code(findings)
    last = "All is well." if is_well(findings) else "Something needs you: see the lines with ✗."
    put_out(f"{as_text(findings)}\n\n{last}\n", None)
    return exit_code(findings)
