"""Reads the text of Word, PowerPoint and Excel files in sections.

Runs only in the sandbox, like `core.evidence.formats`. Tracked changes count as accepted; cells
have the text that the sheet shows. Hidden slides, sheets, rows and columns are left out, counted.
"""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, cast
from xml.etree import ElementTree as ET

from core.figures import number, quantity

#: Most files in a package, most unpacked bytes in all, and most bytes of an XML file.
_MOST_ENTRIES, _MOST_UNPACKED, _MOST_XML = 10_000, 300_000_000, 60_000_000
_MOST_LISTED = 5
#: Other formats of such packages, by media type or file name extension.
_OTHERS: Mapping[str, str] = {
    "application/vnd.oasis.opendocument.text": "an OpenDocument text; save it as .docx or PDF",
    "application/vnd.oasis.opendocument.spreadsheet": "an OpenDocument sheet; save it as .xlsx",
    "application/vnd.oasis.opendocument.presentation": (
        "an OpenDocument presentation; save it as .pptx or PDF"
    ),
    "application/epub+zip": "an EPUB book; save the part that matters as PDF or text",
    "pages": "a Pages document; export it as PDF or .docx",
    "numbers": "a Numbers sheet; export it as .xlsx",
    "key": "a Keynote presentation; export it as PDF or .pptx",
}


class Unreadable(Exception):
    """The file cannot be read; the message is for people."""


@dataclass
class Extract:
    #: Text beyond this length is cut.
    most_characters: int
    #: Most pages and slides to read.
    most_pages: int
    #: Pages, sheets or slides, with labels by which people find them.
    sections: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    #: Sentences about omitted content.
    warnings: list[str] = field(default_factory=list[str])

    def add(self, label: str, text: str, counts: str = "") -> None:
        """Add a section.

        `label` is such as "page 3" or "sheet Load"; empty: places are line numbers. `counts` is the
        name of a numbered line, such as "row".
        """
        self.sections.append({"label": label, "text": text, "counts": counts})

    @property
    def is_full(self) -> bool:
        return sum(len(section["text"]) for section in self.sections) > self.most_characters


