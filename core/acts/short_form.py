"""The short form of a speech: the last lines in which it says its answer and points (pure).

    In short: Keep the job queue in PostgreSQL.
    - Nobody has to run a second system.
    - A job and its order are committed together.

Decision 0053 says why these are lines of the text and not fields of a JSON object.
"""

import re
import textwrap
from dataclasses import dataclass

from core.debate.contributions import RaisedKind
from core.rules.options import is_stance_line

#: Longest answer and longest point that are kept, in characters.
ANSWER_MAX_CHARS = 300
POINT_MAX_CHARS = 200
#: Points that are kept, and lines of what else is raised.
MOST_POINTS = 5
MOST_RAISED = 4
#: Lines from the end of a text in which its short form is looked for.
_LAST_LINES = 20
#: "**In short:** …", however a model decorates it.
_ANSWER_LINE = re.compile(r"^[\s>*_#`-]{0,8}in short[\s*_]{0,4}:(.{1,600})$", re.IGNORECASE)
#: "Risk: …", in a list or not.
_RAISED_LINE = re.compile(
    r"^[\s>*_#`•+-]{0,8}(risk|idea|fact|missing)[\s*_]{0,4}:(.{1,600})$", re.IGNORECASE
)
_POINT_LINE = re.compile(r"^\s{0,8}(?:[-*•+]|\d{1,2}[.)])\s{1,4}(\S.{0,600})$")


#: Closes what was opened before the label: "**In short:** Keep it".
_LEFT_OVER = re.compile(r"^\s*[*_]{1,3}(?=\s)")
_MARKS = ("**", "__", "*", "_", "`")


@dataclass(frozen=True)
class ShortForm:
    #: The text without its short form.
    text: str
    #: One sentence; empty: the text has no short form.
    answer: str = ""
    points: tuple[str, ...] = ()
    #: What its author would not have anybody miss.
    raised: tuple[tuple[RaisedKind, str], ...] = ()


def read_short_form(text: str) -> ShortForm:
    """Read the short form that ends a text; the whole text where it has none.

    The line of the answer is followed by list items, lines that begin with what they raise, empty
    lines and the stance only. The stance stays in the text.
    """
    lines = text.rstrip().splitlines()
    points, stance, raised = list[str](), list[str](), list[tuple[RaisedKind, str]]()
    for at in range(len(lines) - 1, max(0, len(lines) - _LAST_LINES), -1):
        line = lines[at]
        if head := _ANSWER_LINE.match(line):
            answer = _line(head[1], ANSWER_MAX_CHARS)
            rest = "\n".join(lines[:at]).rstrip()
            if not answer or not rest:
                break
            return ShortForm(
                text="\n".join((rest, *reversed(stance))),
                answer=answer,
                points=tuple(filter(None, reversed(points)))[:MOST_POINTS],
                raised=tuple(pair for pair in reversed(raised) if pair[1])[:MOST_RAISED],
            )
        if is_stance_line(line):
            stance.append(line)
        elif match := _RAISED_LINE.match(line):
            kind = RaisedKind(match[1].lower())
            raised.append((kind, _line(match[2], POINT_MAX_CHARS)))
        elif point := _POINT_LINE.match(line):
            points.append(_line(point[1], POINT_MAX_CHARS))
        elif line.strip():
            break
    return ShortForm(text=text)


def _line(words: str, limit: int) -> str:
    line = _LEFT_OVER.sub("", words).strip()
    for mark in _MARKS:
        inner = line[len(mark) : -len(mark)]
        if line.startswith(mark) and line.endswith(mark) and inner and mark not in inner:
            line = inner.strip()
        elif line.endswith(mark) and line.count(mark) % 2:  # opened before the label
            line = line.removesuffix(mark).rstrip()
    return textwrap.shorten(line, limit, placeholder="…")
