"""What became of debates: posts once and in order, no call made twice, no cap passed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.presenter.posts import posts_of_group
from bot.presenter.reading_order import ReadingPosition, release_after
from bot.testing import key_of
from core.debate.log import RecordedEvent, apply, event_to_json, fold
from core.debate.state import Status
from core.ports import DebateFilter
from core.store.debates import SqlDebateStore
from slack_on_loopback import Workspace

_MARK = re.compile(r"mark-[0-9a-f]{16}")
_FAULTS = ["unfinished", "failed", "lost", "doubled", "displaced", "recorded_repeats", "overspent"]


@dataclass(frozen=True, kw_only=True)
class Audit:
    #: Debates that still run, and those that ended without a verdict.
    unfinished: int
    failed: int
    #: Posts that the logs lead to and that are not in Slack, and posts that are there again.
    lost: int
    doubled: int
    #: Threads in which posts are out of order.
    displaced: int
    #: Calls made after their answer was recorded.
    recorded_repeats: int
    #: Dollars that all debates cost above their cap.
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
            f"doubled {self.doubled}, threads out of order {self.displaced}; "
            f"unfinished {self.unfinished}, failed {self.failed}; "
            f"recorded calls made again {self.recorded_repeats}; "
            f"${self.spent} spent, {self.overspent} above the cap"
        )


async def audit(
    store: SqlDebateStore,
    workspace: Workspace,
    channels: Sequence[str],
    requests: Mapping[str, Sequence[float]],
    *,
    cap: Decimal | None = None,
) -> Audit:
    """Compare the logs with what is in the workspace and what the models were asked.

    Args:
        store: The logs.
        workspace: Where the posts are.
        channels: Those with debates.
        requests: Mark of a prompt → when it was asked for, in seconds since 1970.
        cap: Dollars that all debates may cost; None: any.
    """
    logs = [
        await store.events(entry.debate_id) for entry in await store.find(DebateFilter(limit=1000))
    ]
    posted = keys_by_debate(workspace, channels)
    pairs = [(expected_keys(log), posted.get(log[0].debate_id, [])) for log in logs]
    debates = [fold(log) for log in logs]
    spent = sum((debate.usage.cost or Decimal(0) for debate in debates), start=Decimal(0))
    return Audit(
        unfinished=sum(debate.status is Status.RUNNING for debate in debates),
        failed=sum(debate.status is Status.FAILED for debate in debates),
        lost=sum(len(set(order) - set(keys)) for order, keys in pairs),
        doubled=sum(len(keys) - len(set(keys)) for _, keys in pairs),
        displaced=sum(not _is_in_order(list(dict.fromkeys(keys)), order) for order, keys in pairs),
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