def read_package(extract: Extract, content: bytes, ending: str) -> None:
    """Read a ZIP archive; its content and the file name extension decide about the format."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _read(extract, content, archive, ending)
    except (Unreadable, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - a damaged file fails in any way
        raise Unreadable("the file is damaged") from None


def _read(extract: Extract, content: bytes, archive: zipfile.ZipFile, ending: str) -> None:
    _check(archive)
    names = archive.namelist()
    if "word/document.xml" in names:
        _word(extract, content, archive)
    elif "ppt/presentation.xml" in names:
        _powerpoint(extract, content, archive)
    elif "xl/workbook.xml" in names:
        _excel(extract, content, archive)
    else:
        kind = archive.read("mimetype")[:200] if "mimetype" in names else b""
        binary = "a binary Excel file; save it as .xlsx" if "xl/workbook.bin" in names else ""
        what = binary or _OTHERS.get(kind.decode("ascii", "replace").strip()) or _OTHERS.get(ending)
        raise Unreadable(f"it is {what or 'a compressed archive, and only text can be read'}")


def _check(archive: zipfile.ZipFile) -> None:
    """Refuse an archive that is too large or unsafe."""
    sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    xml = [name for name in sizes if name.endswith((".xml", ".rels"))]
    too_many = len(sizes) > _MOST_ENTRIES or sum(sizes.values()) > _MOST_UNPACKED
    if too_many or any(sizes[name] > _MOST_XML for name in xml):
        raise Unreadable("it is too large once unpacked")
    # The readers ignore entities that XML declares.
    if any(b"<!DOCTYPE" in archive.open(name).read(4000) for name in xml):
        raise Unreadable("its XML declares entities, which no office program writes")
    if any(name.lower().endswith("vbaproject.bin") for name in sizes):
        raise Unreadable("it holds macros; save it without them")


def _tree(content: bytes, kind: str) -> Sequence[Mapping[str, Any]]:
    """The sections of a document from office-oxide."""
    import office_oxide

    document = office_oxide.Document.from_bytes(content, kind)  # pyright: ignore[reportArgumentType]
    return json.loads(document.to_ir_json())["sections"]


class _Writer:
    """Converts office-oxide's tree to lines of text; counts what it leaves out."""

    def __init__(self) -> None:
        self.pictures = 0
        self.unknown = 0

    @property
    def warnings(self) -> list[str]:
        counts = ((self.pictures, "picture"), (self.unknown, "part"))
        return [f"{quantity(count, noun)} left out" for count, noun in counts if count]

    def lines(self, elements: Iterable[Mapping[str, Any]]) -> Iterator[str]:
        for element in elements:
            match element["type"]:
                case "heading":
                    yield f"{'#' * element.get('level', 1)} {' '.join(_words(element).split())}"
                    yield ""
                case "paragraph":
                    yield _words(element)
                    yield ""
                case "list":
                    yield from self._items(element, 0)
                    yield ""
                case "table":
                    yield from self._rows(element)
                    yield ""
                case "image":
                    alt = element.get("alt_text") or element.get("description")
                    self.pictures += not alt
                    yield from (f"[{alt}]", "") if alt else ()
                case "code_block":
                    yield from ("```", str(element.get("content", "")), "```", "")
                case "footnote" | "endnote":
                    inner = " ".join(" ".join(self.lines(element.get("content", ()))).split())
                    kind = element.get("marker") or element["type"].capitalize()
                    yield from (f"[{kind}: {inner}]", "")
                case "thematic_break" | "page_break" | "column_break" | "shape":
                    pass
                case _:
                    self.unknown += "content" not in element
                    yield from self.lines(element.get("content", ()))

    def _items(self, element: Mapping[str, Any], depth: int) -> Iterator[str]:
        for item in element.get("items", ()):
            inner = " ".join(" ".join(self.lines(item.get("content", ()))).split())
            yield f"{'  ' * depth}- {inner}"
            if item.get("nested"):
                yield from self._items(item["nested"], depth + 1)

    def _rows(self, element: Mapping[str, Any]) -> Iterator[str]:
        for row in element.get("rows", ()):
            cells = [" ".join(self.lines(cell.get("content", ()))).split() for cell in row["cells"]]
            yield " | ".join(" ".join(cell) for cell in cells)


def _words(element: Mapping[str, Any]) -> str:
    parts = list[str]()
    for part in element.get("content", ()):
        text = "\n" if part["type"] == "line_break" else str(part.get("text", ""))
        if part.get("vertical_align") == "superscript" and text.strip():
            text = f"^{text}"
        parts.append(f"~~{text}~~" if part.get("strikethrough") and text.strip() else text)
    return "".join(parts).replace("~~~~", "")


def _word(extract: Extract, content: bytes, archive: zipfile.ZipFile) -> None:
    document = archive.read("word/document.xml")
    warnings = extract.warnings
    deletions, insertions = (
        len(re.findall(rb"<w:%b[ >]" % sign, document)) for sign in (b"del", b"ins")
    )
    # A replacement of words is one change.
    changes = deletions + insertions - len(re.findall(rb"</w:del>\s{0,100}<w:ins[ >]", document))
    if changes:
        warnings.append(f"{quantity(changes, 'tracked change')} taken as accepted")
    if hidden := len(re.findall(rb"<w:vanish\s?/>", document)):
        warnings.append(f"{quantity(hidden, 'hidden passage')} left out")
    try:
        content = _with_numbers(content, archive)
    except (KeyError, ValueError, TypeError, AttributeError, ET.ParseError):
        warnings.append("numbers of lists and clauses may be missing or wrong")
    writer, margin_texts = _Writer(), set[str]()

    def add(label: str, lines: Iterable[str]) -> None:
        text = "\n".join(lines)
        if text.strip():
            extract.add(label, text)

    for part in _tree(content, "docx"):
        for name in ("first_page_header", "header", "first_page_footer", "footer"):
            margin: Mapping[str, Any] = part.get(name) or {}
            words = "\n".join(writer.lines(margin.get("content", ()))).strip()
            if words not in margin_texts:  # the same on all pages
                margin_texts.add(words)
                add(name.replace("_", " "), [words])
        label, lines = "" if extract.sections else "beginning", list[str]()
        for element in part["elements"]:
            if element["type"] == "heading" and _words(element).strip():
                add(label, lines)
                label, lines = f"section “{' '.join(_words(element).split())}”", []
            lines += writer.lines([element])
        add(label, lines)
    warnings += writer.warnings


