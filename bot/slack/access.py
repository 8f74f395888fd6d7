"""Facts about channels and people that Slack is asked for: membership, admins, time zones."""

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

#: Seconds for which a person's channels are cached, and for which a person counts as a member of
#: the workspace after Slack confirmed it.
CACHE_SECONDS = 15.0
#: Error codes for people who are not in the workspace.
_NO_USER = frozenset({"user_not_found", "user_not_visible", "users_not_found"})
#: Largest page size that Slack allows: https://docs.slack.dev/reference/methods/users.conversations
_PAGE = 999
#: People per workspace whose profiles are cached, and for how many seconds, as names change.
_CACHED_PEOPLE = 1000
_PROFILE_SECONDS = 3600.0
#: Exceptions when Slack cannot be reached or a connection breaks. Most errors of aiohttp are not
#: subclasses of `OSError`.
CONNECTION_ERRORS = (ClientError, OSError)


class SlackUnavailable(BadInput):
    """Slack did not answer in time, so nothing was done. Try again in a moment."""


class BotMembership(Enum):
    MEMBER = auto()
    NOT_MEMBER = auto()
    ARCHIVED = auto()
    #: Slack did not answer in time. Posting will show whether the bot is a member.
    UNKNOWN = auto()


class WorkspaceDirectory:
    """Asks Slack about the channels and people of one workspace.

    Methods raise `SlackUnavailable` if Slack does not answer in time, unless their docstring names
    another result.
    """

    def __init__(self, clients: WorkspaceClients, team: str, timeouts: Timeouts) -> None:
        self._clients, self._team, self.timeouts = clients, team, timeouts
        #: By person: when the entry expires, and the names of their channels by id.
        self._channels = Recent[str, tuple[float, Mapping[str, str]]](_CACHED_PEOPLE)
        #: By person: when Slack was asked, and the profile.
        self._people = Recent[str, tuple[float, SlackUser]](_CACHED_PEOPLE)

    @asynccontextmanager
    async def _client(self, subject: str, seconds: float) -> AsyncGenerator[AsyncWebClient]:
        """The workspace's client; calls in the block have `seconds` in all.

        `subject` is for the log.
        """
        try:
            async with asyncio.timeout(seconds):
                yield (await self._clients.for_workspace(self._team)).client
        except (SlackApiError, *CONNECTION_ERRORS, MootError) as error:
            _log.warning("Slack did not say", about=subject, reason=type(error).__name__)
            raise SlackUnavailable from error

    # --- channels ---

    async def bot_membership(self, channel: str) -> BotMembership:
        try:
            async with self._client("a channel", self.timeouts.call) as client:
                answer = await client.conversations_info(channel=channel)
        except SlackUnavailable as silence:
            return _membership_after(silence.__cause__)
        info = SlackChannel.model_validate(body_of(answer)["channel"])
        if info.is_archived:
            return BotMembership.ARCHIVED
        return BotMembership.MEMBER if info.is_member else BotMembership.NOT_MEMBER

    async def may_see(self, person: str, channel: str) -> bool:
        """Whether a person is a member of a channel.

        Membership is cached for 15 s; non-membership is not cached, because people join.
        """
        if channel in self._cached_channels(person):
            return True
        async with self._client("who is in a channel", self.timeouts.membership) as client:
            return await self._is_member(client, person, channel)

    async def _is_member(self, client: AsyncWebClient, person: str, channel: str) -> bool:
        # A person has fewer channels than a large channel has members. But `users.conversations`
        # omits channels that the bot is not in, and Slack does not document whether it works for
        # people of other organisations (Slack Connect). Then the list of members decides.
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
        async with self._client("a person's channels", self.timeouts.call) as client:
            return await self._ask_channels(client, person)

    def _cached_channels(self, person: str) -> Mapping[str, str]:
        expires_at, channels = self._channels.get(person, (0.0, dict[str, str]()))
        return channels if expires_at > time.monotonic() else {}

    async def _ask_channels(self, client: AsyncWebClient, person: str) -> Mapping[str, str]:
        pages = await client.users_conversations(
            user=person,
            types="public_channel,private_channel",
            team_id=self._team,  # required if the app is installed for an organisation
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
        """The display name of a person; empty if Slack does not answer."""
        return (await self._profile(person)).name

    async def zone_of(self, person: str) -> tzinfo:
        """The time zone of a person; UTC if Slack does not answer."""
        return (await self._profile(person)).zone

    async def is_person(self, message: PostedMessage) -> bool:
        """Whether a message is by a person, written by hand or by an app that posts as that person.

        `bot_id` alone does not decide: Slack sets it on every message of an app, also if the app
        posts under a person's account with their consent. If Slack does not answer, the account
        counts as an app's.
        """
        if not message.may_be_of_person:
            return False
        if not message.bot_id:
            return True
        author = await self._profile(message.user)
        return bool(author.name) and not author.is_bot

    async def active_user(self, person: str) -> SlackUser | None:
        """The profile of a member of the workspace; None for all others, which is not cached."""
        try:
            user = await self._user(person, CACHE_SECONDS)
        except SlackUnavailable as silence:
            if code_of(silence.__cause__) in _NO_USER:
                return None
            raise
        if user.is_gone:
            self._people.pop(person, None)
            return None
        return user

    async def is_admin(self, person: str) -> bool:
        return (await self._user(person, 0.0)).is_admin

    async def is_colleague(self, person: str) -> bool:
        """Whether a person belongs to this workspace or its organisation.

        All others take part in a channel that is shared with their company (Slack Connect).
        Source: https://docs.slack.dev/apis/slack-connect
        """
        user = await self._profile(person)
        if not user.team_id:
            raise SlackUnavailable
        identity = (await self._clients.for_workspace(self._team)).identity
        if user.team_id in {self._team, identity.team_id}:
            return True
        return bool(user.enterprise_id) and user.enterprise_id == identity.enterprise_id

    async def _profile(self, person: str) -> SlackUser:
        """The profile of a person; if Slack does not answer, an older one or an empty one."""
        with suppress(SlackUnavailable):
            return await self._user(person, _PROFILE_SECONDS)
        return self._people.get(person, (0.0, SlackUser()))[1]

    async def _user(self, person: str, seconds: float) -> SlackUser:
        asked_at, user = self._people.get(person, (-math.inf, SlackUser()))
        if time.monotonic() - asked_at < seconds:
            return user
        async with self._client("a person", self.timeouts.call) as client:
            answer = await client.users_info(user=person)
        user = SlackUser.model_validate(body_of(answer)["user"])
        self._people[person] = (time.monotonic(), user)
        return user


@dataclass(frozen=True)
class WorkspaceDirectories:
    """The directory of each workspace. Implements `PeopleDirectory` for the use cases."""

    clients: WorkspaceClients
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    _directories: dict[str, WorkspaceDirectory] = field(
        default_factory=dict[str, WorkspaceDirectory], init=False
    )

    def of(self, team: str) -> WorkspaceDirectory:
        return self._directories.setdefault(
            team, WorkspaceDirectory(self.clients, team, self.timeouts)
        )

    async def may_see(self, person: str, place: Place) -> bool:
        return await self.of(place.workspace).may_see(person, place.channel)

    async def channels_of(self, person: str, workspace: str) -> frozenset[str]:
        return frozenset(await self.of(workspace).channel_names(person))

    async def zone_of(self, person: str, workspace: str) -> tzinfo:
        return await self.of(workspace).zone_of(person)

    async def has_place(self, place: Place) -> bool:
        """Whether the bot can post in a channel; True if Slack does not answer."""
        membership = await self.of(place.workspace).bot_membership(place.channel)
        return membership in {BotMembership.MEMBER, BotMembership.UNKNOWN}


def _membership_after(error: BaseException | None) -> BotMembership:
    """The membership that an error of `conversations.info` means.

    Slack reports a private channel that the bot is not in as not found.
    """
    is_absent = code_of(error) in {"channel_not_found", "not_in_channel"}
    return BotMembership.NOT_MEMBER if is_absent else BotMembership.UNKNOWN
