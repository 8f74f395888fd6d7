"""The Slack client and bot identity for each workspace."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.payloads import Identity
from core.errors import MootError


class NotInstalled(MootError):
    """Moot has no token for a workspace: it was never installed there, or was removed."""


@dataclass(frozen=True)
class WorkspaceClient:
    client: AsyncWebClient
    identity: Identity


class WorkspaceClients(Protocol):
    """The clients of all workspaces with the bot. Methods may raise `StoreError`."""

    async def of(self, team_id: str) -> WorkspaceClient:
        """Return the client for a workspace.

        Raises:
            NotInstalled: Moot is not installed there.
            SlackApiError: Slack refuses the token; an OSError if it cannot be reached.
        """
        ...

    async def teams(self) -> Sequence[str]:
        """Return the ids of all workspaces."""
        ...

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        """Forget the tokens of a workspace; of a whole organisation, if `team_id` is None."""
        ...


@dataclass(frozen=True)
class SingleWorkspaceClient:
    """The one client of a bot whose token is in the settings."""

    workspace: WorkspaceClient

    async def of(self, team_id: str) -> WorkspaceClient:
        """Return the only client: a channel shared with others may name another workspace."""
        del team_id
        return self.workspace

    async def teams(self) -> Sequence[str]:
        return (self.workspace.identity.team_id,)

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        """Do nothing: the token is in the settings."""
