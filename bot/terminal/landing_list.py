"""`moot landings`: what has not landed outside Slack, and trying again."""

import json

from bot.building import database_place, database_url
from bot.log import set_up_logs
from bot.settings import BotSettings, LogLevel, read_settings
from bot.store.landings import Backlog, Unlanded, look_into_landings, open_landings
from bot.terminal.files import put_out, tell
from core.errors import BadInput, StoreInUse, StoreMissing
from core.figures import counted, when
from core.transcript.markdown import visible

#: More than any database holds.
_ALL = 2**31


async def list_landings(*, as_json: bool = False) -> None:
    """Print dead letters and landings that failed and wait, oldest first.

    Raises:
        StoreDown: The database cannot be read.
    """
    location = _environment().moot_database
    try:
        async with look_into_landings(database_url(location)) as landings:
            found = await landings.unlanded(_ALL)
    except StoreMissing:
        found = Unlanded((), Backlog(0, 0), {})
    if as_json:
        listed = [
            {
                "id": row.id,
                "receiver": row.receiver,
                "debate": row.debate_id,
                "event": row.seq,
                "state": row.state.value,
                "failures": row.failures,
                "again_at": row.not_before and row.not_before.isoformat(),
                "error": row.error,
            }
            for row in found.rows
        ]
        said = {"waiting": found.counts.waiting, "dead": found.counts.dead, "landings": listed}
        put_out(json.dumps(said, ensure_ascii=False, indent=2) + "\n", None)
        return
    for row in found.rows:
        next_try = f", again {when(row.not_before)}" if row.not_before else ""
        state = f"{row.state.value}{next_try}"
        cells = (str(row.id), row.receiver, row.debate_id, state, visible(row.error or ""))
        put_out("\t".join(cells) + "\n", None)
    for name, why in found.closed.items():
        tell(f"Nothing is sent to {name} any more: {visible(why)}")
    waiting = counted(found.counts.waiting, "landing")
    dead = counted(found.counts.dead, "dead letter")
    tell(f"{waiting} on the way, {dead}. Looked in {database_place(location)}.")


async def retry_landings(which: str) -> None:
    """Send dead letters again, and what waits at once.

    Args:
        which: The number of one, a receiver's name, or `all`.

    Raises:
        BadInput: The bot works on the database file: it can do it itself.
        StoreDown: The database cannot be opened.
    """
    wanted = int(which) if which.isdecimal() else None if which == "all" else which
    try:
        async with open_landings(database_url(_environment().moot_database)) as landings:
            count = await landings.retry(wanted)
    except StoreInUse:
        raise BadInput(
            "The bot works on this database: have it try again with `/debate doctor retry` in "
            "Slack (all at once), or stop it first."
        ) from None
    tell(f"{counted(count, 'landing')} sent again, by the bot that runs or the next one.")


def _environment() -> BotSettings:
    environment = read_settings()
    set_up_logs(LogLevel.ERROR, environment.moot_log_format, environment.secrets)
    return environment
