"""Buttons on posts besides deciding: ask the judge, share the page, read all that is folded."""

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.context import ListenerContext, person
from bot.listeners.interactions import json_values, on_click, on_form
from bot.slack.ids import ActionId, CallbackId, FieldId
from bot.slack.limits import FORM_BLOCKS
from bot.slack.mrkdwn.newer_blocks import READ_ALL
from bot.slack.payloads import Click, FormSubmission
from bot.views.fold import VERDICT, in_full
from bot.views.follow_up import ask_form
from bot.views.forms import text_form
from bot.views.group_post import everything
from bot.views.message import MessageView, notice
from bot.views.notices import page_link, withdrawn
from bot.views.turn_groups import said_together
from bot.views.verdict import whole
from core.debate.state import Debate
from core.errors import BadInput

NO_PAGES = (
    "Debates are not shared as pages here: whoever runs Moot has not switched that on "
    "(MOOT_PAGES_URL). Nothing was done."
)


def register(app: AsyncApp, context: ListenerContext) -> None:
    on_click(app, context, ActionId.ASK, open_ask_form)
    on_click(app, context, ActionId.ASK_THIS, ask_what_was_written)
    on_form(app, context, CallbackId.ASK_FORM, take_question)
    on_click(app, context, ActionId.SHARE_PAGE, share_clicked)
    on_click(app, context, ActionId.READ_ALL, read_all)


async def open_ask_form(context: ListenerContext, click: Click) -> None:
    debate = await context.debate_to_join(click.value, click)
    context.acts.ask.check(debate)
    await context.open(click, ask_form(debate))


async def ask_what_was_written(context: ListenerContext, click: Click) -> MessageView:
    """Put a message of the thread to the judge; repeated clicks change nothing."""
    offer = json_values(click)
    debate = await context.debate_to_join(offer["debate"], click)
    await context.acts.ask.ask(
        debate.id, question_id=offer["message"], by=person(click), text=offer["text"]
    )
    return notice("The judge answers in the thread.")


async def take_question(context: ListenerContext, form: FormSubmission) -> None:
    debate = await context.debate_to_join(form.metadata.get("debate", ""), form)
    await context.acts.ask.ask(
        debate.id, question_id=form.view_id, by=person(form), text=form.text_of(FieldId.QUESTION)
    )


async def share_clicked(context: ListenerContext, click: Click) -> MessageView:
    return await share_page(context, await context.debate(click.value, click))


async def share_page(context: ListenerContext, debate: Debate) -> MessageView:
    if context.acts.share is None:
        raise BadInput(NO_PAGES)
    return page_link(debate, await context.acts.share.share(debate))


async def withdraw_page(context: ListenerContext, debate: Debate) -> MessageView:
    if context.acts.share is None:
        raise BadInput(NO_PAGES)
    return withdrawn(debate.id, had_page=await context.acts.share.withdraw(debate))


async def read_all(context: ListenerContext, click: Click) -> None:
    debate_id, _, what = click.value.partition("/")
    debate = await context.debate(debate_id, click)
    contribution = debate.contributions.get(what)
    if what == VERDICT and debate.verdict:
        fold = whole(debate, debate.verdict)
    elif contribution:
        fold = everything(debate, contribution.turn, said_together(debate, contribution.turn))
    else:
        raise BadInput(answers.NOTHING_TO_READ)
    await context.open(click, text_form(READ_ALL, in_full(fold, FORM_BLOCKS)))
