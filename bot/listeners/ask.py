"""Asking about a decided debate: a mention in its thread, or a button."""

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.context import ListenerContext, person
from bot.listeners.interactions import on_click, on_form
from bot.slack.ids import ActionId, CallbackId, FieldId
from bot.slack.payloads import Click, FormSubmission
from bot.views.follow_up import ask_form, button_values
from bot.views.message import MessageView


def register(app: AsyncApp, context: ListenerContext) -> None:
    """Listen to the button and its form."""
    on_click(app, context, ActionId.ASK, open_ask_form)
    on_click(app, context, ActionId.ASK_THIS, ask_what_was_written)
    on_form(app, context, CallbackId.ASK_FORM, take_question)


async def open_ask_form(context: ListenerContext, click: Click) -> None:
    """Open the form to ask something.

    Raises:
        BadInput: The debate takes no questions; says why.
    """
    debate = await context.debate_to_join(click.value, click)
    context.acts.ask.check(debate)
    await context.open(click, ask_form(debate))


async def ask_what_was_written(context: ListenerContext, click: Click) -> MessageView:
    """Put a message of the thread to the judge; repeated clicks change nothing."""
    offer = button_values(click.value)
    debate = await context.debate_to_join(offer["debate"], click)
    await context.acts.ask.ask(
        debate.id, question_id=offer["message"], by=person(click), text=offer["text"]
    )
    return answers.words("The judge answers in the thread.")


async def take_question(context: ListenerContext, form: FormSubmission) -> None:
    """Put the question to the judge, once however often the form arrives."""
    debate = await context.debate_to_join(form.metadata.get("debate", ""), form)
    await context.acts.ask.ask(
        debate.id,
        question_id=form.view_id,
        by=person(form),
        text=form.text_of(FieldId.QUESTION.value),
    )
