"""Every listener of the bot."""

import math
import re
from collections.abc import Awaitable, Callable, Sequence

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.listeners import (
    ask,
    asked_back,
    channel_settings,
    commands,
    decide,
    find,
    mentions,
    messages,
    place_gone,
    question_card,
    read_all,
    session_stopped,
    share,
    start,
    steer,
)
from bot.listeners.context import ListenerContext

#: What listens, in the order in which Bolt asks: the first match wins.
LISTENERS: Sequence[Callable[[AsyncApp, ListenerContext], None]] = (
    commands.register,
    steer.register,
    question_card.register,
    read_all.register,
    start.register,
    channel_settings.register,
    decide.register,
    ask.register,
    asked_back.register,
    share.register,
    lambda app, context: find.register(app, context.home),
    messages.register,
    mentions.register,
    session_stopped.register,
    place_gone.register,
)


def register_all(app: AsyncApp, context: ListenerContext) -> None:
    """Listen to everything the manifest asks Slack for."""
    app.use(_without_team)
    for register in LISTENERS:
        register(app, context)

    @app.event(re.compile(".*"))
    async def other_events() -> None:
        """Acknowledge all other events, so that Slack does not send them again."""

    # Bolt's own limit is for what never answers: it comes after ours.
    listeners = app._async_listeners  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - no API
    for listener in listeners:
        listener.ack_timeout = math.ceil(context.timeouts.answer + 0.5)


async def _without_team(client: AsyncWebClient, next_: Callable[[], Awaitable[None]]) -> None:
    """Take the workspace out of what a request's client sends with every call: forms know none."""
    client.default_params.pop("team_id", None)
    await next_()
