"""What reading a file gives: its sections and what was left out, or why it cannot be read."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec


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
    sections: Iterable[Section]
    #: What was left out. Complete when the sections were gone through.
    warnings: list[str] = field(default_factory=list[str])


def read_by_xberg(content: bytes, kind: str, otherwise: str) -> Extract:
    """A file of a kind that only the extra `formats` reads.

    Args:
        content: Its bytes.
        kind: Its usual ending.
        otherwise: What it is, and what to do where the extra is not installed.

    Raises:
        Unreadable: It is not installed, or the file is damaged.
    """
    if find_spec("xberg") is None:
        raise Unreadable(f"it is {otherwise} (the extra “formats” of Moot reads it)")
    import asyncio

    import xberg

    config = xberg.ExtractionConfig(
        use_cache=False,
        disable_ocr=True,
        output_format="markdown",
        escape_markdown=False,
        enable_quality_processing=False,
        content_filter=xberg.ContentFilterConfig(
            include_headers=True,
            include_footers=True,
            include_footnotes=True,
            strip_repeating_text=False,
        ),
    )
    extract_input = xberg.ExtractInput(kind="bytes", bytes=content, filename=f"file.{kind}")
    try:
        answer = asyncio.run(xberg.extract(extract_input, config))
    except Exception:  # noqa: BLE001 - a damaged file fails in any way
        raise Unreadable("the file is damaged") from None
    if answer.errors or not answer.results:
        raise Unreadable("the file is damaged")
    result = answer.results[0]
    warnings = [warning.message for warning in result.processing_warnings]
    warnings.append("remarks, drawings and formats of numbers may be missing")
    return Extract(kind, [Section("", result.content)], warnings)
