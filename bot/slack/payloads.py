"""Slack's payloads as frozen models. Only this module and `origins` read the raw dictionaries.

Every payload read here has an example under `tests/payloads/`. The models have only the fields that
are used; unknown fields are ignored, because Slack adds fields without notice.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from slack_sdk.errors import SlackApiError

from bot.slack.origins import (
    DELETED,
    SLACKBOT,
    WRITTEN_BY_PEOPLE,
    installation_of,
    is_list,
    is_object,
    message_text,
    person_of,
    text_at,
    value_at,
)
from core.debate.people import Person

_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


#: Code and quoted lines. A code fence that is not closed extends to the end of the text.
_QUOTED = re.compile(r"(?s:```.*?(?:```|\Z))|`[^`\n]*`|^(?:&gt;|>).*$", re.MULTILINE)


def plain(text: str) -> str:
    """Undo Slack's escaping of &, < and > in what people typed.

    Source: https://docs.slack.dev/messaging/formatting-message-text (only these three).
    """
    for entity, character in _ESCAPES:
        text = text.replace(entity, character)
    return text


def _path(*path: str | int, default: object = "") -> Any:
    """A field with another path in the payload; required if the default is `...`."""
    return Field(default=default, validation_alias=AliasPath(str(path[0]), *path[1:]))


class Payload(BaseModel):
    # Validation errors are logged, so they must not quote the input.
    model_config = ConfigDict(
        frozen=True, extra="ignore", coerce_numbers_to_str=True, hide_input_in_errors=True
    )


class Delivery(Payload):
    #: The workspace of the installation.
    team_id: str
    #: The organisation of the workspace, on Enterprise Grid; else None.
    enterprise_id: str | None = None
    #: The app was installed for the whole organisation.
    is_org_wide: bool = False

    @model_validator(mode="before")
    @classmethod
    def _read_installation(cls, body: Any) -> Any:
        if not is_object(body) or "is_org_wide" in body:
            return body
        origin = installation_of(body)
        team = {"team_id": origin.workspace} if origin.workspace else {}
        organisation = {"enterprise_id": origin.organisation, "is_org_wide": origin.is_org_wide}
        return {**body, **organisation, **team}

    @property
    def installed_in(self) -> str | None:
        """The workspace that the app was installed in; None if in the whole organisation."""
        return None if self.is_org_wide else self.team_id


class Interaction(Delivery):
    user_id: str
    user_name: str = ""

    @property
    def person(self) -> Person:
        return Person(id=self.user_id, name=self.user_name)

    @model_validator(mode="before")
    @classmethod
    def _read_person(cls, body: Any) -> Any:
        if not is_object(body) or "user_id" in body:
            return body
        person = person_of(body)
        return {**body, **({"user_id": person.id} if person.id else {}), "user_name": person.name}


class Command(Interaction):
    """Source: https://docs.slack.dev/interactivity/implementing-slash-commands."""

    command: str
    #: The text after the command.
    text: str = ""
    channel_id: str
    trigger_id: str

    @property
    def words(self) -> str:
        return plain(self.text).strip()

    @property
    def is_direct(self) -> bool:
        return self.channel_id.startswith("D")


class SharedFile(Payload):
    """Source: https://docs.slack.dev/reference/objects/file-object."""

    id: str
    name: str = ""
    title: str = ""
    mimetype: str = ""
    size: int = 0
    permalink: str = ""
    is_external: bool = False
    url_private: str = ""
    url_private_download: str = ""
    channels: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    ims: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        return self.url_private_download or self.url_private

    @property
    def shared_in(self) -> frozenset[str]:
        return frozenset((*self.channels, *self.groups, *self.ims))


class PostedMessage(Payload):
    """A `message` event. Also the shape of what `conversations.replies` returns."""

    channel: str = ""
    #: The author's account, which can be Slack's own or an app's; empty for posts by webhooks.
    user: str = ""
    #: The text, with that of an app's blocks and attachments; without forwarded messages.
    text: str = ""
    #: Forwarded messages, each with the name of its author.
    forwarded: tuple[str, ...] = ()
    ts: str
    thread_ts: str = ""
    subtype: str = ""
    bot_id: str = ""
    #: The name of a bot that it posts under.
    username: str = ""
    files: tuple[SharedFile, ...] = ()
    #: The timestamp of the last edit; empty if none.
    edited_at: str = _path("edited", "ts")
    #: The key of a post of the bot, from its metadata.
    key: str = _path("metadata", "event_payload", "key")
    #: In a channel's history: the timestamp of the newest reply in its thread; None if none.
    latest_reply: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_words(cls, message: Any) -> Any:
        if not is_object(message) or "forwarded" in message:
            return message
        text, forwarded = message_text(message)
        # A text of a wrong type stays as it is and fails validation.
        own_text = {"text": text} if isinstance(message.get("text", ""), str) else {}
        # Slack writes null for what is absent.
        fields = {name: value for name, value in message.items() if value is not None}
        return {**fields, "forwarded": forwarded, **own_text}

    @property
    def all_text(self) -> str:
        return "\n".join(filter(None, (self.text, *self.forwarded)))

    @property
    def words(self) -> str:
        """The text as typed. Empty for Slack's notice that replaces a deleted message."""
        return "" if self.subtype == DELETED else plain(self.all_text).strip()

    @property
    def may_be_of_person(self) -> bool:
        """Also true for an app that posts as a user; `WorkspaceDirectory.is_person` decides."""
        return bool(self.user) and self.user != SLACKBOT and self.subtype in WRITTEN_BY_PEOPLE

    def mentions(self, user: str) -> bool:
        """Whether the message mentions this user; ignores mentions in code and in quoted lines."""
        text = _QUOTED.sub("", self.text)
        return re.search(rf"<@{re.escape(user)}[|>]", text) is not None

    @property
    def is_reply(self) -> bool:
        return self.may_be_of_person and bool(self.thread_ts) and self.thread_ts != self.ts


