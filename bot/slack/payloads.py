"""Slack's dictionaries as frozen values: with `origins` the only module that reads them.

Every payload read here has an example under `tests/payloads/`. Fields nobody uses are left out, and
unknown ones ignored: Slack adds fields without notice.
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


#: Code, and lines that quote: a fence that nobody closed holds the rest of the text.
_QUOTED = re.compile(r"(?s:```.*?(?:```|\Z))|`[^`\n]*`|^(?:&gt;|>).*$", re.MULTILINE)


def plain(text: str) -> str:
    """Undo Slack's escaping of &, < and > in what people typed.

    Source: https://docs.slack.dev/messaging/formatting-message-text (only these three).
    """
    for escaped, character in _ESCAPES:
        text = text.replace(escaped, character)
    return text


def _at(*path: str | int, default: object = "") -> Any:
    """A field that stands elsewhere in the payload; it must be there where the default is `...`."""
    return Field(default=default, validation_alias=AliasPath(str(path[0]), *path[1:]))


class Payload(BaseModel):
    # Errors do not quote what was sent: they end in logs.
    model_config = ConfigDict(
        frozen=True, extra="ignore", coerce_numbers_to_str=True, hide_input_in_errors=True
    )


class Delivery(Payload):
    #: The workspace that the app is installed in.
    team_id: str
    #: The organisation that the workspace belongs to; None: to none.
    enterprise_id: str | None = None
    #: The app was installed for the whole organisation.
    is_org_wide: bool = False

    @model_validator(mode="before")
    @classmethod
    def _read_installation(cls, body: Any) -> Any:
        if not is_object(body) or "is_org_wide" in body:
            return body
        origin = installation_of(body)
        named = {"team_id": origin.workspace} if origin.workspace else {}
        rest = {"enterprise_id": origin.organisation, "is_org_wide": origin.is_org_wide}
        return {**body, **rest, **named}

    @property
    def installed_in(self) -> str | None:
        """None where the app was installed in the whole organisation."""
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
    #: What was typed after the command.
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
    #: Who wrote it; Slack's own account and those of apps count. Absent on what webhooks post.
    user: str = ""
    #: All its own words, with those of an app's blocks and attachments.
    text: str = ""
    #: Messages that it passes on, each with the name of its author.
    forwarded: tuple[str, ...] = ()
    ts: str
    thread_ts: str = ""
    subtype: str = ""
    bot_id: str = ""
    #: What a bot calls itself.
    username: str = ""
    files: tuple[SharedFile, ...] = ()
    #: When it was edited last; empty: it was not.
    edited_at: str = _at("edited", "ts")
    #: What the bot wrote into the metadata of a post of its own: its key.
    key: str = _at("metadata", "event_payload", "key")
    #: In a list of a channel's messages: the newest reply of the thread it began; empty: none.
    latest_reply: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_words(cls, message: Any) -> Any:
        if not is_object(message) or "forwarded" in message:
            return message
        text, forwarded = message_text(message)
        # A text of a wrong type is refused as such.
        named = {"text": text} if isinstance(message.get("text", ""), str) else {}
        # Slack writes null for what is absent.
        fields = {name: value for name, value in message.items() if value is not None}
        return {**fields, "forwarded": forwarded, **named}

    @property
    def all_text(self) -> str:
        return "\n".join(filter(None, (self.text, *self.forwarded)))

    @property
    def words(self) -> str:
        """As they were typed; none of the notice in place of a deleted message."""
        return "" if self.subtype == DELETED else plain(self.all_text).strip()

    @property
    def may_be_of_person(self) -> bool:
        """Also true for an app that posts as a user; only Slack tells which of them it is.

        See `WorkspaceDirectory.is_person`.
        """
        return bool(self.user) and self.user != SLACKBOT and self.subtype in WRITTEN_BY_PEOPLE

    def mentions(self, user: str) -> bool:
        """A mention in code or in a quoted line calls nobody."""
        text = _QUOTED.sub("", self.text)
        return re.search(rf"<@{re.escape(user)}[|>]", text) is not None

    @property
    def is_reply(self) -> bool:
        return self.may_be_of_person and bool(self.thread_ts) and self.thread_ts != self.ts


class SessionStopped(Delivery):
    """Somebody pressed the Stop that Slack itself shows: an `agent_session_stopped` event.

    Source: https://docs.slack.dev/reference/events/agent_session_stopped
    """

    channel: str = _at("event", "channel", default=...)
    thread_ts: str = _at("event", "thread_ts", default=...)
    user: str = _at("event", "user", default=...)
    event_ts: str = _at("event", "event_ts", default=...)

    @property
    def as_reply(self) -> PostedMessage:
        return PostedMessage(
            channel=self.channel, user=self.user, ts=self.event_ts, thread_ts=self.thread_ts
        )


class ChangeOfMessage(Payload):
    """Source: https://docs.slack.dev/reference/events/message/message_changed."""

    subtype: str = ""
    channel: str = ""
    #: As it is now; absent where it was deleted.
    message: PostedMessage | None = None
    previous_message: PostedMessage | None = None

    @property
    def edit(self) -> PostedMessage | None:
        """The reply whose words a person changed; None for all other changes.

        Slack also says that a message changed when links in it were unfolded or replies counted.
        """
        now, before = self.message, self.previous_message
        if self.subtype != "message_changed" or now is None or not now.edited_at:
            return None
        if not now.is_reply or (before and before.text == now.text):
            return None
        return now.model_copy(update={"channel": self.channel})

    @property
    def deletion(self) -> PostedMessage | None:
        before = self.previous_message
        if self.subtype != "message_deleted" or before is None or not before.thread_ts:
            return None
        return before.model_copy(update={"channel": self.channel})


