"""What every listener works with: the use cases, and the parts of Slack's side they need."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from slack_sdk.errors import SlackApiError

from bot.listeners import answers
from bot.listeners.find import DebateLists
from bot.log import logger
from bot.operations.doctor.findings import Finding
from bot.presenter.sink import SLACK
from bot.queue.outbox import Outbox
from bot.queue.rows import Posts
from bot.slack.access import UNREACHED, Accesses
from bot.slack.client import WorkspaceClients
from bot.slack.payloads import Interaction, Opener, code_of
from bot.store.page_grants import DebatePageGrants
from bot.store.personal_tokens import PersonalTokens
from bot.store.records import Deliveries
from bot.timeouts import DEFAULT_TIMEOUTS, Timeouts
from bot.views.forms import Form
from core.debate.people import Person, Place
from core.debate.state import Debate
from core.errors import BadInput
from core.ports import Clock
from core.use_cases.answer import AnswerQuestions
from core.use_cases.ask import AskAboutDebate
from core.use_cases.calibrate import CountOutcomes
from core.use_cases.choices import ChannelChoicesStore
from core.use_cases.decide import DecideOnVerdict
from core.use_cases.find import NOT_A_MEMBER, FindDebates
from core.use_cases.recall import RecallDecisions
from core.use_cases.remind import RemindPeople
from core.use_cases.share import ShareDebates
from core.use_cases.start import StartDebate
from core.use_cases.steer import SteerDebate

_log = logger(__name__)

Examine = Callable[[], Awaitable[Sequence[Finding]]]


@dataclass(frozen=True, kw_only=True)
class UseCases:
    """What people can do."""

    start: StartDebate
    answer: AnswerQuestions
    ask: AskAboutDebate
    steer: SteerDebate
    decide: DecideOnVerdict
    find: FindDebates
    recall: RecallDecisions
    remind: RemindPeople
    count: CountOutcomes
    #: Shares debates as pages; None: that is off.
    share: ShareDebates | None


@dataclass(frozen=True, kw_only=True)
class BotRecords:
    """The bot's own tables that listeners write."""

    channels: ChannelChoicesStore
    deliveries: Deliveries
    #: Which debates have pages.
    grants: DebatePageGrants
    #: What people's programs call with.
    tokens: PersonalTokens


@dataclass(frozen=True, kw_only=True)
class OperatorChoices:
    """What whoever runs Moot has set up besides debates."""

    #: How long a token holds; None: programs cannot call, and there are none.
    token_holds: timedelta | None
    #: Runs those checks of the doctor that make sense for people in Slack; None: there are none.
    examine: Examine | None
    #: Sends again what did not land outside Slack; how many. None: nothing is sent there.
    retry_landings: Callable[[], Awaitable[int]] | None
    #: Which models serve, in words.
    models: str
    #: Days after its end that a debate is deleted for good; None: it is kept.
    retention_days: int | None
    #: Workspaces in whose shared channels people of other organisations take part.
    open_workspaces: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class ListenerContext:
    """The parts of the bot that listeners hand things to."""

    acts: UseCases
    records: BotRecords
    operator: OperatorChoices
    lists: DebateLists
    access: Accesses
    clients: WorkspaceClients
    outbox: Outbox
    posts: Posts
    clock: Clock
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    #: Called when the database did not take what somebody wrote.
    on_unrecorded: Callable[[], None] = lambda: None

    async def debate(self, debate_id: str, act: Interaction) -> Debate:
        """Return a debate of a channel that the acting person is in.

        Raises:
            BadInput: There is none; the same words whether it exists or not.
        """
        return await self.acts.find.visible(debate_id, person=act.user_id, workspace=act.team_id)

    async def check_taking_part(self, person_id: str, place: Place) -> None:
        """Make sure that somebody may start debates and answer in a channel.

        Raises:
            BadInput: They are of another organisation, or Slack does not say of which.
        """
        own = (await self.records.channels.get(place)).open_to_others
        is_open = place.workspace in self.operator.open_workspaces if own is None else own
        if not is_open:
            await self.check_colleague(person_id, place)

    async def check_colleague(self, person_id: str, place: Place) -> None:
        if not await self.access.of(place.workspace).is_colleague(person_id):
            raise BadInput(answers.OTHERS_REFUSED)

    async def check_channel(self, here: Place) -> None:
        if here.channel.startswith("D"):
            raise BadInput(answers.IN_DIRECT_MESSAGE)
        if reason := answers.not_here(await self.access.of(here.workspace).standing(here.channel)):
            raise BadInput(reason)

    async def check_member(self, person_id: str, here: Place) -> None:
        if not await self.access.may_see(person_id, here):
            raise BadInput(NOT_A_MEMBER)

    async def open(self, act: Opener, form: Form) -> None:
        """Open a form for who typed or clicked.

        Raises:
            BadInput: Slack does not open it any more: it does so for three seconds only.
        """
        try:
            client = (await self.clients.of(act.team_id)).client
            await client.views_open(trigger_id=act.trigger_id, view=dict(form))
        except (SlackApiError, *UNREACHED) as error:
            _log.warning("form not opened", reason=code_of(error) or type(error).__name__)
            raise BadInput(answers.FORM_TOO_LATE) from None

    async def link_to(self, here: Place, ts: str, thread: str = "") -> str:
        """Return the address of a message; of a reply with the first message of its thread."""
        identity = (await self.clients.of(here.workspace)).identity
        return identity.link_to(here.channel, ts, thread)

    async def is_repeated(self, kind: str, delivery_id: str) -> bool:
        """Return whether this delivery was answered before.

        Ask after its fact is recorded, never before: a crash in between then costs nothing.
        """
        return await self.records.deliveries.seen(kind, delivery_id, self.clock.now())


def place(team_id: str, channel_id: str) -> Place:
    return Place(surface=SLACK, workspace=team_id, channel=channel_id)


def person(act: Interaction) -> Person:
    return Person(id=act.user_id, name=act.user_name)
