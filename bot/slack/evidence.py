"""Files and threads of Slack as sources of a debate, from the debate's own channel only."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.links import body_within, is_allowed
from bot.slack.access import CONNECTION_ERRORS, WorkspaceDirectories
from bot.slack.client import WorkspaceClient, WorkspaceClients, slack_session
from bot.slack.outcomes import Retry, outcome_of
from bot.slack.payloads import Page, PostedMessage, SharedFile, body_of, code_of
from bot.slack.typed_text import links_in, mentioned_in, readable
from core.debate.evidence import SourceKind, SourceReference, SourceText
from core.debate.people import Person, Place
from core.errors import BadInput, MootError
from core.evidence.reading import FetchedFile, Section, joined_sections
from core.figures import size, when
from core.redaction import redact
from core.rules.sources import MOST_SOURCES, page_reference

#: Slack's own hosts; the bot's token is sent to no other.
_SLACK_HOSTS = (".slack.com", ".slack-edge.com", ".slack-files.com")
_OK = 200
_SECONDS = 60.0
#: Tries of a call that Slack asks to repeat later, and the longest wait in seconds.
_TRIES = 4
_LONGEST_WAIT = 60.0
_PAGE = 200
_LONGEST_TITLE = 120
#: Messages of a thread that are read at most.
_MOST_MESSAGES = 2000
#: Paths of links from Slack's *Copy link*, for a message and for a file.
_MESSAGE_LINK = re.compile(r"/archives/(?P<channel>[A-Z0-9]{3,20})/p(?P<ts>[0-9]{7,20})")
_FILE_LINK = re.compile(r"/files/[A-Z0-9]{2,20}/(?P<id>F[A-Z0-9]{2,20})(?:/(?P<name>[^/]{1,300}))?")
_TS = re.compile(r"[0-9]{1,14}\.[0-9]{6}")
_NO_SCOPE = (
    "Moot lacks the permission files:read; whoever administers Slack can allow it, "
    "or paste the text into the thread"
)
_NOT_PUBLIC = (
    "A link that holds a name, a password or what looks like another secret is not read: everybody "
    "in the channel would see it. Attach what is behind it as a file."
)
_FIRST_LINKS = f"Only the first {MOST_SOURCES} links of a text are read."


def thread_reference(
    channel: str,
    thread_ts: str,
    *,
    without: str = "",
    by: Person,
    address: str = "",
    title: str = "the thread in which the debate was asked for",
) -> SourceReference:
    """Return a reference to a thread; `without` is its message with the question, left out."""
    return SourceReference(
        kind=SourceKind.THREAD,
        title=title,
        address=address,
        fetch=f"{channel}/{thread_ts}/{without}",
        by=by,
    )


def file_references(files: Sequence[SharedFile], by: Person) -> tuple[SourceReference, ...]:
    return tuple(
        SourceReference(
            kind=SourceKind.FILE,
            title=(file.title or file.name or file.id)[:_LONGEST_TITLE],
            address=file.permalink,
            fetch=file.id,
            by=by,
        )
        for file in files[:MOST_SOURCES]
    )


@dataclass(frozen=True, kw_only=True)
class LinkBounds:
    """Rules for links as sources of a debate."""

    #: The debate's channel; threads of other channels are not read.
    channel: str
    workspace_url: str
    #: Hosts whose pages are read.
    hosts: Sequence[str]
    by: Person


@dataclass(frozen=True)
class LinkedSources:
    """The sources that the links of a text lead to."""

    references: Sequence[SourceReference] = ()
    #: For people: why other links are not read.
    refusals: Sequence[str] = ()


def linked_references(text: str, bounds: LinkBounds) -> tuple[SourceReference, ...]:
    """Return the sources for a list of links to messages (with their threads), files and pages.

    Links are separated by white space. Raises `BadInput` for the first that cannot be a source.
    """
    targets = [_linked_reference(word, bounds) for word in text.split()]
    references = {reference.fetch: reference for reference in targets}
    if len(references) > MOST_SOURCES:
        raise BadInput(f"There are {len(references)} links; {MOST_SOURCES} sources are the most.")
    return tuple(references.values())


def sources_in(text: str, bounds: LinkBounds, thread: str = "") -> LinkedSources:
    """The sources that the links in a text lead to, by the same rules as `linked_references`.

    `thread` is the timestamp of the first message of the thread that the text was written in; that
    thread is no source.
    """
    links = links_in(text)
    references, refusals = dict[str, SourceReference](), dict[str, None]()
    for link in filter(_host, links[:MOST_SOURCES]):  # without a host it is no address
        try:
            reference = _linked_reference(link, bounds)
        except BadInput as refusal:
            refusals[str(refusal)] = None
            continue
        is_thread = reference.kind is SourceKind.THREAD
        if not (thread and is_thread and f"/{thread}/" in reference.fetch):
            references[reference.fetch] = reference.model_copy(update={"in_words": True})
    if len(links) > MOST_SOURCES:
        refusals[_FIRST_LINKS] = None
    return LinkedSources(tuple(references.values()), tuple(refusals))


def _host(link: str) -> str:
    """The host of a link; empty if it is no address."""
    try:
        return urlsplit(link).hostname or ""
    except ValueError:
        return ""


def _linked_reference(word: str, bounds: LinkBounds) -> SourceReference:
    link, by = word.strip("<>,;").partition("|")[0], bounds.by
    if any(redact(address) != address for address in (link, unquote(link))):
        raise BadInput(_NOT_PUBLIC)
    host, quoted_link = _host(link), f"“{link[:_LONGEST_TITLE]}”"
    if not host or urlsplit(link).scheme not in {"http", "https"}:
        raise BadInput(f"{quoted_link} is no link. Put links only, one a line.")
    parts = urlsplit(link)
    if "@" in parts.netloc:
        raise BadInput(_NOT_PUBLIC)
    # Hosts are compared without case, and with the port.
    if parts.netloc.lower() != urlsplit(bounds.workspace_url).netloc.lower():
        if not is_allowed(host, bounds.hosts):
            raise BadInput(
                f"Pages of {host} are not read here; whoever runs Moot can allow the host. "
                "Paste what matters as text, or attach it as a file."
            )
        return page_reference(link, by)
    path = parts.path.rstrip("/")
    if message := _MESSAGE_LINK.fullmatch(path):
        if message["channel"] != bounds.channel:
            raise BadInput(
                "A link leads to a message of another channel. What was written there stays there: "
                "only the channel's own threads can be sources of its debates."
            )
        root = dict(parse_qsl(parts.query)).get("thread_ts", "")
        if not _TS.fullmatch(root):
            root = f"{message['ts'][:-6]}.{message['ts'][-6:]}"
        title = "a thread of this channel"
        return thread_reference(bounds.channel, root, by=by, address=link, title=title)
    if file := _FILE_LINK.fullmatch(path):
        title = unquote(file["name"] or "")[:_LONGEST_TITLE] or file["id"]
        kind, number = SourceKind.FILE, file["id"]
        return SourceReference(kind=kind, title=title, address=link, fetch=number, by=by)
    raise BadInput(f"{quoted_link} leads to no message and no file.")


class SlackSources:
    """Fetches files and threads; raises `BadInput` if Slack does not give them."""

    def __init__(self, clients: WorkspaceClients, accesses: WorkspaceDirectories) -> None:
        self._clients = clients
        self._accesses = accesses

    async def fetch_file(
        self, reference: SourceReference, place: Place, most_bytes: int, /
    ) -> FetchedFile | SourceText:
        workspace = await self._workspace(place)
        answer = await call_with_retries(lambda: workspace.client.files_info(file=reference.fetch))
        file = SharedFile.model_validate(body_of(answer)["file"])
        if place.channel not in file.shared_in:
            raise BadInput("it was not shared in this channel")
        if file.is_external or not file.url:
            raise BadInput("it is kept outside Slack")
        if file.size > most_bytes:
            raise BadInput(f"it has {size(file.size)}, and the most is {size(most_bytes)}")
        content = await _download(workspace.client, file.url, most_bytes)
        return FetchedFile(content=content, name=file.name, media_type=file.mimetype)

    async def fetch_thread(
        self, reference: SourceReference, place: Place, _most_bytes: int, /
    ) -> FetchedFile | SourceText:
        channel, thread_ts, without = reference.fetch.split("/")
        if channel != place.channel:
            raise BadInput("it is in another channel")
        workspace = await self._workspace(place)
        messages = await _thread(workspace.client, channel, thread_ts)
        posts = [post for post in messages if post.ts != without and (post.words or post.files)]
        if not posts:
            raise BadInput("nobody has written anything in it")
        access = self._accesses.of(place.workspace)
        authors = (post.user for post in posts if post.user)
        mentioned = mentioned_in(post.all_text for post in posts)
        # One after another, as there may be hundreds.
        people = dict.fromkeys((*authors, *mentioned))
        names = {person: await access.name_of(person) for person in people}
        link_to = workspace.identity.link_to
        sections = [
            _section(post, names, link_to(channel, post.ts, thread_ts))
            for post in posts[:_MOST_MESSAGES]
        ]
        cut = f"only the first {_MOST_MESSAGES} messages were read"
        warnings = (cut,) if len(posts) > _MOST_MESSAGES else ()
        source_text = await asyncio.to_thread(joined_sections, sections, warnings=warnings)
        files = [
            reference
            for post in posts
            if post.user
            for reference in file_references(
                post.files, Person(id=post.user, name=names[post.user])
            )
        ]
        return source_text.model_copy(update={"references": tuple(files)})

    async def link_to(self, place: Place, ts: str) -> str:
        """The address of a message; empty if it is not known."""
        try:
            return (await self._workspace(place)).identity.link_to(place.channel, ts)
        except BadInput:
            return ""

    async def _workspace(self, place: Place) -> WorkspaceClient:
        try:
            return await self._clients.for_workspace(place.workspace)
        except (SlackApiError, *CONNECTION_ERRORS, MootError):
            raise BadInput("Slack cannot be asked for it") from None


def _section(post: PostedMessage, names: Mapping[str, str], link: str) -> Section:
    author = names.get(post.user) or post.user or post.username or "an app"
    time = when(datetime.fromtimestamp(float(post.ts), UTC))
    files = ", ".join(file.name for file in post.files)
    text = readable(post.all_text, names) + (f" [attached: {files}]" if files else "")
    return Section(label=f"{author}, {time}", address=link, text=f"{author}: {text}")


async def _thread(client: AsyncWebClient, channel: str, thread_ts: str) -> Sequence[PostedMessage]:
    messages = list[PostedMessage]()
    arguments = dict[str, Any](channel=channel, ts=thread_ts, limit=_PAGE)
    while True:
        answer = await call_with_retries(lambda: client.conversations_replies(**arguments))
        page = Page.model_validate(answer.data)
        messages += page.messages
        if not page.next_cursor or len(messages) > _MOST_MESSAGES:
            return messages
        arguments["cursor"] = page.next_cursor


async def call_with_retries(
    call: Callable[[], Awaitable[AsyncSlackResponse]],
) -> AsyncSlackResponse:
    """Return Slack's response, after a few retries if Slack asks to wait.

    Raises:
        BadInput: Slack refuses the call, cannot be reached, or still asks to wait.
    """
    reason = ""
    for _ in range(_TRIES):
        try:
            return await call()
        except (SlackApiError, *CONNECTION_ERRORS) as error:
            code = code_of(error)
            if code == "missing_scope":
                raise BadInput(_NO_SCOPE) from None
            if code in {"file_not_found", "file_deleted", "thread_not_found"}:
                raise BadInput("it is not there any more, or not for Moot to see") from None
            outcome = outcome_of(error)
            reason = outcome.reason
            if not isinstance(outcome, Retry):
                break
            await asyncio.sleep(min(outcome.after or 1.0, _LONGEST_WAIT))
    raise BadInput(f"Slack does not show it ({reason})")


async def _download(client: AsyncWebClient, url: str, most_bytes: int) -> bytes:
    parts, api = urlsplit(url), urlsplit(client.base_url)
    is_slack = parts.scheme == "https" and (parts.hostname or "").endswith(_SLACK_HOSTS)
    if not is_slack and (parts.scheme, parts.netloc) != (api.scheme, api.netloc):
        raise BadInput("it is kept outside Slack")
    headers = {"Authorization": f"Bearer {client.token}"}
    try:
        async with (
            slack_session(_SECONDS) as session,
            # Without permission Slack answers with a login page, or redirects (302) to it.
            session.get(
                url, headers=headers, proxy=client.proxy, allow_redirects=False
            ) as response,
        ):
            if response.status != _OK:
                raise BadInput(_NO_SCOPE)
            return await body_within(response, most_bytes)
    except CONNECTION_ERRORS:
        raise BadInput("Slack did not send it") from None
