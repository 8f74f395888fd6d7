"""What was decided, told to one person who asked for it (pure)."""

from collections.abc import Sequence

from bot.slack.mrkdwn.convert import gist
from bot.views.decision import standing
from bot.views.lists import DebateRow
from bot.views.message import MessageView, context, sections
from core.figures import day
from core.transcript.people import recalled_title

_LIMIT = 300
_MOST_REASONS = 3
_TO_DEBATE = (
    "To have it debated, ask it as a choice: `/debate A or B?`, or type `/debate` for a form."
)
_NOTHING = f"I know of no decision on this in your channels. {_TO_DEBATE}"
_NOT_STARTED = f"No debate was started. {_TO_DEBATE}"
_FROM = "From the decisions of channels that you are in, found by their"
_BY_WORDS = f"{_FROM} words; no model was asked. Only you can see this."
_BY_MEANING = (
    f"{_FROM} words and meaning: your question and the decisions go to the embeddings model that "
    "is set up for this; no other model was asked. Only you can see this."
)


def recalled(rows: Sequence[DebateRow], *, sure: bool, by_meaning: bool = False) -> MessageView:
    """Return the decisions that fit best, with their boards' addresses.

    Args:
        rows: The best one first.
        sure: The first one is probably the one that was meant.
        by_meaning: A model for embeddings is set up, and gets question and decisions.
    """
    if not rows:
        return MessageView(text=_NOTHING, blocks=sections(_NOTHING))
    head = f"*{recalled_title(rows[0].debate)}*" if sure else "*The closest decisions that I know*"
    parts = list[str]()
    for row in rows[:1] if sure else rows:
        # What, when and where, why, and what the team made of it.
        verdict = row.debate.verdict
        reasons = [f"• {gist(reason, _LIMIT)}" for reason in (verdict.reasons if verdict else ())]
        lines = [f"*{_line(row)}*", f"> {gist(row.debate.setup.question, _LIMIT)}"]
        parts.append("\n".join([*lines, *reasons[:_MOST_REASONS], standing(row.debate)]))
    if sure and len(rows) > 1:
        parts.append("*See also*\n" + "\n".join(f"• {_line(row)}" for row in rows[1:]))
    text = "\n\n".join([head, *parts, _NOT_STARTED])
    foot = context(_BY_MEANING if by_meaning else _BY_WORDS)
    return MessageView(text=text, blocks=[*sections(text), *foot])


def _line(row: DebateRow) -> str:
    verdict, at = row.debate.verdict, day(row.debate.ended_at or row.debate.now)
    said = gist(verdict.decision if verdict else row.debate.setup.question, _LIMIT)
    where = f" (<{row.address}|{at}>)" if row.address else f" ({at})"
    return f"{said}{where}"
