"""Files as people bring them, made on the spot: PDF, Word, Excel, PowerPoint."""

import io
import zipfile
import zlib
from collections.abc import Sequence

import docx
import xlsxwriter  # pyright: ignore[reportMissingTypeStubs]


def a_pdf(pages: Sequence[str], *, white: bool = False) -> bytes:
    """A PDF with a line of Helvetica per line of text; white text cannot be seen on its page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for at, text in enumerate(pages):
        lines = (
            line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            for line in text.split("\n")
        )
        operators = " T* ".join(f"({line}) Tj" for line in lines)
        color = "1 1 1 rg" if white else "0 0 0 rg"
        stream = zlib.compress(
            f"BT /F1 12 Tf {color} 14 TL 50 780 Td {operators} ET".encode("cp1252")
        )
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * at} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        head = f"<< /Length {len(stream)} /Filter /FlateDecode >>\nstream\n".encode()
        objects.append(head + stream + b"\nendstream")
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    places = list[int]()
    for number, body in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n".encode() + body + b"\nendobj\n")
    start = out.tell()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode())
    size = len(objects) + 1
    out.write(f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def a_word_file() -> bytes:
    document = docx.Document()
    document.add_paragraph("Prepared for the platform team.")
    document.add_heading("Cost", level=1)
    document.add_paragraph("The managed offer costs $1,840 per month.")
    table = document.add_table(rows=2, cols=2)
    for row, cells in enumerate((("Vendor", "Price"), ("Northwind", "960"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    document.add_heading("Risks", level=2)
    document.add_paragraph("Nobody has run it before.")
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def an_excel_file(formula: str = "=B2*12") -> bytes:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as workbook:
        sheet = workbook.add_worksheet("Load")
        for row, cells in enumerate((("Month", "Jobs"), ("March", 2000), ("April", 2500.5))):
            sheet.write_row(row, 0, cells)
        sheet.write_formula(3, 1, formula, value=24000)
        workbook.add_worksheet("Notes").write(4, 0, "Peak on Mondays")
    return out.getvalue()


def with_entries(content: bytes, entries: dict[str, bytes]) -> bytes:
    """An Office file with some of its parts replaced or added."""
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
