"""Mentions of the bot: as text after `/debate`, or as a question about a decided debate."""

import asyncio
import re
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.commands import (
    answer_to,
    as_command,
    debate_request,
    find_decisions,
    start_or_explain,
    with_thread,
)
from bot.listeners.context import ListenerContext, acknowledge, place, record_first
from bot.listeners.messages import IncomingMessage
from bot.listeners.typed import (
    MOST_COMMAND_CHARS,
    OpenForm,
    Reading,
    SubcommandCall,
    TypedQuestion,
    UnclearText,
    parse_typed,
)
from bot.log import logger
from bot.slack.evidence import file_references
from bot.slack.payloads import MessageEvent
from bot.slack.typed_text import has_question_mark, is_emoji_only
from bot.views.message import MessageView, notice
from bot.views.notices import confirm_command, greeting, preview
from core.debate.people import Mention, Person
from core.debate.state import Status
from core.errors import BadInput
from core.use_cases.recall import is_about_decision

_log = logger(__name__)

#: A choice between two options.
_CHOICE = re.compile(r"\b(?:or|oder|vs|versus)\b", re.IGNORECASE)
#: The kind of delivery under which handled mentions are recorded.
MENTION = "mention"


def register(app: AsyncApp, context: ListenerContext) -> None:
    async def record(context: ListenerContext, body: dict[str, Any]) -> None:
        event = MessageEvent.model_validate(body)
        await handle_mention(IncomingMessage(context, event.team_id, event.message))

    app.event("app_mention", middleware=[record_first(context, record)])(acknowledge)


def is_greeting(text: str, reading: Reading) -> bool:
    """Whether a mention asks for nothing: emoji only, or one or two words such as "thanks"."""
    if isinstance(reading, UnclearText):
        return is_emoji_only(text) or not (reading.is_similar or has_question_mark(text))
    return is_emoji_only(text) or isinstance(reading, OpenForm)


def is_question(text: str) -> bool:
    """Whether a text has a question mark or a choice: "or", "oder" or "vs"."""
    return has_question_mark(text) or bool(_CHOICE.search(text))


async def handle_mention(message: IncomingMessage) -> None:
    """Answer a mention like the command, privately; it may start a debate.

    In the thread of a debate, it is a note while the debate runs, and a question to the judge
    afterwards. Slack sends a mention again when it is edited; this has no effect, because the id of
    a mention is its channel and timestamp. Forms and private subcommands need the command itself.
    """
    if not await message.calls_bot():
        return  # the mention is in code or in a quote
    posted, context = message.posted, message.context
    if not await message.is_by_person():
        _log.info("mention by an app left alone", channel=posted.channel, app=posted.bot_id)
        return
    debate_id = await message.debate_id()
    async with message.log_failures():
        if debate_id is None:
            await _answer_mention(message)
        else:
            await _ask(message, debate_id)
    # So that the search for missed mentions skips it.
    await context.records.deliveries.seen(MENTION, message.origin, context.clock.now())


async def _answer_mention(message: IncomingMessage) -> None:
    """Answer a mention that is no question about a debate, once."""
    key = f"{message.origin}/answer"
    if await message.context.posts.row_by_key(key):
        return  # it was answered before, and edited since
    try:
        answer = await _answer(message)
    except BadInput as refusal:
        answer = notice(str(refusal))
    if answer:
        await message.answer_privately(answer.payload, key=key)


async def _answer(message: IncomingMessage) -> MessageView | None:
    """Carry out the text of a mention; return the answer, or None if a debate was started."""
    posted, origin = message.posted, message.origin
    parts, author = await asyncio.gather(message.text_parts(), message.author())
    text = "".join(parts)
    reading, has_more = parse_typed(text), bool(posted.files or posted.forwarded)
    if isinstance(reading, UnclearText) and has_more:
        reading = TypedQuestion(reading.text)  # with a file, two words are a question
    if is_greeting(text, reading):
        return greeting()
    if isinstance(reading, TypedQuestion):
        if not _is_certain(message, reading) and len(text) <= MOST_COMMAND_CHARS:
            return preview(reading.text, origin=origin, ts=posted.ts)
        return await _debate(message, reading, author, retry_text="" if has_more else text)
    if isinstance(reading, UnclearText):
        form, command, thread = reading.subcommand.form, reading.command, posted.thread_ts
        return confirm_command(text, form, command, origin=origin, ts=posted.ts, thread=thread)
    row = reading.subcommand if isinstance(reading, SubcommandCall) else None
    if row and (row.opens_form or row.is_private):
        return notice(answers.command_only(text))
    command = as_command(text, author, place(message.team, message.posted.channel), message.origin)
    return await answer_to(message.context, command, reading)


def _is_certain(message: IncomingMessage, question: TypedQuestion) -> bool:
    """Whether the author wants a debate for certain, by the question's form or what comes with it.

    Otherwise the author is asked first.
    """
    text, posted = question.text, message.posted
    is_asked = is_question(text) or question.has_options or is_about_decision(text)
    return is_asked or bool(posted.files or posted.forwarded or posted.thread_ts)


async def _debate(
    message: IncomingMessage, question: TypedQuestion, author: Person, *, retry_text: str
) -> MessageView | None:
    """Start the debate that a mention asks for, or answer with earlier decisions.

    Returns None if a debate was started: its board is the answer.
    """
    context, team, posted = message.context, message.team, message.posted
    if decisions := await find_decisions(context, question, author.id, team):
        return decisions
    here, forwarded = place(team, posted.channel), await message.forwarded()
    request = debate_request(question, author, here, forwarded)
    request = replace(request, references=file_references(posted.files, author))
    if posted.thread_ts:
        mention = Mention(message=posted.ts, thread=posted.thread_ts)
        request = await with_thread(context, request, mention)
    started = await start_or_explain(
        context, request, posted.text, origin=message.origin, retry_text=retry_text
    )
    return started if isinstance(started, MessageView) else None


async def _ask(message: IncomingMessage, debate_id: str) -> None:
    """Ask the judge the question in the thread of a decided debate; subcommands are run.

    While the debate runs, a mention is a note: `record_reply` records it like any reply.
    """
    context = message.context
    if await context.posts.row_by_key(f"{message.origin}/steer"):
        return  # it had a line that steered the debate
    debate = await context.acts.ask.facts.debate(debate_id)
    text = " ".join("".join(await message.text_parts()).split())
    reading = parse_typed(text)
    is_over = debate.status is not Status.RUNNING and debate.verdict is not None
    is_order = isinstance(reading, SubcommandCall) or is_emoji_only(text)
    if is_order or (is_over and is_greeting(text, reading)):
        await _answer_mention(message)
        return
    if not is_over:
        return
    author = await message.author()
    try:
        await context.check_taking_part(author.id, debate.setup.place)
        await context.acts.ask.ask(debate_id, question_id=message.origin, by=author, text=text)
    except BadInput as refusal:
        await message.answer_privately(
            str(refusal), key=f"{message.origin}/answer", debate_id=debate_id
        )
