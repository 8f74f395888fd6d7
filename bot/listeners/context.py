"""The parts of the bot that listeners use, and wrappers for listeners of clicks, forms and events.

Facts are recorded before Slack's request is acknowledged. A listener that cannot do what a person
asks raises `BadInput`; only that person sees the message.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.listeners import answers
from bot.log import logger
from bot.operations.doctor.findings import Finding
from bot.presenter.sink import SLACK
from bot.queue.outbox import Outbox
from bot.queue.rows import Posts
from bot.slack.access import CONNECTION_ERRORS, SlackUnavailable, WorkspaceDirectories
from bot.slack.client import WorkspaceClients
from bot.slack.ids import ActionId, CallbackId, FieldId, board_key
from bot.slack.origins import text_at
from bot.slack.payloads import (
    Click,
    Command,
    FormSubmission,
    FormValues,
    Interaction,
    Opener,
    code_of,
)
from bot.store.personal_tokens import PersonalTokens
from bot.store.records import DebatePageGrants, Deliveries
from bot.timeouts import DEFAULT_TIMEOUTS, Timeouts
from bot.views.lists import (
    MOST_LISTED,
    DebateRow,
    channel_list,
    own_list,
    row_text,
    search_list,
)
from bot.views.message import Form, MessageView, message_form, notice
from bot.views.notices import decision_matches
from core.debate.people import Place
from core.debate.state import Debate
from core.errors import BadInput, LogBroken, MootError, StoreError, reading
from core.ports import Clock
from core.use_cases.choices import ChannelChoicesStore
from core.use_cases.decide import AskAboutDebate, DecideOnVerdict
from core.use_cases.find import NOT_A_MEMBER, FindDebates, FoundDebate
from core.use_cases.messages import AnswerQuestions
from core.use_cases.recall import SURE_FROM, CountOutcomes, RecallDecisions, RecalledDecision
from core.use_cases.remind import RemindPeople
from core.use_cases.share import ShareDebates
from core.use_cases.start import StartDebate
from core.use_cases.steer import SteerDebate

_log = logger(__name__)


@dataclass(frozen=True, kw_only=True)
class DebateLists:
    """Builds lists of debates for Slack, with links to their boards."""

    find: FindDebates
    posts: Posts
    clients: WorkspaceClients
    #: Whether decisions are also found by meaning, with a model for embeddings.
    by_meaning: bool = False

    async def debate_list(self, command: Command) -> MessageView:
        team, person = command.team_id, command.user_id
        if command.is_direct:
            return own_list(await self.rows(await self.find.everywhere(team, person, MOST_LISTED)))
        here = Place(surface=SLACK, workspace=team, channel=command.channel_id)
        return channel_list(await self.rows(await self.find.in_channel(here, person, MOST_LISTED)))

    async def search_results(self, command: Command, query: str) -> MessageView:
        hits = await self.find.search(command.team_id, command.user_id, query, MOST_LISTED)
        return search_list(query, await self.rows(hits))

    async def recalled_decisions(self, decisions: Sequence[RecalledDecision]) -> MessageView:
        rows = await self.rows(
            (FoundDebate(debate=decision.debate) for decision in decisions),
            lambda row: decision_matches([row], sure=True),
        )
        by_id = {decision.debate.id: decision for decision in decisions}
        is_sure = bool(rows) and by_id[rows[0].debate.id].likeness >= SURE_FROM
        return decision_matches(rows, sure=is_sure, by_meaning=self.by_meaning)

    async def rows(
        self, hits: Iterable[FoundDebate], show: Callable[[DebateRow], object] = row_text
    ) -> Sequence[DebateRow]:
        """Return rows of debates; the address of a board is empty if it is not posted yet.

        Debates that `show` cannot render, because their logs are damaged, are left out.
        """
        hits, rows = list(hits), list[DebateRow]()
        boards = await self.posts.rows_with_keys([board_key(hit.debate.id) for hit in hits])
        for hit in hits:
            board, address = boards.get(board_key(hit.debate.id)), ""
            if board and board.ts:
                place = hit.debate.setup.place
                workspace = await self.clients.for_workspace(place.workspace)
                address = workspace.identity.link_to(place.channel, board.ts)
            row = DebateRow(debate=hit.debate, address=address, excerpt=hit.excerpt)
            try:
                with reading(hit.debate.id):
                    show(row)
            except LogBroken as error:
                self.find.on_unreadable(hit.debate.id, error)
            else:
                rows.append(row)
        return rows


Examine = Callable[[], Awaitable[Sequence[Finding]]]


@dataclass(frozen=True, kw_only=True)
class UseCases:
    """The use cases that people call."""

    start: StartDebate
    answer: AnswerQuestions
    ask: AskAboutDebate
    steer: SteerDebate
    decide: DecideOnVerdict
    find: FindDebates
    recall: RecallDecisions
    remind: RemindPeople
    count: CountOutcomes
    #: Shares debates as pages; None if pages are switched off.
    share: ShareDebates | None


@dataclass(frozen=True, kw_only=True)
class BotRecords:
    """The bot's own tables that listeners write."""

    channels: ChannelChoicesStore
    deliveries: Deliveries
    #: Debates with pages.
    grants: DebatePageGrants
    #: Tokens for programs of people.
    tokens: PersonalTokens


