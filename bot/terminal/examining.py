"""What operators ask at the terminal: the doctor, plugins, what has not landed."""

from pathlib import Path

from bot.building import database_place, database_url, find_plugins
from bot.operations.doctor.examine import examine
from bot.operations.doctor.findings import as_json as as_json_text
from bot.operations.doctor.findings import as_text, exit_code, is_well
from bot.queue.landings import Backlog, LandingBacklog, look_into_landings, open_landings
from bot.terminal.files import put_json, put_out, tell
from bot.terminal.records import quiet_settings
from core.errors import BadInput, StoreInUse, StoreMissing
from core.figures import counted, when
from core.transcript.markdown import visible


async def examine_all(file: Path | None, channel: str, *, as_json: bool = False) -> int:
    """Print all findings, as text or JSON.

    Returns:
        The exit code: 0 all is well, 4 settings must be changed, 1 another fault.

    Raises:
        ConfigurationBroken: A variable of the environment cannot be used.
    """
    environment = quiet_settings()
    findings = await examine(environment, file, channel)
    if as_json:
        put_out(as_json_text(findings), None)
        return exit_code(findings)
    last = "All is well." if is_well(findings) else "Something needs you: see the lines with ✗."
    put_out(f"{as_text(findings)}\n\n{last}\n", None)
    return exit_code(findings)


_DONE, _BROKEN = 0, 4


def print_plugins(*, as_json: bool = False) -> int:
    """Print a line for each plugin, as text or JSON.

    Returns:
        The exit code: 0; 4 where one is left out because it cannot be used.

    Raises:
        ConfigurationBroken: A variable of the environment cannot be used.
    """
    environment = quiet_settings()
    plugins = find_plugins(environment).found
    if as_json:
        listed = [
            {
                "kind": plugin.kind.name.lower(),
                "name": plugin.name,
                "package": plugin.package,
                "used": plugin.is_allowed and not plugin.fault,
                "fault": plugin.fault,
            }
            for plugin in plugins
        ]
        put_json({"plugins": listed})
    else:
        lines = [
            f"✗ {plugin.title}: left out: {plugin.fault}"
            if plugin.fault
            else f"✓ {plugin.title}"
            if plugin.is_allowed
            else f"– {plugin.title}: not allowed by MOOT_PLUGINS"
            for plugin in plugins
        ]
        put_out("\n".join(lines or ["No plugin is installed."]) + "\n", None)
    return _BROKEN if any(plugin.fault for plugin in plugins) else _DONE


#: More than any database holds.
_ALL = 2**31


async def list_landings(*, as_json: bool = False) -> None:
    """Print dead letters and landings that failed and wait, oldest first.

    Raises:
        StoreDown: The database cannot be read.
    """
    location = quiet_settings().moot_database
    try:
        async with look_into_landings(database_url(location)) as landings:
            backlog = await landings.unlanded(_ALL)
    except StoreMissing:
        backlog = LandingBacklog((), Backlog(0, 0), {})
    if as_json:
        listed = [
            {
                "id": row.id,
                "receiver": row.receiver,
                "debate": row.debate_id,
                "event": row.seq,
                "state": "dead" if row.is_dead else "waiting",
                "failures": row.attempts,
                "again_at": row.again_at and row.again_at.isoformat(),
                "error": row.error,
            }
            for row in backlog.rows
        ]
        result = {
            "waiting": backlog.counts.waiting,
            "dead": backlog.counts.dead,
            "landings": listed,
        }
        put_json(result)
        return
    for row in backlog.rows:
        next_try = f", again {when(row.again_at)}" if row.again_at else ""
        state = "dead" if row.is_dead else f"waiting{next_try}"
        cells = (str(row.id), row.receiver, row.debate_id, state, visible(row.error))
        put_out("\t".join(cells) + "\n", None)
    for name, why in backlog.closed.items():
        tell(f"Nothing is sent to {name} any more: {visible(why)}")
    waiting = counted(backlog.counts.waiting, "landing")
    dead = counted(backlog.counts.dead, "dead letter")
    tell(f"{waiting} on the way, {dead}. Looked in {database_place(location)}.")


async def retry_landings(which: str) -> None:
    """Send dead letters again, and waiting landings without delay.

    Args:
        which: The number of one, a receiver's name, or `all`.

    Raises:
        BadInput: The bot works on the database file: it can do it itself.
        StoreDown: The database cannot be opened.
    """
    selection = int(which) if which.isdecimal() else None if which == "all" else which
    try:
        async with open_landings(database_url(quiet_settings().moot_database)) as landings:
            count = len(await landings.retry(selection))
    except StoreInUse:
        raise BadInput(
            "The bot works on this database: have it try again with `/debate doctor retry` in "
            "Slack (all at once), or stop it first."
        ) from None
    tell(f"{counted(count, 'landing')} sent again, by the bot that runs or the next one.")