def _powerpoint(extract: Extract, content: bytes, archive: zipfile.ZipFile) -> None:
    most_pages = extract.most_pages
    writer, hidden, warnings = _Writer(), list[str](), extract.warnings
    slides = _tree(content, "pptx")
    for slide_number, slide in enumerate(slides[:most_pages], start=1):
        if slide.get("hidden"):
            hidden.append(str(slide_number))
            continue
        lines = list(writer.lines(slide["elements"]))
        if notes := list(writer.lines(slide.get("speaker_notes") or ())):
            lines += ["Notes:", *notes]
        extract.add(f"slide {slide_number}", "\n".join(lines))
    warnings += writer.warnings
    if hidden:
        noun = "hidden slide" if len(hidden) == 1 else "hidden slides"
        warnings.append(f"{noun} {', '.join(hidden)} left out")
    parts = archive.namelist()
    if remarks := sum(name.startswith("ppt/comments/") for name in parts):
        warnings.append(f"remarks on {quantity(remarks, 'slide')} were not read")
    if len(slides) > most_pages:
        warnings.append(f"only the first {most_pages} of {number(len(slides))} slides were read")


def _excel(extract: Extract, content: bytes, archive: zipfile.ZipFile) -> None:
    """Read cells as the sheet shows them; formulas are not evaluated."""
    import warnings as python_warnings

    import openpyxl

    def workbook(*, values: bool) -> Any:
        with python_warnings.catch_warnings():
            python_warnings.simplefilter("ignore")
            return openpyxl.load_workbook(io.BytesIO(content), data_only=values, rich_text=values)

    parts, warnings, hidden_parts = archive.namelist(), extract.warnings, list[str]()
    sheets = [name for name in parts if name.startswith("xl/worksheets/")]
    book, formula_count = workbook(values=True), 0
    has_formulas = any(b"<f" in archive.read(name) for name in sheets)
    formulas = workbook(values=False) if has_formulas else None

    def text_of(cell: Any) -> str:
        """The text of a cell; its formula if the file has no result."""
        nonlocal formula_count
        if cell.value is not None or formulas is None:
            return _cell_text(cell, book)
        formula = formulas[cell.parent.title].cell(cell.row, cell.column).value
        formula_count += formula is not None
        return "" if formula is None else str(formula)

    warnings += _unread_parts(parts)
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            warnings.append(f"the hidden sheet {sheet.title} was left out")
        elif not extract.is_full:
            lines, hidden = _rows(sheet, text_of)
            # Line n is row n of the sheet.
            extract.add(f"sheet {sheet.title}", "\n".join(lines), counts="row")
            names = ", ".join(hidden[:_MOST_LISTED]) + (" and more" * (len(hidden) > _MOST_LISTED))
            hidden_parts += [f"sheet {sheet.title}: hidden {names} left out"] if hidden else []
    warnings += hidden_parts
    if formula_count:
        subject = (
            f"{number(formula_count)} {'formula has' if formula_count == 1 else 'formulas have'}"
        )
        warnings.append(f"{subject} no computed value: the formula is shown")


def _unread_parts(names: Sequence[str]) -> Iterator[str]:
    for prefix, noun in (("xl/charts/chart", "chart"), ("xl/drawings/drawing", "drawing")):
        if count := sum(name.startswith(prefix) for name in names):
            yield f"{quantity(count, noun)} {'was' if count == 1 else 'were'} not read"


