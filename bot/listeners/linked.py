"""Links in what people write are sources where such links may be; else their author is told why."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from bot.listeners.context import ListenerContext
from bot.slack.evidence import WrittenLinks, written_links
from bot.slack.mrkdwn.escape import plain
from bot.slack.typed_text import links_in
from bot.store.posts import NewPost
from core.models import Debate, Person, Place, Status
from core.opening import DebateRequest
from core.rules.formats.review import NAME as REVIEW
from core.use_cases.choices import Choices
from core.use_cases.start import StartedDebate

#: Reasons that are told at once, and links that a note names; of more, how many.
_MOST_TOLD = 3
_MOST_NAMED = 10
_IN_REVIEW = (
    "In a review only what was handed in to be reviewed is read. Attach what matters as a file."
)


async def linked_in(
    context: ListenerContext, here: Place, text: str, by: Person, *, thread: str = ""
) -> WrittenLinks:
    """Return what somebody's words link to; nothing is asked of Slack where they hold no link.

    Args:
        context: What listeners work with.
        here: The channel of the debate.
        text: As Slack sent it.
        by: Who wrote it.
        thread: The first message of the thread it was written in; empty: in none.
    """
    if not links_in(text):
        return WrittenLinks()
    return written_links(
        text,
        here.channel,
        workspace_url=(await context.clients.of(here.workspace)).identity.url,
        hosts=context.start.settings().evidence.link_hosts,
        by=by,
        thread=thread,
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
    """Start a debate with what its words link to as sources, and say which links are not read.

    Args:
        context: What listeners work with.
        request: What is asked for.
        text: The words, as Slack sent them.
        origin: The command, message or form: it starts one debate.
        choices: What was chosen in a form.
        thread: The first message of the thread it was written in; empty: in none.

    Raises:
        BadInput: The question cannot be used, or too many debates run; nothing was started.
    """
    here, by = request.place, request.asked_by
    found = await linked_in(context, here, text, by, thread=thread)
    begun = await context.start.start(
        replace(request, linked=found.references), origin=origin, choices=choices or Choices()
    )
    unread = found.unread
    if begun.setup.format == REVIEW and not set(found.references) <= set(begun.setup.references):
        unread = (*unread, _IN_REVIEW)
    await tell_unread(context, here, unread, by=by, debate_id=begun.debate_id, thread=thread)
    return begun


async def take_links(
    context: ListenerContext,
    debate: Debate,
    text: str,
    by: Person,
    *,
    note: str,
    thread: str = "",
) -> None:
    """Take what somebody's words link to as evidence of a running debate, with a note of its own.

    What the debate has already is not taken again.

    Args:
        context: What listeners work with.
        debate: As it was a moment ago.
        text: As Slack sent it.
        by: Who wrote it.
        note: Id of that note.
        thread: The debate's thread, if it was written there.

    Raises:
        BadInput: The debate takes no more notes.
    """
    if debate.status is not Status.RUNNING:
        return
    here = debate.setup.place
    found = await linked_in(context, here, text, by, thread=thread)
    known = {(one.kind, one.fetch) for one in debate.references}
    new = [one for one in found.references if (one.kind, one.fetch) not in known]
    if debate.setup.format == REVIEW:
        new, found = [], WrittenLinks(unread=(*found.unread, *([_IN_REVIEW] if new else ())))
    if new:
        titles = [one.title for one in new]
        more = f" and {len(new) - _MOST_NAMED} more" if len(new) > _MOST_NAMED else ""
        text = f"[Linked as evidence: {', '.join(titles[:_MOST_NAMED])}{more}]"
        await context.answer.note.add(debate.id, note_id=note, author=by, text=text, references=new)
    await tell_unread(context, here, found.unread, by=by, debate_id=debate.id, thread=thread)


async def tell_unread(
    context: ListenerContext,
    here: Place,
    unread: Sequence[str],
    *,
    by: Person,
    debate_id: str,
    thread: str = "",
) -> None:
    """Say to whoever wrote links why they are not read, and what to do: each reason once a debate.

    Args:
        context: What listeners work with.
        here: The channel.
        unread: Why, in sentences.
        by: Who wrote them.
        debate_id: The debate they are about.
        thread: Where they wrote; empty: in the channel.
    """
    if not unread:
        return
    reasons = "\n".join(f"• {plain(reason)}" for reason in unread[:_MOST_TOLD])
    more = f"\n• … and {len(unread) - _MOST_TOLD} more" if len(unread) > _MOST_TOLD else ""
    digest = hashlib.sha256("\n".join(unread).encode()).hexdigest()[:16]
    post = NewPost(
        key=f"{debate_id}/unread/{by.id}/{digest}",
        workspace=here.workspace,
        channel=here.channel,
        method="ephemeral",
        payload={
            "user": by.id,
            "text": "The agents see the address of a link you wrote, but not what is behind it.\n"
            f"{reasons}{more}",
            **({"thread_ts": thread} if thread else {}),
        },
        debate_id=debate_id,
        urgent=True,
    )
    await context.outbox.post([post])
