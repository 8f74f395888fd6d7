"""A debate's page: shared with a link that only who asks for it is told, and taken back."""

from slack_bolt.async_app import AsyncApp

from bot.listeners.context import ListenerContext
from bot.listeners.interactions import on_click
from bot.slack.ids import ActionId
from bot.slack.payloads import Click
from bot.views.message import MessageView
from bot.views.notices import page_link, withdrawn
from core.debate.state import Debate
from core.errors import BadInput

NO_PAGES = (
    "Debates are not shared as pages here: whoever runs Moot has not switched that on "
    "(MOOT_PAGES_URL). Nothing was done."
)


def register(app: AsyncApp, context: ListenerContext) -> None:
    """Listen to the button."""
    on_click(app, context, ActionId.SHARE_PAGE, share_clicked)


async def share_clicked(context: ListenerContext, click: Click) -> MessageView:
    """Answer the button below the verdict."""
    return await share_page(context, await context.debate(click.value, click))


async def share_page(context: ListenerContext, debate: Debate) -> MessageView:
    """Return a link to the page of a debate that the person may see.

    Raises:
        BadInput: There are no pages, or the channel forbids them.
    """
    if context.acts.share is None:
        raise BadInput(NO_PAGES)
    return page_link(debate, await context.acts.share.share(debate))


async def withdraw_page(context: ListenerContext, debate: Debate) -> MessageView:
    """Let all links to a debate that the person may see end.

    Raises:
        BadInput: There are no pages.
    """
    if context.acts.share is None:
        raise BadInput(NO_PAGES)
    return withdrawn(debate.id, had_page=await context.acts.share.withdraw(debate))
