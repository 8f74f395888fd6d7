"""Replies in a debate's thread become answers or notes, or steer the debate."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.context import ListenerContext, acknowledged, place, recorded
from bot.listeners.linked import record_links
from bot.listeners.typed import (
    SubcommandCall,
    parse_typed,
)
from bot.log import logger
from bot.slack.access import SlackUnavailable
from bot.slack.evidence import file_references
from bot.slack.ids import FILES, LINKS, after_end_key, board_key, note_id
from bot.slack.origins import DELETED
from bot.slack.payloads import ChangeOfMessage, MessageEvent, PostedMessage
from bot.slack.typed_text import (
    has_question_mark,
    has_words,
    is_emoji_only,
    links_in,
    mentioned_in,
    names_of,
    readable,
    split_addressee,
    with_names,
    without_bot_mention,
)
from bot.store.tables import Channel
from bot.views.clarifications import which_question
from bot.views.decision import MOST_OFFERED, ask_offer
from core.debate.people import Person
from core.debate.state import Debate, Status
from core.errors import BadInput, LogBroken, MootError, NotesFull
from core.redaction import redact
from core.rules.schedule import open_questions
from core.use_cases.messages import PersonsReply, ReplyOutcome

_log = logger(__name__)

#: Looks for a board that is being posted, and seconds between them: Slack waits for three.
_LOOKS = 15
_LOOK_SECONDS = 0.1

Body = dict[str, Any]


class Steering(StrEnum):
    """A line that, alone in a reply, does the same as the board's button of that name."""

    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"
    VOTE_NOW = "vote now"


_STEERED = {
    Steering.STOP: "The debate stops; the judge decides on what is there.",
    Steering.PAUSE: "The debate is paused. *Resume* on the board lets it go on.",
    Steering.RESUME: "The debate goes on.",
    Steering.VOTE_NOW: "The vote is called.",
}


class BoardUnknownYet(MootError):
    """A message is in the thread of a board whose post is still in doubt."""


@dataclass(frozen=True)
class IncomingMessage:
    """A message in Slack: whose it is, what it says, and how its author is answered."""

    context: ListenerContext
    team: str
    posted: PostedMessage

    @property
    def channel(self) -> Channel:
        return Channel(self.team, self.posted.channel)

    @property
    def origin(self) -> str:
        """Its id, the same on every delivery."""
        return note_id(self.posted.channel, self.posted.ts)

    @property
    def version(self) -> str:
        """The id of its words as they are now."""
        return "/".join(filter(None, (self.origin, self.posted.edited_at)))

    async def is_by_person(self) -> bool:
        """Whether a person wrote it, or an app in the name of one."""
        return await self.context.directories.of(self.team).is_person(self.posted)

    async def author(self) -> Person:
        name = await self.context.directories.of(self.team).name_of(self.posted.user)
        return Person(id=self.posted.user, name=name)

    async def bot(self) -> str:
        return (await self.context.clients.of(self.team)).identity.user_id

    async def calls_bot(self) -> bool:
        """Whether it mentions the bot outside of code and quotes."""
        return self.posted.mentions(await self.bot())

    async def words(self) -> tuple[str, str]:
        """The addressee and the text, with names of people in place of Slack's ids."""
        text, access = self.posted.text, self.context.directories.of(self.team)
        names = await names_of(access, mentioned_in([text]))
        to, text = split_addressee(without_bot_mention(text, await self.bot()))
        return f"{readable(to, names)} " if to else "", readable(text, names)

    async def forwarded(self) -> str:
        """The forwarded text, with names in place of ids; empty if none."""
        text = "\n".join(self.posted.forwarded)
        return await with_names(self.context.directories.of(self.team), text)

    async def is_order(self) -> bool:
        """Whether it calls the bot with a subcommand, and tells the agents nothing."""
        if not await self.calls_bot():
            return False
        words = "".join(await self.words())
        return isinstance(parse_typed(words), SubcommandCall) or is_emoji_only(words)

    async def debate_id(self) -> str | None:
        """Return the debate whose board began the thread it is in.

        A board just posted may be in Slack before its row is settled: then wait a little.

        Raises:
            BoardUnknownYet: It still is not known; Slack will deliver the message again.
        """
        if not self.posted.thread_ts:
            return None
        posts = self.context.posts
        for _ in range(_LOOKS):
            # In this order, as a board may arrive between the two.
            is_board_under_way = await posts.is_board_under_way(self.channel)
            debate_id = await posts.debate_of_post(self.channel, self.posted.thread_ts)
            if debate_id or not is_board_under_way:
                return debate_id
            await self.context.clock.sleep(_LOOK_SECONDS)
        raise BoardUnknownYet

    async def tell(
        self, what: str | Mapping[str, Any], *, key: str, debate_id: str | None = None
    ) -> None:
        """Say something to its author only, where they wrote, once however often it comes."""
        posted, content = self.posted, {"text": what} if isinstance(what, str) else what
        # In the thread, if they wrote there.
        here = {"thread_ts": posted.thread_ts} if posted.thread_ts not in {"", posted.ts} else {}
        payload = {"user": posted.user, **here, **content}
        await self.context.outbox.whisper(self.channel, payload, key=key, debate_id=debate_id)

    @asynccontextmanager
    async def log_failures(self) -> AsyncGenerator[None]:
        """Tell its author where the log of its debate cannot be read; Slack need not repeat it."""
        try:
            yield
        except LogBroken as error:
            _log.warning("message not taken", reason=str(error))
            await self.tell(answers.LOG_BROKEN, key=f"{self.origin}/answer")


