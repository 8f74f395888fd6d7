"""Which parts of the program take the CPU of an event loop: what `bench.load --profile` prints."""

import cProfile
import pstats
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

#: A piece of a file's path → the part it belongs to; the first that fits.
_PARTS = (
    ("/core/llm/providers/", "streams: ours"),
    ("/openai/", "streams: the SDKs and HTTP"),
    ("/anthropic/", "streams: the SDKs and HTTP"),
    ("/httpx2/", "streams: the SDKs and HTTP"),
    ("/httpcore2/", "streams: the SDKs and HTTP"),
    ("/h11/", "streams: the SDKs and HTTP"),
    ("/anyio/", "streams: the SDKs and HTTP"),
    ("/sqlalchemy/", "database"),
    ("/sqlite3/", "database"),
    ("/psycopg", "database"),
    ("/procrastinate/", "jobs"),
    ("/bot/running/", "jobs"),
    ("/core/store/", "database"),
    ("/bot/store/", "database"),
    ("/slack_bolt/", "Slack: the SDK"),
    ("/slack_sdk/", "Slack: the SDK"),
    ("/aiohttp/", "Slack: the SDK"),
    ("/bot/slack/", "Slack: queue and calls"),
    ("/bot/views/", "posts and boards"),
    ("/bot/presenter/", "posts and boards"),
    ("/core/acts/", "prompts and replies"),
    ("/core/llm/", "prompts and replies"),
    ("/jinja2/", "prompts and replies"),
    ("/genai_prices/", "prompts and replies"),
    ("/core/", "what comes next: the log, the schedule"),
    ("/pydantic", "models and JSON"),
    ("/json/", "models and JSON"),
    ("/asyncio/", "the event loop"),
    ("/selectors", "the event loop"),
)


def parts(profile: cProfile.Profile, cpu: float) -> Mapping[str, float]:
    """The shares of the parts, the largest first.

    What is built in has no file: its time belongs to whoever called it. A profile makes calls
    dearer than they are, so parts of many small calls look larger than they are.

    Args:
        profile: Of the thread of the event loop.
        cpu: Seconds that the whole process took meanwhile.
    """
    spent: dict[str, float] = defaultdict(float)
    measured: Any = pstats.Stats(profile)  # what it holds is not in its types
    for (file, _, name), (_, _, own, _, callers) in measured.stats.items():
        if file == "~" and callers:
            for (by, _, caller), (_, _, share, _) in callers.items():
                spent[_part(by, caller)] += share
        else:
            spent[_part(file, name)] += own
    spent["other threads: SQLite, mostly"] = max(0.0, cpu - sum(spent.values()))
    ordered = sorted(spent.items(), key=lambda one: -one[1])
    return {part: seconds / cpu for part, seconds in ordered}


def _part(file: str, name: str) -> str:
    if "pydantic" in name:  # its core is built in
        return "models and JSON"
    return next((part for piece, part in _PARTS if piece in file), "the rest")
