"""A mention is understood as the command: it starts a debate, or asks about a decided one."""

import asyncio
import re
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.commands import (
    answer_to,
    begin,
    command_of,
    debate_request,
    decisions_asked_for,
    in_thread,
)
from bot.listeners.context import ListenerContext, acknowledged, place, recorded
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
from bot.views.notices import asked_back, greeting, preview
from core.debate.people import Mention, Person
from core.debate.state import Status
from core.errors import BadInput
from core.use_cases.recall import asks_what_was_decided

_log = logger(__name__)

#: A choice between two options.
_CHOICE = re.compile(r"\b(?:or|oder|vs|versus)\b", re.IGNORECASE)
#: Kind of delivery under which a mention is remembered.
MENTION = "mention"


def register(app: AsyncApp, context: ListenerContext) -> None:
    async def take(context: ListenerContext, body: dict[str, Any]) -> None:
        event = MessageEvent.model_validate(body)
        await handle_mention(IncomingMessage(context, event.team_id, event.message))

    app.event("app_mention", middleware=[recorded(context, take)])(acknowledged)


def is_greeting(text: str, reading: Reading) -> bool:
    """Whether a mention asks for nothing: emoji only, or one or two words such as "thanks"."""
    if isinstance(reading, UnclearText):
        return is_emoji_only(text) or not (reading.is_similar or has_question_mark(text))
    return is_emoji_only(text) or isinstance(reading, OpenForm)


def is_question(text: str) -> bool:
    """Whether a text has a question mark or a choice: "or", "oder" or "vs"."""
    return has_question_mark(text) or bool(_CHOICE.search(text))


async def handle_mention(message: IncomingMessage) -> None:
    """Start a debate on what the bot was asked.

    In a debate's own thread it is a note while that runs, and a question about it afterwards.

    A mention's id is its channel and message, so that an edited one, which Slack sends again,
    starts nothing. Other texts are answered like the command, ephemerally; forms and slow commands
    need the command itself.
    """
    if not await message.calls_bot():
        return  # only in code, or in what it quotes
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
    # The search for missed mentions leaves this one out.
    await context.records.deliveries.seen(MENTION, message.origin, context.clock.now())


async def _answer_mention(message: IncomingMessage) -> None:
    """Answer a mention outside the threads of debates, or a subcommand within them, once."""
    key = f"{message.origin}/answer"
    if await message.context.posts.row_by_key(key):
        return  # it was answered, and edited since
    try:
        answer = await _answer(message)
    except BadInput as refusal:
        answer = notice(str(refusal))
    if answer:
        await message.tell(answer.payload, key=key)


async def _answer(message: IncomingMessage) -> MessageView | None:
    """Do what a mention says; return the answer, or None where a debate begins."""
    posted, origin = message.posted, message.origin
    words, by = await asyncio.gather(message.words(), message.author())
    text = "".join(words)
    reading, has_more = parse_typed(text), bool(posted.files or posted.forwarded)
    if isinstance(reading, UnclearText) and has_more:
        reading = TypedQuestion(reading.text)  # a file beside two words makes a question
    if is_greeting(text, reading):
        return greeting()
    if isinstance(reading, TypedQuestion):
        is_sure = (
            is_question(reading.text) or reading.has_options or asks_what_was_decided(reading.text)
        )
        is_sure = is_sure or has_more or bool(posted.thread_ts)
        if not is_sure and len(text) <= MOST_COMMAND_CHARS:
            return preview(reading.text, origin=origin, ts=posted.ts)
        return await _debate(message, reading, by, typed="" if has_more else text)
    if isinstance(reading, UnclearText):
        form, command, thread = reading.subcommand.form, reading.command, posted.thread_ts
        return asked_back(text, form, command, origin=origin, ts=posted.ts, thread=thread)
    return await _as_command(message, reading, by, text)


async def _as_command(
    message: IncomingMessage, reading: Reading, by: Person, text: str
) -> MessageView | None:
    """Do what `/debate` and the same words would, as far as a mention can."""
    row = reading.subcommand if isinstance(reading, SubcommandCall) else None
    if row and (row.opens_form or row.is_private):
        return notice(answers.command_only(text))
    command = command_of(text, by, place(message.team, message.posted.channel), message.origin)
    return await answer_to(message.context, command, reading)


async def _debate(
    message: IncomingMessage, question: TypedQuestion, by: Person, *, typed: str
) -> MessageView | None:
    """Start the debate a mention asks for (None: its board says so), or answer what was decided."""
    context, team, posted = message.context, message.team, message.posted
    if decided := await decisions_asked_for(context, question, by.id, team):
        return decided
    here, forwarded = place(team, posted.channel), await message.forwarded()
    request = debate_request(question, by, here, forwarded)
    request = replace(request, references=file_references(posted.files, by))
    if posted.thread_ts:
        mention = Mention(message=posted.ts, thread=posted.thread_ts)
        request = await in_thread(context, request, mention)
    begun = await begin(context, request, posted.text, origin=message.origin, typed=typed)
    return begun if isinstance(begun, MessageView) else None


async def _ask(message: IncomingMessage, debate_id: str) -> None:
    """Put a mention in the thread of a decided debate to its judge; commands are carried out.

    While the debate runs, a mention is a note, which is recorded as any reply is.
    """
    context = message.context
    if await context.posts.row_by_key(f"{message.origin}/steer"):
        return  # a line of it steered the debate
    debate = await context.acts.ask.facts.debate(debate_id)
    words = " ".join("".join(await message.words()).split())
    reading = parse_typed(words)
    is_over = debate.status is not Status.RUNNING and debate.verdict is not None
    is_order = isinstance(reading, SubcommandCall) or is_emoji_only(words)
    if is_order or (is_over and is_greeting(words, reading)):
        await _answer_mention(message)
        return
    if not is_over:
        return
    by = await message.author()
    try:
        await context.check_taking_part(by.id, debate.setup.place)
        await context.acts.ask.ask(debate_id, question_id=message.origin, by=by, text=words)
    except BadInput as refusal:
        await message.tell(str(refusal), key=f"{message.origin}/answer", debate_id=debate_id)
