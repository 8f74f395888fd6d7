"""Replies in a debate's thread become notes; a mention is understood as the command would be.

Bolt acknowledges events before their listener runs. What must not be lost is therefore recorded in
a middleware, which runs before the acknowledgement: if it fails, Slack delivers the event again.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.commands import answer_to
from bot.listeners.context import ListenerContext, place
from bot.listeners.typed import Doctor, OpenForm, OpenSettings, TypedQuestion, understood
from bot.slack.ids import after_end_key, board_key, note_id
from bot.slack.payloads import Command, MessageEvent
from bot.store.posts import Channel, NewPost, PostState
from core.errors import BadInput, MootError, StoreError
from core.models import Person
from core.opening import DebateRequest
from core.use_cases.answer import PersonsReply

#: Looks for a board that is being posted, and seconds between them: Slack waits for three.
_LOOKS = 15
_LOOK_SECONDS = 0.1

Next = Callable[[], Awaitable[None]]
Body = dict[str, Any]


class BoardUnknownYet(MootError):
    """A message is in the thread of a board whose post is still in doubt."""


def register(app: AsyncApp, context: ListenerContext, on_unrecorded: Callable[[], None]) -> None:
    """Listen to messages and mentions."""

    async def record_reply(body: Body, next_: Next) -> None:
        try:
            await take_reply(context, MessageEvent.model_validate(body))
        except StoreError:
            on_unrecorded()  # Slack repeats it for five minutes only
            raise
        await next_()

    async def record_question(body: Body, next_: Next) -> None:
        await take_mention(context, MessageEvent.model_validate(body))
        await next_()

    @app.event("message", middleware=[record_reply])
    async def message() -> None:
        """Everything was done before the acknowledgement."""

    @app.event("app_mention", middleware=[record_question])
    async def mention() -> None:
        """Everything was done before the acknowledgement."""


async def take_reply(context: ListenerContext, event: MessageEvent) -> None:
    """Take a person's reply in a debate's thread as answer or note; the presenter says which."""
    said, by = event.question, event.message.user
    if not said or not event.message.is_thread_reply_of_person:
        return
    debate_id = await _debate_of_thread(context, event)
    if debate_id is None:
        return
    name = await context.access.of(event.team_id).name_of(by)
    reply = PersonsReply(
        debate_id=debate_id,
        by=Person(id=by, name=name),
        text=said,
        origin=note_id(event.message.channel, event.message.ts),
    )
    try:
        is_taken = await context.answer.reply(reply)
    except BadInput as refusal:
        # By the message's own id: it is refused once, however often it is delivered or read.
        await _whisper(context, event, {"text": str(refusal)}, key=f"{reply.origin}/answer")
        return
    if not is_taken:
        debate = await context.answer.facts.debate(debate_id)
        # By its key each person hears it once.
        too_late = NewPost(
            key=after_end_key(debate_id, by),
            workspace=event.team_id,
            channel=event.message.channel,
            method="ephemeral",
            payload={"user": by, "text": answers.ended(debate)},
            debate_id=debate_id,
            thread_key=board_key(debate_id),
        )
        await context.outbox.post([too_late])


async def take_mention(context: ListenerContext, event: MessageEvent) -> None:
    """Start a debate on what the bot was asked; in a debate's own thread it is a note.

    What is no question is answered like the command, for who mentioned the bot only; forms and
    what takes long need the command itself.
    """
    said = event.message
    if said.bot_id or not said.user or await _debate_of_thread(context, event):
        return
    name = await context.access.of(event.team_id).name_of(said.user)
    match understood(event.question):
        case TypedQuestion(text=question):
            request = DebateRequest(
                question=question,
                asked_by=Person(id=said.user, name=name),
                place=place(event.team_id, said.channel),
            )
            try:
                await context.start.start(request, origin=event.event_id)
            except BadInput as refusal:
                words = answers.not_started(str(refusal), question)
                await _whisper(context, event, {"text": words})
            return
        case OpenForm():
            answer = answers.words(answers.MENTIONED)
        case OpenSettings():
            answer = answers.words(answers.command_only("settings"))
        case Doctor():
            answer = answers.words(answers.command_only("doctor"))
        case typed:
            command = Command(
                command="/debate",
                text=event.question,
                user_id=said.user,
                user_name=name,
                channel_id=said.channel,
                team_id=event.team_id,
                trigger_id=event.event_id,
            )
            try:
                answer = await answer_to(context, command, typed)
            except BadInput as refusal:
                answer = answers.words(str(refusal))
    await _whisper(context, event, answer.payload)


async def _debate_of_thread(context: ListenerContext, event: MessageEvent) -> str | None:
    """Return the debate whose board began the message's thread.

    A board just posted may be known to Slack before it is known to us: then we wait a little.

    Raises:
        BoardUnknownYet: It still is not known; Slack will deliver the message again.
    """
    thread_ts = event.message.thread_ts
    if not thread_ts:
        return None
    channel = Channel(event.team_id, event.message.channel)
    for _ in range(_LOOKS):
        # In this order: a board that arrives between the two is found.
        first = await context.posts.next_for(channel)
        found = await context.posts.debate_of_thread(channel, thread_ts)
        is_board_under_way = (
            first is not None
            and first.debate_id is not None
            and first.state is PostState.SENDING
            and first.key == board_key(first.debate_id)
        )
        if found or not is_board_under_way:
            return found
        await context.clock.sleep(_LOOK_SECONDS)
    raise BoardUnknownYet


async def _whisper(
    context: ListenerContext, event: MessageEvent, payload: Mapping[str, Any], *, key: str = ""
) -> None:
    """Answer an event for its author only, once however often it is delivered."""
    post = NewPost(
        key=key or f"{event.event_id}/answer",
        workspace=event.team_id,
        channel=event.message.channel,
        method="ephemeral",
        payload={"user": event.message.user, **payload},
    )
    await context.outbox.post([post])
