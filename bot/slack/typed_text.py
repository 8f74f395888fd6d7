"""Reads text that people typed in Slack: mentions, links, names in place of ids."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from bot.slack.access import WorkspaceDirectory
from bot.slack.payloads import plain

#: Names that Slack is asked for, per text at most.
_MOST_NAMES = 40
_MENTION = re.compile(r"<@(?P<who>[UW][A-Z0-9]{1,30})(?:\|[^<>]{0,300})?>")
EMOJI_CODE = re.compile(r":[a-z0-9_+'-]{1,60}:(?::skin-tone-[2-6]:)?")
_QUESTION_MARK = re.compile("[?？؟]")  # noqa: RUF001
#: Separator after a mention. A colon that begins the code of an emoji does not belong to it.
_SEPARATOR = r"(?:[ ,\n\t]|:(?![a-z0-9_+'-]{1,60}:))*"
_AFTER_MENTION = re.compile(_SEPARATOR)
_LEADING_MENTION = re.compile(rf"{_MENTION.pattern}{_SEPARATOR}")
_MARK = re.compile(r"<(?P<sign>[@#!]?)(?P<what>[^<>|]{1,3000})(?:\|(?P<label>[^<>]{0,3000}))?>")
#: A link in Slack's markup, or a bare one in the text of forms and commands, which have no markup.
#: A bare link ends at white space, a quotation mark, a bracket before a comma, or a comma before
#: the next link.
_LINK = re.compile(
    r"<(?P<markup>https?://[^<>|\s]{1,2000})(?:\|(?P<label>[^<>]{0,3000}))?>"
    r"|(?P<bare>https?://(?:(?!&[lg]t;|[)\]}'],|,https?://)[^<>|\s\"“”„«»`]){1,2000})",
    re.IGNORECASE,
)
#: Characters that can follow an address without a space and do not belong to it.
_AFTER_LINK = tuple(".,;:!?]}'’*_~")


def mentioned_in(texts: Iterable[str]) -> Sequence[str]:
    marks = (mark for text in texts for mark in _MARK.finditer(text))
    return list(dict.fromkeys(mark["what"] for mark in marks if mark["sign"] == "@"))


def links_in(text: str) -> Sequence[str]:
    """The addresses of pages in a text, each once.

    Slack turns names such as "socket.io" into links by itself; these count only with a path.
    """
    addresses = list[str]()
    for link in _LINK.finditer(text):
        markup, label = link["markup"], link["label"] or ""
        if markup is None:
            address = plain(link["bare"])
            # A bracket at the end belongs to the address if it was opened in it: /Rust_(language)
            surplus = address.count(")") - address.count("(")
            while address.endswith(_AFTER_LINK) or (surplus > 0 and address.endswith(")")):
                surplus -= address.endswith(")")
                address = address[:-1]
            addresses.append(address)
        elif markup.partition("://")[2] != label or "/" in label.rstrip("/"):
            addresses.append(plain(markup))
    return list(dict.fromkeys(addresses))


async def names_of(access: WorkspaceDirectory, people: Iterable[str]) -> dict[str, str]:
    """Names by id of at most forty people; without those that Slack does not answer in time."""
    names = dict[str, str]()

    async def ask(person: str) -> None:
        with suppress(ValueError):  # a malformed profile: go on without the name
            names[person] = await access.name_of(person)

    with suppress(TimeoutError):
        async with asyncio.timeout(access.timeouts.names), asyncio.TaskGroup() as tasks:
            for person in list(dict.fromkeys(people))[:_MOST_NAMES]:
                tasks.create_task(ask(person))
    return {person: name for person, name in names.items() if name}


def readable(text: str, names: Mapping[str, str]) -> str:
    """Replace Slack's markup by names and addresses.

    Source: https://docs.slack.dev/messaging/formatting-message-text
    """

    def plain_mark(mark: re.Match[str]) -> str:
        target, label = mark["what"], mark["label"] or ""
        match mark["sign"]:
            case "@":
                return f"@{names.get(target) or label or target}"
            case "#":
                return f"#{label or target}"
            case "!":
                kind, _, group = target.partition("^")
                # The id, so that groups without a name can be told apart.
                return label or (f"@group-{group}" if kind == "subteam" else f"@{kind}")
            case _:
                # Slack completed an address that was typed without "https://" or "mailto:".
                is_same = target.partition("://")[2] == label or target == f"mailto:{label}"
                is_same |= not label or label == target
                return (label or target) if is_same else f"{label} ({target})"

    return plain(_MARK.sub(plain_mark, text)).strip()


async def with_names(access: WorkspaceDirectory, text: str) -> str:
    return readable(text, await names_of(access, mentioned_in([text])))


def without_bot_mention(text: str, bot: str) -> str:
    """A message without mentions of the bot at its beginning and its end.

    Other mentions stay: "@Moot should @alex own this?"
    """
    message = remaining = text.strip()
    while match := _MENTION.match(remaining):
        separator = _AFTER_MENTION.match(remaining, match.end())
        remaining = remaining[separator.end() if separator else match.end() :]
        message = remaining if match["who"] == bot else message
    last = _MENTION.fullmatch(message, max(0, message.rfind("<@")))
    return message[: last.start()].rstrip(" ,:\n\t") if last and last["who"] == bot else message


def split_addressee(text: str) -> tuple[str, str]:
    """Split a text into the mentions before its first word and the rest."""
    end = 0
    while match := _LEADING_MENTION.match(text, end):
        end = match.end()
    return text[:end].strip(" ,:\n\t"), text[end:]


def has_words(text: str) -> bool:
    """Whether a text has more than mentions."""
    return bool(_MENTION.sub("", text).strip())


def is_emoji_only(text: str) -> bool:
    """Whether a text has no letter or digit outside of codes of emoji; also True if it is empty."""
    return not any(map(str.isalnum, EMOJI_CODE.sub("", text)))


def has_question_mark(text: str) -> bool:
    """Whether a text has a question mark of any script."""
    return bool(_QUESTION_MARK.search(text))
