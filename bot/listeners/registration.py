"""Every listener of the bot, in the order in which Bolt asks them: the first match wins."""

import math
import re
from collections.abc import Awaitable, Callable

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


def register_all(
    app: AsyncApp, context: ListenerContext, on_unrecorded: Callable[[], None]
) -> None:
    """Listen to everything the manifest asks Slack for.

    Args:
        app: Where it arrives.
        context: What listeners work with.
        on_unrecorded: Called when the database did not take what somebody wrote.
    """
    app.use(_without_team)
    commands.register(app, context)
    steer.register(app, context)
    question_card.register(app, context)
    read_all.register(app, context)
    start.register(app, context)
    channel_settings.register(app, context)
    decide.register(app, context)
    ask.register(app, context)
    asked_back.register(app, context)
    share.register(app, context)
    find.register(app, context.home)
    messages.register(app, context, on_unrecorded)
    mentions.register(app, context, on_unrecorded)
    session_stopped.register(app, context, on_unrecorded)
    place_gone.register(app, context)

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
