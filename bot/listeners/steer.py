"""The board's buttons, and the Stop that Slack itself shows where Moot is installed as an agent."""

from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners.context import ListenerContext, person
from bot.listeners.interactions import (
    FieldWrong,
    OnClick,
    acknowledged,
    on_click,
    on_form,
    recorded,
)
from bot.listeners.linked import take_links
from bot.listeners.messages import IncomingMessage
from bot.slack.ids import LINKS, ActionId, CallbackId, FieldId
from bot.slack.payloads import Click, FormSubmission, SessionStopped
from bot.views.options_form import context_form, edits_in, field_of, options_form
from core.debate.people import Person
from core.debate.state import Debate
from core.errors import BadInput
from core.use_cases.option_edits import EditRefused


def register(app: AsyncApp, context: ListenerContext) -> None:
    on_click(app, context, ActionId.STOP, _steering(context.acts.steer.stop))
    on_click(app, context, ActionId.VOTE_NOW, _steering(context.acts.steer.call_vote))
    on_click(app, context, ActionId.PAUSE, _steering(context.acts.steer.pause))
    on_click(app, context, ActionId.RESUME, _steering(context.acts.steer.resume))
    on_click(app, context, ActionId.ADD_CONTEXT, open_context_form)
    on_form(app, context, CallbackId.ADD_CONTEXT_FORM, take_context)
    on_click(app, context, ActionId.OPTIONS, open_options)
    on_form(app, context, CallbackId.OPTIONS_FORM, take_options)
    on_click(app, context, ActionId.REVEAL, _steering(context.acts.steer.reveal))
    on_click(app, context, ActionId.DEBATE_ANYWAY, _steering(context.acts.steer.want))
    app.event("agent_session_stopped", middleware=[recorded(context, take_stop)])(acknowledged)


def _steering(steer: Callable[[Debate, Person], Awaitable[None]]) -> OnClick:
    async def clicked(context: ListenerContext, click: Click) -> None:
        debate = await context.debate(click.value, click)
        await steer(debate, person(click))

    return clicked


async def open_context_form(context: ListenerContext, click: Click) -> None:
    debate = await context.debate(click.value, click)
    await context.acts.steer.check_context(debate, person(click))
    await context.open(click, context_form(debate))


async def take_context(context: ListenerContext, form: FormSubmission) -> None:
    debate = await context.debate(form.metadata.get("debate", ""), form)
    text = form.text_of(FieldId.CONTEXT)
    await context.acts.steer.add_context(debate, person(form), text, origin=form.view_id)
    await take_links(context, debate, text, person(form), note=form.view_id + LINKS)


async def open_options(context: ListenerContext, click: Click) -> None:
    debate = await context.debate(click.value, click)
    await context.acts.steer.check_options(debate, person(click))
    await context.open(click, options_form(debate))


async def take_options(context: ListenerContext, form: FormSubmission) -> None:
    """Record what the form changes, once however often it arrives; a fault is said at its field."""
    debate = await context.debate(form.metadata.get("debate", ""), form)
    edits = edits_in(debate, form, person(form))
    try:
        await context.acts.steer.edit_options(debate, person(form), edits)
    except EditRefused as refused:
        raise FieldWrong(field_of(refused.edit), str(refused)) from None


async def take_stop(context: ListenerContext, body: dict[str, Any]) -> None:
    """Stop the debate of the thread, or say to that person only why not."""
    stopped = SessionStopped.model_validate(body)
    message = IncomingMessage(context, stopped.team_id, stopped.as_reply)
    debate_id = await message.debate_id()
    if debate_id is None:
        return
    async with message.log_failures():
        try:
            debate = await context.acts.find.visible(
                debate_id, person=stopped.user, workspace=stopped.team_id
            )
            await context.acts.steer.stop(debate, await message.author())
        except BadInput as refusal:
            await message.tell(str(refusal), key=f"{message.origin}/answer")
