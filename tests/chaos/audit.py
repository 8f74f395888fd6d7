"""What became of the debates: every post once and in order, no recorded call made again."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.presenter.post import ViewOptions
from bot.presenter.posts import posts_of_group
from bot.presenter.reading_order import ReadingPosition, release_after
from bot.testing import key_of
from bot.views.board import BoardAction
from core.events import Recorded, apply, event_to_json
from core.models import Debate, Status
from core.ports import DebateFilter
from core.store.debates import SqlDebateStore
from slack_on_loopback import Workspace

_MARK = re.compile(r"mark-[0-9a-f]{16}")


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Figures; the first five are zero when all is well."""

    unfinished: int
    lost: int
    doubled: int
    displaced: int
    #: Calls made after their answer was recorded.
    recorded_repeats: int
    debates: int
    posts: int

    @property
    def faults(self) -> Mapping[str, int]:
        """What must not be."""
        names = ("unfinished", "lost", "doubled", "displaced", "recorded_repeats")
        return {name: count for name in names if (count := getattr(self, name))}


async def audit(
    store: SqlDebateStore,
    workspace: Workspace,
    channels: Sequence[str],
    asked: Mapping[str, Sequence[float]],
) -> Audit:
    """Compare the logs with what is in the workspace and what the models were asked."""
    logs = [
        await store.events(entry.debate_id) for entry in await store.find(DebateFilter(limit=1000))
    ]
    posted = keys_by_debate(workspace, channels)
    wanted = {log[0].debate_id: expected_keys(log) for log in logs}
    found = {debate: posted.get(debate, []) for debate in wanted}
    unique = {debate: list(dict.fromkeys(keys)) for debate, keys in found.items()}
    return Audit(
        unfinished=sum(not _has_concluded(log) for log in logs),
        lost=sum(len(set(wanted[one]) - set(found[one])) for one in wanted),
        doubled=sum(len(found[one]) - len(unique[one]) for one in wanted),
        displaced=sum(not _is_in_order(unique[one], wanted[one]) for one in wanted),
        recorded_repeats=sum(_repeats(log, asked) for log in logs),
        debates=len(logs),
        posts=sum(len(keys) for keys in found.values()),
    )


def marks_of(recorded: Recorded) -> Sequence[str]:
    """Marks of the prompts whose answers are in an event."""
    return _MARK.findall(event_to_json(recorded.event))


def expected_keys(log: Sequence[Recorded]) -> list[str]:
    """Keys of the posts that a log leads to, in reading order."""
    position, debate = ReadingPosition(), None
    keys: list[str] = []
    for recorded in log:
        debate = apply(debate, recorded)
        reached = release_after(position, debate, recorded)
        position = reached.position
        for group in reached.groups:
            posts = posts_of_group(debate, group, ViewOptions(enabled=tuple(BoardAction)))
            keys += [post.key for post in posts if post.method == "post"]
    return keys


def keys_by_debate(workspace: Workspace, channels: Sequence[str]) -> Mapping[str, list[str]]:
    """Keys of the bot's messages as a reader meets them."""
    found: dict[str, list[str]] = {}
    for channel in channels:
        boards = [
            message for message in workspace.messages(channel) if key_of(message).endswith("/board")
        ]
        for board in boards:
            thread = [key for one in workspace.thread(channel, board["ts"]) if (key := key_of(one))]
            found.setdefault(key_of(board).partition("/")[0], []).extend(thread)
    return found


def _has_concluded(log: Sequence[Recorded]) -> bool:
    debate: Debate | None = None
    for recorded in log:
        debate = apply(debate, recorded)
    return debate is not None and debate.status is Status.CONCLUDED


def _repeats(log: Sequence[Recorded], asked: Mapping[str, Sequence[float]]) -> int:
    """Calls that began after the event with their answer."""
    known = {
        mark: recorded.at.timestamp() for recorded in reversed(log) for mark in marks_of(recorded)
    }
    return sum(at > known[mark] for mark in known for at in asked.get(mark, ()))


def _is_in_order(found: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether what was found stands in the order wanted, whatever is missing."""
    there = set(found)
    return [key for key in wanted if key in there] == [key for key in found if key in wanted]