class MessageEvent(Delivery):
    """A `message` or `app_mention` event. Source: https://docs.slack.dev/apis/events-api."""

    message: PostedMessage = _at("event", default=...)
    #: The same, where it tells that a message was changed.
    change: ChangeOfMessage = _at("event", default=...)

    @property
    def posted(self) -> PostedMessage:
        """The message that it is about, as it is now or was before it was deleted."""
        return self.change.edit or self.change.deletion or self.message


class FormValues(Interaction):
    """What is in a form: in `block_actions` from a form and in `view_submission`."""

    #: Empty where there is no form.
    view_id: str = _at("view", "id")
    callback_id: str = _at("view", "callback_id")
    private_metadata: str = _at("view", "private_metadata")
    #: block id → action id → the element's state; which fields that has depends on its kind.
    #: Source: https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload
    values: Mapping[str, Mapping[str, Mapping[str, Any]]] = Field(
        default_factory=dict[str, Mapping[str, Mapping[str, Any]]],
        validation_alias=AliasPath("view", "state", "values"),
    )

    @property
    def metadata(self) -> Mapping[str, str]:
        """Nothing where it is not as we wrote it."""
        try:
            return _KEPT.validate_json(self.private_metadata)
        except ValidationError:
            return {}

    @property
    def debate_id(self) -> str:
        """The debate that it is about; empty: about none."""
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
        """As 2026-03-01; empty if none."""
        return self._text(field, "selected_date")

    def block_of(self, field: str) -> str:
        """The id of the block that a field stands in: its own, unless a choice filled it anew."""
        return next((block for block, actions in self.values.items() if field in actions), field)

    def _text(self, field: str, *path: str) -> str:
        return text_at(self.values, self.block_of(field), field, *path)

    def _list(self, field: str, name: str) -> Sequence[Any]:
        items = value_at(self.values, self.block_of(field), field, name)
        return items if is_list(items) else ()


_KEPT = TypeAdapter(dict[str, str])


class Click(FormValues):
    """The first action of `block_actions`.

    Source: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
    """

    trigger_id: str
    #: Empty where the click was in a form or in App Home.
    channel_id: str = _at("channel", "id")
    message_ts: str = _at("container", "message_ts")
    #: Root of the thread that the message is in; empty where it is in the channel.
    thread_ts: str = _at("container", "thread_ts")
    #: "thread_broadcast" for a reply that is shown in the channel, too.
    subtype: str = _at("message", "subtype")
    #: Only who clicked sees the message.
    is_ephemeral: bool = _at("container", "is_ephemeral", default=False)
    action_id: str = _at("actions", 0, "action_id", default=...)
    block_id: str = _at("actions", 0, "block_id")
    #: The debate's id; of some, after a slash, what else they name.
    value: str = _at("actions", 0, "value")

    @property
    def debate_id(self) -> str:
        return self.value.partition("/")[0]

    @property
    def detail(self) -> str:
        return self.value.partition("/")[2]

    @property
    def thread(self) -> str:
        """Root of the thread that who clicked is in; empty where they may be in the channel.

        Slack does not say in which of the two a broadcast reply was clicked: what is answered in
        the channel can be seen beside an open thread, but not the other way round.
        """
        in_channel = self.thread_ts == self.message_ts or self.subtype == "thread_broadcast"
        return "" if in_channel else self.thread_ts


