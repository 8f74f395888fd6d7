"""Replies in a debate's thread become answers or notes, or steer the debate.

Bolt acknowledges events before their listener runs. What must not be lost is therefore recorded in
a middleware, which runs before the acknowledgement: if it fails, Slack delivers the event again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.context import ListenerContext, place
from bot.listeners.linked import take_links
from bot.listeners.typed import (
    Order,
    Steering,
    has_question_mark,
    read,
    says_nothing,
    steering,
)
from bot.log import logger
from bot.slack.access import SlackSilent
from bot.slack.evidence import file_references
from bot.slack.ids import FILES, LINKS, after_end_key, board_key, note_id
from bot.slack.payloads import (
    DELETED,
    ChangeEvent,
    ChangeOfMessage,
    Delivery,
    MessageEvent,
    PostedMessage,
)
from bot.slack.typed_text import (
    has_words,
    links_in,
    mentioned_in,
    names_of,
    readable,
    split_addressee,
    told_bot,
)
from bot.store.channel import Channel
from bot.views.clarifications import which_question
from bot.views.follow_up import MOST_OFFERED, ask_offer
from core.debate.people import Person
from core.debate.state import Status
from core.errors import BadInput, LogBroken, MootError, NotesFull, StoreError
from core.redaction import redact
from core.rules.schedule import open_questions
from core.use_cases.answer import PersonsReply, ReplyOutcome

_log = logger(__name__)

#: Looks for a board that is being posted, and seconds between them: Slack waits for three.
_LOOKS = 15
_LOOK_SECONDS = 0.1

Next = Callable[[], Awaitable[None]]
Body = dict[str, Any]


class BoardUnknownYet(MootError):
    """A message is in the thread of a board whose post is still in doubt."""


def register(app: AsyncApp, context: ListenerContext) -> None:
    """Listen to messages."""

    async def record_reply(body: Body, next_: Next) -> None:
        event = ChangeEvent.model_validate(body)
        edited, deleted = event.change.edit, event.change.deletion
        try:
            if edited:
                await take_edit(context, event.team_id, edited)
            elif root := _root_deleted(event.change):
                await _lose_board(context, Channel(event.team_id, event.change.channel), root)
            elif deleted:
                await take_deletion(context, event.team_id, deleted)
            else:
                await take_reply(context, MessageEvent.model_validate(body))
        except LogBroken as error:  # permanent: Slack need not repeat it
            message = edited or deleted or MessageEvent.model_validate(body).message
            await report_broken_log(context, event.team_id, message, error)
        except StoreError:
            context.on_unrecorded()  # Slack repeats it for five minutes only
            raise
        await next_()

    @app.event("message", middleware=[record_reply])
    async def message() -> None:
        """Everything was done before the acknowledgement."""


async def take_reply(context: ListenerContext, event: MessageEvent) -> None:
    """Take a person's reply in a debate's thread as answer or note; the presenter says which."""
    message = event.message
    if not message.is_reply or not await context.access.of(event.team_id).is_person(message):
        return
    debate_id = await debate_of_thread(context, event.team_id, message)
    if debate_id is None or not await _may_take_part(context, event.team_id, message, debate_id):
        return
    order, rest = await _steering_in(context, event.team_id, message)
    if order and await _steer(context, event.team_id, message, order, debate_id=debate_id):
        message = message.model_copy(update={"text": rest})
    # Slack delivers an order once more, as a mention.
    has_words_for_all = has_words(message.all_text) and not await is_order(
        context, event.team_id, message
    )
    # First the words: what they link to must not take the room of the last note from them.
    is_heard = not has_words_for_all or await _take(
        context, event.team_id, message, context.acts.answer.reply, debate_id=debate_id
    )
    await _take_evidence(context, event.team_id, message, debate_id, has_links=is_heard)


async def _may_take_part(
    context: ListenerContext, team: str, message: PostedMessage, debate_id: str
) -> bool:
    """Whether a reply reaches the agents; tell people of another organisation, once per debate.

    If Slack does not answer about the author, the reply is taken: it costs nothing.
    """
    try:
        await context.check_taking_part(message.user, place(team, message.channel))
    except SlackSilent:
        return True
    except BadInput as refusal:
        payload, key = {"text": str(refusal)}, f"{debate_id}/others/{message.user}"
        await whisper(context, team, message, payload, key=key, debate_id=debate_id)
        return False
    return True


async def _take_evidence(
    context: ListenerContext,
    team: str,
    message: PostedMessage,
    debate_id: str,
    *,
    has_links: bool,
) -> None:
    """Take the files and links of a reply as evidence, with notes of their own.

    Args:
        context: Of the listeners.
        team: The workspace.
        message: The reply.
        debate_id: The debate of its thread.
        has_links: Whether its links count: those in words that were refused do not.
    """
    if not message.files and not (has_links and links_in(message.text)):
        return
    by = Person(id=message.user, name=await context.access.of(team).name_of(message.user))
    origin, was_taken = note_id(message.channel, message.ts), True
    names = ", ".join(file.name or file.id for file in message.files)
    try:
        if message.files:
            was_taken = await context.acts.answer.note.add(
                debate_id,
                note_id=origin + FILES,
                author=by,
                text=f"[Attached as evidence: {names}]",
                references=file_references(message.files, by),
            )
    except BadInput as refusal:
        refused = {"text": f"About what you attached: {refusal}"}
        await whisper(context, team, message, refused, key=f"{origin}{FILES}/answer")
    debate = await context.acts.answer.facts.debate(debate_id)
    if has_links and origin not in debate.withdrawn:
        # An edit that brings links has a note of its own.
        note = "/".join(filter(None, (origin + LINKS, message.edited_at)))
        thread = message.thread_ts
        await take_links(context, debate, message.text, by, note=note, thread=thread)
    if not was_taken and not has_words(message.all_text):  # else its words are answered
        payload, key = {"text": answers.end_answer(debate)}, after_end_key(debate_id, by.id)
        await whisper(context, team, message, payload, key=key, debate_id=debate_id)


async def take_edit(context: ListenerContext, team: str, message: PostedMessage) -> None:
    """Take the new words of a reply in a debate's thread: they correct what it said.

    Its files are taken, too, where nobody listened when it was written, and links that are new.
    """
    debate_id = await debate_of_thread(context, team, message)
    if debate_id is None or not await _may_take_part(context, team, message, debate_id):
        return
    is_heard = await _take(context, team, message, context.acts.answer.edit, debate_id=debate_id)
    await _take_evidence(context, team, message, debate_id, has_links=is_heard)


def _root_deleted(change: ChangeOfMessage) -> str:
    """The timestamp of the first message of a thread that was deleted; empty: none was."""
    now, before = change.message, change.previous_message
    is_deleted = change.subtype == "message_deleted" or (now and now.subtype == DELETED)
    return before.ts if before and is_deleted and not before.is_reply else ""


async def _lose_board(context: ListenerContext, channel: Channel, ts: str) -> None:
    """Edit a deleted board no more, and say in its thread how the debate can be stopped."""
    debate_id = await context.posts.debate_of_thread(channel, ts)
    if debate_id and (row := await context.posts.row_by_key(board_key(debate_id))):
        await context.outbox.lose_post(row)


async def take_deletion(context: ListenerContext, team: str, message: PostedMessage) -> None:
    """Take back what a deleted reply said."""
    if not message.is_reply:
        return
    if debate_id := await debate_of_thread(context, team, message):
        await context.acts.answer.withdraw(debate_id, note_id(message.channel, message.ts))


async def _reply_of(
    context: ListenerContext, team: str, message: PostedMessage, debate_id: str
) -> PersonsReply:
    """What somebody wrote, with names in place of ids and the words that they forwarded."""
    (to, text), name = await asyncio.gather(
        readable_text(context, team, message), context.access.of(team).name_of(message.user)
    )
    return PersonsReply(
        debate_id=debate_id,
        by=Person(id=message.user, name=name),
        text="\n".join(filter(None, (text, await forwarded_to(context, team, message)))),
        to=to,
        origin=note_id(message.channel, message.ts),
        edited=message.edited_at,
        is_editable=True,
    )


async def _take(
    context: ListenerContext,
    team: str,
    message: PostedMessage,
    record: Callable[[PersonsReply], Awaitable[ReplyOutcome]],
    *,
    debate_id: str,
) -> bool:
    """Record a message of a debate's thread; tell its author what they need to know.

    Returns:
        False if it was refused.
    """
    reply = await _reply_of(context, team, message, debate_id)
    try:
        outcome = await record(reply)
    except BadInput as refusal:
        key = _refusal_key(context, reply, refusal)
        await whisper(context, team, message, {"text": str(refusal)}, key=key)
        return False
    if outcome is ReplyOutcome.UNCLEAR:
        await _ask_which(context, team, message, reply)
    elif outcome is ReplyOutcome.REFERRED:
        key = f"{'/'.join(filter(None, (reply.origin, reply.edited)))}/referred"
        payload = {"text": answers.REFERRED}
        await whisper(context, team, message, payload, key=key, debate_id=debate_id)
    elif outcome is ReplyOutcome.AFTER_END:
        await _say_ended(context, team, message, reply)
    return True


async def _ask_which(
    context: ListenerContext, team: str, message: PostedMessage, reply: PersonsReply
) -> None:
    """Ask the author of a note which question it answers."""
    debate_id, version = reply.debate_id, "/".join(filter(None, (reply.origin, reply.edited)))
    debate = await context.acts.answer.facts.debate(debate_id)
    if open_questions(debate):
        asking = which_question(debate, reply.origin, redact(reply.text)).payload
        key = f"{version}/which"
        await whisper(context, team, message, asking, key=key, debate_id=debate_id)


async def _say_ended(
    context: ListenerContext, team: str, message: PostedMessage, reply: PersonsReply
) -> None:
    """Offer to put a question to the judge; tell of anything else that nobody reads it, once."""
    debate_id, version = reply.debate_id, "/".join(filter(None, (reply.origin, reply.edited)))
    debate = await context.acts.answer.facts.debate(debate_id)
    bot = (await context.clients.of(team)).identity.user_id
    if debate.verdict and message.mentions(bot):
        return  # it is a question: Slack delivers it once more, as a mention
    if debate.verdict and has_question_mark(reply.text) and len(reply.text) <= MOST_OFFERED:
        payload, key = ask_offer(debate, reply.origin, reply.text).payload, f"{version}/ask"
    else:  # by its key each person hears it once
        payload, key = {"text": answers.end_answer(debate)}, after_end_key(debate_id, reply.by.id)
    await whisper(context, team, message, payload, key=key, debate_id=debate_id)


def _refusal_key(context: ListenerContext, reply: PersonsReply, refusal: BadInput) -> str:
    """Names what is told about a refusal: for want of room each person hears it once an hour."""
    if isinstance(refusal, NotesFull):
        return f"{reply.debate_id}/{reply.by.id}/full/{context.clock.now():%Y%m%d%H}"
    return "/".join(filter(None, (reply.origin, reply.edited, "answer")))


async def _steering_in(
    context: ListenerContext, team: str, message: PostedMessage
) -> tuple[Steering | None, str]:
    """What a message does to the debate of its thread, and the rest of its text."""
    bot = (await context.clients.of(team)).identity.user_id
    return steering(told_bot(message.text, bot))


async def _steer(
    context: ListenerContext,
    team: str,
    message: PostedMessage,
    order: Steering,
    *,
    debate_id: str,
) -> bool:
    """Do what a line in a running debate's thread says, as the board's button of that name does.

    Returns:
        Whether the debate ran when it came.
    """
    key = f"{note_id(message.channel, message.ts)}/steer"
    if await context.posts.row_by_key(key):
        return True  # delivered again
    debate = await context.acts.answer.facts.debate(debate_id)
    if debate.status is not Status.RUNNING:
        return False
    steer = {
        Steering.STOP: context.acts.steer.stop,
        Steering.PAUSE: context.acts.steer.pause,
        Steering.RESUME: context.acts.steer.resume,
        Steering.VOTE_NOW: context.acts.steer.call_vote,
    }[order]
    by = Person(id=message.user, name=await context.access.of(team).name_of(message.user))
    try:
        await steer(debate, by)
        answer = answers.STEERED[order]
    except BadInput as refusal:
        answer = str(refusal)
    await whisper(context, team, message, {"text": answer}, key=key, debate_id=debate_id)
    return True


async def is_order(context: ListenerContext, team: str, message: PostedMessage) -> bool:
    """Whether a message calls the bot with a subcommand, and tells the agents nothing."""
    if not message.mentions((await context.clients.of(team)).identity.user_id):
        return False
    words = "".join(await readable_text(context, team, message))
    return isinstance(read(words), Order) or says_nothing(words)


async def readable_text(
    context: ListenerContext, team: str, message: PostedMessage
) -> tuple[str, str]:
    """The addressee and the text of a message, with names of people in place of Slack's ids."""
    bot = (await context.clients.of(team)).identity.user_id
    names = await names_of(context.access.of(team), mentioned_in([message.text]))
    to, text = split_addressee(told_bot(message.text, bot))
    return f"{readable(to, names)} " if to else "", readable(text, names)


