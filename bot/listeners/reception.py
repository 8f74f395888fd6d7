"""What every listener works with."""

from dataclasses import dataclass

from bot.commands import Commands
from bot.listeners.doctoring import Examine
from bot.listeners.estimating import Estimates
from bot.people.answering import Answering
from bot.people.deciding import Deciding
from bot.people.finding import Finding
from bot.people.homes import Homes
from bot.people.reminding import Reminding
from bot.people.starting import Starting
from bot.people.steering import Steering
from bot.slack.access import Accesses
from bot.slack.clients import WorkspaceClients
from bot.slack.outbox.sender import Outbox
from bot.store.deliveries import Deliveries
from bot.store.posts import Posts
from core.models import Person, Place
from core.ports import Clock

SURFACE = "slack"


@dataclass(frozen=True, kw_only=True)
class Reception:
    """The parts of the bot that listeners hand things to."""

    commands: Commands
    answering: Answering
    starting: Starting
    estimates: Estimates
    steering: Steering
    deciding: Deciding
    reminding: Reminding
    finding: Finding
    homes: Homes
    access: Accesses
    seats: WorkspaceClients
    outbox: Outbox
    posts: Posts
    deliveries: Deliveries
    clock: Clock
    #: Looks whether everything works; None: nobody can.
    examine: Examine | None = None

    async def is_repeated(self, kind: str, delivery_id: str) -> bool:
        """Return whether this delivery was answered before.

        Ask after its fact is recorded, never before: a crash in between then costs nothing.
        """
        return await self.deliveries.seen(kind, delivery_id, self.clock.now())


def place(team_id: str, channel_id: str) -> Place:
    """Return a Slack channel as a place."""
    return Place(surface=SURFACE, workspace=team_id, channel=channel_id)


def person(user_id: str, name: str = "") -> Person:
    """Return a Slack user as a person."""
    return Person(id=user_id, name=name)
