"""Lists of debates that one person sees: newest debates, search results, App Home (pure)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.slack.blocks import Block, actions, button
from bot.slack.ids import ActionId
from bot.slack.mrkdwn import gist, literal
from bot.views.decision import DECISION_SIGNS
from bot.views.message import (
    MessageView,
    context,
    header,
    item_list,
    moment,
    notice,
    person,
    sections,
)
from bot.views.vote import decision_in_short
from core.calibration import FEWEST, Calibration, counts_words, interval_words
from core.debate.state import Debate, Status
from core.rules.ending import DebateState, state_of, state_words
from core.transcript.people import OUTCOMES, adr_status

_LIMIT = 2500
_NOTE = "In channels you are in. Moot weights nothing by these figures."
_ROWS_NOTE = (
    "Held in part counts as not held; behind each share stands its 95% interval. *Against it*: "
    "decisions of which this model or role held another option best to the end."
)
_QUESTION_LIMIT = 160
_DECISION_LIMIT = 240
_EXCERPT_LIMIT = 160
_LIST_LIMIT = 3000
#: Most debates in a list.
MOST_LISTED = 10
#: Most debates on App Home: each takes one block, and a view has at most 100 blocks.
MOST_AT_HOME = 20
_ICONS = {
    DebateState.CONCLUDED: ":scales:",
    DebateState.FAILED: ":x:",
    DebateState.STOPPED: ":octagonal_sign:",
    DebateState.PAUSED: ":double_vertical_bar:",
}
_HOW = (
    "1. Type `/invite @Moot` in a channel where your team decides things.\n"
    "2. Type `/debate` there for a form, or `/debate` and your question to begin at once.\n"
    "3. Answer what the agents ask, add notes in the thread, vote, and decide on the verdict."
)
_UNKNOWN = "Slack did not say in time which channels you are in. Open this page again in a moment."


@dataclass(frozen=True)
class DebateRow:
    """One entry of a list of debates."""

    debate: Debate
    address: str = ""
    excerpt: str = ""


def calibration_blocks(counts: Calibration) -> list[Block]:
    if not counts.accepted:
        return []
    lines = [*map(literal, counts.findings), f"_{literal(counts_words(counts))}_"]
    blocks = [header("How decisions turned out"), *sections(item_list(lines, _LIMIT))]
    for group in dict.fromkeys(row.group for row in counts.rows[1:] if counts.known >= FEWEST):
        rows = [
            f"• {literal(row.name)}: {row.held} of {row.count} held, {interval_words(row.share)}"
            f"{f', {row.partly} in part' if row.partly else ''}"
            f"{f', {row.reversed} reversed' if row.reversed else ''}"
            for row in counts.rows
            if row.group == group
        ]
        blocks += sections(item_list([f"*{literal(group)}*", *rows], _LIMIT))
    return [*blocks, *context(*([_ROWS_NOTE] if counts.known >= FEWEST else []), _NOTE)]


def channel_list(rows: Sequence[DebateRow]) -> MessageView:
    if not rows:
        return notice(
            "No debates in this channel yet. Start one: `/debate` opens a form, "
            "`/debate Kafka or PostgreSQL for our jobs?` begins at once."
        )
    return _list("This channel's newest debates", rows)


def own_list(rows: Sequence[DebateRow]) -> MessageView:
    if not rows:
        return notice(f"No debates in your channels yet.\n{_HOW}")
    return _list("The newest debates in your channels", rows)


def search_list(query: str, rows: Sequence[DebateRow]) -> MessageView:
    words = literal(query.replace("`", "'"))[:_QUESTION_LIMIT]
    if not rows:
        return notice(
            f"Nothing in your channels holds “{words}”. Fewer or shorter words find more: "
            "`post` finds PostgreSQL. To have something debated, leave out the word `search`."
        )
    found = [replace(row, excerpt="") if _has_all(row, query) else row for row in rows]
    return _list(f"Debates with “{words}” in your channels", found)


def _has_all(row: DebateRow, query: str) -> bool:
    """Whether the first two lines of an entry show all words of a search."""
    shown = f"{row.debate.setup.question[:_QUESTION_LIMIT]} {row.debate.id}".lower()
    return all(word in shown for word in re.findall(r"\w+", query.lower()))


def home(
    rows: Sequence[DebateRow],
    *,
    unknown: bool = False,
    models: str = "",
    calibration: Calibration | None = None,
) -> Mapping[str, Any]:
    """Return the App Home of one person.

    Args:
        rows: Debates, the newest first.
        unknown: Slack did not say which channels the person is in.
        models: The models of this Moot, as one line.
        calibration: How often decisions in the person's channels held.
    """
    start = button(
        "Start a debate", ActionId.START, style="primary", label="Start a debate with a form"
    )
    blocks: list[Block] = [
        header("Debates and decisions"),
        *sections("What the agents argued and what your team decided, in the channels you are in."),
        actions("home", start),
        {"type": "divider"},
        *(sections(_UNKNOWN) if unknown else _parts(rows[:MOST_AT_HOME])),
        *(calibration_blocks(calibration) if calibration else []),
        *context(*([literal(models)] if models else [])),
        *context(
            f"{f'The {MOST_AT_HOME} newest are here. ' if len(rows) >= MOST_AT_HOME else ''}"
            "`/debate search WORDS` looks through all debates you may see. Only you see this page."
        ),
    ]
    return {"type": "home", "blocks": [dict(block) for block in blocks]}


def _parts(rows: Sequence[DebateRow]) -> Iterator[Block]:
    if not rows:
        yield from sections(f"*Nothing here yet.* This is how it works:\n{_HOW}")
        return
    parts = {
        "Running": [row for row in rows if row.debate.status is Status.RUNNING],
        "Waiting for your team's decision": [
            row
            for row in rows
            if row.debate.status is Status.CONCLUDED
            and not (row.debate.decision or _is_undecided(row.debate))
        ],
        "Decided": [row for row in rows if row.debate.decision],
        "Ended, not decided": [
            row for row in rows if _is_undecided(row.debate) and not row.debate.decision
        ],
        "Ended without a verdict": [row for row in rows if row.debate.status is Status.FAILED],
    }
    for title, part_rows in parts.items():
        yield from [header(title)] if part_rows else []
        for row in part_rows:
            yield from sections(row_text(row))


def _list(title: str, rows: Sequence[DebateRow]) -> MessageView:
    entries = [row_text(row) for row in rows]
    texts = list[str]()
    for entry in entries:
        if sum(map(len, texts)) + len(entry) > _LIST_LIMIT:
            break
        texts.append(entry)
    if len(texts) < len(rows) or len(rows) >= MOST_LISTED:
        advice = "`/debate search WORDS` finds them by more of their words."
        texts.append(f"_There may be more than these {len(texts)}: {advice}_")
    blocks = [*sections(f"*{title}*"), *(block for entry in texts for block in sections(entry))]
    return MessageView(text="\n".join([f"*{title}*", *texts]), blocks=blocks)


def row_text(row: DebateRow) -> str:
    """Return the text of one entry."""
    debate = row.debate
    question = gist(debate.setup.question, _QUESTION_LIMIT) or "a debate"
    channel = f"<#{debate.setup.place.channel}>"
    byline = f"{person(debate.setup.asked_by)}, {moment(debate.started_at)}"
    lines = [
        f"*<{row.address}|{question}>*" if row.address else f"*{question}*",
        f"{status_words(debate)} · {channel} · {byline} · `{debate.id}`",
    ]
    if verdict := debate.verdict or debate.earlier_verdict:
        before = "" if debate.verdict else "Before it was debated: "
        lines.append(f"> {before}{decision_in_short(debate, verdict, _DECISION_LIMIT)}")
    if row.excerpt:
        lines.append(f"> _{gist(row.excerpt.removeprefix(debate.id), _EXCERPT_LIMIT)}_")
    return "\n".join(lines)


def status_words(debate: Debate) -> str:
    """Return the state of a debate in words, with the team's decision and its outcome."""
    if debate.decision:
        words = f"{DECISION_SIGNS[debate.decision.kind]} {adr_status(debate)}"
    else:
        icon = ":x:" if _is_undecided(debate) else _ICONS.get(state_of(debate), ":speech_balloon:")
        words = f"{icon} {state_words(debate)}"
        if debate.is_decidable and debate.status is Status.CONCLUDED:
            words += ", not decided on yet"
    if debate.outcome is None:
        return words
    is_replaced = debate.acceptance and debate.decision != debate.acceptance
    return f"{words}, {'accepted before: ' if is_replaced else ''}{OUTCOMES[debate.outcome.kind]}"


def _is_undecided(debate: Debate) -> bool:
    """Whether the debate ended with a verdict that people cannot accept, as it decides nothing."""
    return debate.status is Status.CONCLUDED and bool(debate.verdict) and not debate.decides
