"""Whom a thread notifies, by Slack's rules for people who changed no setting of theirs."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from bot.testing import Message

_MENTION = re.compile(r"<@(U[A-Z0-9]+)(?:\|[^>]*)?>")


def notifications(thread: Sequence[Message]) -> Mapping[str, int]:
    """How often each person is notified of a thread, its root included.

    Whom a message mentions is notified of it. Whoever began a thread, wrote in it or was mentioned
    in it follows it, and is notified of each further reply that somebody else writes. An edit
    notifies nobody; a reply that is also shown in the channel counts once.
    Source: https://slack.com/help/articles/115000769927-Use-threads-to-organize-discussions

    Args:
        thread: The root and its replies, oldest first.
    """
    counts, following = Counter[str](), set[str]()
    for message in thread:
        author = "" if message.get("bot_id") else str(message["user"])
        content = message.get("blocks") or message["text"]
        mentioned = set(_MENTION.findall(json.dumps(content)))
        counts.update((following | mentioned) - {author})
        following |= mentioned | ({author} if author else set())
    return counts
