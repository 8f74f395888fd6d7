"""What nobody waits for: acknowledged, so that Slack does not send it again and again."""

import re

from slack_bolt.async_app import AsyncApp


def register(app: AsyncApp) -> None:
    """Listen to every other event; register it last, because the first match wins."""

    @app.event(re.compile(".*"))
    async def anything() -> None:
        """Bolt has acknowledged it."""
