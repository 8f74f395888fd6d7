"""Registers all listeners of the bot, and draws App Home."""

import math
import re
from typing import Any

from aiohttp import ClientError
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackClientError

from bot.listeners import buttons, commands, mentions, messages, place_gone, start
from bot.listeners.context import ListenerContext
from bot.log import logger
from bot.slack.access import SlackUnavailable
from bot.slack.origins import value_at
from bot.slack.payloads import Interaction
from bot.views.lists import MOST_AT_HOME, home
from core.calibration import calibration

_log = logger(__name__)

#: Newest decisions of a person's channels that are counted for their Home.
MOST_COUNTED = 500


def register_all(app: AsyncApp, context: ListenerContext) -> None:
    for module in (commands, buttons, start, messages, mentions, place_gone):
        module.register(app, context)

    @app.event("app_home_opened")
    async def home_opened(body: dict[str, Any]) -> None:
        event = Interaction.model_validate(body)
        if value_at(body, "event", "tab") in {None, "home"}:  # the other tab is "messages"
            await draw_home(context, event.team_id, event.user_id)

    @app.event(re.compile(".*"))
    async def other_events() -> None:
        """Acknowledge all other events, so that Slack does not send them again."""

    # Bolt's limit is for listeners that never answer, so it must be longer than ours.
    listeners = app._async_listeners  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - no API
    for listener in listeners:
        listener.ack_timeout = math.ceil(context.timeouts.answer + 0.5)


async def draw_home(context: ListenerContext, team: str, person: str) -> None:
    """Publish the Home of a person, with the debates and decisions of their channels."""
    models = context.operator.models
    try:
        channels = await context.directories.channels_of(person, team)
    except SlackUnavailable:
        view = home([], unknown=True, models=models)
    else:
        hits = await context.acts.find.newest(team, channels, MOST_AT_HOME)
        cases = await context.acts.count.cases(team, channels, MOST_COUNTED)
        rows = await context.lists.rows(hits)
        view = home(rows, models=models, calibration=calibration(cases))
    client = (await context.clients.for_workspace(team)).client
    try:
        await client.views_publish(user_id=person, view=dict(view))
    except (SlackClientError, ClientError, OSError) as error:
        _log.warning("Home not drawn", reason=type(error).__name__)
