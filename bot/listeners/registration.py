"""Every listener of the bot."""

import math
import re
from collections.abc import Callable, Sequence

from slack_bolt.async_app import AsyncApp

from bot.listeners import (
    commands,
    decide,
    home,
    mentions,
    messages,
    place_gone,
    start,
    steer,
)
from bot.listeners.context import ListenerContext

#: What listens, in the order in which Bolt asks: the first match wins.
LISTENERS: Sequence[Callable[[AsyncApp, ListenerContext], None]] = (
    commands.register,
    steer.register,
    start.register,
    decide.register,
    home.register,
    messages.register,
    mentions.register,
    place_gone.register,
)


def register_all(app: AsyncApp, context: ListenerContext) -> None:
    for register in LISTENERS:
        register(app, context)

    @app.event(re.compile(".*"))
    async def other_events() -> None:
        """Acknowledge all other events, so that Slack does not send them again."""

    # Bolt's own limit is for what never answers: it comes after ours.
    listeners = app._async_listeners  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - no API
    for listener in listeners:
        listener.ack_timeout = math.ceil(context.timeouts.answer + 0.5)