async def forwarded_to(context: ListenerContext, team: str, message: PostedMessage) -> str:
    """The forwarded text of a message, with names in place of ids; empty if none."""
    text = "\n".join(message.forwarded)
    names = await names_of(context.access.of(team), mentioned_in(message.forwarded))
    return readable(text, names)


async def debate_of_thread(
    context: ListenerContext, team: str, message: PostedMessage
) -> str | None:
    """Return the debate whose board began the message's thread.

    A board just posted may be in Slack before its row is settled: then wait a little.

    Raises:
        BoardUnknownYet: It still is not known; Slack will deliver the message again.
    """
    thread_ts = message.thread_ts
    if not thread_ts:
        return None
    channel = Channel(team, message.channel)
    for _ in range(_LOOKS):
        # In this order, as a board may arrive between the two.
        is_board_under_way = await context.posts.is_board_under_way(channel)
        debate_id = await context.posts.debate_of_thread(channel, thread_ts)
        if debate_id or not is_board_under_way:
            return debate_id
        await context.clock.sleep(_LOOK_SECONDS)
    raise BoardUnknownYet


async def say_too_fast(context: ListenerContext, body: Mapping[str, Any]) -> None:
    """Tell the author of an event, once an hour, that messages in a debate's thread were left out.

    Messages outside of debates' threads are ignored.
    """
    change = ChangeEvent.model_validate(body).change
    team, changed_message = Delivery.model_validate(body).team_id, change.edit or change.deletion
    message = changed_message or MessageEvent.model_validate(body).message
    if not message.is_reply or not await context.access.of(team).is_person(message):
        return
    if debate_id := await debate_of_thread(context, team, message):
        key = f"{debate_id}/{message.user}/fast/{context.clock.now():%Y%m%d%H}"
        payload = {"text": answers.TOO_FAST}
        await whisper(context, team, message, payload, key=key, debate_id=debate_id)


async def report_broken_log(
    context: ListenerContext, team: str, message: PostedMessage, error: LogBroken
) -> None:
    """Tell a message's author, ephemerally, that the log of its debate cannot be read."""
    _log.warning("message not taken", reason=str(error))
    payload, key = {"text": answers.LOG_BROKEN}, f"{note_id(message.channel, message.ts)}/answer"
    await whisper(context, team, message, payload, key=key)


async def whisper(
    context: ListenerContext,
    team: str,
    message: PostedMessage,
    payload: Mapping[str, Any],
    *,
    key: str,
    debate_id: str | None = None,
) -> None:
    """Say something to a message's author only, where they wrote, once however often it comes."""
    # In the thread, if they wrote there.
    here = {"thread_ts": message.thread_ts} if message.thread_ts not in {"", message.ts} else {}
    content = {"user": message.user, **here, **payload}
    channel = Channel(team, message.channel)
    await context.outbox.whisper(channel, content, key=key, debate_id=debate_id)
