"""What Slack says about channels and people: membership, admins, time zones."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import tzinfo
from enum import Enum, auto

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.log import logger
from bot.slack.client import WorkspaceClients
from bot.slack.payloads import (
    Page,
    PostedMessage,
    SlackChannel,
    SlackUser,
    body_of,
    code_of,
)
from bot.timeouts import DEFAULT_TIMEOUTS, Timeouts
from core.debate.people import Place
from core.errors import BadInput, MootError
from core.values import Recent

_log = logger(__name__)

#: Seconds that a person's channels are cached, and that they are in the workspace at all.
CACHE_SECONDS = 15.0
#: What Slack says of people who are not in the workspace.
_NOBODY = frozenset({"user_not_found", "user_not_visible", "users_not_found"})
#: The most that Slack lists at once: https://docs.slack.dev/reference/methods/users.conversations
_PAGE = 999
#: People of a workspace who are kept in memory, and for how many seconds: names change.
_REMEMBERED = 1000
_NAMES_SECONDS = 3600.0
#: Slack could not be reached, or the connection broke: most errors of aiohttp are no `OSError`.
CONNECTION_ERRORS = (ClientError, OSError)


class SlackUnavailable(BadInput):
    """Slack did not answer in time, so nothing was done. Try again in a moment."""


class BotMembership(Enum):
    MEMBER = auto()
    NOT_MEMBER = auto()
    ARCHIVED = auto()
    #: Slack did not say in time; posting will tell.
    UNKNOWN = auto()


class WorkspaceDirectory:
    """Asks Slack about the channels and people of one workspace.

    Where Slack does not answer in time, methods raise `SlackUnavailable` unless they say otherwise.
    """

    def __init__(self, clients: WorkspaceClients, team: str, timeouts: Timeouts) -> None:
        self._clients, self._team, self.timeouts = clients, team, timeouts
        #: Names of a person's channels by id, and until when that is believed.
        self._channels = Recent[str, tuple[float, Mapping[str, str]]](_REMEMBERED)
        #: What Slack said of people, and when.
        self._people = Recent[str, tuple[float, SlackUser]](_REMEMBERED)

    @asynccontextmanager
    async def _asking(self, about: str, seconds: float) -> AsyncGenerator[AsyncWebClient]:
        """The client for calls that take so many seconds at most."""
        try:
            async with asyncio.timeout(seconds):
                yield (await self._clients.of(self._team)).client
        except (SlackApiError, *CONNECTION_ERRORS, MootError) as error:
            _log.warning("Slack did not say", about=about, reason=type(error).__name__)
            raise SlackUnavailable from error

    # --- channels ---

    async def bot_membership(self, channel: str) -> BotMembership:
        try:
            async with self._asking("a channel", self.timeouts.call) as client:
                answer = await client.conversations_info(channel=channel)
        except SlackUnavailable as silence:
            return _membership_after(silence.__cause__)
        known = SlackChannel.model_validate(body_of(answer)["channel"])
        if known.is_archived:
            return BotMembership.ARCHIVED
        return BotMembership.MEMBER if known.is_member else BotMembership.NOT_MEMBER

    async def may_see(self, person: str, channel: str) -> bool:
        """Membership is cached for 15 s; non-membership is not cached, because people join."""
        if channel in self._cached_channels(person):
            return True
        async with self._asking("who is in a channel", self.timeouts.membership) as client:
            return await self._is_member(client, person, channel)

    async def _is_member(self, client: AsyncWebClient, person: str, channel: str) -> bool:
        # The person's channels are fewer than the members of a large channel. They leave out
        # channels the bot is not in, and Slack does not say whether they are told of people from
        # other organisations (Slack Connect): then the channel's own list decides.
        try:
            if channel in await self._ask_channels(client, person):
                return True
        except SlackApiError as error:
            _log.warning("channels of a person refused", reason=code_of(error))
        try:
            async for answer in await client.conversations_members(channel=channel, limit=_PAGE):
                if person in body_of(answer)["members"]:
                    return True
        except SlackApiError as error:
            if _membership_after(error) is BotMembership.UNKNOWN:
                raise
        return False

    async def channel_names(self, person: str) -> Mapping[str, str]:
        """The names, by id, of the channels that a person and the bot are in; cached for 15 s."""
        if names := self._cached_channels(person):
            return names
        async with self._asking("a person's channels", self.timeouts.call) as client:
            return await self._ask_channels(client, person)

    def _cached_channels(self, person: str) -> Mapping[str, str]:
        until, channels = self._channels.get(person, (0.0, dict[str, str]()))
        return channels if until > time.monotonic() else {}

    async def _ask_channels(self, client: AsyncWebClient, person: str) -> Mapping[str, str]:
        pages = await client.users_conversations(
            user=person,
            types="public_channel,private_channel",
            team_id=self._team,  # needed where the app is installed for an organisation
            limit=_PAGE,
        )
        names = dict[str, str]()
        async for answer in pages:
            page = Page.model_validate(answer.data)
            names |= {channel.id: channel.name for channel in page.channels}
        self._channels[person] = (time.monotonic() + CACHE_SECONDS, names)
        return names

    # --- people ---

    async def name_of(self, person: str) -> str:
        """What people call somebody; empty where Slack is silent."""
        return (await self._who(person)).name

    async def zone_of(self, person: str) -> tzinfo:
        """Somebody's time zone; UTC where Slack is silent."""
        return (await self._who(person)).zone

    async def is_person(self, message: PostedMessage) -> bool:
        """Whether a person wrote a message, or an app in the name of one.

        An app may post under its own account or, with somebody's consent, under theirs: what it
        posts names the app in both cases. Where Slack is silent, the account counts as the app's.
        """
        if not message.may_be_of_person:
            return False
        if not message.bot_id:
            return True
        author = await self._who(message.user)
        return bool(author.name) and not author.is_bot

    async def active_user(self, person: str) -> SlackUser | None:
        """The profile of somebody who is in the workspace; None of others, which is not cached."""
        try:
            user = await self._user(person, CACHE_SECONDS)
        except SlackUnavailable as silence:
            if code_of(silence.__cause__) in _NOBODY:
                return None
            raise
        if user.is_gone:
            self._people.pop(person, None)
            return None
        return user

    async def is_admin(self, person: str) -> bool:
        return (await self._user(person, 0.0)).is_admin

    async def is_colleague(self, person: str) -> bool:
        """Whether somebody is of this workspace or its organisation.

        Others are in a channel that is shared with their company (Slack Connect).
        Source: https://docs.slack.dev/apis/slack-connect
        """
        user = await self._who(person)
        if not user.team_id:
            raise SlackUnavailable
        identity = (await self._clients.of(self._team)).identity
        if user.team_id in {self._team, identity.team_id}:
            return True
        return bool(user.enterprise_id) and user.enterprise_id == identity.enterprise_id

    async def _who(self, person: str) -> SlackUser:
        """A profile; an earlier one where Slack is silent: an old name is better than none."""
        with suppress(SlackUnavailable):
            return await self._user(person, _NAMES_SECONDS)
        return self._people.get(person, (0.0, SlackUser()))[1]

    async def _user(self, person: str, seconds: float) -> SlackUser:
        at, user = self._people.get(person, (-math.inf, SlackUser()))
        if time.monotonic() - at < seconds:
            return user
        async with self._asking("a person", self.timeouts.call) as client:
            answer = await client.users_info(user=person)
        user = SlackUser.model_validate(body_of(answer)["user"])
        self._people[person] = (time.monotonic(), user)
        return user


