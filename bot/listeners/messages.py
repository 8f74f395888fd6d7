"""Replies in a debate's thread: answers, notes, or lines that steer the debate."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.context import ListenerContext, acknowledge, place, record_first
from bot.listeners.linked import record_links
from bot.listeners.typed import (
    SubcommandCall,
    parse_typed,
)
from bot.log import logger
from bot.slack.access import SlackUnavailable
from bot.slack.evidence import file_references
from bot.slack.ids import FILES, LINKS, after_end_key, board_key, message_version, note_id
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

#: Checks whether a board that is being posted is known, and seconds between them. Slack waits three
#: seconds for the acknowledgement.
_BOARD_CHECKS = 15
_CHECK_SECONDS = 0.1

Body = dict[str, Any]


class Steering(StrEnum):
    """A line that, alone in a reply, does the same as the board's button of that name."""

    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"
    VOTE_NOW = "vote now"


#: The answer to each line.
_STEERED = {
    Steering.STOP: "The debate stops; the judge decides on what is there.",
    Steering.PAUSE: "The debate is paused. *Resume* on the board lets it go on.",
    Steering.RESUME: "The debate goes on.",
    Steering.VOTE_NOW: "The vote is called.",
}


class BoardUnknownYet(MootError):
    """A message may be in the thread of a board that is being posted."""


@dataclass(frozen=True)
class IncomingMessage:
    """A message in Slack, with its author, text and debate, and answers to its author."""

    context: ListenerContext
    team: str
    posted: PostedMessage

    @property
    def channel(self) -> Channel:
        return Channel(self.team, self.posted.channel)

    @property
    def origin(self) -> str:
        """The message's id, equal for each delivery."""
        return note_id(self.posted.channel, self.posted.ts)

    @property
    def version(self) -> str:
        """The id of its current text."""
        return message_version(self.posted.channel, self.posted.ts, self.posted.edited_at)

    async def is_by_person(self) -> bool:
        """See `WorkspaceDirectory.is_person`."""
        return await self.context.directories.of(self.team).is_person(self.posted)

    async def author(self) -> Person:
        name = await self.context.directories.of(self.team).name_of(self.posted.user)
        return Person(id=self.posted.user, name=name)

    async def bot(self) -> str:
        """The id of the bot's user."""
        return (await self.context.clients.for_workspace(self.team)).identity.user_id

    async def calls_bot(self) -> bool:
        """Whether the message mentions the bot outside of code and quotes."""
        return self.posted.mentions(await self.bot())

    async def text_parts(self) -> tuple[str, str]:
        """The mentions before the first word and the rest, with names in place of Slack's ids."""
        text, access = self.posted.text, self.context.directories.of(self.team)
        names = await names_of(access, mentioned_in([text]))
        addressees, text = split_addressee(without_bot_mention(text, await self.bot()))
        return f"{readable(addressees, names)} " if addressees else "", readable(text, names)

    async def forwarded(self) -> str:
        """The text of forwarded messages, with names in place of ids; empty if none."""
        text = "\n".join(self.posted.forwarded)
        return await with_names(self.context.directories.of(self.team), text)

    async def is_order(self) -> bool:
        """Whether the message is a subcommand for the bot, with no text for the agents."""
        if not await self.calls_bot():
            return False
        text = "".join(await self.text_parts())
        return isinstance(parse_typed(text), SubcommandCall) or is_emoji_only(text)

    async def debate_id(self) -> str | None:
        """Return the id of the debate whose board is the first message of this thread; else None.

        A board may be visible in Slack before its row is settled, so this waits a little.

        Raises:
            BoardUnknownYet: The board is still not settled; Slack will deliver the message again.
        """
        if not self.posted.thread_ts:
            return None
        posts = self.context.posts
        for _ in range(_BOARD_CHECKS):
            # In this order, because the board may be settled between the two.
            is_board_under_way = await posts.is_board_under_way(self.channel)
            debate_id = await posts.debate_of_post(self.channel, self.posted.thread_ts)
            if debate_id or not is_board_under_way:
                return debate_id
            await self.context.clock.sleep(_CHECK_SECONDS)
        raise BoardUnknownYet

    async def answer_privately(
        self, answer: str | Mapping[str, Any], *, key: str, debate_id: str | None = None
    ) -> None:
        """Post a private answer to the author in the same place; once per `key`."""
        posted, content = self.posted, {"text": answer} if isinstance(answer, str) else answer
        thread = {"thread_ts": posted.thread_ts} if posted.thread_ts not in {"", posted.ts} else {}
        payload = {"user": posted.user, **thread, **content}
        await self.context.outbox.whisper(self.channel, payload, key=key, debate_id=debate_id)

    @asynccontextmanager
    async def log_failures(self) -> AsyncGenerator[None]:
        """Tell the author if the debate's log cannot be read.

        The message then counts as handled, because a new delivery would fail, too.
        """
        try:
            yield
        except LogBroken as error:
            _log.warning("message not taken", reason=str(error))
            await self.answer_privately(answers.LOG_BROKEN, key=f"{self.origin}/answer")