def _rows(sheet: Any, text_of: Callable[[Any], str]) -> tuple[Sequence[str], Sequence[str]]:
    """The rows of a sheet as lines, and the names of omitted hidden rows and columns."""
    rows, columns = _hidden_cells(sheet)
    lines, hidden = list[str](), dict[str, None]()
    # Existing cells only: with one cell at the edge of a sheet there are billions of empty ones.
    cells = sorted(sheet._cells.items())  # noqa: SLF001 - `iter_rows` makes the empty ones
    for row, row_cells in groupby(cells, key=lambda item: item[0][0]):
        lines += [""] * (row - 1 - len(lines))
        texts, remarks = list[str](), list[str]()
        for (_, column), cell in row_cells:
            text = text_of(cell)
            if text and (row in rows or column in columns):
                hidden[f"row {row}" if row in rows else f"column {cell.column_letter}"] = None
                continue
            texts += [""] * (column - 1 - len(texts)) + [text]
            if cell.comment:
                remarks.append(f"[remark on {cell.coordinate}: {cell.comment.text}]")
        lines.append(" ".join((" | ".join(texts).rstrip(" |"), *remarks)).rstrip())
    return lines, list(hidden)


def _hidden_cells(sheet: Any) -> tuple[set[int], set[int]]:
    rows = {index for index, row in sheet.row_dimensions.items() if row.hidden}
    columns = {
        index
        for column in sheet.column_dimensions.values()
        if column.hidden
        for index in range(column.min or 1, min(column.max or 1, 16_384) + 1)
    }
    return rows, columns


def _cell_text(cell: Any, book: Any) -> str:
    """The text of a cell: ISO dates, formatted numbers, marks around struck-out words."""
    from openpyxl.utils.datetime import CALENDAR_MAC_1904
    from xlfmt import (  # pyright: ignore[reportMissingTypeStubs]
        format_value,  # pyright: ignore[reportUnknownVariableType]
    )

    value: Any = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, list):  # rich text
        parts = cast("Sequence[Any]", value)
        return "".join(
            f"~~{part}~~" if getattr(getattr(part, "font", None), "strike", None) else str(part)
            for part in parts
        )
    if isinstance(value, str):
        return f"~~{value}~~" if cell.font and cell.font.strike and value.strip() else value
    if hasattr(value, "year"):
        return (
            value.isoformat(" ").removesuffix(" 00:00:00")
            if hasattr(value, "hour")
            else value.isoformat()
        )
    if hasattr(value, "hour"):
        return value.isoformat()
    plain = value.total_seconds() / 86_400 if hasattr(value, "total_seconds") else value
    with suppress(Exception):  # an unknown format
        is_1904 = book.epoch == CALENDAR_MAC_1904
        return str(format_value(plain, cell.number_format, date1904=is_1904))
    return str(value)


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)


def _with_numbers(content: bytes, archive: zipfile.ZipFile) -> bytes:
    """Write the numbers of lists, clauses and headings of a Word file into its paragraphs.

    No library computes them correctly for all levels, and a wrong clause number misleads readers.
    The file must declare no entities. Invalid XML raises `ET.ParseError` or an error of Python.
    """
    if "word/numbering.xml" not in archive.namelist():
        return content
    # Other files have no text.
    names = [name for name in archive.namelist() if name.endswith((".xml", ".rels"))]
    parts = {name: archive.read(name) for name in names}
    numbers = _Numbers(parts)
    document = parts["word/document.xml"]
    for prefix, space in re.findall(rb'xmlns:(\w{1,20})="([^"]{1,300})"', document[:20_000]):
        with suppress(ValueError):  # ElementTree reserves names such as ns0
            ET.register_namespace(prefix.decode(), space.decode())
    root = ET.fromstring(document)  # noqa: S314 - it declares no entities
    for paragraph in root.iter(f"{_W}p"):
        if mark := numbers.next_mark(paragraph):
            _write_mark(paragraph, mark)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as written:
        for name, part in parts.items():
            written.writestr(name, ET.tostring(root) if name == "word/document.xml" else part)
    return out.getvalue()


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
        form, text, first = levels.get(level, ("bullet", "", 1))
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
            form, _, start = levels.get(level_index, ("decimal", "", 1))
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