def register(app: AsyncApp, context: ListenerContext) -> None:
    app.event("message", middleware=[recorded(context, record_message)])(acknowledged)


async def record_message(context: ListenerContext, body: Body) -> None:
    event = MessageEvent.model_validate(body)
    edited, deleted = event.change.edit, event.change.deletion
    if not edited and (root := _root_deleted(event.change)):
        # The board is edited no more; its thread says how the debate can be stopped.
        here = Channel(event.team_id, event.change.channel)
        debate_id = await context.posts.debate_of_post(here, root)
        if debate_id and (row := await context.posts.row_by_key(board_key(debate_id))):
            await context.outbox.lose_post(row)
        return
    message = IncomingMessage(context, event.team_id, event.posted)
    async with message.log_failures():
        if edited:
            await record_edit(message)
        elif deleted:
            await record_deletion(message)
        else:
            await record_reply(message)


async def record_reply(message: IncomingMessage) -> None:
    """Take a person's reply in a debate's thread as answer or note; the presenter says which."""
    if not message.posted.is_reply or not await message.is_by_person():
        return
    debate_id = await message.debate_id()
    if debate_id is None or not await _may_take_part(message, debate_id):
        return
    order, rest = split_steering(without_bot_mention(message.posted.text, await message.bot()))
    if order and await _steer(message, order, debate_id):
        message = replace(message, posted=message.posted.model_copy(update={"text": rest}))
    # Slack delivers an order once more, as a mention.
    has_words_for_all = has_words(message.posted.all_text) and not await message.is_order()
    # First the words: what they link to must not take the room of the last note from them.
    is_heard = not has_words_for_all or await _take(message, debate_id)
    await _take_evidence(message, debate_id, has_links=is_heard)


async def record_edit(message: IncomingMessage) -> None:
    """Take the new words of a reply in a debate's thread: they correct what it said.

    Its files are taken, too, where nobody listened when it was written, and links that are new.
    """
    debate_id = await message.debate_id()
    if debate_id is None or not await _may_take_part(message, debate_id):
        return
    is_heard = await _take(message, debate_id)
    await _take_evidence(message, debate_id, has_links=is_heard)


async def record_deletion(message: IncomingMessage) -> None:
    if message.posted.is_reply and (debate_id := await message.debate_id()):
        await message.context.acts.answer.withdraw(debate_id, message.origin)


def _root_deleted(change: ChangeOfMessage) -> str:
    """The timestamp of the first message of a thread that was deleted; empty: none was."""
    now, before = change.message, change.previous_message
    is_deleted = change.subtype == "message_deleted" or (now and now.subtype == DELETED)
    return before.ts if before and is_deleted and not before.is_reply else ""


async def _may_take_part(message: IncomingMessage, debate_id: str) -> bool:
    """Whether a reply reaches the agents; tell people of another organisation, once per debate.

    If Slack does not answer about the author, the reply is taken: it costs nothing.
    """
    user, here = message.posted.user, place(message.team, message.posted.channel)
    try:
        await message.context.check_taking_part(user, here)
    except SlackUnavailable:
        return True
    except BadInput as refusal:
        key = f"{debate_id}/others/{user}"
        await message.tell(str(refusal), key=key, debate_id=debate_id)
        return False
    return True


async def _take(message: IncomingMessage, debate_id: str) -> bool:
    """Record a message of a thread, and tell its author what they need; False: it was refused."""
    (to, text), by = await asyncio.gather(message.words(), message.author())
    reply = PersonsReply(
        debate_id=debate_id,
        by=by,
        text="\n".join(filter(None, (text, await message.forwarded()))),
        to=to,
        origin=message.origin,
        edited=message.posted.edited_at,
        is_editable=True,
    )
    version, context = message.version, message.context
    try:
        outcome = await context.acts.answer.take(reply)
    except BadInput as refusal:
        # For want of room each person hears it once an hour.
        hour = f"{debate_id}/{by.id}/full/{context.clock.now():%Y%m%d%H}"
        key = hour if isinstance(refusal, NotesFull) else f"{version}/answer"
        await message.tell(str(refusal), key=key)
        return False
    if outcome is ReplyOutcome.AFTER_END:
        await _say_ended(message, reply)
    elif outcome is ReplyOutcome.UNCLEAR:
        debate = await context.acts.answer.facts.debate(debate_id)
        if open_questions(debate):
            asking = which_question(debate, message.origin, redact(reply.text)).payload
            await message.tell(asking, key=f"{version}/which", debate_id=debate_id)
    return True


