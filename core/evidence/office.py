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
from datetime import date, datetime, time, timedelta
from itertools import groupby
from typing import Any, cast
from xml.etree import ElementTree as ET

from core.evidence.clauses import repacked, with_numbers
from core.figures import number, quantity

#: Most files in a package, most unpacked bytes in all, and most bytes of an XML file.
_MOST_ENTRIES, _MOST_UNPACKED, _MOST_XML = 10_000, 300_000_000, 60_000_000
_MOST_LISTED = 5
#: The end of a notice that Excel writes, in any language, before the text of a comment.
_THREADED = "linkid=870924"
#: Most cells of a sheet: more do not fit the most characters of a source.
_MOST_CELLS = 100_000
#: A formula at the end of a cell, without a value or with an empty one.
_UNCOMPUTED = re.compile(
    rb"(?:</(?:\w{1,9}:)?f>|<(?:\w{1,9}:)?f [^<>]*/>)(?:<v ?/>|<v></v>)?</(?:\w{1,9}:)?c>"
)
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
        raise Unreadable("it is damaged or has unknown content; save it again, or as PDF") from None


def _read(extract: Extract, content: bytes, archive: zipfile.ZipFile, ending: str) -> None:
    _check(archive)
    names = archive.namelist()
    if "word/document.xml" in names:
        _word(extract, content, archive)
    elif "ppt/presentation.xml" in names:
        _powerpoint(extract, content)
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

    def __init__(self, note_kind: str = "") -> None:
        self._note_kind = note_kind
        self.pictures = 0
        self.unknown = 0

    @property
    def warnings(self) -> list[str]:
        counts = ((self.pictures, "picture"), (self.unknown, "unknown element"))
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
                    kind = element.get("marker") or self._note_kind or element["type"].capitalize()
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
        parts.append(struck(text) if part.get("strikethrough") else text)
    return "".join(parts).replace("~~~~", "")


def struck(text: str) -> str:
    """The text between marks; spaces at its ends are outside, as in Markdown."""
    words = text.strip()
    return text.replace(words, f"~~{words}~~") if words else text


#: Marks of content in Word files that is read in part.
_MARKS = (
    (rb"<w:vanish\s?/>", "hidden passage", "left out"),
    (rb"<m:oMath[ >]", "equation", "read without fractions and powers"),
    # Office's own files are packages; others, such as equations of MathType, are binary.
    (
        rb'<o:OLEObject [^<>]*ProgID="\w+\.\w+\.12"',
        "embedded file",
        "read without formats of numbers",
    ),
    (rb'<o:OLEObject (?![^<>]*ProgID="\w+\.\w+\.12")', "embedded object", "not read"),
)


def _word(extract: Extract, content: bytes, archive: zipfile.ZipFile) -> None:
    document = archive.read("word/document.xml")
    warnings = extract.warnings
    # An empty element marks the end of a paragraph or a row. A replacement of words is one change.
    changes = len(re.findall(rb"<w:(?:del|ins|moveFrom)(?: [^<>]*[^/<>])?>", document))
    changes -= len(re.findall(rb"</w:del>\s{0,100}<w:ins[ >]", document))
    if changes:
        warnings.append(f"{quantity(changes, 'tracked change')} taken as accepted")
    for mark, noun, treatment in _MARKS:
        if count := len(re.findall(mark, document)):
            warnings.append(f"{quantity(count, noun)} {treatment}")
    try:
        content = with_numbers(content, archive)
    except (KeyError, ValueError, TypeError, AttributeError, ET.ParseError):
        warnings.append("numbers of lists and clauses may be missing or wrong")
    writer, margin_texts, label = _Writer(), set[str](), "beginning"

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
        lines = list[str]()
        for element in part["elements"]:
            if element["type"] == "heading" and _words(element).strip():
                add(label, lines)
                label, lines = f"section “{' '.join(_words(element).split())}”", []
            lines += writer.lines([element])
        add(label, lines)
    warnings += writer.warnings


