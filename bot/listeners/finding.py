"""`/debate list`, `/debate search` and App Home: only what this person may see."""

from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.listeners import answers
from bot.listeners.reception import Reception
from bot.log import logger
from bot.payloads import Command, HomeOpened
from bot.people.finding import Found
from bot.views.lists import MOST_AT_HOME, Row, channel_list, home, own_list, search_list
from bot.views.message import Message
from core.errors import BadInput

_log = logger(__name__)

_MOST_LISTED = 10


def register(app: AsyncApp, reception: Reception) -> None:
    """Listen to the opening of Home."""

    @app.event("app_home_opened")
    async def opened(body: dict[str, Any], client: AsyncWebClient) -> None:
        await show_home(reception, HomeOpened.model_validate(body), client)


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


async def show_home(reception: Reception, opened: HomeOpened, client: AsyncWebClient) -> None:
    """Draw the Home of who opened it."""
    if opened.tab != "home":
        return
    channels = await reception.access.of(opened.team_id).channels_of(opened.user_id)
    found = await reception.finding.newest(opened.team_id, channels, MOST_AT_HOME)
    view = home(list(map(_row, found)))
    try:
        await client.views_publish(user_id=opened.user_id, view=dict(view))
    except (SlackApiError, OSError) as error:
        _log.warning("Home not drawn", reason=type(error).__name__)


def _row(found: Found) -> Row:
    return Row(debate=found.debate, address=found.address, excerpt=found.excerpt)
