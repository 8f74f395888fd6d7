"""How every click and form is handled: recorded, acknowledged, refusals only for who did it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.listeners import answers
from bot.log import logger
from bot.slack.access import UNREACHED, SlackSilent
from bot.slack.ids import ActionId, CallbackId, FieldId
from bot.slack.payloads import Click, FormSubmitted, ViewOpened, refusal_of
from bot.views.forms import Form, said
from bot.views.message import Message
from core.errors import BadInput, StoreError

_log = logger(__name__)

#: Seconds after which a person is answered whatever has been done: Slack waits for three.
ANSWER_WITHIN = 2.5


@dataclass(frozen=True)
class FieldWrong(Exception):
    """What was typed into a field cannot be used; said below the field."""

    field: str
    words: str


@dataclass(frozen=True)
class Clicked:
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
OnClick = Callable[[Clicked], Awaitable[Message | None]]
#: Does what a form says; returns what is shown in its place, mostly nothing.
OnForm = Callable[[FormSubmitted], Awaitable[Form | None]]


def on_click(app: AsyncApp, action_id: ActionId | FieldId, do: OnClick) -> None:
    """Listen to one button or menu."""

    @app.action(action_id.value)
    async def clicked(
        ack: AsyncAck, body: dict[str, Any], respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        found = Clicked(Click.model_validate(body), client)
        told = await _click_answer(do, found)
        await ack()
        if told:
            await _whisper(found, told, respond)


def on_form(app: AsyncApp, callback_id: CallbackId, do: OnForm) -> None:
    """Listen to one form."""

    @app.view(callback_id.value)
    async def submitted(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack(**await _form_answer(do, FormSubmitted.model_validate(body)))


async def open_form(client: AsyncWebClient, trigger_id: str, form: Form) -> str:
    """Open a form; return its id.

    Raises:
        BadInput: Slack does not open it any more: it does so for three seconds only.
    """
    try:
        answer = await client.views_open(trigger_id=trigger_id, view=dict(form))
    except (SlackApiError, *UNREACHED) as error:
        code = refusal_of(error.response).error if isinstance(error, SlackApiError) else ""
        _log.warning("form not opened", reason=code or type(error).__name__)
        raise BadInput(answers.FORM_TOO_LATE) from None
    return ViewOpened.model_validate(answer.data).view_id


async def _refusal(doing: Awaitable[None]) -> str:
    """Why it was not done, for the person; empty if it was."""
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            await doing
    except BadInput as refusal:
        return str(refusal)
    except StoreError as error:
        _log.warning("click not recorded", reason=str(error))
        return answers.STORE_DOWN
    except TimeoutError:
        return answers.CLICK_TOO_SLOW
    return ""


async def _click_answer(do: OnClick, found: Clicked) -> Message | None:
    """What who clicked is told: what the click leads to, or why it does not."""
    told: list[Message | None] = []

    async def doing() -> None:
        told.append(await do(found))

    refusal = await _refusal(doing())
    return answers.words(refusal) if refusal else told[0]


async def _form_answer(do: OnForm, form: FormSubmitted) -> dict[str, Any]:
    """What Slack is told about a form: close it, mark a field, or show something instead."""
    shown: list[Form] = []

    async def doing() -> None:
        instead = await _kept_open(do, form)
        shown.extend([instead] if instead else [])

    try:
        words = await _refusal(doing())
    except FieldWrong as wrong:
        return {"response_action": "errors", "errors": {wrong.field: wrong.words}}
    if words:
        shown.append(said("Not done", words))
    return {"response_action": "update", "view": dict(shown[0])} if shown else {}


async def _kept_open(do: OnForm, form: FormSubmitted) -> Form | None:
    """Do what a form says; if Slack is too slow, it stays as it is, to be sent once more."""
    try:
        return await do(form)
    except SlackSilent as silent:
        if not form.values:
            raise
        raise FieldWrong(next(iter(form.values)), str(silent)) from None


async def _whisper(found: Clicked, told: Message, respond: AsyncRespond) -> None:
    """Tell only who clicked: beside the message, or in a form where there is none."""
    if found.click.channel_id:
        showing = _beside(respond, told)
    else:
        showing = found.open(said("Not done", told.text))
    try:
        await showing
    except (BadInput, SlackClientError, *UNREACHED) as error:
        _log.warning("refusal not shown", reason=type(error).__name__)


async def _beside(respond: AsyncRespond, told: Message) -> None:
    blocks = [dict(block) for block in told.blocks]
    await respond(text=told.text, blocks=blocks, response_type="ephemeral", replace_original=False)
