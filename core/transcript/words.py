"""Words the transcript's texts share: who, which turn, when, how long, how much (pure)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from core.models import ENGINE, RESERVED_IDS, Act, Debate, Status, Turn, Usage
from core.turns.acts import ACTS

_STATUS_WORDS = {
    Status.RUNNING: "running",
    Status.CONCLUDED: "concluded",
    Status.FAILED: "failed",
}
_HEADING = re.compile(r"(#{1,6})(?=\s)")
_DEEPEST = 6
_SECONDS_PER_MINUTE = 60


def name_of(debate: Debate, agent: str) -> str:
    """What people call the agent."""
    if agent == ENGINE:
        return "Moot"
    known = {one.id for one in debate.setup.agents} | RESERVED_IDS
    return debate.setup.agent(agent).name if agent in known else agent


def act_words(turn: Turn) -> str:
    """What the turn brings forth."""
    blind = turn.act is Act.BALLOT and not turn.round
    return "Blind ballot" if blind else ACTS[turn.act].label


def rounds_words(number: int) -> str:
    """`1 round`, `3 rounds`."""
    return f"{number} round" if number == 1 else f"{number} rounds"


def turn_words(debate: Debate, turn: Turn) -> str:
    """The turn in words: `Ann: critique of Bob, round 1`."""
    what = act_words(turn).lower()
    known = {one.id for one in debate.setup.agents}
    if turn.target in known:
        what += f" of {name_of(debate, turn.target or '')}"
    where = f"round {turn.round}" if turn.round else "before round 1"
    return f"{name_of(debate, turn.agent)}: {what}, {where}"


def status_words(debate: Debate) -> str:
    """How the debate stands, degraded results included."""
    words = _STATUS_WORDS[debate.status]
    if debate.verdict and debate.verdict.partial:
        words += ", cut short"
    return words


def when(at: datetime) -> str:
    """A time, in UTC: `2026-01-05 09:00:07 UTC`."""
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")


def after(debate: Debate, at: datetime) -> str:
    """How long after its start: `+12.5 s`."""
    return f"+{(at - debate.started_at).total_seconds():.1f} s"


def duration(seconds: float) -> str:
    """A span of time: `12.5 s`, `3 min 5 s`."""
    if seconds < _SECONDS_PER_MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _SECONDS_PER_MINUTE)
    return f"{minutes} min {rest} s"


def seconds_taken(debate: Debate) -> float:
    """Seconds from the start to the end, or to the newest event."""
    return ((debate.ended_at or debate.now) - debate.started_at).total_seconds()


def money(cost: Decimal | None) -> str:
    """US dollars, or "n/a" where nobody knows the price."""
    if cost is None:
        return "n/a"
    return f"${cost:.4f}" if cost < 1 else f"${cost:.2f}"


def usage_words(usage: Usage) -> str:
    """Tokens and cost in one line."""
    return (
        f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, "
        f"{usage.attempts} calls, {money(usage.cost)}"
    )


def bullets(items: Iterable[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"- {item}" for item in items)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; cells are kept on one line."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def quoted(text: str) -> str:
    """A Markdown quotation: what people wrote cannot pose as the report's own words."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


def fenced(text: str) -> str:
    """The text in a code fence that nothing inside it can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def nested(text: str, level: int) -> str:
    """Markdown whose headings all lie below a heading of that level; code is left alone."""
    lines = text.strip().splitlines()
    headings = set(_headings(lines))
    shift = level + 1 - min((_depth(lines[at]) for at in headings), default=level + 1)
    if shift > 0:
        lines = [_deeper(line, shift) if at in headings else line for at, line in enumerate(lines)]
    return "\n".join(lines)


def _headings(lines: Sequence[str]) -> Iterator[int]:
    """Where the headings are, outside of code fences."""
    fence = ""
    for at, line in enumerate(lines):
        mark = line.lstrip()[:3]
        if mark in {"```", "~~~"} and fence in {"", mark}:
            fence = "" if fence else mark
        elif not fence and _HEADING.match(line):
            yield at


def _depth(line: str) -> int:
    found = _HEADING.match(line)
    return len(found.group(1)) if found else _DEEPEST


def _deeper(line: str, shift: int) -> str:
    depth = _depth(line)
    return "#" * min(_DEEPEST, depth + shift) + line[depth:]


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")