async def _say_ended(message: IncomingMessage, reply: PersonsReply) -> None:
    """Offer to put a question to the judge; tell of anything else that nobody reads it, once."""
    debate = await message.context.acts.answer.facts.debate(reply.debate_id)
    if debate.verdict and await message.calls_bot():
        return  # it is a question: Slack delivers it once more, as a mention
    if debate.verdict and has_question_mark(reply.text) and len(reply.text) <= MOST_OFFERED:
        offer = ask_offer(debate, message.origin, reply.text).payload
        await message.tell(offer, key=f"{message.version}/ask", debate_id=debate.id)
    else:
        await _say_end(message, debate)


async def _say_end(message: IncomingMessage, debate: Debate) -> None:
    """Say that nobody reads replies now; by its key each person hears it once."""
    key = after_end_key(debate.id, message.posted.user)
    await message.tell(answers.end_answer(debate), key=key, debate_id=debate.id)


async def _take_evidence(message: IncomingMessage, debate_id: str, *, has_links: bool) -> None:
    """Take the files and links of a reply as evidence, with notes of their own.

    `has_links`: whether its links count; those in words that were refused do not.
    """
    posted, context = message.posted, message.context
    if not posted.files and not (has_links and links_in(posted.text)):
        return
    by, was_taken = await message.author(), True
    names = ", ".join(file.name or file.id for file in posted.files)
    try:
        if posted.files:
            was_taken = await context.acts.answer.note.add(
                debate_id,
                note_id=message.origin + FILES,
                author=by,
                text=f"[Attached as evidence: {names}]",
                references=file_references(posted.files, by),
            )
    except BadInput as refusal:
        key = f"{message.origin}{FILES}/answer"
        await message.tell(f"About what you attached: {refusal}", key=key)
    debate = await context.acts.answer.facts.debate(debate_id)
    if has_links and message.origin not in debate.deleted_messages:
        # An edit that brings links has a note of its own.
        note = "/".join(filter(None, (message.origin + LINKS, posted.edited_at)))
        await record_links(context, debate, posted.text, by, note=note, thread=posted.thread_ts)
    if not was_taken and not has_words(posted.all_text):  # else its words are answered
        await _say_end(message, debate)


def split_steering(text: str) -> tuple[Steering | None, str]:
    """Return the first steering line of a reply, and the text without such lines."""
    lines = text.splitlines()
    orders = [line for line in lines if line.strip().lower() in set(Steering)]
    if not orders:
        return None, text
    other_lines = "\n".join(line for line in lines if line not in orders).strip()
    return Steering(orders[0].strip().lower()), other_lines


async def _steer(message: IncomingMessage, order: Steering, debate_id: str) -> bool:
    """Do what a line of a thread says, as the board's button does; False: the debate has ended."""
    key, acts = f"{message.origin}/steer", message.context.acts
    if await message.context.posts.row_by_key(key):
        return True  # delivered again
    debate = await acts.answer.facts.debate(debate_id)
    if debate.status is not Status.RUNNING:
        return False
    steer = {
        Steering.STOP: acts.steer.stop,
        Steering.PAUSE: acts.steer.pause,
        Steering.RESUME: acts.steer.resume,
        Steering.VOTE_NOW: acts.steer.call_vote,
    }[order]
    try:
        await steer(debate, await message.author())
        answer = _STEERED[order]
    except BadInput as refusal:
        answer = str(refusal)
    await message.tell(answer, key=key, debate_id=debate_id)
    return True


async def notify_too_fast(context: ListenerContext, body: Mapping[str, Any]) -> None:
    """Tell the author of an event, once an hour, that messages in a debate's thread were left out.

    Messages outside of debates' threads are ignored.
    """
    event = MessageEvent.model_validate(body)
    posted, message = event.posted, IncomingMessage(context, event.team_id, event.posted)
    if not posted.is_reply or not await message.is_by_person():
        return
    if debate_id := await message.debate_id():
        key = f"{debate_id}/{posted.user}/fast/{context.clock.now():%Y%m%d%H}"
        await message.tell(answers.TOO_FAST, key=key, debate_id=debate_id)
