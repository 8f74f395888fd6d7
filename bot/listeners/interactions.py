"""How every click and form is handled: recorded, acknowledged, refusals only for who did it."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.listeners import answers
from bot.listeners.context import ListenerContext
from bot.log import logger
from bot.slack.access import UNREACHED, SlackSilent
from bot.slack.ids import ActionId, CallbackId, FieldId
from bot.slack.payloads import Click, FormSubmission, refusal_of
from bot.views.forms import Form, message_form
from bot.views.message import MessageView
from core.errors import BadInput, StoreError

_log = logger(__name__)


@dataclass(frozen=True)
class FieldWrong(Exception):
    """What was typed into a field cannot be used; said below the field."""

    field: str
    words: str


@dataclass(frozen=True)
class ClickEvent:
    """A click, and the client to answer it with."""

    click: Click
    client: AsyncWebClient

    async def open(self, form: Form) -> None:
        """Open a form for who clicked.

        Raises:
            BadInput: Slack does not open it any more.
        """
        await open_form(self.client, self.click.trigger_id, form)


#: Does what was clicked; returns what only who clicked is told, mostly nothing. May raise
#: `BadInput`.
OnClick = Callable[[ListenerContext, ClickEvent], Awaitable[MessageView | None]]
#: Does what a form says; returns what is shown in its place, mostly nothing. May raise `BadInput`
#: and `FieldWrong`.
OnForm = Callable[[ListenerContext, FormSubmission], Awaitable[Form | None]]


def on_click(
    app: AsyncApp,
    context: ListenerContext,
    action_id: ActionId | FieldId | re.Pattern[str],
    do: OnClick,
) -> None:
    """Listen to one button or menu, or to all whose ids look alike."""

    @app.action(action_id if isinstance(action_id, re.Pattern) else action_id.value)
    async def clicked(
        ack: AsyncAck, body: dict[str, Any], respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        event, is_done = ClickEvent(Click.model_validate(body), client), False
        try:
            async with asyncio.timeout(context.timeouts.answer):
                view = await do(context, event)
                is_done = True
        except (BadInput, StoreError, TimeoutError) as error:
            view = answers.words(_refusal(error))
        await ack()
        if view is None:
            return
        try:
            if event.click.channel_id:
                blocks = [dict(block) for block in view.blocks]
                await respond(
                    text=view.text,
                    blocks=blocks,
                    response_type="ephemeral",
                    # An answered ephemeral message is replaced; in its thread, if it has one.
                    replace_original=is_done and event.click.is_ephemeral,
                    thread_ts=event.click.thread or None,
                )
            else:  # in App Home or a form there is no message to answer beside
                await event.open(message_form("Not done", view.text))
        except (BadInput, SlackClientError, *UNREACHED) as error:
            _log.warning("refusal not shown", reason=type(error).__name__)


def on_form(app: AsyncApp, context: ListenerContext, callback_id: CallbackId, do: OnForm) -> None:
    """Listen to one form: it closes, marks a field, or shows something in its place."""

    @app.view(callback_id.value)
    async def submitted(ack: AsyncAck, body: dict[str, Any]) -> None:
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


async def open_form(client: AsyncWebClient, trigger_id: str, form: Form) -> None:
    """Open a form.

    Raises:
        BadInput: Slack does not open it any more: it does so for three seconds only.
    """
    try:
        await client.views_open(trigger_id=trigger_id, view=dict(form))
    except (SlackApiError, *UNREACHED) as error:
        code = refusal_of(error.response).error if isinstance(error, SlackApiError) else ""
        _log.warning("form not opened", reason=code or type(error).__name__)
        raise BadInput(answers.FORM_TOO_LATE) from None


def _refusal(error: BadInput | StoreError | TimeoutError) -> str:
    """Why it was not done, for the person."""
    match error:
        case BadInput():
            return str(error)
        case StoreError():
            _log.warning("click not recorded", reason=str(error))
            return answers.storage_failure(error)
        case TimeoutError():
            return answers.CLICK_TOO_SLOW
