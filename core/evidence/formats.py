"""Bytes of a file → its text in sections: PDF, Word, Excel, PowerPoint, HTML, CSV, plain text.

Runs in the reading process only (`core.evidence.reading_process`), which bounds memory and time:
what is read here may be written by anybody.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from core.figures import counted, number

# Each library is imported where its kind of file is read: a process reads one file, and most of
# its time would go into libraries it has no use for.
if TYPE_CHECKING:
    from pptx.shapes.base import BaseShape

#: A file in a package of Office may be compressed so many times, the whole to so many bytes.
_MOST_UNPACKED = 300_000_000
_MOST_ENTRIES = 10_000
_MOST_XML_DEPTH_BYTES = 60_000_000
#: Share of control characters from which a file is no text.
_MOST_CONTROLS = 0.01
_BOMS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_NO_TEXT: Mapping[bytes, str] = {
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"RIFF": "a picture, sound or film",
    b"\x1f\x8b": "a compressed archive",
    b"7z\xbc\xaf": "a compressed archive",
    b"Rar!": "a compressed archive",
    b"\x7fELF": "a program",
    b"MZ": "a program",
    b"SQLite format 3": "a database",
}
_OLE = b"\xd0\xcf\x11\xe0"
#: Characters within which a page says that it is one.
_OPENING = 5000


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
    """What a file holds."""

    #: For people: "PDF", "Word".
    kind: str
    sections: Iterator[Section]
    warnings: list[str] = field(default_factory=list[str])


def read(content: bytes, name: str, media_type: str, most_pages: int) -> Extract:
    """The text of a file, by what it holds, not by what it is called.

    Raises:
        Unreadable: Says what it is instead of text.
    """
    if not content:
        raise Unreadable("it is empty")
    if content[:1024].lstrip().startswith(b"%PDF-"):
        return _pdf(content, most_pages)
    if content.startswith(b"PK\x03\x04"):
        return _package(content, most_pages)
    if content.startswith(_OLE):
        raise Unreadable(
            "it is an old Office file or has a password; save it as .docx, .xlsx or .pptx"
        )
    for begin, what in _NO_TEXT.items():
        if content.startswith(begin):
            raise Unreadable(f"it is {what}, and only text can be read")
    text, warnings = _decoded(content)
    controls = len(_CONTROL.findall(text[:100_000]))
    if controls > _MOST_CONTROLS * min(len(text), 100_000):
        raise Unreadable("it is no text, nor a kind of file that can be read")
    ending = name.lower().rpartition(".")[2]
    if media_type == "text/html" or ending in {"html", "htm"} or _begins_as_html(text):
        page = _Page()
        page.feed(text)
        page.close()
        return Extract("HTML", iter([Section("", page.text)]), warnings)
    if ending in {"csv", "tsv"} or media_type == "text/csv":
        # The first line names the columns: it heads every passage.
        return Extract("CSV", iter([Section("", f"# {text}", counts="row")]), warnings)
    return Extract("text", iter([Section("", text)]), warnings)


def _pdf(content: bytes, most_pages: int) -> Extract:
    import pypdf
    from pypdf.errors import PyPdfError

    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("it has a password")
        count = len(reader.pages)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Unreadable("the PDF is damaged") from None
    extract = Extract("PDF", iter(()))
    if count > most_pages:
        extract.warnings.append(f"only the first {most_pages} of {number(count)} pages were read")

    def pages() -> Iterator[Section]:
        damaged = 0
        for page in range(1, min(count, most_pages) + 1):
            try:
                text = reader.pages[page - 1].extract_text()
            except Exception:  # noqa: BLE001 - a damaged page fails in any way
                damaged += 1
                continue
            yield Section(f"page {page}", text)
        if damaged:
            extract.warnings.append(f"{counted(damaged, 'damaged page')} left out")

    extract.sections = pages()
    return extract


def _package(content: bytes, most_pages: int) -> Extract:
    """Word, Excel, PowerPoint: a ZIP archive of XML files."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            names = {entry.filename for entry in entries}
            unpacked = sum(entry.file_size for entry in entries)
            largest = max((e.file_size for e in entries if e.filename.endswith(".xml")), default=0)
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise Unreadable("the file is damaged") from None
    if len(entries) > _MOST_ENTRIES or unpacked > _MOST_UNPACKED or largest > _MOST_XML_DEPTH_BYTES:
        raise Unreadable("it is too large once unpacked")
    if any(name.lower().endswith("vbaproject.bin") for name in names):
        raise Unreadable("it holds macros; save it without them")
    readers: Mapping[str, Callable[[bytes, int], Extract]] = {
        "word/document.xml": _word,
        "xl/workbook.xml": _excel,
        "xl/workbook.bin": _excel,
        "ppt/presentation.xml": _powerpoint,
    }
    reader = next((readers[name] for name in readers if name in names), None)
    if reader is None:
        raise Unreadable("it is a compressed archive, and only text can be read")
    try:
        return reader(content, most_pages)
    except Unreadable:
        raise
    except Exception:  # noqa: BLE001 - a damaged file fails in any way
        raise Unreadable("the file is damaged") from None