class SessionStopped(Delivery):
    """An `agent_session_stopped` event: a person pressed the Stop that Slack itself shows.

    Source: https://docs.slack.dev/reference/events/agent_session_stopped
    """

    channel: str = _path("event", "channel", default=...)
    thread_ts: str = _path("event", "thread_ts", default=...)
    user: str = _path("event", "user", default=...)
    event_ts: str = _path("event", "event_ts", default=...)

    @property
    def as_reply(self) -> PostedMessage:
        return PostedMessage(
            channel=self.channel, user=self.user, ts=self.event_ts, thread_ts=self.thread_ts
        )


class ChangeOfMessage(Payload):
    """Source: https://docs.slack.dev/reference/events/message/message_changed."""

    subtype: str = ""
    channel: str = ""
    #: The message after the change; None if it was deleted.
    message: PostedMessage | None = None
    previous_message: PostedMessage | None = None

    @property
    def edit(self) -> PostedMessage | None:
        """The reply whose text a person changed; None for all other changes.

        Slack also sends this event when it adds previews of links or counts replies.
        """
        after, before = self.message, self.previous_message
        if self.subtype != "message_changed" or after is None or not after.edited_at:
            return None
        if not after.is_reply or (before and before.text == after.text):
            return None
        return after.model_copy(update={"channel": self.channel})

    @property
    def deletion(self) -> PostedMessage | None:
        before = self.previous_message
        if self.subtype != "message_deleted" or before is None or not before.thread_ts:
            return None
        return before.model_copy(update={"channel": self.channel})


class MessageEvent(Delivery):
    """A `message` or `app_mention` event. Source: https://docs.slack.dev/apis/events-api."""

    message: PostedMessage = _path("event", default=...)
    #: The change itself, if the event reports an edited or deleted message.
    change: ChangeOfMessage = _path("event", default=...)

    @property
    def posted(self) -> PostedMessage:
        """The message of the event: its current state, or its last one if it was deleted."""
        return self.change.edit or self.change.deletion or self.message


class FormValues(Interaction):
    """The state of a form, in `view_submission` and in `block_actions` from a form."""

    #: Empty if the click was not in a form.
    view_id: str = _path("view", "id")
    callback_id: str = _path("view", "callback_id")
    private_metadata: str = _path("view", "private_metadata")
    #: By block id and action id: the element's state, whose fields depend on the type of element.
    #: Source: https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload
    values: Mapping[str, Mapping[str, Mapping[str, Any]]] = Field(
        default_factory=dict[str, Mapping[str, Mapping[str, Any]]],
        validation_alias=AliasPath("view", "state", "values"),
    )

    @property
    def metadata(self) -> Mapping[str, str]:
        """The values that the bot stored in the form; empty if they cannot be read."""
        try:
            return _METADATA.validate_json(self.private_metadata)
        except ValidationError:
            return {}

    @property
    def debate_id(self) -> str:
        """The id of the form's debate; empty if it has none."""
        return self.metadata.get("debate", "")

    def text_of(self, field: str) -> str:
        return self._text(field, "value").strip()

    def choice(self, field: str) -> str:
        return self._text(field, "selected_option", "value")

    def choices(self, field: str) -> tuple[str, ...]:
        return tuple(text_at(option, "value") for option in self._list(field, "selected_options"))

    def people(self, field: str) -> tuple[str, ...]:
        return tuple(map(str, self._list(field, "selected_users")))

    def conversation(self, field: str) -> str:
        return self._text(field, "selected_conversation")

    def date(self, field: str) -> str:
        """In the form 2026-03-01; empty if none was chosen."""
        return self._text(field, "selected_date")

    def block_of(self, field: str) -> str:
        """The id of the field's block.

        It differs from the field's id if a playbook refilled the field.
        """
        return next((block for block, actions in self.values.items() if field in actions), field)

    def _text(self, field: str, *path: str) -> str:
        return text_at(self.values, self.block_of(field), field, *path)

    def _list(self, field: str, name: str) -> Sequence[Any]:
        items = value_at(self.values, self.block_of(field), field, name)
        return items if is_list(items) else ()


_METADATA = TypeAdapter(dict[str, str])


