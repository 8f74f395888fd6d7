"""Builds PDF, Word and Excel files for tests."""

import io
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import docx
import xlsxwriter  # pyright: ignore[reportMissingTypeStubs]


def raw_pdf(
    pages: Sequence[tuple[str, str]],
    more: Sequence[bytes] = (),
    resources: str = "",
    font: str = "",
) -> bytes:
    """A PDF of content streams.

    Args:
        pages: Content stream and further entries of each page. Objects 4, 6 … are the pages.
        more: Objects after the last page's.
        resources: Of every page, besides its font F1.
        font: The font's dictionary; empty: Helvetica.
    """
    font = (
        font or "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    )
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        font.encode(),
    ]
    for at, (content, entries) in enumerate(pages):
        stream = content.encode("cp1252")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * at} 0 R "
            f"/Resources << /Font << /F1 3 0 R >> {resources} >> {entries} >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream))
    out, places = io.BytesIO(b"%PDF-1.4\n"), list[int]()
    out.seek(0, io.SEEK_END)
    for at, body in enumerate((*objects, *more), start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (at, body))
    start, count = out.tell(), len(places) + 1
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    out.write(f"xref\n0 {count}\n0000000000 65535 f \n{table}".encode())
    out.write(f"trailer << /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def a_pdf(pages: Sequence[str], *, white: bool = False) -> bytes:
    """A PDF with these lines of text; white text is invisible on its page."""
    color, contents = "1 1 1 rg" if white else "0 0 0 rg", list[tuple[str, str]]()
    for text in pages:
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        operators = " T* ".join(f"({line}) Tj" for line in escaped.split("\n"))
        contents.append((f"BT /F1 12 Tf {color} 14 TL 50 780 Td {operators} ET", ""))
    return raw_pdf(contents)


def word(fill: Callable[[Any], object]) -> bytes:
    document, out = docx.Document(), io.BytesIO()
    fill(document)
    document.save(out)
    return out.getvalue()


def a_word_file() -> bytes:
    def fill(document: Any) -> None:
        document.add_paragraph("Prepared for the platform team.")
        document.add_heading("Cost", level=1)
        document.add_paragraph("The managed offer costs $1,840 per month.")
        table = document.add_table(rows=2, cols=2)
        for row, cells in enumerate((("Vendor", "Price"), ("Northwind", "960"))):
            for column, text in enumerate(cells):
                table.cell(row, column).text = text
        document.add_heading("Risks", level=2)
        document.add_paragraph("Nobody has run it before.")

    return word(fill)


def excel(fill: Callable[[Any], object], **options: object) -> bytes:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True, **options}) as book:
        fill(book)
    return out.getvalue()


def an_excel_file(formula: str = "=B2*12") -> bytes:
    def fill(book: Any) -> None:
        sheet = book.add_worksheet("Load")
        for row, cells in enumerate((("Month", "Jobs"), ("March", 2000), ("April", 2500.5))):
            sheet.write_row(row, 0, cells)
        sheet.write_formula(3, 1, formula, value=24000)
        book.add_worksheet("Notes").write(4, 0, "Peak on Mondays")

    return excel(fill)


def with_entries(content: bytes, entries: dict[str, bytes]) -> bytes:
    """An Office file with replaced or added parts."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as before,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for name in before.namelist():
            if name not in entries:
                after.writestr(name, before.read(name))
        for name, data in entries.items():
            after.writestr(name, data)
    return out.getvalue()