@dataclass(frozen=True)
class WorkspaceDirectories:
    """What is asked of Slack, by workspace. The `PeopleDirectory` of the use cases."""

    clients: WorkspaceClients
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    _known: dict[str, WorkspaceDirectory] = field(
        default_factory=dict[str, WorkspaceDirectory], init=False
    )

    def of(self, team: str) -> WorkspaceDirectory:
        return self._known.setdefault(team, WorkspaceDirectory(self.clients, team, self.timeouts))

    async def may_see(self, person: str, place: Place) -> bool:
        return await self.of(place.workspace).may_see(person, place.channel)

    async def channels_of(self, person: str, workspace: str) -> frozenset[str]:
        return frozenset(await self.of(workspace).channel_names(person))

    async def zone_of(self, person: str, workspace: str) -> tzinfo:
        return await self.of(workspace).zone_of(person)

    async def has_place(self, place: Place) -> bool:
        """Whether the bot can write in a channel; True where Slack is silent."""
        membership = await self.of(place.workspace).bot_membership(place.channel)
        return membership in {BotMembership.MEMBER, BotMembership.UNKNOWN}


def _membership_after(error: BaseException | None) -> BotMembership:
    """A private channel the bot is not in cannot even be found."""
    outside = code_of(error) in {"channel_not_found", "not_in_channel"}
    return BotMembership.NOT_MEMBER if outside else BotMembership.UNKNOWN
