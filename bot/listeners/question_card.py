"""The card with the agents' questions: Answer opens a form, Skip lets assumptions hold."""

import re

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.context import ListenerContext, person
from bot.listeners.interactions import on_click, on_form
from bot.listeners.linked import take_links
from bot.slack.ids import LINKS, ActionId, CallbackId, FieldId, question_field
from bot.slack.payloads import Click, FormSubmission
from bot.views.clarifications import answer_form
from bot.views.forms import Form, message_form
from bot.views.message import MessageView, notice
from core.errors import BadInput
from core.rules.schedule import open_questions
from core.use_cases.answer import PersonsReply, open_numbers
from core.use_cases.reply_parsing import GivenAnswer

#: The buttons that say which question a reply answers: in one message each has its own id.
CHOICES = re.compile(rf"{ActionId.CHOOSE}_\d+")


def register(app: AsyncApp, context: ListenerContext) -> None:
    on_click(app, context, ActionId.ANSWER, open_answer_form)
    on_click(app, context, ActionId.SKIP, skip)
    on_click(app, context, ActionId.SKIP_ALL, skip)
    on_click(app, context, CHOICES, choose_question)
    on_form(app, context, CallbackId.ANSWER_FORM, take_answers)


async def open_answer_form(context: ListenerContext, click: Click) -> None:
    debate = await context.debate_to_join(click.value, click)
    items = open_questions(debate)
    if not items:
        raise BadInput(answers.QUESTIONS_CLOSED)
    await context.open(click, answer_form(debate, items))


async def skip(context: ListenerContext, click: Click) -> None:
    """Skip one question, or all that are open; a second click changes nothing."""
    debate_id, _, number = click.value.partition("/")
    debate = await context.debate_to_join(debate_id, click)
    numbers = [each for each in open_numbers(debate) if number in {"", str(each)}]
    if not numbers:
        raise BadInput(answers.QUESTIONS_CLOSED)
    await context.acts.answer.skip(debate.id, numbers, person(click), click.trigger_id)


async def choose_question(context: ListenerContext, click: Click) -> MessageView:
    """Take a reply as the answer to the question that was clicked."""
    debate_id, _, rest = click.value.partition("/")
    number, _, note = rest.partition("/")
    debate = await context.debate_to_join(debate_id, click)
    if not number.isdecimal():
        raise BadInput(answers.QUESTIONS_CLOSED)
    await context.acts.answer.choose(debate.id, note, int(number))
    return notice(f":white_check_mark: Taken as the answer to question {int(number)}.")


async def take_answers(context: ListenerContext, form: FormSubmission) -> Form | None:
    """Record the answers of the form; return a notice of those that came too late.

    Empty fields are skipped where that box is ticked.
    """
    debate = await context.debate_to_join(form.metadata.get("debate", ""), form)
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
