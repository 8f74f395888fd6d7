"""Writes the numbers that Word works out, of lists, clauses and headings, into its paragraphs.

No library gets them right over all levels, and a wrong clause number misleads whoever reads it.
"""

import io
import re
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from xml.etree import ElementTree as ET

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)


def with_numbers(content: bytes) -> bytes:
    """A Word file with the numbers of its lists, clauses and headings written into its paragraphs.

    The file must declare no entities. What is wrong in its XML raises `ET.ParseError`, or an error
    of Python for a value that is not there.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if "word/numbering.xml" not in archive.namelist():
            return content
        # What is no XML holds no words.
        parts = {
            name: archive.read(name)
            for name in archive.namelist()
            if name.endswith((".xml", ".rels"))
        }
    numbers = _Numbers(parts)
    document = parts["word/document.xml"]
    for prefix, space in re.findall(rb'xmlns:(\w{1,20})="([^"]{1,300})"', document[:20_000]):
        with suppress(ValueError):  # ns0 and the like are ElementTree's own
            ET.register_namespace(prefix.decode(), space.decode())
    root = ET.fromstring(document)  # noqa: S314 - it declares no entities
    for paragraph in root.iter(f"{_W}p"):
        mark = numbers.next_mark(paragraph)
        if mark:
            _write_mark(paragraph, mark)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, ET.tostring(root) if name == "word/document.xml" else part)
    return out.getvalue()


def _write_mark(paragraph: ET.Element, mark: str) -> None:
    """Write a number at the beginning of a paragraph, which is in no list from then on."""
    properties = paragraph.find(f"{_W}pPr")
    if properties is None:
        properties = ET.Element(f"{_W}pPr")
        paragraph.insert(0, properties)
    listed = properties.find(f"{_W}numPr")
    if listed is None:
        listed = ET.SubElement(properties, f"{_W}numPr")
    for child in list(listed):
        listed.remove(child)
    ET.SubElement(listed, f"{_W}numId", {f"{_W}val": "0"})
    run = ET.Element(f"{_W}r")
    ET.SubElement(run, f"{_W}t").text = f"{mark}\u00a0"
    paragraph.insert(list(paragraph).index(properties) + 1, run)


class _Numbers:
    """The lists of a Word file, and how far each has been counted."""

    def __init__(self, parts: Mapping[str, bytes]) -> None:
        lists = ET.fromstring(parts["word/numbering.xml"])  # noqa: S314 - likewise
        styles = parts.get("word/styles.xml")
        self._styles = {
            style.get(f"{_W}styleId"): style
            for style in (ET.fromstring(styles) if styles else ())  # noqa: S314 - likewise
        }
        #: By kind of list and level: number format, text with %1 and so on, first number.
        self._levels = {
            kind.get(f"{_W}abstractNumId"): {
                int(level.get(f"{_W}ilvl", "0")): (
                    _value(level, "numFmt") or "decimal",
                    _value(level, "lvlText") or "",
                    int(_value(level, "start") or 1),
                )
                for level in kind.iter(f"{_W}lvl")
            }
            for kind in lists.iter(f"{_W}abstractNum")
        }
        #: By list: its kind, and levels that it begins anew.
        self._lists = {
            listed.get(f"{_W}numId"): (
                _value(listed, "abstractNumId"),
                {
                    int(level.get(f"{_W}ilvl", "0")): int(_value(level, "startOverride") or 1)
                    for level in listed.iter(f"{_W}lvlOverride")
                },
            )
            for listed in lists.iter(f"{_W}num")
        }
        self._counts = dict[str | None, dict[int, int]]()
        self._begun = set[str | None]()

    def next_mark(self, paragraph: ET.Element) -> str:
        """The number that Word shows before a paragraph; empty: none, or a bullet."""
        listed, level = self._place(paragraph)
        kind, restarts = self._lists.get(listed, (None, {}))
        levels = self._levels.get(kind, {})
        form, text, first = levels.get(level, ("bullet", "", 1))
        if form in {"bullet", "none"}:
            return ""
        counts = self._counts.setdefault(kind, {})
        if listed not in self._begun:
            self._begun.add(listed)
            counts.update({at: start - 1 for at, start in restarts.items()})
        counts[level] = counts.get(level, first - 1) + 1
        for deeper in [at for at in counts if at > level]:
            del counts[deeper]

        def count_of(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            form, _, start = levels.get(at, ("decimal", "", 1))
            return _numeral(counts.get(at, start), form)

        return re.sub(r"%(\d)", count_of, text)

    def _place(self, paragraph: ET.Element) -> tuple[str | None, int]:
        """The list and the level of a paragraph: its own, or those of its style."""
        listed = _value(paragraph, "pPr", "numPr", "numId")
        level = _value(paragraph, "pPr", "numPr", "ilvl")
        style = self._styles.get(_value(paragraph, "pPr", "pStyle"))
        for _ in range(20):  # styles that are based on one another may go in a circle
            if style is None or listed:
                break
            listed = _value(style, "pPr", "numPr", "numId")
            level = level or _value(style, "pPr", "numPr", "ilvl")
            style = self._styles.get(_value(style, "basedOn"))
        return listed, int(level or 0)


def _value(element: ET.Element, *path: str) -> str | None:
    child = element.find("/".join(f"{_W}{step}" for step in path))
    return None if child is None else child.get(f"{_W}val")


def _numeral(count: int, form: str) -> str:
    if form in {"upperLetter", "lowerLetter"}:
        words = chr(ord("A") + (count - 1) % 26) * min((count - 1) // 26 + 1, 20)
    elif form in {"upperRoman", "lowerRoman"}:
        words, rest = "", min(count, 4000)
        for value, sign in _ROMAN:
            words += sign * (rest // value)
            rest %= value
    else:
        return f"{count:02}" if form == "decimalZero" else str(count)
    return words.lower() if form.startswith("lower") else words
