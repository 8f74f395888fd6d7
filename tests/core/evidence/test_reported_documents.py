"""Documents of which users of neighbouring readers reported in public issues that words were lost.

Each name begins with the report; the input is rebuilt small, and the right result stands beside it.
"""

import datetime as dt
import io
from collections.abc import Callable
from typing import Any

import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from pptx import Presentation
from pptx.util import Inches

from core.redaction import clean
from tests.core.evidence import documents as made
from tests.core.evidence import office
from tests.core.evidence.test_documents import Case, excel, pdf, text, text_and_warnings, word

W = nsdecls("w")
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
_SHAPE = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
_BOX = "<w:txbxContent><w:p><w:r><w:t>Callout: 12 weeks.</w:t></w:r></w:p></w:txbxContent>"
_DRAWN = (
    f'<w:drawing><wp:inline xmlns:wp="{_DRAWING}/wordprocessingDrawing"><wp:extent cx="9" cy="9"/>'
    f'<a:graphic xmlns:a="{_DRAWING}/main"><a:graphicData uri="{_SHAPE}">'
    f'<wps:wsp xmlns:wps="{_SHAPE}"><wps:txbx>{_BOX}</wps:txbx></wps:wsp></a:graphicData>'
    "</a:graphic></wp:inline></w:drawing>"
)
_VML = (
    '<w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:textbox>'
    f"{_BOX}</v:textbox></v:shape></w:pict>"
)


def paragraph(inner: str) -> Callable[[Any], object]:
    """A document whose second paragraph holds this XML."""

    def fill(document: Any) -> None:
        document.add_paragraph("Before.")
        document.element.body.insert(1, parse_xml(f"<w:p {W}>{inner}</w:p>"))

    return fill