@dataclass(frozen=True, kw_only=True)
class OperatorChoices:
    """Settings of the operator that listeners need."""

    #: Lifetime of a token; None if programs cannot call Moot.
    token_lifetime: timedelta | None
    #: Runs the doctor's checks for people in Slack; None if the doctor is not available.
    examine: Examine | None
    #: Sends failed landings again and returns their count; None if there are no receivers.
    retry_landings: Callable[[], Awaitable[int]] | None
    #: The models in use, as text.
    models: str
    #: Days from the end of a debate until it is deleted; None if it is not.
    retention_days: int | None
    #: Workspaces in whose shared channels people of other organisations may take part.
    open_workspaces: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class ListenerContext:
    """The parts of the bot that listeners use."""

    acts: UseCases
    records: BotRecords
    operator: OperatorChoices
    lists: DebateLists
    directories: WorkspaceDirectories
    clients: WorkspaceClients
    outbox: Outbox
    posts: Posts
    clock: Clock
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    #: Called if the database failed to record an event.
    on_unrecorded: Callable[[], None] = lambda: None

    async def debate(self, debate_id: str, act: Interaction) -> Debate:
        """A debate that the person may see; one that does not exist raises the same `BadInput`."""
        return await self.acts.find.visible(debate_id, person=act.user_id, workspace=act.team_id)

    async def check_taking_part(self, person_id: str, place: Place) -> None:
        """Raise `BadInput` if the person is of another organisation and not admitted here."""
        choice = (await self.records.channels.get(place)).open_to_others
        is_open = place.workspace in self.operator.open_workspaces if choice is None else choice
        if not is_open:
            await self.check_colleague(person_id, place)

    async def check_colleague(self, person_id: str, place: Place) -> None:
        if not await self.directories.of(place.workspace).is_colleague(person_id):
            raise BadInput(answers.OTHERS_REFUSED)

    async def check_channel(self, here: Place) -> None:
        if here.channel.startswith("D"):
            raise BadInput(answers.IN_DIRECT_MESSAGE)
        if reason := answers.channel_refusal(
            await self.directories.of(here.workspace).bot_membership(here.channel)
        ):
            raise BadInput(reason)

    async def check_member(self, person_id: str, here: Place) -> None:
        if not await self.directories.may_see(person_id, here):
            raise BadInput(NOT_A_MEMBER)

    async def open(self, act: Opener, form: Form) -> None:
        """Open a form; Slack allows it within three seconds of the command or click."""
        try:
            client = (await self.clients.for_workspace(act.team_id)).client
            await client.views_open(trigger_id=act.trigger_id, view=dict(form))
        except (SlackApiError, *CONNECTION_ERRORS) as error:
            _log.warning("form not opened", reason=code_of(error) or type(error).__name__)
            raise BadInput(answers.FORM_TOO_LATE) from None

    async def link_to(self, here: Place, ts: str, thread: str = "") -> str:
        """Return the address of a message; for a reply, `thread` is the first of its thread."""
        identity = (await self.clients.for_workspace(here.workspace)).identity
        return identity.link_to(here.channel, ts, thread)

    async def is_repeated(self, kind: str, delivery_id: str) -> bool:
        """Whether this delivery was answered before. Call it only after its fact is recorded."""
        return await self.records.deliveries.seen(kind, delivery_id, self.clock.now())


def place(team_id: str, channel_id: str) -> Place:
    return Place(surface=SLACK, workspace=team_id, channel=channel_id)


@dataclass(frozen=True)
class FieldError(Exception):
    """The value of a field is invalid; Slack shows the text below the field."""

    field: str
    text: str


A = TypeVar("A", bound=FormValues)
R = TypeVar("R")
Body = dict[str, Any]
#: Records an event. May raise `StoreError`.
OnEvent = Callable[[ListenerContext, Body], Awaitable[None]]
#: Handles a click; returns the answer for the person who clicked, or None. May raise `BadInput`.
OnClick = Callable[[ListenerContext, Click], Awaitable[MessageView | None]]
#: Handles a form; returns the form that replaces it, or None. May raise `BadInput` and
#: `FieldError`.
OnForm = Callable[[ListenerContext, FormSubmission], Awaitable[Form | None]]


