"""Links in people's texts as sources of a debate; authors are told which are not read, and why."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from bot.listeners.context import ListenerContext
from bot.slack.evidence import LinkBounds, sources_in
from bot.slack.ids import board_key
from bot.slack.mrkdwn import plain
from bot.slack.typed_text import links_in
from core.debate.people import Person, Place
from core.debate.state import Debate, Status
from core.errors import BadInput, DuplicateQuestion
from core.opening import DebateRequest
from core.rules.formats.review import NAME as REVIEW
from core.rules.sources import MOST_SOURCES, new_links
from core.use_cases.choices import Choices
from core.use_cases.start import StartedDebate

#: Reasons that get a post each; further reasons share one post, because each private post takes one
#: second of the channel's rate limit.
_MOST_SINGLE = 5
_IN_REVIEW = "In a review the agents do not read links in texts. Attach what matters as a file."
_NO_ROOM = f"A debate has {MOST_SOURCES} sources at most; further links are not read."
_NO_NOTES = "This debate accepts no more notes, so no more links are read either."


async def link_bounds(context: ListenerContext, here: Place, by: Person) -> LinkBounds:
    return LinkBounds(
        channel=here.channel,
        workspace_url=(await context.clients.for_workspace(here.workspace)).identity.url,
        hosts=context.acts.start.settings().evidence.link_hosts,
        by=by,
    )


async def start_with_links(
    context: ListenerContext,
    request: DebateRequest,
    text: str,
    *,
    origin: str,
    choices: Choices | None = None,
    thread: str = "",
) -> StartedDebate:
    """Start a debate with the links in its text as sources; tell the author which are not read.

    `text` is in Slack's markup. `origin` is the id of the command, message or form: each starts one
    debate at most. `thread` is the first message of the thread that the text was written in.
    """
    here, by = request.place, request.asked_by
    await context.check_taking_part(by.id, here)
    links = sources_in(text, await link_bounds(context, here, by), thread)
    with_links = replace(request, linked=links.references)
    try:
        started = await context.acts.start.start(
            with_links, origin=origin, choices=choices or Choices()
        )
    except DuplicateQuestion as reminder:
        debate_id, board_link = reminder.debate_id, ""
        board = await context.posts.row_by_key(board_key(debate_id))
        if board and board.ts:
            board_link = f"<{await context.link_to(here, board.ts)}|The board>."
        raise DuplicateQuestion(reminder.words, debate_id=debate_id, where=board_link) from None
    refusals = list(links.refusals)
    if new_links(links.references, started.setup.references):
        refusals.append(_IN_REVIEW if started.setup.format == REVIEW else _NO_ROOM)
    await notify_refusals(
        context, here, refusals, by=by, debate_id=started.debate_id, thread=thread
    )
    return started


async def record_links(
    context: ListenerContext, debate: Debate, text: str, by: Person, *, note: str, thread: str = ""
) -> None:
    """Record the links in a text as evidence of a running debate, with a note of their own.

    Known sources and the debate's own thread are skipped. The author is told why other links are
    not read. `text` is in Slack's markup; `note` is the id of the note.
    """
    if debate.status is not Status.RUNNING or not links_in(text):
        return
    here, board = debate.setup.place, await context.posts.row_by_key(board_key(debate.id))
    # The debate's own thread, which people can link to in a form, too.
    root = (board and board.ts) or thread
    links = sources_in(text, await link_bounds(context, here, by), root)
    refusals = list(links.refusals)
    if debate.setup.format == REVIEW:
        if new_links(links.references, debate.references):
            refusals.append(_IN_REVIEW)
    else:
        try:
            if await context.acts.answer.note.link(
                debate.id, note_id=note, author=by, links=links.references
            ):
                refusals.append(_NO_ROOM)
        except BadInput:
            refusals.append(_NO_NOTES)
    await notify_refusals(context, here, refusals, by=by, debate_id=debate.id, thread=thread)


async def notify_refusals(
    context: ListenerContext,
    here: Place,
    refusals: Sequence[str],
    *,
    by: Person,
    debate_id: str,
    thread: str = "",
) -> None:
    """Tell the author of links why they are not read, each reason once per debate."""
    single, further = refusals[:_MOST_SINGLE], refusals[_MOST_SINGLE:]
    for reasons in filter(None, (*([reason] for reason in single), further)):
        digest = hashlib.sha256("\n".join(reasons).encode()).hexdigest()[:16]
        lines = "\n".join(f"• {plain(reason)}" for reason in reasons)
        payload = {
            "user": by.id,
            "text": f"The agents do not see what is behind a link you wrote.\n{lines}",
            **({"thread_ts": thread} if thread else {}),
        }
        key = f"{debate_id}/unread/{by.id}/{digest}"
        await context.outbox.whisper(here, payload, key=key, debate_id=debate_id)
