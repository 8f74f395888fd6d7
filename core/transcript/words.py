"""How things are said to people, once for all surfaces: who, which turn, when, how long, how much.

The only place that formats money, spans of time, counts, shares and dates (pure).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal

from core.models import ENGINE, RESERVED_IDS, Act, Debate, Status, Turn, Usage
from core.turns.acts import ACTS

_STATUS_WORDS = {
    Status.RUNNING: "running",
    Status.CONCLUDED: "concluded",
    Status.FAILED: "failed",
}
_HEADING = re.compile(r"(#{1,6})(?=\s)")
_DEEPEST = 6
_MINUTE, _HOUR = 60, 3600
#: Below so many seconds a tenth of one is shown.
_PRECISE = 9.95
_CENT, _LEAST = Decimal("0.01"), Decimal("0.0001")


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
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def day(at: date) -> str:
    """A date: `2026-01-05`."""
    return f"{at.year:04}-{at.month:02}-{at.day:02}"


def after(debate: Debate, at: datetime) -> str:
    """How long after its start: `+12.5 s`."""
    return f"+{(at - debate.started_at).total_seconds():.1f} s"


def duration(seconds: float) -> str:
    """A span of time: `340 ms`, `2.4 s`, `45 s`, `3 min 5 s`, `1 h 5 min`."""
    if seconds and seconds < 1:
        return f"{number(max(1, round(seconds * 1000)))} ms"
    if seconds < _PRECISE:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        minutes, rest = divmod(whole, _MINUTE)
        return f"{minutes} min" + (f" {rest} s" if rest else "")
    hours, minutes = divmod(round(whole / _MINUTE), _MINUTE)
    return f"{number(hours)} h" + (f" {minutes} min" if minutes else "")


def roughly(seconds: float) -> str:
    """A span of time that is only estimated: whole seconds, from a minute on whole minutes."""
    if seconds < _MINUTE:
        return duration(max(1, round(seconds)))
    return duration(_MINUTE * max(1, round(seconds / _MINUTE)))


def seconds_taken(debate: Debate) -> float:
    """Seconds from the start to the end, or to the newest event."""
    return ((debate.ended_at or debate.now) - debate.started_at).total_seconds()


def money(amount: Decimal | None, *, rounding: str = ROUND_HALF_UP) -> str:
    """US dollars: to the cent, below a cent to a hundredth of it; `n/a` where nobody knows.

    What costs anything never reads as nothing.

    Args:
        amount: How much; None: a price is unknown.
        rounding: One of `decimal`'s, where half up would say too much or too little.
    """
    if amount is None:
        return "n/a"
    if not 0 < amount < _CENT:
        return f"${amount.quantize(_CENT, rounding):,}"
    return f"${max(_LEAST, amount.quantize(_LEAST, rounding))}"


def number(value: float) -> str:
    """A number with at most two decimals: `1,200`, `2.5`, `3`."""
    whole, _, decimals = f"{value:,.2f}".partition(".")
    return f"{whole}.{decimals}".rstrip("0").rstrip(".")


def counted(count: int, noun: str) -> str:
    """A number of things: `1 turn`, `1,200 turns`."""
    return f"{number(count)} {noun}" if count == 1 else f"{number(count)} {noun}s"


def percent(share: float) -> str:
    """A share of 1: `64%`. Only all of it is 100%."""
    rounded = round(share * 100)
    return f"{min(rounded, 99) if share < 1 else rounded}%"


def tokens_words(usage: Usage) -> str:
    """Tokens in one line: `1,200 tokens in (400 cached), 80 out`."""
    cached = f" ({number(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    return f"{counted(usage.input_tokens, 'token')} in{cached}, {number(usage.output_tokens)} out"


def usage_words(usage: Usage) -> str:
    """Tokens, calls and cost in one line."""
    return f"{tokens_words(usage)}, {counted(usage.attempts, 'call')}, {money(usage.cost)}"


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