class FormSubmission(FormValues):
    """Source: https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload."""


class MessageShortcut(Interaction):
    """A `message_action` payload.

    Source: https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload
    """

    trigger_id: str
    channel_id: str = _at("channel", "id", default=...)
    message_ts: str
    message: PostedMessage

    @property
    def is_direct(self) -> bool:
        return self.channel_id.startswith("D")


#: What opens a form, by its trigger.
Opener = Command | Click | MessageShortcut


class ChannelEvent(Delivery):
    """A channel was archived, can be used again, or somebody joined it."""

    kind: str = _at("event", "type", default=...)
    channel: str = _at("event", "channel", default=...)
    #: Who joined, or made it usable again; empty where Slack does not say who archived it.
    user: str = _at("event", "user")

    @property
    def is_unarchived(self) -> bool:
        return self.kind in {"channel_unarchive", "group_unarchive"}


class SlackUser(Payload):
    """Of the answer of `users.info`."""

    display_name: str = _at("profile", "display_name")
    real_name: str = ""
    handle: str = _at("name")
    #: Name of their time zone: "Asia/Tokyo". None on bots.
    tz: str | None = None
    #: The workspace they belong to: another company's in a shared channel.
    team_id: str = ""
    #: On Enterprise Grid: their organisation.
    enterprise_id: str = _at("enterprise_user", "enterprise_id")
    #: The account of an app. Slack's own, `SLACKBOT`, is none by this.
    is_bot: bool = False
    #: Removed from the workspace, or deactivated.
    is_gone: bool = _at("deleted", default=False)
    #: True of owners, too.
    is_admin: bool = False

    @property
    def name(self) -> str:
        return self.display_name or self.real_name or self.handle

    @property
    def zone(self) -> tzinfo:
        """UTC where nobody knows it."""
        try:
            return ZoneInfo(self.tz or "UTC")
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return UTC


class SlackChannel(Payload):
    """Of the answers of `conversations.info` and `users.conversations`."""

    id: str
    name: str = ""
    is_member: bool = False
    is_archived: bool = False


class Page(Payload):
    messages: tuple[PostedMessage, ...] = ()
    channels: tuple[SlackChannel, ...] = ()
    next_cursor: str = _at("response_metadata", "next_cursor")


class Identity(Payload):
    """The answer of `auth.test`."""

    team_id: str
    team: str = ""
    #: The organisation of the workspace; None: it stands alone.
    enterprise_id: str | None = None
    #: The workspace's address, with a slash at its end.
    url: str = "https://slack.com/"
    user_id: str
    bot_id: str = ""

    def link_to(self, channel: str, ts: str, thread: str = "") -> str:
        """The address of a message; of a reply with the first message of its thread."""
        query = f"?thread_ts={thread}&cid={channel}" if thread not in {"", ts} else ""
        return f"{self.url}archives/{channel}/p{ts.replace('.', '')}{query}"


class Refusal(Payload):
    """Slack's "no" in the body of an answer."""

    error: str = ""
    #: The scope that lacks, with `missing_scope`.
    needed: str = ""
    #: What is wrong with the arguments, each with the place of it.
    messages: tuple[str, ...] = _at("response_metadata", "messages", default=())


def body_of(answer: Any) -> Mapping[str, Any]:
    return answer.data


def code_of(error: BaseException | None) -> str:
    """Slack's code of a refusal; empty for every other error."""
    return refusal_of(error.response).error if isinstance(error, SlackApiError) else ""


def refusal_of(answer: Any) -> Refusal:
    """The refusal in an answer of the SDK; empty where the body was not JSON."""
    body = getattr(answer, "data", None)
    return Refusal.model_validate(body) if isinstance(body, dict) else Refusal()