def run(words: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{words}</w:t></w:r>'


def block_control(document: Any) -> None:
    inner = f"<w:sdtContent><w:p>{run('The term is two years.')}</w:p></w:sdtContent>"
    document.element.body.insert(0, parse_xml(f"<w:sdt {W}>{inner}</w:sdt>"))


def controls_in_a_table(document: Any) -> None:
    cell = document.add_table(rows=1, cols=2).cell(0, 1)
    cell.paragraphs[0]._p.append(
        parse_xml(f"<w:sdt {W}><w:sdtContent>{run('9,000 euros')}</w:sdtContent></w:sdt>")
    )


def field() -> str:
    """A reference as Word keeps it: instruction, then the result that is shown."""
    marks = [f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate")]
    code = "<w:r><w:instrText>REF _Ref12 \\h</w:instrText></w:r>"
    end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    return f"{run('See clause ')}{marks[0]}{code}{marks[1]}{run('4.2')}{end}{run(' of it.')}"


def slides(fill: Callable[[Any], object]) -> Callable[[], bytes]:
    def content() -> bytes:
        deck: Any = Presentation()
        fill(deck)
        out = io.BytesIO()
        deck.save(out)
        return out.getvalue()

    return content


def boxes_table_and_group(deck: Any) -> None:
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    for words in ("First box", "Second box"):
        shapes.add_textbox(0, 0, 999, 999).text_frame.text = words
    table = shapes.add_table(1, 2, Inches(1), Inches(1), Inches(3), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Kafka", "48,000"
    inner = shapes.add_group_shape().shapes.add_group_shape().shapes
    inner.add_textbox(0, 0, 999, 999).text_frame.text = "Grouped twice"


def title_without_a_place(deck: Any) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Decision"
    slide.placeholders[1].text = "We stay until May."


def numbers(book: Any) -> None:
    sheet = book.add_worksheet("Formats")
    for at, (value, form) in enumerate(
        ((0.075, "0.0%"), (1234.5, '"$"#,##0.00'), (-3, "0;(0)"), (1.1 + 2.2, "General"))
    ):
        sheet.write_number(0, at, value, book.add_format({"num_format": form}))
    sheet.write_boolean(1, 0, True)  # noqa: FBT003 - the cell's value
    sheet.write_string(1, 1, "00042")
    clock = book.add_format({"num_format": "hh:mm"})
    sheet.write_datetime(1, 2, dt.time(9, 5), clock)


def sheet_xml(strings: str, cells: str) -> bytes:
    """A workbook as another program writes it."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kinds = "".join(
        f'<Override PartName="/xl/{part}.xml" ContentType="application/vnd.openxmlformats-'
        f'officedocument.spreadsheetml.{kind}+xml"/>'
        for part, kind in (
            ("workbook", "sheet.main"),
            ("worksheets/sheet1", "worksheet"),
            ("sharedStrings", "sharedStrings"),
        )
    )
    return made.package(
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension='
            f'"rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f"{kinds}</Types>",
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="a" '
            f'Type="{rel}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{rel}"><sheets><sheet name="S" '
            'sheetId="1" r:id="a"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
            f'<Relationship Id="a" Type="{rel}/worksheet" Target="worksheets/sheet1.xml"/>'
            f'<Relationship Id="b" Type="{rel}/sharedStrings" Target="sharedStrings.xml"/>'
            "</Relationships>",
            "xl/sharedStrings.xml": f'<sst xmlns="{main}">{strings}</sst>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData><row r="1">{cells}'
            "</row></sheetData></worksheet>",
        }
    )


def form_pdf() -> bytes:
    """A form that somebody filled in; the values stand in its fields only."""
    field_ = (
        b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (budget) /V (48,000 euros) "
        b"/Rect [100 680 300 700] >>"
    )
    return office.raw_pdf([(made.line(72, 720, "Budget:"), "/Annots [6 0 R]")], [field_])


BOLD_TWICE = made.line(72, 720, "Limit: 90 days") + made.line(72, 720, "Limit: 90 days")

CASES = [
    Case(
        "markitdown 2514: text in a drawn box.docx",
        word(paragraph(f"{run('Text.')}<w:r>{_DRAWN}</w:r>")),
        ("Text.", "Callout: 12 weeks."),
    ),
    Case(
        "pandoc 5394: a box with a fallback is read once.docx",
        word(
            paragraph(
                '<w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/'
                f'markup-compatibility/2006"><mc:Choice Requires="wps">{_DRAWN}</mc:Choice>'
                f"<mc:Fallback>{_VML}</mc:Fallback></mc:AlternateContent></w:r>"
            )
        ),
        ("Callout: 12 weeks.",),
    ),
    Case("pandoc 2587: a content control.docx", word(block_control), ("The term is two years.",)),
    Case("pandoc 4190: a control in a table.docx", word(controls_in_a_table), ("9,000 euros",)),
    Case(
        "mammoth 10: words in a smart tag.docx",
        word(
            paragraph(
                f'{run("A piece on ")}<w:smartTag w:uri="u" w:element="country-region">'
                f"{run('France')}</w:smartTag>{run(' and costs.')}"
            )
        ),
        ("A piece on France and costs.",),
    ),
    Case("a reference shows its result.docx", word(paragraph(field())), ("See clause 4.2 of it.",),
         ("REF",)),
    Case(
        "mammoth 32: soft returns and hyphens.docx",
        word(paragraph("<w:r><w:t>one</w:t><w:br/><w:t>non</w:t><w:noBreakHyphen/>"
                       "<w:t>stop</w:t><w:tab/><w:t>two</w:t></w:r>")),
        ("one\nnon\u2011stop\ttwo",),
    ),
    Case(
        "a link keeps its words.docx",
        word(paragraph(f'{run("See ")}<w:hyperlink w:anchor="a">{run("the plan")}</w:hyperlink>')),
        ("See the plan",),
    ),
    Case(
        "DocsGPT 2792: boxes, a table, groups.pptx",
        slides(boxes_table_and_group),
        ("First box\n", "Second box\n", "Grouped twice\n", "Kafka | 48,000"),
    ),
    Case(
        "markitdown 1161: shapes without a place.pptx",
        slides(title_without_a_place),
        ("Decision", "We stay until May."),
    ),
    Case(
        "anydoc 27, office-kit 167: values as shown.xlsx",
        excel(numbers),
        ("7.5% | $1,234.50 | (3) | 3.3", "TRUE | 00042 | 09:05"),
    ),
    Case(
        "rich text and readings aloud.xlsx",
        lambda: sheet_xml(
            "<si><r><t>Limit: </t></r><r><t>90 days</t></r></si>"
            '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si>',
            '<c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>'
            '<c r="C1" t="inlineStr"><is><t>inline</t></is></c>',
        ),
        ("Limit: 90 days | 東京 | inline",),
        ("トウキョウ",),
    ),
    Case("pdf-reader 143: bold drawn twice.pdf", pdf(BOLD_TWICE), ("Limit: 90 days",),
         ("LLiimmiitt", "90 days\nLimit")),
    Case(
        "pdfminer.six 592: a page on its side.pdf",
        lambda: office.raw_pdf(
            [("BT /F1 11 Tf 0 1 -1 0 300 100 Tm (Licence for 16 users) Tj ET", "/Rotate 90")]
        ),
        ("Licence for 16 users",),
    ),
    Case("pdf_oxide 104: a form that is filled in.pdf", form_pdf, ("Budget:", "48,000 euros")),
    Case(
        "trafilatura 531: a list in a table.html",
        text("<table><tr><td>Mon</td><td><ul><li>10 to 8</li></ul></td></tr></table>"),
        ("Mon", "10 to 8"),
    ),
    Case(
        "trafilatura 431: a list of spans.html",
        text("<body><ul><li><span tabindex=0>You may know what we keep</span></li></ul></body>"),
        ("You may know what we keep",),
    ),
    Case(
        "trafilatura 890: a paragraph in a layout table.html",
        text(
            "<table><tr><td><p>If it turns at rate <i>r</i>, the middle turns at -3<i>r</i> and "
            "the right at 3<i>r</i>/2. A line follows.</td></tr></table>"
        ),
        ("at rate *r*, the middle turns at -3*r* and the right at 3*r*/2. A line follows.",),
    ),
    Case(
        "trafilatura 10: titles of an accordion.html",
        text("<details><summary><h3>Cash</h3></summary><ol><li>Cheap<li>Final</ol></details>"),
        ("Cash", "Cheap", "Final"),
    ),
    Case(
        "trafilatura 43: soft hyphens.html",
        text("<p>Unter\u00adnehmen sowie Frei\u00adberufler, seit 5&nbsp;Jahren</p>"),
        ("Unternehmen sowie Freiberufler, seit 5 Jahren",),
    ),
    Case(
        "docling 4097: a mark before a quoted header.csv",
        text('\ufeff"Name, first","Age"\r\n"Ann",30\r\n'),
        ('"Name, first","Age"',),
        ("\ufeff",),
    ),
    Case(
        "DataBasic 193: semicolons and commas in figures.csv",
        text('Posten;Kosten\r\nServer;1.234,50\r\nLizenz;"a; b"\r\n'),
        ("Posten;Kosten", "Server;1.234,50"),
    ),
    Case("a page with a mark of UTF-16.html", text("<p>Größe 5 €</p>", "utf-16"), ("Größe 5 €",)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_other_readers_lost_is_read(case: Case) -> None:
    content, warnings = text_and_warnings(case)
    content = clean(content)  # as a prompt holds it
    at = 0
    for words in case.holds:
        assert words in content[at:], content
        at = content.index(words, at) + len(words)
    assert [words for words in case.lacks if words in content] == []
    assert list(warnings) == list(case.warnings)
    assert content.count("Callout") <= 1
