"""The board's and the question card's buttons, and the Stop that Slack itself shows for agents."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.context import (
    FieldWrong,
    ListenerContext,
    OnClick,
    about,
    acknowledged,
    on_click,
    on_form,
    person,
    recorded,
)
from bot.listeners.linked import take_links
from bot.listeners.messages import IncomingMessage
from bot.slack.ids import LINKS, ActionId, CallbackId, FieldId, question_field
from bot.slack.payloads import Click, FormSubmission, SessionStopped
from bot.views.clarifications import answer_form
from bot.views.message import Form, MessageView, message_form, notice
from bot.views.vote import context_form, edits_in, field_of, options_form
from core.debate.people import Person
from core.debate.state import Debate
from core.errors import BadInput
from core.rules.schedule import open_questions
from core.use_cases.answer import PersonsReply, open_numbers
from core.use_cases.option_edits import EditRefused
from core.use_cases.reply_parsing import GivenAnswer

#: The buttons that say which question a reply answers: in one message each has its own id.
CHOICES = re.compile(rf"{ActionId.CHOOSE}_\d+")


def register(app: AsyncApp, context: ListenerContext) -> None:
    on_click(app, context, ActionId.STOP, _steering(context.acts.steer.stop))
    on_click(app, context, ActionId.VOTE_NOW, _steering(context.acts.steer.call_vote))
    on_click(app, context, ActionId.PAUSE, _steering(context.acts.steer.pause))
    on_click(app, context, ActionId.RESUME, _steering(context.acts.steer.resume))
    on_click(app, context, ActionId.ADD_CONTEXT, about(open_context_form))
    on_form(app, context, CallbackId.ADD_CONTEXT_FORM, about(take_context))
    on_click(app, context, ActionId.OPTIONS, about(open_options))
    on_form(app, context, CallbackId.OPTIONS_FORM, about(take_options))
    on_click(app, context, ActionId.REVEAL, _steering(context.acts.steer.reveal))
    on_click(app, context, ActionId.DEBATE_ANYWAY, _steering(context.acts.steer.want))
    app.event("agent_session_stopped", middleware=[recorded(context, take_stop)])(acknowledged)
    on_click(app, context, ActionId.ANSWER, about(open_answer_form, joins=True))
    on_click(app, context, ActionId.SKIP, about(skip, joins=True))
    on_click(app, context, ActionId.SKIP_ALL, about(skip, joins=True))
    on_click(app, context, CHOICES, about(choose_question, joins=True))
    on_form(app, context, CallbackId.ANSWER_FORM, about(take_answers, joins=True))


def _steering(steer: Callable[[Debate, Person], Awaitable[None]]) -> OnClick:
    async def clicked(_context: ListenerContext, click: Click, debate: Debate) -> None:
        await steer(debate, person(click))

    return about(clicked)


async def open_context_form(context: ListenerContext, click: Click, debate: Debate) -> None:
    await context.acts.steer.check_context(debate, person(click))
    await context.open(click, context_form(debate))


async def take_context(context: ListenerContext, form: FormSubmission, debate: Debate) -> None:
    text = form.text_of(FieldId.CONTEXT)
    await context.acts.steer.add_context(debate, person(form), text, origin=form.view_id)
    await take_links(context, debate, text, person(form), note=form.view_id + LINKS)


async def open_options(context: ListenerContext, click: Click, debate: Debate) -> None:
    await context.acts.steer.check_options(debate, person(click))
    await context.open(click, options_form(debate))


async def take_options(context: ListenerContext, form: FormSubmission, debate: Debate) -> None:
    """Record what the form changes, once however often it arrives; a fault is said at its field."""
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


async def open_answer_form(context: ListenerContext, click: Click, debate: Debate) -> None:
    items = open_questions(debate)
    if not items:
        raise BadInput(answers.QUESTIONS_CLOSED)
    await context.open(click, answer_form(debate, items))


async def skip(context: ListenerContext, click: Click, debate: Debate) -> None:
    """Skip one question, or all that are open; a second click changes nothing."""
    numbers = [number for number in open_numbers(debate) if click.detail in {"", str(number)}]
    if not numbers:
        raise BadInput(answers.QUESTIONS_CLOSED)
    await context.acts.answer.skip(debate.id, numbers, person(click), click.trigger_id)


async def choose_question(context: ListenerContext, click: Click, debate: Debate) -> MessageView:
    """Take a reply as the answer to the question that was clicked."""
    number, _, note = click.detail.partition("/")
    if not number.isdecimal():
        raise BadInput(answers.QUESTIONS_CLOSED)
    await context.acts.answer.choose(debate.id, note, int(number))
    return notice(f":white_check_mark: Taken as the answer to question {int(number)}.")


async def take_answers(
    context: ListenerContext, form: FormSubmission, debate: Debate
) -> Form | None:
    """Record the answers of the form; return a notice of those that came too late.

    Empty fields are skipped where that box is ticked.
    """
    numbers = [item.number for opened in debate.clarifications.values() for item in opened.items]
    typed = {number: form.text_of(question_field(number)) for number in numbers}
    new_answers = [GivenAnswer(number, text) for number, text in typed.items() if text]
    if form.choices(FieldId.REST):
        empty = [number for number in open_numbers(debate) if not typed.get(number)]
        new_answers += [GivenAnswer(number, "") for number in empty]
    reply = PersonsReply(debate_id=debate.id, by=person(form), origin=form.view_id)
    late = await context.acts.answer.form(reply, new_answers)
    said_in_all = "\n".join(typed.values())
    await take_links(context, debate, said_in_all, person(form), note=form.view_id + LINKS)
    return message_form("Answers", answers.too_late(late)) if late else None
