"""A thread of people's own, read as context for a debate that is asked for in it."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.listeners.context import ListenerContext
from bot.log import logger
from bot.slack.access import UNREACHED, Access
from bot.slack.payloads import PostedMessage, ThreadPage, plain
from core.errors import MootError
from core.figures import counted

_log = logger(__name__)

#: Seconds for reading, and for asking who people are: Slack waits three for our answer.
READ_SECONDS = 1.3
NAME_SECONDS = 0.7
#: The most messages per call that Slack advises.
#: Source: https://docs.slack.dev/reference/methods/conversations.replies
_PAGE = 200
#: People whose names are asked for.
_MOST_NAMES = 40
_HEAD = "The thread in which people asked for this debate:"
_NOT_READ = "[The rest of the thread could not be read in time.]"
_MARKUP = re.compile(r"<(?P<sign>[@#!]?)(?P<what>[^<>|]{1,3000})(?:\|(?P<label>[^<>]{0,3000}))?>")


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
    """Read a thread as far as Slack lets us in about two seconds.

    Args:
        context: What listeners work with.
        team: The workspace.
        channel: Where the thread is.
        root: Its first message.
        without: A message to leave out: the one that asked.
    """
    found: list[PostedMessage] = []
    is_whole = False
    try:
        async with asyncio.timeout(READ_SECONDS):
            workspace = await context.clients.of(team)
            is_whole = await _read_pages(workspace.client, channel, root, found)
    except (SlackApiError, *UNREACHED, MootError) as error:
        _log.warning("thread of people not read to its end", reason=type(error).__name__)
    said = [one for one in found if one.ts != without and one.words]
    people = dict.fromkeys(one.user for one in said if one.user)
    mentioned = (
        match["what"]
        for one in said
        for match in _MARKUP.finditer(one.text)
        if match["sign"] == "@"
    )
    wanted = list(dict.fromkeys([*people, *mentioned]))[:_MOST_NAMES]
    return ThreadRead(
        messages=said,
        is_whole=is_whole,
        names=await _names(context.access.of(team), wanted),
    )


async def _read_pages(
    client: AsyncWebClient, channel: str, root: str, found: list[PostedMessage]
) -> bool:
    """Read page after page into `found`; True at the end of the thread."""
    wanted: dict[str, Any] = {"channel": channel, "ts": root, "limit": _PAGE}
    while True:
        answer = await client.conversations_replies(**wanted)
        page = ThreadPage.model_validate(answer.data)
        found += page.messages
        if not page.next_cursor:
            return True
        wanted["cursor"] = page.next_cursor


async def _names(access: Access, people: Sequence[str]) -> dict[str, str]:
    """What people are called, as far as Slack says so in time."""
    known: dict[str, str] = {}

    async def ask(person: str) -> None:
        known[person] = await access.name_of(person)

    asking = [asyncio.create_task(ask(person)) for person in people]
    if asking:
        _, late = await asyncio.wait(asking, timeout=NAME_SECONDS)
        for task in late:
            task.cancel()
    return {person: name for person, name in known.items() if name}


def as_context(thread: ThreadRead, most: int) -> str:
    """Return a thread as context of a debate (pure): who wrote what, at most so many characters.

    Where it is too long, its beginning and its newest messages stay, with a mark between them.
    """
    lines = [
        f"{thread.names.get(one.user, one.user) or one.username or 'An app'}: "
        f"{readable(one.text, thread.names)}"
        for one in thread.messages
    ]
    end = [] if thread.is_whole else [_NOT_READ]
    whole = "\n".join([_HEAD, *lines, *end])
    if len(whole) <= most or not lines:
        return whole if lines or end else ""
    room = most - len("\n".join([_HEAD, *end])) - len(_left_out(len(lines))) - 3
    first = cut(lines[0], room // 2)
    kept: list[str] = []
    left = room - len(first)
    for line in reversed(lines[1:]):
        left -= len(line) + 1
        if left < 0:
            break
        kept.insert(0, line)
    if not kept and len(lines) > 1:
        kept = [cut(lines[-1], room - len(first) - 1)]
    missing = len(lines) - 1 - len(kept)
    mark = [_left_out(missing)] if missing else []
    return "\n".join([_HEAD, first, *mark, *kept, *end])


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters, with a mark where it was cut."""
    mark = " [… cut here]"
    return text if len(text) <= most else text[: max(0, most - len(mark))] + mark


def readable(text: str, names: dict[str, str]) -> str:
    """Return what was typed with names and addresses in place of Slack's marks."""

    def shown(match: re.Match[str]) -> str:
        what, label = match["what"], match["label"] or ""
        match match["sign"]:
            case "@":
                return f"@{names.get(what) or label or what}"
            case "#":
                return f"#{label or what}"
            case "!":
                return label or f"@{what.partition('^')[0]}"
            case _:
                return f"{label} ({what})" if label and label != what else what

    return plain(_MARKUP.sub(shown, text)).strip()


def _left_out(number: int) -> str:
    return f"[… {counted(number, 'message')} left out here: the thread is too long]"
