"""Every listener of the bot, in the order in which Bolt asks them."""

from slack_bolt.async_app import AsyncApp

from bot.listeners import (
    actions,
    channel_settings,
    clarifying,
    commands,
    deciding,
    endings,
    feedback,
    finding,
    messages,
    rest,
    starting,
)
from bot.listeners.reception import Reception


def register_all(app: AsyncApp, reception: Reception) -> None:
    """Listen to everything the manifest asks Slack for."""
    commands.register(app, reception)
    actions.register(app, reception)
    clarifying.register(app, reception)
    starting.register(app, reception)
    channel_settings.register(app, reception)
    deciding.register(app, reception)
    feedback.register(app, reception)
    finding.register(app, reception)
    messages.register(app, reception)
    endings.register(app, reception)
    rest.register(app)
