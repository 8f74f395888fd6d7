"""The checks behind `/health`: database writes, the connection to Slack, the token."""

from collections.abc import Callable, Sized

from slack_sdk.web.async_client import AsyncWebClient

from bot.log import logger
from bot.operations.health import Check, Health, Probe
from bot.slack.connection.socket import SocketGateway, identify
from core.errors import ConfigurationBroken, MootError

_log = logger(__name__)

#: Seconds that the result of the database check, and of the token check, is cached.
DATABASE_SECONDS = 2.0
TOKEN_SECONDS = 60.0


def health_of(
    database: Check,
    gateway: SocketGateway | None,
    *,
    client: AsyncWebClient,
    debates: Callable[[], Sized],
    seconds: float,
) -> Health:
    """The health check of a bot.

    Args:
        database: Writes to it, so that a full disk is noticed.
        gateway: The WebSocket; None in HTTP mode, where Slack comes to us.
        client: Has the token; with OAuth none, as every workspace has its own.
        debates: The debates that this process runs.
        seconds: How long each part may take.
    """

    async def connected() -> None:
        if gateway is not None and not await gateway.is_connected():
            raise MootError("The WebSocket to Slack is not connected.")

    async def token_good() -> None:
        try:
            if client.token:
                await identify(client)
        except ConfigurationBroken:
            raise
        except MootError as error:
            # Slack is away. Taking us out of service would not bring it back.
            _log.warning("cannot ask about the token", reason=str(error))

    return Health(
        probes=(
            Probe("database", database, seconds, kept=DATABASE_SECONDS),
            Probe("slack", connected, seconds),
            Probe("token", token_good, seconds, kept=TOKEN_SECONDS),
        ),
        debates=lambda: len(debates()),
    )
