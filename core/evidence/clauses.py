"""Writes the numbers of lists, clauses and headings into the paragraphs of Word files.

Runs only in the sandbox, like `core.evidence.office`.
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


def repacked(archive: zipfile.ZipFile, replaced: Mapping[str, bytes]) -> bytes:
    """The archive with some of its files replaced."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as written:
        for name in archive.namelist():
            written.writestr(name, replaced.get(name) or archive.read(name))
    return out.getvalue()


def with_numbers(content: bytes, archive: zipfile.ZipFile) -> bytes:
    """Write the numbers of lists, clauses and headings of a Word file into its paragraphs.

    No library computes them correctly for all levels, and a wrong clause number misleads readers.
    The file must declare no entities. Invalid XML raises `ET.ParseError` or an error of Python.
    """
    if "word/numbering.xml" not in archive.namelist():
        return content
    numbers, document = _Numbers(archive), archive.read("word/document.xml")
    for prefix, space in re.findall(rb'xmlns:(\w{1,20})="([^"]{1,300})"', document[:20_000]):
        with suppress(ValueError):  # ElementTree reserves names such as ns0
            ET.register_namespace(prefix.decode(), space.decode())
    root = ET.fromstring(document)  # noqa: S314 - it declares no entities
    for paragraph in root.iter(f"{_W}p"):
        if mark := numbers.next_mark(paragraph):
            _write_mark(paragraph, mark)
    return repacked(archive, {"word/document.xml": ET.tostring(root)})


def _write_mark(paragraph: ET.Element, mark: str) -> None:
    """Write a number at the beginning of a paragraph and take it out of its list."""
    properties = paragraph.find(f"{_W}pPr")
    if properties is None:
        properties = ET.Element(f"{_W}pPr")
        paragraph.insert(0, properties)
    list_properties = properties.find(f"{_W}numPr")
    if list_properties is None:
        list_properties = ET.SubElement(properties, f"{_W}numPr")
    for child in list(list_properties):
        list_properties.remove(child)
    ET.SubElement(list_properties, f"{_W}numId", {f"{_W}val": "0"})
    run = ET.Element(f"{_W}r")
    ET.SubElement(run, f"{_W}t").text = f"{mark}\u00a0"
    paragraph.insert(list(paragraph).index(properties) + 1, run)


class _Numbers:
    """The lists of a Word file and their current numbers."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        lists = ET.fromstring(archive.read("word/numbering.xml"))  # noqa: S314 - likewise
        has_styles = "word/styles.xml" in archive.namelist()
        styles = ET.fromstring(archive.read("word/styles.xml")) if has_styles else ()  # noqa: S314 - likewise
        self._styles = {style.get(f"{_W}styleId"): style for style in styles}
        #: By kind of list and level: number format, text with %1 and so on, first number, whether
        #: the numbers of higher levels are decimal.
        self._levels = {
            kind.get(f"{_W}abstractNumId"): {
                int(level.get(f"{_W}ilvl", "0")): (
                    _value(level, "numFmt") or "decimal",
                    _value(level, "lvlText") or "",
                    int(_value(level, "start") or 1),
                    level.find(f"{_W}isLgl") is not None,
                )
                for level in kind.iter(f"{_W}lvl")
            }
            for kind in lists.iter(f"{_W}abstractNum")
        }
        #: By list: its kind, and the levels that it restarts.
        self._lists = {
            list_element.get(f"{_W}numId"): (
                _value(list_element, "abstractNumId"),
                {
                    int(level.get(f"{_W}ilvl", "0")): int(_value(level, "startOverride") or 1)
                    for level in list_element.iter(f"{_W}lvlOverride")
                },
            )
            for list_element in lists.iter(f"{_W}num")
        }
        self._counts = dict[str | None, dict[int, int]]()
        self._begun = set[str | None]()

    def next_mark(self, paragraph: ET.Element) -> str:
        """The number that Word shows before a paragraph; empty for none and for bullets."""
        list_id, level = self._place(paragraph)
        kind, restarts = self._lists.get(list_id, (None, {}))
        levels = self._levels.get(kind, {})
        form, text, first, is_decimal = levels.get(level, ("bullet", "", 1, False))
        if form in {"bullet", "none"}:
            return ""
        counts = self._counts.setdefault(kind, {})
        if list_id not in self._begun:
            self._begun.add(list_id)
            counts.update({level_index: start - 1 for level_index, start in restarts.items()})
        counts[level] = counts.get(level, first - 1) + 1
        for deeper in [level_index for level_index in counts if level_index > level]:
            del counts[deeper]

        def count_of(match: re.Match[str]) -> str:
            level_index = int(match[1]) - 1
            form, _, start, _ = levels.get(level_index, ("decimal", "", 1, False))
            if is_decimal and form != "decimalZero":
                form = "decimal"
            return _numeral(counts.get(level_index, start), form)

        return re.sub(r"%(\d)", count_of, text)

    def _place(self, paragraph: ET.Element) -> tuple[str | None, int]:
        """The list and the level of a paragraph, set directly or by its style."""
        list_id = _value(paragraph, "pPr", "numPr", "numId")
        level = _value(paragraph, "pPr", "numPr", "ilvl")
        style = self._styles.get(_value(paragraph, "pPr", "pStyle"))
        for _ in range(20):  # a chain of base styles may be circular
            if style is None or list_id:
                break
            list_id = _value(style, "pPr", "numPr", "numId")
            level = level or _value(style, "pPr", "numPr", "ilvl")
            style = self._styles.get(_value(style, "basedOn"))
        return list_id, int(level or 0)


def _value(element: ET.Element, *path: str) -> str | None:
    child = element.find("/".join(f"{_W}{step}" for step in path))
    return None if child is None else child.get(f"{_W}val")


def _numeral(count: int, form: str) -> str:
    if form in {"upperLetter", "lowerLetter"}:
        words = chr(ord("A") + (count - 1) % 26) * min((count - 1) // 26 + 1, 20)
    elif form in {"upperRoman", "lowerRoman"}:
        words, remainder = "", min(count, 4000)
        for value, sign in _ROMAN:
            words += sign * (remainder // value)
            remainder %= value
    else:
        return f"{count:02}" if form == "decimalZero" else str(count)
    return words.lower() if form.startswith("lower") else words
