"""`/debate list`, `/debate search` and App Home: only what this person may see."""

from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.reception import Reception
from bot.people.finding import Found
from bot.slack.payloads import Command, HomeOpened
from bot.views.lists import Row, channel_list, own_list, search_list
from bot.views.message import Message
from core.errors import BadInput

_MOST_LISTED = 10


def register(app: AsyncApp, reception: Reception) -> None:
    """Listen to the opening of Home."""

    @app.event("app_home_opened")
    async def opened(body: dict[str, Any]) -> None:
        found = HomeOpened.model_validate(body)
        if found.tab == "home":
            await reception.homes.opened(found.team_id, found.user_id)


async def list_debates(reception: Reception, command: Command) -> Message:
    """Return the channel's debates; in a direct message those of all one's channels.

    Raises:
        BadInput: The person is not in the channel.
    """
    if command.is_direct:
        channels = await reception.access.of(command.team_id).channels_of(command.user_id)
        found = await reception.finding.newest(command.team_id, channels, _MOST_LISTED)
        return own_list(list(map(_row, found)))
    if not await reception.access.of(command.team_id).may_see(command.user_id, command.channel_id):
        raise BadInput(answers.NOT_A_MEMBER)
    here = [command.channel_id]
    found = await reception.finding.newest(command.team_id, here, _MOST_LISTED)
    return channel_list(list(map(_row, found)))


async def search_debates(reception: Reception, command: Command, wanted: str) -> Message:
    """Return debates of one's channels that hold these words."""
    channels = await reception.access.of(command.team_id).channels_of(command.user_id)
    found = await reception.finding.search(command.team_id, channels, wanted, _MOST_LISTED)
    return search_list(wanted, list(map(_row, found)))


def _row(found: Found) -> Row:
    return Row(debate=found.debate, address=found.address, excerpt=found.excerpt)
