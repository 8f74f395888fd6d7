"""What people typed, as people read it: names and addresses in place of Slack's marks."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from bot.slack.access import WorkspaceDirectory
from bot.slack.payloads import plain

#: People whose names are asked for.
_MOST_NAMES = 40
_MENTION = re.compile(r"<@(?P<who>[UW][A-Z0-9]{1,30})(?:\|[^<>]{0,300})?>")
#: What parts a mention from what follows it; a colon may also begin the code of an emoji.
_SEPARATOR = r"(?:[ ,\n\t]|:(?![a-z0-9_+'-]{1,60}:))*"
_AFTER_MENTION = re.compile(_SEPARATOR)
_LEADING_MENTION = re.compile(rf"{_MENTION.pattern}{_SEPARATOR}")
_MARK = re.compile(r"<(?P<sign>[@#!]?)(?P<what>[^<>|]{1,3000})(?:\|(?P<label>[^<>]{0,3000}))?>")
#: A link as Slack marks it, or as it stands in what Slack does not mark: forms and commands. There
#: a quotation mark ends it, a bracket before a comma, and a comma before the next one.
_LINK = re.compile(
    r"<(?P<marked>https?://[^<>|\s]{1,2000})(?:\|(?P<label>[^<>]{0,3000}))?>"
    r"|(?P<bare>https?://(?:(?!&[lg]t;|[)\]}'],|,https?://)[^<>|\s\"“”„«»`]){1,2000})",
    re.IGNORECASE,
)
#: What may follow an address without a space and is no part of it.
_AFTER_LINK = tuple(".,;:!?]}'’*_~")


def mentioned_in(texts: Iterable[str]) -> Sequence[str]:
    marks = (mark for text in texts for mark in _MARK.finditer(text))
    return list(dict.fromkeys(mark["what"] for mark in marks if mark["sign"] == "@"))


def links_in(text: str) -> Sequence[str]:
    """The addresses of pages that somebody wrote or pasted, each once.

    Names such as "socket.io", which Slack makes links of by itself, are none; with a path they are.
    """
    addresses = list[str]()
    for link in _LINK.finditer(text):
        marked, label = link["marked"], link["label"] or ""
        if marked is None:
            address = plain(link["bare"])
            # A bracket at the end is the address's own where it was opened there: /Rust_(language)
            unopened = address.count(")") - address.count("(")
            while address.endswith(_AFTER_LINK) or (unopened > 0 and address.endswith(")")):
                unopened -= address.endswith(")")
                address = address[:-1]
            addresses.append(address)
        elif marked.partition("://")[2] != label or "/" in label.rstrip("/"):
            addresses.append(plain(marked))
    return list(dict.fromkeys(addresses))


async def names_of(access: WorkspaceDirectory, people: Iterable[str]) -> dict[str, str]:
    """Names by id, as far as Slack answers in time; of forty people at most."""
    names = dict[str, str]()

    async def ask(person: str) -> None:
        with suppress(ValueError):  # an odd profile costs its name, and not the message
            names[person] = await access.name_of(person)

    with suppress(TimeoutError):
        async with asyncio.timeout(access.timeouts.names), asyncio.TaskGroup() as asking:
            for person in list(dict.fromkeys(people))[:_MOST_NAMES]:
                asking.create_task(ask(person))
    return {person: name for person, name in names.items() if name}


def readable(text: str, names: Mapping[str, str]) -> str:
    """Names and addresses in place of Slack's marks.

    Source: https://docs.slack.dev/messaging/formatting-message-text (which marks there are).
    """

    def plain_mark(mark: re.Match[str]) -> str:
        what, label = mark["what"], mark["label"] or ""
        match mark["sign"]:
            case "@":
                return f"@{names.get(what) or label or what}"
            case "#":
                return f"#{label or what}"
            case "!":
                kind, _, group = what.partition("^")
                # Without its name, one group must still differ from another.
                return label or (f"@group-{group}" if kind == "subteam" else f"@{kind}")
            case _:
                # A page without "https://" before it, or an address, was typed as the label says.
                is_same = what.partition("://")[2] == label or what == f"mailto:{label}"
                is_same |= not label or label == what
                return (label or what) if is_same else f"{label} ({what})"

    return plain(_MARK.sub(plain_mark, text)).strip()


async def with_names(access: WorkspaceDirectory, text: str) -> str:
    return readable(text, await names_of(access, mentioned_in([text])))


def without_bot_mention(text: str, bot: str) -> str:
    """A message to the bot without the bot's mention before or after the words.

    Other mentions belong to the words: "@Moot should @alex own this?"
    """
    words = begun = text.strip()
    while match := _MENTION.match(begun):
        parted = _AFTER_MENTION.match(begun, match.end())
        begun = begun[parted.end() if parted else match.end() :]
        words = begun if match["who"] == bot else words
    last = _MENTION.fullmatch(words, max(0, words.rfind("<@")))
    return words[: last.start()].rstrip(" ,:\n\t") if last and last["who"] == bot else words


def split_addressee(text: str) -> tuple[str, str]:
    """Whom a text is for, as the mentions before its first word, and what it says."""
    end = 0
    while match := _LEADING_MENTION.match(text, end):
        end = match.end()
    return text[:end].strip(" ,:\n\t"), text[end:]


def has_words(text: str) -> bool:
    return bool(_MENTION.sub("", text).strip())