def _word(content: bytes, _most_pages: int) -> Extract:
    import docx
    from docx.table import Table

    document = docx.Document(io.BytesIO(content))

    def sections() -> Iterator[Section]:
        label, lines = "beginning", list[str]()
        for block in document.iter_inner_content():
            if isinstance(block, Table):
                lines += ["", *_rows([cell.text for cell in row.cells] for row in block.rows), ""]
                continue
            name = block.style.name if block.style else ""
            found = re.fullmatch(r"(?:Heading|Überschrift|heading) (\d)", name or "")
            level = min(int(found[1]), 6) if found else 1 if name == "Title" else 0
            if level and block.text.strip():
                yield Section(label, "\n".join(lines))
                title = " ".join(block.text.split())
                label, lines = f"section “{title}”", [f"{'#' * level} {title}"]
            else:
                lines += [block.text, ""]
        yield Section(label, "\n".join(lines))

    return Extract("Word", sections())


def _rows(rows: Iterator[list[str]]) -> Iterator[str]:
    for row in rows:
        yield " | ".join(" ".join(cell.split()) for cell in row)


def _excel(content: bytes, _most_pages: int) -> Extract:
    """Values as they were last computed: a formula is never worked out here."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
    except CalamineError as error:
        locked = "password" in str(error).lower()
        raise Unreadable("it has a password" if locked else "the file is damaged") from None

    def sheets() -> Iterator[Section]:
        for name in workbook.sheet_names:
            sheet = workbook.get_sheet_by_name(name)
            # The n-th line is row n, as people see it: empty rows at the top are in it.
            rows = _rows([_cell(value) for value in row] for row in sheet.iter_rows())
            lines = (row.rstrip(" |") for row in rows)
            yield Section(f"sheet {name}", "\n".join(lines), counts="row")

    return Extract("Excel", sheets())


def _cell(value: object) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004 - exact until there
        return str(int(value))
    return str(value)


def _powerpoint(content: bytes, most_pages: int) -> Extract:
    from pptx import Presentation

    slides = list(Presentation(io.BytesIO(content)).slides)
    extract = Extract("PowerPoint", iter(()))
    if len(slides) > most_pages:
        extract.warnings.append(
            f"only the first {most_pages} of {number(len(slides))} slides were read"
        )

    def sections() -> Iterator[Section]:
        for at, slide in enumerate(slides[:most_pages], start=1):
            lines = [line for shape in slide.shapes for line in _shape_lines(shape)]
            if slide.has_notes_slide and slide.notes_slide.notes_text_frame:
                lines += ["", slide.notes_slide.notes_text_frame.text]
            yield Section(f"slide {at}", "\n".join(lines))

    extract.sections = sections()
    return extract


def _shape_lines(shape: "BaseShape") -> Iterator[str]:
    from pptx.shapes.graphfrm import GraphicFrame
    from pptx.shapes.group import GroupShape

    if isinstance(shape, GroupShape):
        for inner in shape.shapes:
            yield from _shape_lines(inner)
    elif isinstance(shape, GraphicFrame) and shape.has_table:
        yield from _rows([cell.text for cell in row.cells] for row in shape.table.rows)
    elif shape.has_text_frame:
        yield str(getattr(shape, "text_frame").text)  # noqa: B009 - only shapes with text have it
        yield ""


def _decoded(content: bytes) -> tuple[str, list[str]]:
    for mark, encoding in _BOMS.items():
        if content.startswith(mark):
            return content.decode(encoding, errors="replace"), []
    try:
        return content.decode("utf-8"), []
    except UnicodeDecodeError:
        if b"\x00" in content[:4000]:
            raise Unreadable("it is no text, nor a kind of file that can be read") from None
        return content.decode("cp1252", errors="replace"), [
            "it is not UTF-8 and was read as Windows-1252: signs may be wrong"
        ]


class _Page(HTMLParser):
    """The text of a page, with its headings; scripts, styles and comments left out."""

    _SKIPPED = frozenset({"script", "style", "template", "noscript", "svg", "head"})
    _BREAKS = frozenset(
        re.findall(
            r"\w+",
            "p div section article main header footer nav aside table tr ul ol li dl dt dd pre "
            "blockquote figure figcaption form hr br h1 h2 h3 h4 h5 h6",
        )
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts = list[str]()
        self._skipping = 0

    @property
    def text(self) -> str:
        """What a reader of the page sees, roughly."""
        lines = (" ".join(line.split()) for line in "".join(self._parts).split("\n"))
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line where the page does."""
        del attrs
        if tag in self._SKIPPED:
            self._skipping += 1
        elif re.fullmatch(r"h[1-6]", tag):
            self._parts.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag == "li":
            self._parts.append("\n- ")
        elif tag in {"td", "th"}:
            self._parts.append(" | ")
        elif tag in self._BREAKS:
            self._parts.append("\n" if tag in {"br", "tr", "div"} else "\n\n")

    def handle_endtag(self, tag: str) -> None:
        """End a line where the page does."""
        if tag in self._SKIPPED:
            self._skipping = max(0, self._skipping - 1)
        elif tag in self._BREAKS:
            self._parts.append("\n")

    def handle_data(self, data: str) -> None:
        """Keep what is shown; a line break in the source is a space."""
        if not self._skipping:
            self._parts.append(re.sub(r"\s+", " ", data))


def _begins_as_html(text: str) -> bool:
    """Whether a text begins as a page does, after its declaration and comments."""
    rest = text[:_OPENING].lstrip()
    while rest.startswith(("<?xml", "<!--")):
        rest = rest.partition(">" if rest.startswith("<?") else "-->")[2].lstrip()
    return rest[:20].lower().startswith(("<!doctype html", "<html"))
