"""*Read it all*: what a post folds away, in a window of its own."""

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.context import ListenerContext
from bot.listeners.interactions import on_click
from bot.slack.ids import ActionId
from bot.slack.limits import FORM_BLOCKS
from bot.slack.mrkdwn.newer_blocks import READ_ALL
from bot.slack.payloads import Click
from bot.views.fold import VERDICT, in_full
from bot.views.forms import text_form
from bot.views.group_post import everything
from bot.views.turn_groups import said_together
from bot.views.verdict import whole
from core.errors import BadInput


def register(app: AsyncApp, context: ListenerContext) -> None:
    """Listen to the button."""
    on_click(app, context, ActionId.READ_ALL, read_all)


async def read_all(context: ListenerContext, click: Click) -> None:
    """Open a window with everything."""
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
