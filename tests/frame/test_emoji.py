"""The local workspace draws every emoji that the bot writes."""

import re
from collections.abc import Iterator

from core.settings import ROLES
from slack_on_loopback.emoji import EMOJI
from tests.frame.files import modules

#: In a sentence or alone in a string, never a part of a time or an address.
_SHORTCODE = re.compile(r"(?<![\w/{}.]):([a-z][a-z0-9_+-]{2,}):(?![\w/])")
_WRITERS = ("bot/views", "bot/presenter", "bot/listeners")


def _written() -> Iterator[str]:
    for file in modules(*_WRITERS):
        yield from _SHORTCODE.findall(file.read_text(encoding="utf-8"))


def test_every_emoji_the_bot_writes_is_drawn() -> None:
    names = set(_written())
    assert {"warning", "raising_hand"} <= names
    assert names <= EMOJI.keys()


def test_every_roles_icon_is_drawn() -> None:
    icons = {role.icon.strip(":") for role in ROLES.values()}
    assert icons <= EMOJI.keys()
