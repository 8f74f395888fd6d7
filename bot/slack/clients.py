"""Whom the bot is in each workspace, and the client that speaks there."""

from dataclasses import dataclass
from typing import Protocol

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.payloads import Identity
from core.errors import MootError


class NotInstalled(MootError):
    """Moot has no token for a workspace: it was never installed there, or was removed."""


@dataclass(frozen=True)
class WorkspaceClient:
    """The bot in one workspace."""

    client: AsyncWebClient
    identity: Identity


class WorkspaceClients(Protocol):
    """The bot's seats in all workspaces it is in."""

    async def of(self, team_id: str) -> WorkspaceClient:
        """Return the bot's seat in a workspace.

        Raises:
            NotInstalled: It has none there.
            StoreError: The database does not answer.
            SlackApiError: Slack refuses the token; an OSError if it cannot be reached.
        """
        ...

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        """Forget the tokens of a workspace; of a whole organisation, if `team_id` is None.

        Raises:
            StoreError: The database does not answer.
        """
        ...


@dataclass(frozen=True)
class SingleWorkspaceClient:
    """The bot of one token: it speaks wherever that token is good for."""

    seat: WorkspaceClient

    async def of(self, team_id: str) -> WorkspaceClient:
        """Return the only seat; a channel shared with others may name their workspace."""
        del team_id
        return self.seat

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        """Do nothing: the token is in the settings, not ours to forget."""
