"""The register of a channel's decisions: a canvas of Moot's own in the channel."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.landing.receivers import Landed, Landing, NotLanded
from bot.landing.record_files import wants_record
from bot.slack.access import UNREACHED
from bot.slack.clients import NotInstalled, WorkspaceClient, WorkspaceClients
from bot.slack.outbox.outcomes import NOT_FOR_THIS_APP, Rejected, Retry, outcome_of
from bot.slack.payloads import AboutFile, ChannelTabs, MadeCanvas, refusal_of
from bot.store.refused_features import RefusedFeatures
from bot.store.registers import Registers
from core.events import Recorded
from core.landing import RegisterPlace
from core.models import Debate, Place
from core.ports import Clock, DebateFilter, DebateStore
from core.redaction import redact
from core.transcript.register import register

#: Debates with a decision that are looked through for a channel's register, newest first.
_MOST_READ = 200
#: Canvases of a channel that are looked at for the register's, where nobody knows which it is.
_MOST_TABS = 20
_SECONDS = 60.0
#: A workspace's refusals that hold for every channel: people are told of the first.
_EVERYWHERE = NOT_FOR_THIS_APP | {
    "canvas_disabled_user_team",
    "canvas_globally_disabled",
    "free_teams_cannot_create_non_tabbed_canvases",
    "free_teams_cannot_edit_standalone_canvases",
}
#: Slack failed to do it, and may do it later.
_PASSING = frozenset(
    {
        "canvas_creation_failed",
        "canvas_editing_failed",
        "canvas_editing_locked",
        "canvas_tab_creation_failed",
    }
)
_GONE = frozenset({"canvas_not_found", "canvas_deleted"})
_FEATURE = "canvases.create"


@dataclass(frozen=True, kw_only=True)
class RegisterReceiver:
    """A `Receiver` that writes the whole register anew: doing it twice changes nothing."""

    register: RegisterPlace
    clients: WorkspaceClients
    store: DebateStore
    registers: Registers
    refused: RefusedFeatures
    clock: Clock
    #: Finds the address of a debate's verdict; empty: there is none.
    link_of: Callable[[Debate], Awaitable[str]]

    @property
    def name(self) -> str:
        """As the settings have it."""
        return self.register.name

    @property
    def undone(self) -> str:
        """The thread is told where the register stays as it was."""
        return "The canvas with this channel's decisions could not be brought up to date."

    def wants(self, debate: Debate, recorded: Recorded) -> bool:
        """Whether the event changes the line of an accepted decision held in its channels."""
        return self.register.serves(debate.setup.place) and wants_record(debate, recorded)

    async def check(self) -> str:
        """Say that Slack is looked at elsewhere: the doctor names the scope that this needs."""
        return "is a canvas of each channel"

    async def deliver(self, landing: Landing) -> Landed:
        """Bring the channel's canvas to say what the logs say now.

        Raises:
            NotLanded: Slack refuses, or does not answer.
        """
        place = landing.debate.setup.place
        async with self._in_words(place):
            content = {"type": "markdown", "markdown": await self._text(place, landing)}
            there = await self.clients.of(place.workspace)
            canvas = await self.registers.canvas_of(place)
            try:
                made = canvas or await self._make(there, place)
                await self._write(there.client, place, made, content)
            except SlackApiError as error:
                if not canvas or refusal_of(error.response).error not in _GONE:
                    raise
                # Somebody deleted it.
                await self.registers.keep(place, "")
                await self._write(there.client, place, await self._make(there, place), content)
        return Landed()

    async def _text(self, place: Place, landing: Landing) -> str:
        wanted = DebateFilter(
            workspace=place.workspace,
            channels=(place.channel,),
            having=("decision/",),
            limit=_MOST_READ,
        )
        debates, links = list[Debate](), dict[str, str]()
        for entry in await self.store.find(wanted):
            debate = await landing.read(entry.debate_id)
            if debate and debate.accepted:
                debates.append(debate)
                links[debate.id] = await self.link_of(debate)
        return redact(await asyncio.to_thread(register, debates, links))

    async def _make(self, there: WorkspaceClient, place: Place) -> str:
        """The id of the channel's canvas, made if it has none, and remembered.

        An attempt may have died between Slack's doing and our note of it: what stands in the
        channel under this title, and was made by Moot, is the register.
        """
        info = await there.client.conversations_info(channel=place.channel)
        made = ""
        for tab in ChannelTabs.model_validate(info.data).canvases[:_MOST_TABS]:
            try:
                about = AboutFile.model_validate((await there.client.files_info(file=tab)).data)
            except SlackApiError:
                continue  # without files:read nobody can say whose it is: it is left alone
            is_ours = (about.user, about.title) == (there.identity.user_id, self.register.title)
            # Somebody may have brought the register of another channel here.
            if is_ours and not await self.registers.is_kept(place.workspace, tab):
                made = tab
                break
        if not made:
            answer = await there.client.canvases_create(
                title=self.register.title, channel_id=place.channel
            )
            made = MadeCanvas.model_validate(answer.data).canvas_id
        await self.registers.keep(place, made)
        return made

    async def _write(
        self, client: AsyncWebClient, place: Place, canvas: str, content: dict[str, str]
    ) -> None:
        # Slack lets members write in a new tab. Nothing is written over before it is sure that
        # nobody else can have written there: what people write is never lost.
        await client.canvases_access_set(
            canvas_id=canvas, access_level="read", channel_ids=[place.channel]
        )
        change = {"operation": "replace", "document_content": content}
        await client.canvases_edit(canvas_id=canvas, changes=[change])

    @asynccontextmanager
    async def _in_words(self, place: Place) -> AsyncGenerator[None]:
        """Say in words for people what goes wrong in the block, within the time there is."""
        try:
            async with asyncio.timeout(_SECONDS):
                yield
        except NotInstalled as error:
            raise NotLanded(str(error), is_final=True) from None
        except (SlackApiError, *UNREACHED) as error:
            outcome = outcome_of(error)
            if not isinstance(outcome, Rejected):
                after = outcome.after if isinstance(outcome, Retry) else None
                raise NotLanded(f"{outcome.words}.", after=after) from None
            now, is_known = self.clock.now(), False
            if outcome.code in _EVERYWHERE:
                is_known = _FEATURE in await self.refused.of(place.workspace, now)
                await self.refused.note(place.workspace, [_FEATURE], now)
            is_final = outcome.code not in _PASSING
            raise NotLanded(outcome.words, is_final=is_final, is_known=is_known) from None
