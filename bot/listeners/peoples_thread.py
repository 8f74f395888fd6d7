"""A thread of people's own, read in the seconds that Slack waits, for a message in it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.listeners.context import ListenerContext
from bot.log import logger
from bot.slack.access import UNREACHED
from bot.slack.payloads import PostedMessage, ThreadPage
from bot.slack.typed_text import names_of, people_in
from core.errors import MootError

_log = logger(__name__)

#: The most messages per call that Slack advises.
#: Source: https://docs.slack.dev/reference/methods/conversations.replies
_PAGE = 200


@dataclass(frozen=True, kw_only=True)
class ThreadRead:
    """What people wrote in a thread, in order."""

    messages: Sequence[PostedMessage]
    #: Slack let us read to its end.
    is_whole: bool
    #: Id → what people call them.
    names: dict[str, str]


async def read_thread(
    context: ListenerContext, team: str, channel: str, root: str, *, without: str = ""
) -> ThreadRead:
    """Read a thread as far as it is possible in `timeouts.thread` seconds.

    Args:
        context: Of the listeners.
        team: The workspace.
        channel: Where the thread is.
        root: Its first message.
        without: A message to leave out: the one that asked.
    """
    messages: list[PostedMessage] = []
    is_whole = False
    try:
        async with asyncio.timeout(context.timeouts.thread):
            workspace = await context.clients.of(team)
            pages = await workspace.client.conversations_replies(
                channel=channel, ts=root, limit=_PAGE
            )
            async for answer in pages:
                messages += ThreadPage.model_validate(answer.data).messages
            is_whole = True
    except (SlackApiError, *UNREACHED, MootError) as error:
        _log.warning("thread of people not read to its end", reason=type(error).__name__)
    posts = [message for message in messages if message.ts != without and message.words]
    return ThreadRead(
        messages=posts,
        is_whole=is_whole,
        names=await names_of(context.access.of(team), people_in(posts)),
    )


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters, with a mark where it was cut."""
    mark = " [… cut here]"
    return text if len(text) <= most else text[: max(0, most - len(mark))] + mark
