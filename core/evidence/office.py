"""Files of office programs, as text in sections: Word, PowerPoint, Excel.

Runs in the sandbox only, like `core.evidence.formats`. Text is as it would be with all
tracked changes accepted, cells are as the sheet shows them. Hidden slides, sheets, rows and columns
are left out, and counted.
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

from core.evidence.word_numbers import with_numbers
from core.figures import number, quantity

#: A package may hold so many files, and so many bytes once unpacked: in all, and in one of XML.
_MOST_ENTRIES, _MOST_UNPACKED, _MOST_XML = 10_000, 300_000_000, 60_000_000
#: Hidden rows and columns that are named.
_LISTED = 5
#: What else comes in such a package, by its media type or the ending of its name.
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
    """Nothing can be read; the words are for people."""


@dataclass
class Section:
    """A piece of a file that people can find: a page, a sheet, a slide."""

    #: "page 3", "sheet Load"; empty: lines are counted.
    label: str
    text: str
    #: What its lines are called where they can be found by number: "row".
    counts: str = ""


@dataclass
class Extract:
    sections: Iterable[Section]
    #: What was left out. Complete when the sections were gone through.
    warnings: list[str] = field(default_factory=list[str])


def read_package(content: bytes, ending: str, most_pages: int) -> Extract:
    """The text of a file that is a ZIP archive, by what it holds and the ending of its name."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
            _check_size(sizes)
            _check_entities(archive, sizes)
            kind = archive.read("mimetype")[:200] if "mimetype" in sizes else b""
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, OSError, EOFError):
        raise Unreadable("the file is damaged") from None
    if any(name.lower().endswith("vbaproject.bin") for name in sizes):
        raise Unreadable("it holds macros; save it without them")
    readers: Mapping[str, Callable[[], Extract]] = {
        "word/document.xml": lambda: _word(content),
        "ppt/presentation.xml": lambda: _powerpoint(content, most_pages),
        "xl/workbook.xml": lambda: _excel(content, list(sizes)),
    }
    if "xl/workbook.bin" in sizes:
        raise Unreadable("it is a binary Excel file; save it as .xlsx")
    try:
        for part, reader in readers.items():
            if part in sizes:
                return reader()
    except (Unreadable, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - a damaged file fails in any way
        raise Unreadable("the file is damaged") from None
    what = _OTHERS.get(kind.decode("ascii", "replace").strip()) or _OTHERS.get(ending)
    raise Unreadable(f"it is {what or 'a compressed archive, and only text can be read'}")


def _check_size(sizes: Mapping[str, int]) -> None:
    largest = max((size for name, size in sizes.items() if name.endswith(".xml")), default=0)
    too_many = len(sizes) > _MOST_ENTRIES or sum(sizes.values()) > _MOST_UNPACKED
    if too_many or largest > _MOST_XML:
        raise Unreadable("it is too large once unpacked")


def _check_entities(archive: zipfile.ZipFile, names: Iterable[str]) -> None:
    """Refuse XML that declares words of its own: readers leave out what they do not know of it."""
    for name in names:
        if not name.endswith((".xml", ".rels")):
            continue
        with archive.open(name) as part:
            opening = part.read(4000)
        if b"<!DOCTYPE" in opening:
            raise Unreadable("its XML declares entities, which no office program writes")


def _tree(content: bytes, kind: str) -> Sequence[Mapping[str, Any]]:
    """The sections of a document, as office-oxide tells them apart."""
    import office_oxide

    document = office_oxide.Document.from_bytes(content, kind)  # pyright: ignore[reportArgumentType]
    return json.loads(document.to_ir_json())["sections"]


class _Writer:
    """Elements of office-oxide's tree → lines of text; counts what it leaves out."""

    def __init__(self) -> None:
        self.pictures = 0
        self.unknown = 0

    @property
    def warnings(self) -> list[str]:
        counts = ((self.pictures, "picture"), (self.unknown, "part"))
        return [f"{quantity(count, what)} left out" for count, what in counts if count]

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


def _word(content: bytes) -> Extract:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        document = archive.read("word/document.xml")
    warnings = list[str]()
    deleted, added = (len(re.findall(rb"<w:%b[ >]" % sign, document)) for sign in (b"del", b"ins"))
    # Words that take the place of others are one change.
    changes = deleted + added - len(re.findall(rb"</w:del>\s{0,100}<w:ins[ >]", document))
    if changes:
        warnings.append(f"{quantity(changes, 'tracked change')} taken as accepted")
    if hidden := len(re.findall(rb"<w:vanish\s?/>", document)):
        warnings.append(f"{quantity(hidden, 'hidden passage')} left out")
    try:
        content = with_numbers(content)
    except (KeyError, ValueError, TypeError, AttributeError, ET.ParseError, zipfile.BadZipFile):
        warnings.append("numbers of lists and clauses may be missing or wrong")
    writer, sections, margin_texts = _Writer(), list[Section](), set[str]()

    def add(label: str, lines: Iterable[str]) -> None:
        text = "\n".join(lines)
        if text.strip():
            sections.append(Section(label, text))

    for part in _tree(content, "docx"):
        for name in ("first_page_header", "header", "first_page_footer", "footer"):
            margin: Mapping[str, Any] = part.get(name) or {}
            words = "\n".join(writer.lines(margin.get("content", ()))).strip()
            if words and words not in margin_texts:  # the same on all pages, and in most sections
                margin_texts.add(words)
                add(name.replace("_", " "), [words])
        label, lines = "" if sections else "beginning", list[str]()
        for element in part["elements"]:
            if element["type"] == "heading" and _words(element).strip():
                add(label, lines)
                label, lines = f"section “{' '.join(_words(element).split())}”", []
            lines += writer.lines([element])
        add(label, lines)
    return Extract(sections, [*warnings, *writer.warnings])


def _powerpoint(content: bytes, most_pages: int) -> Extract:
    writer, sections, hidden = _Writer(), list[Section](), list[str]()
    slides = _tree(content, "pptx")
    for at, slide in enumerate(slides[:most_pages], start=1):
        if slide.get("hidden"):
            hidden.append(str(at))
            continue
        lines = list(writer.lines(slide["elements"]))
        if notes := list(writer.lines(slide.get("speaker_notes") or ())):
            lines += ["Notes:", *notes]
        sections.append(Section(f"slide {at}", "\n".join(lines)))
    warnings = writer.warnings
    if hidden:
        what = "hidden slide" if len(hidden) == 1 else "hidden slides"
        warnings.append(f"{what} {', '.join(hidden)} left out")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        remarks = sum(name.startswith("ppt/comments/") for name in archive.namelist())
    if remarks:
        warnings.append(f"remarks on {quantity(remarks, 'slide')} were not read")
    if len(slides) > most_pages:
        warnings.append(f"only the first {most_pages} of {number(len(slides))} slides were read")
    return Extract(sections, warnings)


def _excel(content: bytes, parts: Sequence[str]) -> Extract:
    """Cells as the sheet shows them; formulas are not evaluated."""
    import warnings as python_warnings

    import openpyxl

    def workbook(*, values: bool) -> Any:
        with python_warnings.catch_warnings():
            python_warnings.simplefilter("ignore")
            return openpyxl.load_workbook(io.BytesIO(content), data_only=values, rich_text=values)

    book, extract = workbook(values=True), Extract(())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        formulas = any(
            b"<f" in archive.read(name) for name in parts if name.startswith("xl/worksheets/")
        )
    sheets = _Sheets(book, workbook(values=False) if formulas else None)
    extract.sections = sheets.sections(extract.warnings)
    for begin, what in (("xl/charts/chart", "chart"), ("xl/drawings/drawing", "drawing")):
        if count := sum(name.startswith(begin) for name in parts):
            were = "was" if count == 1 else "were"
            extract.warnings.append(f"{quantity(count, what)} {were} not read")
    return extract


class _Sheets:
    """The sheets of a workbook that are shown, one line a row; counts what it leaves out."""

    def __init__(self, book: Any, formula_book: Any) -> None:
        self._book, self._formula_book = book, formula_book
        self._uncomputed = 0
        self._hidden_parts = list[str]()

    def sections(self, warnings: list[str]) -> Iterator[Section]:
        """A section for each sheet; then the warnings get what was left out."""
        for sheet in self._book.worksheets:
            if sheet.sheet_state != "visible":
                warnings.append(f"the hidden sheet {sheet.title} was left out")
                continue
            # The n-th line is row n, as people see it.
            yield Section(f"sheet {sheet.title}", "\n".join(self._lines(sheet)), counts="row")
        warnings += self._hidden_parts
        if self._uncomputed:
            have = "formula has" if self._uncomputed == 1 else "formulas have"
            count = number(self._uncomputed)
            warnings.append(f"{count} {have} no computed value: the formula is shown")

    def _lines(self, sheet: Any) -> Sequence[str]:
        rows, columns = _hidden_cells(sheet)
        lines, left_out = list[str](), dict[str, None]()
        # Only cells that are there: a single one at the edge makes billions of empty ones.
        cells = sorted(sheet._cells.items())  # noqa: SLF001 - `iter_rows` makes the empty ones
        for row, of_row in groupby(cells, key=lambda item: item[0][0]):
            lines += [""] * (row - 1 - len(lines))
            texts, remarks = list[str](), list[str]()
            for (_, column), cell in of_row:
                text = self._text(sheet, cell)
                if text and (row in rows or column in columns):
                    left_out[f"row {row}" if row in rows else f"column {columns[column]}"] = None
                    continue
                texts += [""] * (column - 1 - len(texts)) + [text]
                if cell.comment:
                    remarks.append(f"[remark on {cell.coordinate}: {cell.comment.text}]")
            lines.append(" ".join((" | ".join(texts).rstrip(" |"), *remarks)).rstrip())
        if left_out:
            listed = ", ".join([*left_out][:_LISTED]) + (" and more" * (len(left_out) > _LISTED))
            self._hidden_parts.append(f"sheet {sheet.title}: hidden {listed} left out")
        return lines

    def _text(self, sheet: Any, cell: Any) -> str:
        """What a cell shows; its formula where nobody has worked it out."""
        if cell.value is not None or self._formula_book is None:
            return _cell_text(cell, self._book)
        formula = self._formula_book[sheet.title].cell(cell.row, cell.column).value
        self._uncomputed += formula is not None
        return "" if formula is None else str(formula)


def _hidden_cells(sheet: Any) -> tuple[set[int], Mapping[int, str]]:
    from openpyxl.utils import get_column_letter

    rows = {at for at, row in sheet.row_dimensions.items() if row.hidden}
    columns = {
        at: get_column_letter(at)
        for column in sheet.column_dimensions.values()
        if column.hidden
        for at in range(column.min or 1, min(column.max or 1, 16_384) + 1)
    }
    return rows, columns


def _cell_text(cell: Any, book: Any) -> str:
    """What a cell shows: dates in ISO's form, numbers as formatted, struck-out words marked."""
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
    with suppress(Exception):  # a format that it does not know
        is_1904 = book.epoch == CALENDAR_MAC_1904
        return str(format_value(plain, cell.number_format, date1904=is_1904))
    return str(value)
