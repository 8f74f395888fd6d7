"""Sections and lines of a result on Slack (pure)."""

from bot.slack.ids import address_of
from bot.slack.mrkdwn import gist, mrkdwn
from bot.views.message import item_list
from bot.views.turn_groups import post_key
from bot.views.words import name_of, person
from core.debate.state import Debate
from core.transcript.words import ResultLine, ResultSection, table

_TITLE_LIMIT = 60
_LABEL_LIMIT = 300


def section_text(debate: Debate, section: ResultSection, limit: int = 0) -> str:
    """A section of a result, safe, under its title; its lines within a limit, if there is one."""
    if section.is_empty:
        return ""
    lines = [f"• {line_text(debate, line)}" for line in section.lines]
    table_of = table(section.head, section.rows) if section.rows else ""
    parts = (
        mrkdwn(section.text),
        item_list(lines, limit or sum(map(len, lines)) + len(lines)),
        mrkdwn(table_of),
        mrkdwn(section.note),
    )
    return f"*{gist(section.title, _TITLE_LIMIT)}*\n" + "\n".join(filter(None, parts))


def line_text(debate: Debate, line: ResultLine) -> str:
    """A line, safe: who said it is mentioned, and a link leads to the post that says more."""
    label = f"*{gist(line.label, _LABEL_LIMIT)}*" if line.label else ""
    if line.by:
        label += f", {person(line.by)}" if label else person(line.by)
    text = mrkdwn(line.text).replace("\n", "\n    ")
    if line.turn:
        where = address_of(post_key(debate, line.turn))
        text += f" (<{where}|{name_of(debate, line.turn.agent)}'s post>)"
    mark = ":warning: " if line.is_warning else ""
    return mark + (f"{label}{':' if line.label else ''} {text}" if label else text)
