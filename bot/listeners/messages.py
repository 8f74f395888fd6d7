"""Replies in a debate's thread become notes; a mention is understood as the command would be.

Bolt acknowledges events before their listener runs. What must not be lost is therefore recorded in
a middleware, which runs before the acknowledgement: if it fails, Slack delivers the event again.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.commands import answer_to
from bot.listeners.reception import Reception, person, place
from bot.listeners.typed import Doctor, OpenForm, OpenSettings, Question, Typed, understood
from bot.people.answering import Reply
from bot.slack.ids import after_end_key, board_key, note_id
from bot.slack.payloads import Command, MessageEvent
from bot.store.posts import Channel, NewPost, PostState
from bot.views.message import Message
from core.errors import BadInput, MootError
from core.models import Debate
from core.opening import Wish

#: Looks for a board that is being posted, and seconds between them: Slack waits for three.
_LOOKS = 15
_LOOK_SECONDS = 0.1

Next = Callable[[], Awaitable[None]]
Body = dict[str, Any]


class BoardUnknownYet(MootError):
    """A message is in the thread of a board whose post is still in doubt."""


def register(app: AsyncApp, reception: Reception) -> None:
    """Listen to messages and mentions."""

    async def record_note(body: Body, next_: Next) -> None:
        await take_note(reception, MessageEvent.model_validate(body))
        await next_()

    async def record_question(body: Body, next_: Next) -> None:
        await take_question(reception, MessageEvent.model_validate(body))
        await next_()

    @app.event("message", middleware=[record_note])
    async def message() -> None:
        """Everything was done before the acknowledgement."""

    @app.event("app_mention", middleware=[record_question])
    async def mention() -> None:
        """Everything was done before the acknowledgement."""


async def take_note(reception: Reception, event: MessageEvent) -> None:
    """Take a person's reply in a debate's thread as answer or note; the presenter says which."""
    said = event.question
    if not said or not event.message.is_thread_reply_of_person:
        return
    debate_id = await _debate_of_thread(reception, event)
    if debate_id is None:
        return
    origin = note_id(event.message.channel, event.message.ts)
    by = person(
        event.message.user, await reception.access.of(event.team_id).name_of(event.message.user)
    )
    reply = Reply(debate_id=debate_id, by=by, text=said, origin=origin)
    try:
        taken = await reception.answering.take_reply(reply)
    except BadInput as refusal:
        # By the message's own id: it is refused once, however often it is delivered or read.
        whisper = replace(_whisper(event, str(refusal)), key=f"{origin}/answer")
        await reception.outbox.post([whisper])
        return
    if not taken:
        debate = await reception.commands.debate(debate_id, workspace=event.team_id)
        await reception.outbox.post([_after_the_end(event, debate)])


async def take_question(reception: Reception, event: MessageEvent) -> None:
    """Start a debate on what the bot was asked; in a debate's own thread it is a note.

    What is no question is answered like the command, for who mentioned the bot only.
    """
    said = event.message
    if said.bot_id or not said.user or await _debate_of_thread(reception, event):
        return
    name = await reception.access.of(event.team_id).name_of(said.user)
    match understood(event.question):
        case Question(text=question):
            await _start(reception, event, name, question)
        case typed:
            answer = await _answer(reception, event, name, typed)
            await reception.outbox.post([_whispered(event, answer.payload)])


async def _start(reception: Reception, event: MessageEvent, name: str, question: str) -> None:
    wish = Wish(
        question=question,
        asked_by=person(event.message.user, name),
        place=place(event.team_id, event.message.channel),
    )
    try:
        await reception.starting.start(wish, origin=event.event_id)
    except BadInput as refusal:
        words = answers.not_started(str(refusal), question)
        await reception.outbox.post([_whisper(event, words)])


async def _answer(reception: Reception, event: MessageEvent, name: str, typed: Typed) -> Message:
    """What the command would answer; forms and what takes long need the command itself."""
    match typed:
        case OpenForm():
            return answers.words(answers.MENTIONED)
        case OpenSettings():
            return answers.words(answers.command_only("settings"))
        case Doctor():
            return answers.words(answers.command_only("doctor"))
        case _:
            command = _as_command(event, name)
    try:
        return await answer_to(reception, command, typed)
    except BadInput as refusal:
        return answers.words(str(refusal))


def _as_command(event: MessageEvent, name: str) -> Command:
    """A mention as the command that says the same."""
    return Command(
        command="/debate",
        text=event.question,
        user_id=event.message.user,
        user_name=name,
        channel_id=event.message.channel,
        team_id=event.team_id,
        trigger_id=event.event_id,
    )


async def _debate_of_thread(reception: Reception, event: MessageEvent) -> str | None:
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
        under_way = await _is_board_under_way(reception, channel)
        found = await reception.posts.debate_of_thread(channel, thread_ts)
        if found or not under_way:
            return found
        await reception.clock.sleep(_LOOK_SECONDS)
    raise BoardUnknownYet


async def _is_board_under_way(reception: Reception, channel: Channel) -> bool:
    first = await reception.posts.next_for(channel)
    if first is None or first.debate_id is None or first.state is not PostState.SENDING:
        return False
    return first.key == board_key(first.debate_id)


def _after_the_end(event: MessageEvent, debate: Debate) -> NewPost:
    """The word to somebody who replies too late; by its key each person hears it once."""
    return NewPost(
        key=after_end_key(debate.id, event.message.user),
        workspace=event.team_id,
        channel=event.message.channel,
        method="ephemeral",
        payload={"user": event.message.user, "text": answers.ended(debate)},
        debate_id=debate.id,
        thread_key=board_key(debate.id),
    )


def _whisper(event: MessageEvent, words: str) -> NewPost:
    return _whispered(event, {"text": words})


def _whispered(event: MessageEvent, payload: Mapping[str, Any]) -> NewPost:
    return NewPost(
        key=f"{event.event_id}/answer",
        workspace=event.team_id,
        channel=event.message.channel,
        method="ephemeral",
        payload={"user": event.message.user, **payload},
    )
