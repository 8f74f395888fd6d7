"""Every click, form and event: recorded, acknowledged, refusals only for who did it."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.errors import SlackClientError

from bot.listeners import answers
from bot.listeners.context import ListenerContext
from bot.log import logger
from bot.slack.access import UNREACHED, SlackSilent
from bot.slack.ids import ActionId, CallbackId, FieldId
from bot.slack.payloads import Click, FormSubmission, FormValues
from bot.views.forms import Form, message_form
from bot.views.message import MessageView, notice
from core.debate.state import Debate
from core.errors import BadInput, MootError, StoreError

_log = logger(__name__)


@dataclass(frozen=True)
class FieldWrong(Exception):
    """What was typed into a field cannot be used; said below the field."""

    field: str
    words: str


A = TypeVar("A", bound=FormValues)
R = TypeVar("R")
Body = dict[str, Any]
#: Records an event; may raise `StoreError`.
OnEvent = Callable[[ListenerContext, Body], Awaitable[None]]
#: Does what was clicked; returns what only who clicked is told, mostly nothing. May raise
#: `BadInput`.
OnClick = Callable[[ListenerContext, Click], Awaitable[MessageView | None]]
#: Does what a form says; returns what is shown in its place, mostly nothing. May raise `BadInput`
#: and `FieldWrong`.
OnForm = Callable[[ListenerContext, FormSubmission], Awaitable[Form | None]]


def on_event(app: AsyncApp, context: ListenerContext, kind: str, record: OnEvent) -> None:
    """Listen to one kind of event, which is recorded before it is acknowledged.

    Bolt acknowledges events before their listener runs, and a middleware runs before that: if it
    fails, Slack delivers the event again.
    """

    async def recorded(body: Body, next_: Callable[[], Awaitable[None]]) -> None:
        try:
            await record(context, body)
        except StoreError:
            context.on_unrecorded()  # Slack repeats it for five minutes only
            raise
        await next_()

    @app.event(kind, middleware=[recorded])
    async def acknowledged() -> None:
        """Nothing is left to do."""


def on_click(
    app: AsyncApp,
    context: ListenerContext,
    action_id: ActionId | FieldId | re.Pattern[str],
    do: OnClick,
) -> None:
    """Listen to one button or menu, or to all whose ids look alike."""

    @app.action(action_id if isinstance(action_id, re.Pattern) else action_id.value)
    async def clicked(ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
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
                    # An answered ephemeral message is replaced; in its thread, if it has one.
                    replace_original=is_done and click.is_ephemeral,
                    thread_ts=click.thread or None,
                )
            else:  # in App Home or a form there is no message to answer beside
                await context.open(click, message_form("Not done", view.text))
        except (MootError, SlackClientError, *UNREACHED) as error:
            _log.warning("refusal not shown", reason=type(error).__name__)


def on_form(app: AsyncApp, context: ListenerContext, callback_id: CallbackId, do: OnForm) -> None:
    """Listen to one form: it closes, marks a field, or shows something in its place."""

    @app.view(callback_id.value)
    async def submitted(ack: AsyncAck, body: Body) -> None:
        form = FormSubmission.model_validate(body)
        try:
            async with asyncio.timeout(context.timeouts.answer):
                instead = await do(context, form)
        except FieldWrong as wrong:
            await ack(response_action="errors", errors={form.block_of(wrong.field): wrong.words})
            return
        except (BadInput, StoreError, TimeoutError) as error:
            if isinstance(error, SlackSilent) and form.values:
                # The form stays as it is, to be sent once more.
                await ack(response_action="errors", errors={next(iter(form.values)): str(error)})
                return
            instead = message_form("Not done", _refusal(error))
        await (ack(response_action="update", view=dict(instead)) if instead else ack())


def about(
    do: Callable[[ListenerContext, A, Debate], Awaitable[R]], *, joins: bool = False
) -> Callable[[ListenerContext, A], Awaitable[R]]:
    """What is done with the debate that a click or a form is about, for people who may see it.

    `joins`: it answers or asks something in it, which not everybody of other organisations may.
    """

    async def done(context: ListenerContext, act: A) -> R:
        debate = await context.debate(act.debate_id, act)
        if joins:
            await context.check_taking_part(act.user_id, debate.setup.place)
        return await do(context, act, debate)

    return done


def json_values(click: Click) -> Mapping[str, str]:
    """The values that a button holds as JSON."""
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