def register(app: AsyncApp, context: ListenerContext) -> None:
    app.event("message", middleware=[record_first(context, record_message)])(acknowledge)


async def record_message(context: ListenerContext, body: Body) -> None:
    event = MessageEvent.model_validate(body)
    edit, deletion = event.change.edit, event.change.deletion
    if not edit and (root := _deleted_root(event.change)):
        # Nobody can edit the board any more; a line in its thread says how to stop the debate.
        here = Channel(event.team_id, event.change.channel)
        debate_id = await context.posts.debate_of_post(here, root)
        if debate_id and (row := await context.posts.row_by_key(board_key(debate_id))):
            await context.outbox.lose_post(row)
        return
    message = IncomingMessage(context, event.team_id, event.posted)
    async with message.log_failures():
        if edit:
            await record_edit(message)
        elif deletion:
            await record_deletion(message)
        else:
            await record_reply(message)


async def record_reply(message: IncomingMessage) -> None:
    """Record a person's reply in a debate's thread as an answer or a note, or steer the debate."""
    if not message.posted.is_reply or not await message.is_by_person():
        return
    debate_id = await message.debate_id()
    if debate_id is None or not await _may_take_part(message, debate_id):
        return
    order, other_text = split_steering(
        without_bot_mention(message.posted.text, await message.bot())
    )
    if order and await _steer(message, order, debate_id):
        message = replace(message, posted=message.posted.model_copy(update={"text": other_text}))
    # Slack delivers a subcommand once more, as a mention.
    is_for_agents = has_words(message.posted.all_text) and not await message.is_order()
    # The text first: its links must not use up the last note that the debate has room for.
    is_accepted = not is_for_agents or await _record_text(message, debate_id)
    await _record_evidence(message, debate_id, has_links=is_accepted)


async def record_edit(message: IncomingMessage) -> None:
    """Record the new text of a reply in a debate's thread, which replaces the old text.

    New links are recorded, too, and files that were missed when the reply was written.
    """
    debate_id = await message.debate_id()
    if debate_id is None or not await _may_take_part(message, debate_id):
        return
    is_accepted = await _record_text(message, debate_id)
    await _record_evidence(message, debate_id, has_links=is_accepted)


async def record_deletion(message: IncomingMessage) -> None:
    if message.posted.is_reply and (debate_id := await message.debate_id()):
        await message.context.acts.answer.withdraw(debate_id, message.origin)


def _deleted_root(change: ChangeOfMessage) -> str:
    """The timestamp of a deleted message that may have a thread; empty if none was deleted."""
    after, before = change.message, change.previous_message
    is_deleted = change.subtype == "message_deleted" or (after and after.subtype == DELETED)
    return before.ts if before and is_deleted and not before.is_reply else ""


async def _may_take_part(message: IncomingMessage, debate_id: str) -> bool:
    """Whether the author may take part; if not, tell them once per debate.

    If Slack does not answer about the author, the reply is recorded, because it costs nothing.
    """
    user, here = message.posted.user, place(message.team, message.posted.channel)
    try:
        await message.context.check_taking_part(user, here)
    except SlackUnavailable:
        return True
    except BadInput as refusal:
        key = f"{debate_id}/others/{user}"
        await message.answer_privately(str(refusal), key=key, debate_id=debate_id)
        return False
    return True


async def _record_text(message: IncomingMessage, debate_id: str) -> bool:
    """Record a reply, and answer its author if needed; False if the reply was refused."""
    (addressees, text), author = await asyncio.gather(message.text_parts(), message.author())
    reply = PersonsReply(
        debate_id=debate_id,
        by=author,
        text="\n".join(filter(None, (text, await message.forwarded()))),
        to=addressees,
        origin=message.origin,
        edited=message.posted.edited_at,
        is_editable=True,
    )
    version, context = message.version, message.context
    try:
        outcome = await context.acts.answer.take(reply)
    except BadInput as refusal:
        # If the debate is full of notes, each person is told once an hour.
        hour = f"{debate_id}/{author.id}/full/{context.clock.now():%Y%m%d%H}"
        key = hour if isinstance(refusal, NotesFull) else f"{version}/answer"
        await message.answer_privately(str(refusal), key=key)
        return False
    if outcome is ReplyOutcome.AFTER_END:
        await _answer_after_end(message, reply)
    elif outcome is ReplyOutcome.UNCLEAR:
        debate = await context.acts.answer.facts.debate(debate_id)
        if open_questions(debate):
            choice = which_question(debate, message.origin, redact(reply.text)).payload
            await message.answer_privately(choice, key=f"{version}/which", debate_id=debate_id)
    return True


