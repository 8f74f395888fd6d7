"""A mention is understood as the command: it starts a debate, or asks about a decided one."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.commands import answer_to
from bot.listeners.context import ListenerContext, place
from bot.listeners.linked import start_with_links
from bot.listeners.messages import (
    debate_of_thread,
    forwarded_to,
    readable_text,
    report_broken_log,
    whisper,
)
from bot.listeners.typed import (
    MOST_ORDER_CHARS,
    AskBack,
    Order,
    Reading,
    TypedQuestion,
    is_greeted,
    read,
    says_nothing,
)
from bot.log import logger
from bot.slack.evidence import file_references, thread_reference
from bot.slack.ids import note_id
from bot.slack.payloads import (
    Command,
    MessageEvent,
    PostedMessage,
)
from bot.views.asked_back import asked_already, asked_back, greeting, preview
from bot.views.message import MessageView
from core.debate.people import Mention, Person
from core.debate.state import Status
from core.errors import BadInput, DuplicateQuestion, LogBroken, StoreError
from core.opening import DebateRequest
from core.use_cases.recall import asks_what_was_decided

_log = logger(__name__)

#: Kind of delivery under which a mention is remembered.
MENTION = "mention"

Next = Callable[[], Awaitable[None]]
Body = dict[str, Any]


def register(app: AsyncApp, context: ListenerContext) -> None:
    """Listen to mentions."""

    async def record_question(body: Body, next_: Next) -> None:
        try:
            await take_mention(context, MessageEvent.model_validate(body))
        except StoreError:
            context.on_unrecorded()
            raise
        await next_()

    @app.event("app_mention", middleware=[record_question])
    async def mention() -> None:
        """Everything was done before the acknowledgement."""


async def take_mention(context: ListenerContext, event: MessageEvent) -> None:
    """Start a debate on what the bot was asked.

    In a debate's own thread it is a note while that runs, and a question about it afterwards.

    A mention's id is its channel and message, so that an edited one, which Slack sends again,
    starts nothing. Other texts are answered like the command, ephemerally; forms and slow commands
    need the command itself.
    """
    message = event.message
    bot = (await context.clients.of(event.team_id)).identity.user_id
    if not message.mentions(bot):
        return  # only in code, or in what it quotes
    if not await context.access.of(event.team_id).is_person(message):
        _log.info("mention by an app left alone", channel=message.channel, app=message.bot_id)
        return
    origin = note_id(message.channel, message.ts)
    debate_id = await debate_of_thread(context, event.team_id, message)
    try:
        if debate_id is None:
            await _answer_mention(context, event, origin)
        else:
            await _ask(context, event, debate_id, origin)
    except LogBroken as error:  # permanent: no redelivery needed
        await report_broken_log(context, event.team_id, message, error)
    # The search for missed mentions leaves this one out.
    await context.records.deliveries.seen(MENTION, origin, context.clock.now())


async def _answer_mention(context: ListenerContext, event: MessageEvent, origin: str) -> None:
    """Answer a mention outside the threads of debates, or a subcommand within them, once."""
    if await context.posts.row_by_key(f"{origin}/answer"):
        return  # it was answered, and edited since
    if answer := await _answer(context, event, origin):
        key = f"{origin}/answer"
        await whisper(context, event.team_id, event.message, answer.payload, key=key)


async def _answer(context: ListenerContext, event: MessageEvent, origin: str) -> MessageView | None:
    """Do what a mention says; return the answer, or None where a debate begins."""
    message = event.message
    words, name = await asyncio.gather(
        readable_text(context, event.team_id, message),
        context.access.of(event.team_id).name_of(message.user),
    )
    text = "".join(words)
    reading, by = read(text), Person(id=message.user, name=name)
    if isinstance(reading, AskBack) and (message.files or message.forwarded):
        reading = TypedQuestion(reading.text)  # a file beside two words makes a question
    if is_greeted(text, reading):
        return greeting()
    if isinstance(reading, TypedQuestion):
        if not _is_sure(reading, message) and len(text) <= MOST_ORDER_CHARS:
            return preview(reading.text, origin=origin, ts=message.ts)
        return await _debate_mention(context, event, reading, by, origin=origin)
    if isinstance(reading, AskBack):
        form, command = reading.subcommand.form, reading.command
        return asked_back(
            reading.text, form, command, origin=origin, ts=message.ts, thread=message.thread_ts
        )
    command = Command(
        command="/debate",
        text=text,
        user_id=by.id,
        user_name=by.name,
        channel_id=message.channel,
        team_id=event.team_id,
        trigger_id=event.event_id,
    )
    return await _do_command(context, command, reading)


def _is_sure(reading: TypedQuestion, message: PostedMessage) -> bool:
    """Whether a mention is surely to be debated, or asks what was decided."""
    if reading.asks or reading.has_options or asks_what_was_decided(reading.text):
        return True
    return bool(message.thread_ts or message.files or message.forwarded)


async def _do_command(context: ListenerContext, command: Command, reading: Reading) -> MessageView:
    """Do what `/debate` and the same words would, as far as a mention can."""
    if isinstance(reading, Order) and (
        reading.subcommand.opens_form or reading.subcommand.is_private
    ):
        return answers.words(answers.command_only(command.text))
    try:
        return await answer_to(context, command, reading)
    except BadInput as refusal:
        return answers.words(str(refusal))


async def _debate_mention(
    context: ListenerContext,
    event: MessageEvent,
    question: TypedQuestion,
    by: Person,
    *,
    origin: str,
) -> MessageView | None:
    """Start the debate a mention asks for, or answer what was decided.

    Returns:
        The answer to the person; None: a debate begins, and its board says so.
    """
    message, team = event.message, event.team_id
    try:
        if not question.has_options and asks_what_was_decided(question.text):
            decisions = await context.acts.recall.for_person(
                question.text, person=by.id, workspace=team
            )
            return await context.lists.recalled_decisions(decisions)
        request = DebateRequest(
            question=question.text,
            context=await forwarded_to(context, team, message),
            asked_by=by,
            place=place(team, message.channel),
            format=question.format or None,
            playbook=question.playbook or None,
            when=question.when,
        )
        request = await _with_sources(context, team, message, request)
        await start_with_links(
            context, request, message.text, origin=origin, thread=message.thread_ts
        )
    except BadInput as refusal:
        text = answers.start_failure(str(refusal), question.text)
        # A button has no room for a long question, nor for files.
        is_whole = len(question.text) <= MOST_ORDER_CHARS and not (
            message.files or message.forwarded
        )
        if isinstance(refusal, DuplicateQuestion) and is_whole:
            typed = "".join(await readable_text(context, team, message))
            return asked_already(
                text, typed, origin=origin, ts=message.ts, thread=message.thread_ts
            )
        return answers.words(text)
    return None


async def _with_sources(
    context: ListenerContext, team: str, message: PostedMessage, request: DebateRequest
) -> DebateRequest:
    """Return the request with its evidence: the message's files, and the thread it is in."""
    by = request.asked_by
    references = file_references(message.files, by)
    if not message.thread_ts:
        return replace(request, references=references)
    address = await context.access.of(team).link_to(message.channel, message.thread_ts)
    thread = thread_reference(
        message.channel, message.thread_ts, without=message.ts, by=by, address=address
    )
    mention = Mention(message=message.ts, thread=message.thread_ts)
    return replace(request, references=(thread, *references), mention=mention)


async def _ask(context: ListenerContext, event: MessageEvent, debate_id: str, origin: str) -> None:
    """Put a mention in the thread of a decided debate to its judge; commands are carried out.

    While the debate runs, a mention is a note, which is recorded as any reply is.
    """
    message, team = event.message, event.team_id
    if await context.posts.row_by_key(f"{origin}/steer"):
        return  # a line of it steered the debate
    debate = await context.acts.ask.facts.debate(debate_id)
    words = " ".join("".join(await readable_text(context, team, message)).split())
    reading = read(words)
    is_over = debate.status is not Status.RUNNING and debate.verdict is not None
    if (
        isinstance(reading, Order)
        or says_nothing(words)
        or (is_over and is_greeted(words, reading))
    ):
        await _answer_mention(context, event, origin)
        return
    if not is_over:
        return
    by = Person(id=message.user, name=await context.access.of(team).name_of(message.user))
    try:
        await context.check_taking_part(by.id, debate.setup.place)
        await context.acts.ask.ask(debate_id, question_id=origin, by=by, text=words)
    except BadInput as refusal:
        payload = {"text": str(refusal)}
        await whisper(context, team, message, payload, key=f"{origin}/answer", debate_id=debate_id)
