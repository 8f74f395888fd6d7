"""Audit of debates: posts once, in order, current; no call repeated, no cap passed."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.presenter.posts import LIVING, posts_of_group
from bot.presenter.reading_order import ReadingPosition, release_after
from bot.presenter.sink import LivingPosts
from bot.queue.rows import Posts
from bot.slack.ids import headline_key
from bot.store.records import ChannelSettings
from bot.testing import key_of
from core.debate.log import RecordedEvent, apply, event_to_json, fold
from core.debate.state import Status
from core.ports import DebateFilter
from core.store.database import Database
from core.store.debates import SqlDebateStore
from slack_on_loopback import Workspace

#: The visible fields of a message.
_SHOWN = ("text", "blocks")
_BLOCK_ID = re.compile(r'"block_id": "[^"]*", ')
_LINK = re.compile(r"<[^<>|]*\|")
_MARK = re.compile(r"mark-[0-9a-f]{16}")
_FAULTS = [
    "unfinished",
    "failed",
    "lost",
    "doubled",
    "displaced",
    "stale",
    "recorded_repeats",
    "overspent",
]


@dataclass(frozen=True, kw_only=True)
class Audit:
    #: Debates that still run, and those that ended without a verdict.
    unfinished: int
    failed: int
    #: Posts of the logs that are missing in Slack, and posts that are there twice.
    lost: int
    doubled: int
    #: Threads in which posts are out of order.
    displaced: int
    #: Living posts that do not show the state of the log.
    stale: int
    #: Calls made after their answer was recorded.
    recorded_repeats: int
    #: Dollars above the cap of all debates.
    overspent: Decimal
    debates: int
    posts: int
    #: Dollars that all debates cost.
    spent: Decimal

    @property
    def faults(self) -> Mapping[str, int | Decimal]:
        return {name: figure for name in _FAULTS if (figure := getattr(self, name))}

    def __str__(self) -> str:
        return (
            f"{self.debates} debates, {self.posts} posts: lost {self.lost}, "
            f"doubled {self.doubled}, threads out of order {self.displaced}, "
            f"out of date {self.stale}; "
            f"unfinished {self.unfinished}, failed {self.failed}; "
            f"recorded calls made again {self.recorded_repeats}; "
            f"${self.spent} spent, {self.overspent} above the cap"
        )


async def audit(
    database: Database,
    workspace: Workspace,
    channels: Sequence[str],
    requests: Mapping[str, Sequence[float]],
    *,
    cap: Decimal | None = None,
    refused: frozenset[str] = frozenset(),
) -> Audit:
    """Compare the logs with the posts in the workspace and the model calls.

    Args:
        database: The logs and the queue.
        workspace: The posts.
        channels: Those with debates.
        requests: Mark of a prompt → times of its calls, in seconds since 1970.
        cap: Dollars that all debates may cost; None: any.
        refused: Keys of posts that Slack refuses, or refuses to edit, for good.
    """
    store = SqlDebateStore(database)
    logs = [
        await store.events(entry.debate_id) for entry in await store.find(DebateFilter(limit=1000))
    ]
    posted = keys_by_debate(workspace, channels)
    pairs = [(expected_keys(log), posted.get(log[0].debate_id, [])) for log in logs]
    debates = [fold(log) for log in logs]
    spent = sum((debate.usage.cost or Decimal(0) for debate in debates), start=Decimal(0))
    return Audit(
        unfinished=sum(debate.status is Status.RUNNING for debate in debates),
        # A debate fails if Slack refuses its verdict before its end.
        failed=sum(
            debate.status is Status.FAILED and headline_key(debate.id) not in refused
            for debate in debates
        ),
        lost=sum(len(set(order) - set(keys) - refused) for order, keys in pairs),
        doubled=sum(len(keys) - len(set(keys)) for _, keys in pairs),
        displaced=sum(not _is_in_order(list(dict.fromkeys(keys)), order) for order, keys in pairs),
        stale=len(await _out_of_date(database, store, workspace, list(posted)) - refused),
        recorded_repeats=sum(_repeats(log, requests) for log in logs),
        overspent=max(Decimal(0), spent - cap) if cap is not None else Decimal(0),
        debates=len(logs),
        posts=sum(len(keys) for _, keys in pairs),
        spent=spent,
    )


def expected_keys(log: Sequence[RecordedEvent]) -> list[str]:
    position, debate = ReadingPosition(), None
    keys: list[str] = []
    for recorded in log:
        debate = apply(debate, recorded)
        reached = release_after(position, debate, recorded)
        position = reached.position
        for group in reached.groups:
            posts = posts_of_group(debate, group)
            keys += [post.key for post in posts if post.method == "post"]
    return keys


def keys_by_debate(workspace: Workspace, channels: Sequence[str]) -> Mapping[str, list[str]]:
    keys: dict[str, list[str]] = {}
    for channel in channels:
        for message in workspace.messages(channel):
            if key_of(message).endswith("/board"):
                thread = map(key_of, workspace.thread(channel, message["ts"]))
                keys.setdefault(key_of(message).partition("/")[0], []).extend(filter(None, thread))
    return keys


async def _out_of_date(
    database: Database, store: SqlDebateStore, workspace: Workspace, debate_ids: Sequence[str]
) -> frozenset[str]:
    """Keys of living messages that do not show the state of their log."""
    posts = Posts(database)
    living = LivingPosts(store, posts, ChannelSettings(database))
    stale: list[str] = []
    for debate_id in debate_ids:
        rows = [
            row
            for row in await posts.rows_of_debate(debate_id)
            if row.post in LIVING and row.method == "post" and row.ts
        ]
        if not rows:
            continue
        contents = (await living.render(rows)).contents
        for row in rows:
            root = row.root_ts or row.ts
            messages = workspace.thread(row.channel, str(root))
            shown = next(message for message in messages if message["ts"] == row.ts)
            if any(_bare(shown.get(name)) != _bare(contents[row.key].get(name)) for name in _SHOWN):
                stale.append(row.key)
    return frozenset(stale)


def _bare(content: object) -> str:
    """The visible text of a message, without Slack's additions and the addresses of links."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return _LINK.sub("<|", _BLOCK_ID.sub("", text))


def _repeats(log: Sequence[RecordedEvent], requests: Mapping[str, Sequence[float]]) -> int:
    """Calls that began after the event with their answer."""
    recorded_at = {
        mark: recorded.at.timestamp()
        for recorded in reversed(log)
        for mark in _MARK.findall(event_to_json(recorded.event))
    }
    return sum(at > recorded_at[mark] for mark in recorded_at for at in requests.get(mark, ()))


def _is_in_order(keys: Sequence[str], order: Sequence[str]) -> bool:
    there = set(keys)
    return [key for key in order if key in there] == [key for key in keys if key in order]