def _powerpoint(extract: Extract, content: bytes) -> None:
    most_pages = extract.most_pages
    # Slides have no notes of this type: they are comments.
    writer, hidden, warnings = _Writer("Comment"), list[str](), extract.warnings
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

    warnings, hidden_parts = extract.warnings, list[str]()
    content, sheets = _shortened(content, archive, warnings)
    book, formula_count = workbook(values=True), 0
    formulas = workbook(values=False) if any(map(_UNCOMPUTED.search, sheets)) else None

    def text_of(cell: Any) -> str:
        """The text of a cell; its formula if the file has no result."""
        nonlocal formula_count
        # The type of an empty text that a formula has computed is "str".
        if cell.value is not None or cell.data_type == "str" or formulas is None:
            return _cell_text(cell, book)
        formula = formulas[cell.parent.title].cell(cell.row, cell.column).value
        formula_count += formula is not None
        return "" if formula is None else str(getattr(formula, "text", formula))

    warnings += _unread_parts(archive)
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


def _shortened(
    content: bytes, archive: zipfile.ZipFile, warnings: list[str]
) -> tuple[bytes, Sequence[bytes]]:
    """The workbook with the first rows of very large sheets, and the XML of its sheets."""
    names = [name for name in archive.namelist() if re.fullmatch(r"xl/worksheets/[^/]+", name)]
    sheets = {name: archive.read(name) for name in names}
    for name, sheet in sheets.items():
        cell_ends = [match.end() for match in re.finditer(b"</c>", sheet)]
        if len(cell_ends) > _MOST_CELLS:
            row_end = sheet.index(b"</row>", cell_ends[_MOST_CELLS])
            sheets[name] = sheet[:row_end] + sheet[sheet.rindex(b"</row>") :]
            cells = f"{number(sheets[name].count(b'</c>'))} of {number(len(cell_ends))} cells"
            warnings.append(f"only the first {cells} of a sheet were read")
    return (repacked(archive, sheets) if warnings else content), list(sheets.values())


def _unread_parts(archive: zipfile.ZipFile) -> Iterator[str]:
    names = archive.namelist()
    drawings = b"".join(
        archive.read(name) for name in names if name.startswith("xl/drawings/drawing")
    )
    counts = {
        "chart": sum(name.startswith("xl/charts/chart") for name in names),
        "picture": len(re.findall(rb"<(?:\w{1,9}:)?pic>", drawings)),
        "text box": len(re.findall(rb"<(?:\w{1,9}:)?txBody>", drawings)),
    }
    for noun, count in counts.items():
        if count:
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
            text = " ".join(text_of(cell).splitlines())
            if text and (row in rows or column in columns):
                hidden[f"row {row}" if row in rows else f"column {cell.column_letter}"] = None
                continue
            texts += [""] * (column - 1 - len(texts)) + [text]
            if cell.comment:
                remark = " ".join(cell.comment.text.rpartition(_THREADED)[2].split())
                remarks.append(f"[remark on {cell.coordinate}: {remark}]")
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
            struck(str(part)) if getattr(getattr(part, "font", None), "strike", None) else str(part)
            for part in parts
        )
    if isinstance(value, str):
        return struck(value) if cell.font and cell.font.strike else value
    if isinstance(value, datetime):
        # Fractions of days are rarely exact: 14:30 can be 14:30:00.003.
        rounded = (value + timedelta(milliseconds=500)).replace(microsecond=0)
        return rounded.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, (date, time)):
        return value.isoformat()
    plain = value.total_seconds() / 86_400 if hasattr(value, "total_seconds") else value
    with suppress(Exception):  # an unknown format
        is_1904 = book.epoch == CALENDAR_MAC_1904
        return str(format_value(plain, cell.number_format, date1904=is_1904))
    return str(value)
