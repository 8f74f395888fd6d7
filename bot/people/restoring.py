"""Holds the debates that a backup brought back, until somebody lets them go on."""

from bot.commands import Commands
from bot.people.steering import turn_of_pauses
from bot.store.restored import Restored
from core.events import DebatePaused, fold
from core.models import Person

#: Nobody paused them.
_NOBODY = Person(id="", name="a restored backup")


async def hold_restored(restored: Restored, commands: Commands) -> frozenset[str]:
    """Hold what runs, if this database was restored; before any debate goes on.

    Returns:
        The debates whose posts must be looked for before they are sent.

    Raises:
        StoreDown: The database does not answer.
    """
    for debate_id in await restored.find_out():
        debate = fold(await commands.store.events(debate_id))
        if not debate.paused_by:
            paused = DebatePaused(by=_NOBODY, origin=turn_of_pauses(debate))
            await commands.record(debate_id, paused)
    await restored.held()
    return await restored.debates()
