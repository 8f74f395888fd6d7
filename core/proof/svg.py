"""The few shapes that pictures of figures are made of, as SVG (pure)."""

from collections.abc import Sequence
from html import escape


def framed(width: int, height: int, title: str, lines: Sequence[str]) -> str:
    """A picture of that size on white, with a title for those who do not see it."""
    space, font = "http://www.w3.org/2000/svg", 'font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="{space}" viewBox="0 0 {width} {height}" {font} role="img">'
    ground = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", ground, *lines, "</svg>\n"])


def rule(x1: float, y1: float, x2: float, y2: float) -> str:
    """A pale line of a scale."""
    place = f'x1="{round(x1)}" y1="{round(y1)}" x2="{round(x2)}" y2="{round(y2)}"'
    return f'<line {place} stroke="#e5e7eb"/>'


def bar(left: float, right: float, y: float, colour: str) -> str:
    """A pale thick line from left to right: an interval."""
    place = f'x1="{round(left)}" y1="{round(y)}" x2="{round(right)}" y2="{round(y)}"'
    return f'<line {place} stroke="{colour}" stroke-width="6" stroke-opacity="0.35"/>'


def mark(x: float, y: float, colour: str) -> str:
    """A short upright line: one value."""
    place = f'x1="{round(x)}" y1="{round(y - 8)}" x2="{round(x)}" y2="{round(y + 8)}"'
    return f'<line {place} stroke="{colour}" stroke-width="3"/>'


def dot(x: float, y: float, colour: str) -> str:
    """A point of a chart."""
    return f'<circle cx="{round(x)}" cy="{round(y)}" r="5" fill="{colour}"/>'


def text(
    x: float, y: float, words: str, *, anchor: str = "start", colour: str = "#111827", size: int = 0
) -> str:
    """Words at a place; `anchor` is start, middle or end."""
    larger = f' font-size="{size}"' if size else ""
    place = f'x="{round(x)}" y="{round(y)}" text-anchor="{anchor}" fill="{colour}"{larger}'
    return f"<text {place}>{escape(words)}</text>"
