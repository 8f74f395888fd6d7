"""Whether a person may see a debate: asked of Slack, for every command, click and form."""

from bot.listeners.reception import Reception
from core.errors import BadInput
from core.models import Debate


async def debate_for(reception: Reception, debate_id: str, *, user: str, team: str) -> Debate:
    """Return a debate of a channel that this person is in.

    Raises:
        BadInput: There is none; the same words whether it exists or not.
    """
    debate = await reception.commands.debate(debate_id, workspace=team)
    if not await reception.access.of(team).may_see(user, debate.setup.place.channel):
        raise BadInput(reception.commands.unknown(debate_id))
    return debate