class Click(FormValues):
    """The first action of `block_actions`.

    Source: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
    """

    trigger_id: str
    #: Empty if the click was in a form or in App Home.
    channel_id: str = _path("channel", "id")
    message_ts: str = _path("container", "message_ts")
    #: First message of the message's thread; empty if it is in the channel.
    thread_ts: str = _path("container", "thread_ts")
    #: "thread_broadcast" for a reply that is also shown in the channel.
    subtype: str = _path("message", "subtype")
    #: Whether only the person who clicked sees the message.
    is_ephemeral: bool = _path("container", "is_ephemeral", default=False)
    action_id: str = _path("actions", 0, "action_id", default=...)
    block_id: str = _path("actions", 0, "block_id")
    #: The debate's id; for some buttons followed by a slash and a detail.
    value: str = _path("actions", 0, "value")

    @property
    def debate_id(self) -> str:
        return self.value.partition("/")[0]

    @property
    def detail(self) -> str:
        return self.value.partition("/")[2]

    @property
    def thread(self) -> str:
        """First message of the thread to answer in; empty to answer in the channel.

        Slack does not report whether a broadcast reply was clicked in the thread or in the channel.
        It is answered in the channel, which people see beside an open thread.
        """
        in_channel = self.thread_ts == self.message_ts or self.subtype == "thread_broadcast"
        return "" if in_channel else self.thread_ts


class FormSubmission(FormValues):
    """Source: https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload."""

    blocks: Sequence[Mapping[str, Any]] = _path("view", "blocks", default=())


class MessageShortcut(Interaction):
    """Source: https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload."""

    trigger_id: str
    channel_id: str = _path("channel", "id", default=...)
    message_ts: str
    message: PostedMessage

    @property
    def is_direct(self) -> bool:
        return self.channel_id.startswith("D")


#: Interactions whose trigger can open a form.
Opener = Command | Click | MessageShortcut


class ChannelEvent(Delivery):
    """A channel was archived or unarchived, or a person joined it."""

    kind: str = _path("event", "type", default=...)
    channel: str = _path("event", "channel", default=...)
    #: The person who joined or unarchived the channel; can be empty if it was archived.
    user: str = _path("event", "user")

    @property
    def is_unarchived(self) -> bool:
        return self.kind in {"channel_unarchive", "group_unarchive"}


class SlackUser(Payload):
    """The user in a response of `users.info`."""

    display_name: str = _path("profile", "display_name")
    real_name: str = ""
    handle: str = _path("name")
    #: Name of their time zone, such as "Asia/Tokyo"; None for bots.
    tz: str | None = None
    #: Their workspace, which can be another company's in a shared channel.
    team_id: str = ""
    #: On Enterprise Grid: their organisation.
    enterprise_id: str = _path("enterprise_user", "enterprise_id")
    #: Whether it is an app's account; False for Slack's own, `SLACKBOT`.
    is_bot: bool = False
    #: Whether the account was removed or deactivated.
    is_gone: bool = _path("deleted", default=False)
    #: Also True for owners.
    is_admin: bool = False

    @property
    def name(self) -> str:
        return self.display_name or self.real_name or self.handle

    @property
    def zone(self) -> tzinfo:
        """Their time zone; UTC if unknown."""
        try:
            return ZoneInfo(self.tz or "UTC")
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return UTC


class SlackChannel(Payload):
    """A channel in responses of `conversations.info` and `users.conversations`."""

    id: str
    name: str = ""
    is_member: bool = False
    is_archived: bool = False


class Page(Payload):
    messages: tuple[PostedMessage, ...] = ()
    channels: tuple[SlackChannel, ...] = ()
    next_cursor: str = _path("response_metadata", "next_cursor")


class Identity(Payload):
    """The response of `auth.test`."""

    team_id: str
    team: str = ""
    #: The organisation of the workspace; None if it has none.
    enterprise_id: str | None = None
    #: The workspace's address, with a slash at the end.
    url: str = "https://slack.com/"
    user_id: str
    bot_id: str = ""

    def link_to(self, channel: str, ts: str, thread: str = "") -> str:
        """The address of a message; `thread` is the first message of its thread, for a reply."""
        query = f"?thread_ts={thread}&cid={channel}" if thread not in {"", ts} else ""
        return f"{self.url}archives/{channel}/p{ts.replace('.', '')}{query}"


class Refusal(Payload):
    """An error response of the Web API."""

    error: str = ""
    #: With `missing_scope`: the missing scope.
    needed: str = ""
    #: Errors of the arguments, each with its position.
    messages: tuple[str, ...] = _path("response_metadata", "messages", default=())


def body_of(answer: Any) -> Mapping[str, Any]:
    return answer.data


def code_of(error: BaseException | None) -> str:
    """Slack's error code; empty if the error is not an error response of Slack."""
    return refusal_of(error.response).error if isinstance(error, SlackApiError) else ""


def refusal_of(answer: Any) -> Refusal:
    """The error in a response of the SDK; empty if the body is not JSON."""
    body = getattr(answer, "data", None)
    return Refusal.model_validate(body) if isinstance(body, dict) else Refusal()