def record_first(context: ListenerContext, record: OnEvent) -> Callable[..., Awaitable[None]]:
    """Return the middleware that records an event, for the listener `acknowledge`.

    Bolt acknowledges an event before its listener runs, but after its middleware. So if the
    middleware fails, Slack delivers the event again.
    """

    async def middleware(body: Body, next_: Callable[[], Awaitable[None]]) -> None:
        try:
            await record(context, body)
        except StoreError:
            context.on_unrecorded()  # Slack repeats the event for five minutes only
            raise
        await next_()

    return middleware


async def acknowledge() -> None:
    """Do nothing: the middleware has handled the event."""


def on_click(
    app: AsyncApp,
    context: ListenerContext,
    action_id: ActionId | FieldId | re.Pattern[str],
    do: OnClick,
) -> None:
    """Register a listener for a button or menu, or for all whose ids match a pattern."""

    @app.action(action_id if isinstance(action_id, re.Pattern) else action_id.value)
    async def handle_click(ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        click, is_done = Click.model_validate(body), False
        try:
            async with asyncio.timeout(context.timeouts.answer):
                view = await do(context, click)
                is_done = True
        except (BadInput, StoreError, TimeoutError) as error:
            view = notice(_refusal(error))
        await ack()
        if view is None:
            return
        try:
            if click.channel_id:
                blocks = [dict(block) for block in view.blocks]
                await respond(
                    text=view.text,
                    blocks=blocks,
                    response_type="ephemeral",
                    # The answer replaces a private message with the button.
                    replace_original=is_done and click.is_ephemeral,
                    thread_ts=click.thread or None,
                )
            else:  # a click in App Home or in a form has no message to answer
                await context.open(click, message_form("Not done", view.text))
        except (MootError, SlackClientError, *CONNECTION_ERRORS) as error:
            _log.warning("refusal not shown", reason=type(error).__name__)


def on_form(app: AsyncApp, context: ListenerContext, callback_id: CallbackId, do: OnForm) -> None:
    """Register a listener for a form, which closes, shows an error, or is replaced."""

    @app.view(callback_id.value)
    async def handle_form(ack: AsyncAck, body: Body) -> None:
        form = FormSubmission.model_validate(body)
        if blank := _blank_block(form):
            await ack(response_action="errors", errors={blank: answers.BLANK_FIELD})
            return
        try:
            async with asyncio.timeout(context.timeouts.answer):
                next_form = await do(context, form)
        except FieldError as error:
            await ack(response_action="errors", errors={form.block_of(error.field): error.text})
            return
        except (BadInput, StoreError, TimeoutError) as error:
            if isinstance(error, SlackUnavailable) and form.values:
                # The form stays open, so that it can be sent again.
                await ack(response_action="errors", errors={next(iter(form.values)): str(error)})
                return
            next_form = message_form("Not done", _refusal(error))
        await (ack(response_action="update", view=dict(next_form)) if next_form else ack())


def _blank_block(form: FormSubmission) -> str:
    """The block of a required text that is white space, which Slack accepts; empty: none."""
    for block in form.blocks:
        is_text = text_at(block, "element", "type") == "plain_text_input"
        if is_text and not block.get("optional"):
            block_id, field = text_at(block, "block_id"), text_at(block, "element", "action_id")
            if not text_at(form.values, block_id, field, "value").strip():
                return block_id
    return ""


def with_debate(
    do: Callable[[ListenerContext, A, Debate], Awaitable[R]], *, joins: bool = False
) -> Callable[[ListenerContext, A], Awaitable[R]]:
    """Return the handler of a click or form that loads its debate, which the person must see.

    `joins`: it takes part in the debate, which people of other organisations may not always do.
    """

    async def handle(context: ListenerContext, act: A) -> R:
        debate = await context.debate(act.debate_id, act)
        if joins:
            await context.check_taking_part(act.user_id, debate.setup.place)
        return await do(context, act, debate)

    return handle


def json_values(click: Click) -> Mapping[str, str]:
    """The values in a button's JSON value."""
    return {key: str(item) for key, item in json.loads(click.value).items()}


def _refusal(error: BadInput | StoreError | TimeoutError) -> str:
    match error:
        case BadInput():
            return str(error)
        case StoreError():
            _log.warning("click not recorded", reason=str(error))
            return answers.storage_failure(error)
        case TimeoutError():
            return answers.CLICK_TOO_SLOW