async def _answer_after_end(message: IncomingMessage, reply: PersonsReply) -> None:
    """Offer to ask the judge if the reply is a question; else tell the author of the end, once."""
    debate = await message.context.acts.answer.facts.debate(reply.debate_id)
    if debate.verdict and await message.calls_bot():
        return  # a question to the judge: Slack delivers it once more, as a mention
    if debate.verdict and has_question_mark(reply.text) and len(reply.text) <= MOST_OFFERED:
        offer = ask_offer(debate, message.origin, reply.text).payload
        await message.answer_privately(offer, key=f"{message.version}/ask", debate_id=debate.id)
    else:
        await _tell_end(message, debate)


async def _tell_end(message: IncomingMessage, debate: Debate) -> None:
    """Tell the author that nobody reads replies any more; the key makes it once per person."""
    key = after_end_key(debate.id, message.posted.user)
    await message.answer_privately(answers.end_answer(debate), key=key, debate_id=debate.id)


async def _record_evidence(message: IncomingMessage, debate_id: str, *, has_links: bool) -> None:
    """Record the files and links of a reply as evidence, with notes of their own.

    `has_links`: whether links count, which they do not if the text was refused.
    """
    posted, context = message.posted, message.context
    if not posted.files and not (has_links and links_in(posted.text)):
        return
    author, was_recorded = await message.author(), True
    names = ", ".join(file.name or file.id for file in posted.files)
    try:
        if posted.files:
            was_recorded = await context.acts.answer.note.add(
                debate_id,
                note_id=message.origin + FILES,
                author=author,
                text=f"[Attached as evidence: {names}]",
                references=file_references(posted.files, author),
            )
    except BadInput as refusal:
        key = f"{message.origin}{FILES}/answer"
        await message.answer_privately(f"About what you attached: {refusal}", key=key)
    debate = await context.acts.answer.facts.debate(debate_id)
    if has_links and message.origin not in debate.deleted_messages:
        # Links of an edit have a note of their own.
        note = "/".join(filter(None, (message.origin + LINKS, posted.edited_at)))
        await record_links(context, debate, posted.text, author, note=note, thread=posted.thread_ts)
    if not was_recorded and not has_words(posted.all_text):
        await _tell_end(message, debate)
    elif not was_recorded and await message.calls_bot():
        # The judge, who is asked here, answers from the record alone.
        key = f"{message.origin}{FILES}/answer"
        await message.answer_privately(answers.unread_files(debate), key=key)


def split_steering(text: str) -> tuple[Steering | None, str]:
    """Return the first steering line of a reply, and the text without such lines."""
    lines = text.splitlines()
    orders = [line for line in lines if line.strip().lower() in set(Steering)]
    if not orders:
        return None, text
    other_lines = "\n".join(line for line in lines if line not in orders).strip()
    return Steering(orders[0].strip().lower()), other_lines


async def _steer(message: IncomingMessage, order: Steering, debate_id: str) -> bool:
    """Carry out a steering line like the board's button; False if the debate has ended."""
    key, acts = f"{message.origin}/steer", message.context.acts
    if await message.context.posts.row_by_key(key):
        return True  # Slack delivered it again
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
    await message.answer_privately(answer, key=key, debate_id=debate_id)
    return True


async def notify_too_fast(context: ListenerContext, body: Mapping[str, Any]) -> None:
    """Tell the author of a rejected reply in a debate's thread, once an hour.

    Messages outside of such threads are ignored.
    """
    event = MessageEvent.model_validate(body)
    posted, message = event.posted, IncomingMessage(context, event.team_id, event.posted)
    if not posted.is_reply or not await message.is_by_person():
        return
    if debate_id := await message.debate_id():
        key = f"{debate_id}/{posted.user}/fast/{context.clock.now():%Y%m%d%H}"
        await message.answer_privately(answers.TOO_FAST, key=key, debate_id=debate_id)
