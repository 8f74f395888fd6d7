"""The calls for posts, one Slack method each, and the search for a post in doubt."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.queue.rows import PostRow
from bot.slack.ids import METADATA_EVENT
from bot.slack.outcomes import Rejection, outcome_of
from bot.slack.payloads import Page, body_of

_PAGE = 200
#: Seconds by which the clocks of Slack and of this machine may differ.
_CLOCK_MARGIN = 3600
#: Refusals if the wanted state exists already.
_DONE_ALREADY = frozenset({"already_pinned", "no_pin", "already_reacted", "no_reaction"})
#: The method for agent sessions, which only apps installed as an agent may call.
SESSION = "session"
#: Payload fields of uploads: the text of the message that the files are attached to, and the text
#: without files.
UNDER, ALONE = "under", "alone"
#: Fields of a payload that are for the queue, not for Slack.
_OWN_FIELDS = frozenset({"target_key", "target_ts", "thread_ts", UNDER, ALONE})
#: Arguments of a message that `chat.update` takes.
_EDITABLE = frozenset({"text", "blocks"})


@dataclass(frozen=True)
class SlackCall:
    """A call for a row: the first one, or an edit of a living post."""

    client: AsyncWebClient
    row: PostRow
    content: Mapping[str, Any]
    #: Timestamp of the bot's message to react to, or to attach files to.
    target_ts: str | None = None

    @property
    def thread_ts(self) -> str | None:
        """Timestamp of the root of its thread; None in the channel itself."""
        return self.row.root_ts or self.row.payload.get("thread_ts")

    @property
    def arguments(self) -> dict[str, Any]:
        return {name: value for name, value in self.content.items() if name not in _OWN_FIELDS}


async def _post(call: SlackCall) -> str:
    metadata = {"event_type": METADATA_EVENT, "event_payload": {"key": call.row.key}}
    answer = await call.client.chat_postMessage(
        channel=call.row.channel,
        thread_ts=call.thread_ts,
        metadata=metadata,
        unfurl_links=False,
        unfurl_media=False,
        **call.arguments,
    )
    return str(body_of(answer)["ts"])


async def _react(call: SlackCall) -> None:
    timestamp = call.target_ts or call.content["target_ts"]
    await call.client.reactions_add(channel=call.row.channel, timestamp=timestamp, **call.arguments)


async def _ephemeral(call: SlackCall) -> None:
    await call.client.chat_postEphemeral(
        channel=call.row.channel, thread_ts=call.thread_ts, **call.arguments
    )


async def _upload(call: SlackCall) -> None:
    """Attach files to the bot's message, else share them with a message of their own.

    Makes three calls or more; only the last one is visible.
    Sources: https://docs.slack.dev/messaging/working-with-files, and `file_ids` of
    https://docs.slack.dev/reference/methods/chat.update
    """
    files = [{**file, "title": file["filename"]} for file in call.content["files"]]
    if call.target_ts and UNDER in call.content and await _attach(call, files):
        return
    await call.client.files_upload_v2(
        channel=call.row.channel,
        thread_ts=call.thread_ts,
        initial_comment=call.content["text"],
        file_uploads=files,
    )


async def _attach(call: SlackCall, files: list[dict[str, Any]]) -> bool:
    """Attach files to a message of the bot; False if Slack refuses."""
    fields = {"text": call.content[UNDER], "blocks": call.content.get("blocks")}
    try:
        upload = await call.client.files_upload_v2(file_uploads=files)
        ids = [file["id"] for file in body_of(upload)["files"]]
        answer = await call.client.chat_update(
            channel=call.row.channel, ts=call.target_ts or "", file_ids=ids, **fields
        )
    except SlackApiError as error:
        if isinstance(outcome_of(error), Rejection):
            return False
        raise
    return bool(body_of(answer).get("message", {}).get("files"))


#: The first call of a row, by its method.
_FIRST: Mapping[str, Callable[[SlackCall], Awaitable[str | None]]] = {
    "post": _post,
    "react": _react,
    "ephemeral": _ephemeral,
    "upload": _upload,
}
#: Methods that must not run twice: the queue searches for the result before it repeats one.
UNREPEATABLE = frozenset({"post", "upload"})


async def send(call: SlackCall) -> str | None:
    return await _ignore_done(_FIRST[call.row.method](call))


async def edit(call: SlackCall) -> None:
    await _ignore_done(_edit(call))


async def _edit(call: SlackCall) -> None:
    client, content = call.client, call.arguments
    if call.row.method == "pin":
        if content["pinned"]:
            await client.pins_add(channel=call.row.channel, timestamp=call.thread_ts)
        else:
            await client.pins_remove(channel=call.row.channel, timestamp=call.thread_ts)
    elif call.row.method == SESSION:
        # The first call makes the session, with its title.
        await client.agents_sessions_setStatus(
            channel_id=call.row.channel, thread_ts=call.thread_ts, **content
        )
    else:
        fields = {name: value for name, value in content.items() if name in _EDITABLE}
        await client.chat_update(channel=call.row.channel, ts=call.row.ts or "", **fields)


async def _ignore_done(calling: Awaitable[str | None]) -> str | None:
    try:
        return await calling
    except SlackApiError as error:
        outcome = outcome_of(error)
        if isinstance(outcome, Rejection) and outcome.code in _DONE_ALREADY:
            return None
        raise


async def find_post(call: SlackCall, attempted_at: float | None) -> str | None:
    """Search Slack for the message with the row's key or files; return its timestamp.

    Searches the thread, or the channel for a message that begins one.

    Args:
        call: The call in doubt.
        attempted_at: When its first attempt began; None: unknown.
    """
    names = {file["filename"] for file in call.content.get("files", ())}
    arguments: dict[str, Any] = {
        "channel": call.row.channel,
        "oldest": str(attempted_at - _CLOCK_MARGIN) if attempted_at else "0",
        "limit": _PAGE,
        "include_all_metadata": True,
    }
    if call.thread_ts is None:
        pages = await call.client.conversations_history(**arguments)
    else:
        pages = await call.client.conversations_replies(ts=call.thread_ts, **arguments)
    async for answer in pages:
        for message in Page.model_validate(body_of(answer)).messages:
            file_names = {file.name for file in message.files}
            if message.key == call.row.key or names & file_names:
                return message.ts
    return None
