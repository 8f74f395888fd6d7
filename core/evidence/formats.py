"""Reads the text of files in sections: plain text, web pages, mail, notebooks, PDF, RTF.

`core.evidence.office` reads Office files. Runs only in the sandbox, which bounds memory and time,
because files may be malicious. Warnings count what a reader leaves out.
"""

import codecs
import email
import email.policy
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from email.message import EmailMessage
from typing import Any

from core.evidence.office import Extract, Unreadable, read_package, struck
from core.figures import number, quantity

#: A file is no text above this share of control characters among its first characters.
_MOST_CONTROLS, _LOOKED_AT = 0.01, 100_000
_BOMS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
#: Names that the WHATWG Encoding Standard maps to a larger encoding.
_WEB_ENCODINGS = {
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "big5": "big5hkscs",
}
#: Encodings to try for a text without a declared one: those that programs still write.
_GUESSED = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("cp932", "gb18030", "cp949", "big5", "koi8_r"),
]
#: A word of Latin and of Greek, Cyrillic, Hebrew or Arabic letters.
_TWO_SCRIPTS = re.compile(r"[A-Za-z][\u0370-\u06ff]|[\u0370-\u06ff][A-Za-z]")
_DECLARED = re.compile(rb"(?:charset|encoding)\s{0,5}=\s{0,5}[\"']?([\w:.-]{1,40})", re.IGNORECASE)
#: Escape sequences of terminals: colours, titles, links.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|[\x00\x07\x08]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")
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
#: Streams that identify files of old Office versions; the last line is for all others.
_OLD_OFFICE: Mapping[bytes, str] = {
    "__substg1.0_".encode("utf-16-le"): "it is an Outlook message; save it as .eml or PDF",
    "EncryptedPackage".encode("utf-16-le"): "it has a password",
    b"": "it is an old Office file; save it as .docx, .xlsx or .pptx",
}
#: Characters in which the marks of a page or a mail are searched.
_OPENING = 5000
#: Levels of mails attached to mails that are read.
_MOST_NESTED = 5
_HIDDEN_PART = re.compile(
    # CDATA is no text in HTML, other than in storage markup of Confluence; scripts comment it out.
    r"<\w{1,30}\b[^<>]{0,2000}?(?:\shidden(?=[\s>=/])|display\s{0,5}:\s{0,5}none"
    # An element of this size often only removes the space between the elements within it.
    r"|visibility\s{0,5}:\s{0,5}hidden"
    r"|font-size\s{0,5}:\s{0,5}0(?![\d.])(?=[^<>]{0,2000}>\s{0,99}[^<\s]))"
    r"|(?<![/*])(?<![/*]\s)<!\[CDATA\[",
    re.IGNORECASE,
)
#: Most characters of a page that replaces another one, such as a sign-in page.
_LONGEST_STUB = 1500
#: A page with scripts and fewer characters than this may show its text by them.
_SHORT_PAGE = 100
_TITLES = re.compile(r"<title[^<>]{0,200}>([^<]{0,200})", re.IGNORECASE)
_ROBOT_CHECK = re.compile(
    r"just a moment|checking your browser|verify (?:that )?you are (?:a )?human|are you a robot",
    re.IGNORECASE,
)
_PASSWORD_FIELD = re.compile(r"type\s{0,5}=\s{0,5}[\"']?password", re.IGNORECASE)
_NOT_FOUND = re.compile(r"\b404\b|page not found|not found\b|nicht gefunden", re.IGNORECASE)
_REFRESH = re.compile(r"http-equiv\s{0,5}=\s{0,5}[\"']?refresh\b[^<>]{0,500}url", re.IGNORECASE)
#: Tags of struck-out text, signs that replace them, and the text between the signs.
_STRIKE_TAG = re.compile(r"<(/?)(?:del|s|strike)(?:\s[^<>]{0,2000})?>", re.IGNORECASE)
_STRIKE_SIGNS = "\ue000\ue001"
_STRUCK = re.compile("\ue000([^\ue000\ue001]*)\ue001")
_STRUCK_STYLE = re.compile(
    r"\sstyle\s{0,5}=\s{0,5}[\"'][^\"'<>]{0,1000}\bline-through", re.IGNORECASE
)
_IMAGE = re.compile(r"!\[([^\]\n]{0,1000})\]\((?:<[^>\n]{0,4000}>|[^()\n]{0,4000})\)")


def answer(order: Mapping[str, Any], content: bytes, limit: Callable[[], None]) -> dict[str, Any]:
    """The text of a file as JSON; runs in the sandbox, which `limit` bounds.

    `order` has the file's name and media type, and the most pages and characters to read.
    """
    limit()
    most = int(order["characters"])
    extract = Extract(most_characters=most, most_pages=int(order["pages"]))
    try:
        read(extract, content, order["name"], order["media_type"])
    except Unreadable as error:
        return {"fault": str(error)}
    if not any(section["text"].strip() for section in extract.sections):
        return {"fault": "; ".join(("it holds no text", *extract.warnings))}
    room, sections = most, list[dict[str, str]]()
    for section in extract.sections:
        text = section["text"].rstrip("\n") if section["counts"] else section["text"].strip("\n")
        if room > 0:
            sections.append({**section, "text": text[:room]})
        room -= len(text)
    if room < 0:
        extract.warnings.append(f"only the first {quantity(most, 'character')} were read")
    return {"sections": sections, "warnings": extract.warnings}


def read(extract: Extract, content: bytes, name: str, media_type: str) -> None:
    """Read the text of a file; its content decides about the format, not its name.

    Args:
        extract: Receives the text.
        content: The file's bytes.
        name: The file's name, which tells kinds of plain text apart.
        media_type: As the server reports it, with parameters; empty: unknown.

    Raises:
        Unreadable: It is no text; the message says what it is.
    """
    ending = name.lower().rpartition(".")[2]
    if not content:
        raise Unreadable("it is empty")
    if b"%PDF-" in content[:1024]:
        _pdf(extract, content)
    elif content.startswith(b"PK\x03\x04"):
        read_package(extract, content, ending)
    elif content.startswith(b"{\\rtf"):
        _rtf(extract, content)
    elif content.startswith(_OLE):
        raise Unreadable(
            next(description for stream, description in _OLD_OFFICE.items() if stream in content)
        )
    elif begin := next((begin for begin in _NO_TEXT if content.startswith(begin)), None):
        raise Unreadable(f"it is {_NO_TEXT[begin]}, and only text can be read")
    elif content[4:8] == b"ftyp":
        raise Unreadable("it is a picture or film, and only text can be read")
    else:
        _text(extract, content, ending, media_type)


def _text(extract: Extract, content: bytes, ending: str, media_type: str) -> None:
    kind = media_type.partition(";")[0].strip().lower()
    is_page = kind in {"text/html", "application/xhtml+xml"} or ending in {"html", "htm", "xhtml"}
    is_page = is_page or _begins_as_html(content[:_OPENING].decode("latin-1"))
    served_as = _DECLARED.search(media_type.encode())
    text, warnings = _decode(content, served_as[1] if served_as else b"", is_page=is_page)
    text = _ESCAPES.sub("", text)
    looked_at = text[:_LOOKED_AT]
    if len(_CONTROL.findall(looked_at)) > _MOST_CONTROLS * len(looked_at):
        raise Unreadable("it is no text, nor a kind of file that can be read")
    if ending == "ipynb":
        _notebook(extract, text)
        return
    if ending in {"eml", "mhtml", "mht"} or kind == "message/rfc822":
        _mail(extract, email.message_from_bytes(content, policy=email.policy.default))
        return
    extract.warnings += warnings
    if is_page:
        markdown = _markdown(text, extract.warnings)
        extract.warnings += filter(None, [_doubt_of_page(text, markdown)])
        extract.add("", markdown)
    elif ending in {"csv", "tsv"} or kind == "text/csv":
        # The first line has the names of the columns; it is the heading of each passage. With line
        # breaks between quotes, lines are no rows.
        has_breaks = any(line.count('"') % 2 for line in text.split("\n"))
        extract.add("", f"# {text}", counts="line" if has_breaks else "row")
    else:
        extract.add("", text)


def _decode(content: bytes, served_as: bytes, *, is_page: bool) -> tuple[str, list[str]]:
    for mark, encoding in _BOMS.items():
        if content.startswith(mark):
            return content.decode(encoding, errors="replace"), []
    has_declaration = is_page or content.startswith(b"<?xml")
    declaration = _DECLARED.search(content[:2000]) if has_declaration else None
    encodings = [
        name.decode("latin-1") for name in (served_as, declaration[1] if declaration else b"")
    ]
    for encoding in (*encodings, "utf-8"):
        try:
            codec_name = codecs.lookup(encoding).name if encoding else ""
            if codec_name:
                return content.decode(_WEB_ENCODINGS.get(codec_name, codec_name)), []
        except (LookupError, UnicodeDecodeError):
            continue
    if b"\x00" in content[:4000]:
        raise Unreadable("it is no text, nor a kind of file that can be read")
    from charset_normalizer import from_bytes  # rarely necessary

    guesses = list(from_bytes(content[:200_000], cp_isolation=_GUESSED))
    # A few letters fit many encodings. Then the most frequent one is the best guess, else one whose
    # words are of one script.
    if not guesses or any("cp1252" in guess.could_be_from_charset for guess in guesses):
        guess = "cp1252"
    else:
        guess = min(
            guesses,
            key=lambda match: (len(_TWO_SCRIPTS.findall(str(match))), match.encoding == "cp1250"),
        ).encoding
    encoding_name = guess.replace("cp125", "Windows-125")
    return content.decode(guess, errors="replace"), [
        f"it is not UTF-8 and was read as {encoding_name}: some characters may be wrong"
    ]


def _begins_as_html(text: str) -> bool:
    beginning = text.removeprefix("\xef\xbb\xbf").lstrip()
    while beginning.startswith(("<?xml", "<!--")):
        beginning = beginning.partition(">" if beginning.startswith("<?") else "-->")[2].lstrip()
    return beginning[:20].lower().startswith(("<!doctype html", "<html"))


def _markdown(page: str, warnings: list[str]) -> str:
    """The visible text of a page as Markdown, without URLs; adds warnings about omitted parts."""
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    text = page.translate(dict.fromkeys(map(ord, _STRIKE_SIGNS)))
    text = _STRIKE_TAG.sub(lambda tag: _STRIKE_SIGNS[bool(tag[1])], text)
    text = re.sub(r"<sup\b[^<>]{0,200}>", "^", text)
    # A URL within a sentence would be within a quote of it.
    text = re.sub(
        r"(<a\b[^<>]{0,4000}?)\shref\s{0,5}=", r"\1 data-href=", text, flags=re.IGNORECASE
    )

    def converted(*, remove_navigation: bool) -> str:
        options = ConversionOptions(
            extract_metadata=False,
            autolinks=False,
            compact_tables=True,
            expand_abbreviations=False,
            highlight_style="none",
            newline_style="backslash",
            preprocessing=PreprocessingOptions(
                remove_forms=False, remove_navigation=remove_navigation
            ),
        )
        return convert(text, options).content or ""

    if hidden := len(_HIDDEN_PART.findall(page)):
        warnings.append(f"{quantity(hidden, 'hidden part')} of the page left out")
    if struck_count := len(_STRUCK_STYLE.findall(page)):
        warnings.append(f"{quantity(struck_count, 'struck-out passage')} read like other text")
    markdown = converted(remove_navigation=True)
    has_navigation = re.search(r"<(?:nav|header)\b", page, re.IGNORECASE)
    if has_navigation and markdown != converted(remove_navigation=False):
        warnings.append("the header or the navigation of the page was left out")
    markdown = re.sub(r"\\$", "", markdown, flags=re.MULTILINE).strip()
    # Only marks around a line have an effect.
    markdown = _STRUCK.sub(lambda match: "\n".join(map(struck, match[1].split("\n"))), markdown)
    markdown = markdown.translate(dict.fromkeys(map(ord, _STRIKE_SIGNS))).strip()
    markdown = _IMAGE.sub(lambda match: f"[{match[1]}]" if match[1].strip() else "", markdown)
    if not markdown and "<script" in page.lower():
        raise Unreadable(
            "the page has no text without its scripts; paste what it shows, or save it as PDF"
        )
    return markdown


def _doubt_of_page(page: str, text: str) -> str:
    """A sign that the page is not the one of the address; empty if there is none."""
    if len(text) > _LONGEST_STUB:
        return ""
    heading = _TITLES.search(page)
    title = heading[1] if heading else ""
    if _ROBOT_CHECK.search(f"{title} {text[:300]}"):
        return "the page seems to be a check for robots, not the page of the link"
    if _PASSWORD_FIELD.search(page):
        return "the page has a password field: it may be a sign-in, not the page of the link"
    if len(text) < _SHORT_PAGE and "<script" in page.lower():
        return f"the page has only {quantity(len(text), 'character')} without its scripts"
    if _NOT_FOUND.search(f"{title} {text[:200]}"):
        return "the page seems to be an error page (not found)"
    return "the page redirects to another page, which was not read" if _REFRESH.search(page) else ""


def _mail(extract: Extract, message: EmailMessage, depth: int = 0) -> None:
    """Read a mail and the mails attached to it; other attachments are listed."""
    headers = ("From", "To", "Cc", "Date", "Subject")
    head = "\n".join(f"{name}: {message[name]}" for name in headers if message[name])
    is_saved_page = message.get_content_type() == "multipart/related"
    kinds = ("related", "plain", "html") if is_saved_page else ("plain", "html")
    lines, mails = [head, "", _body(message, kinds, extract.warnings)], list[Any]()
    for part in message.iter_attachments() if not is_saved_page else ():
        inner = part.get_content() if part.get_content_type() == "message/rfc822" else None
        if isinstance(inner, EmailMessage) and depth < _MOST_NESTED:
            mails.append(inner)
            continue
        name = part.get_filename() or part.get_content_type()
        lines.append(f"[attachment: {name}]")
        extract.warnings.append(f"the attachment {name} was not read")
    extract.add("attached mail" if depth else "", "\n".join(lines))
    for inner in mails:
        _mail(extract, inner, depth + 1)


def _body(message: EmailMessage, kinds: Sequence[Any], warnings: list[str]) -> str:
    """The text of a mail: its first part of the first of these kinds."""
    body = message.get_body(kinds)
    while body is not None and body.is_multipart():
        body = next(iter(body.iter_parts()), None)
    if body is None:
        return ""
    is_page = body.get_content_type() == "text/html"
    served_as = (body.get_content_charset() or "").encode()
    payload = body.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    words, doubts = _decode(content, served_as, is_page=is_page)
    warnings += doubts
    return _markdown(words, warnings) if is_page else words


def _notebook(extract: Extract, text: str) -> None:
    try:
        for cell_number, cell in enumerate(json.loads(text)["cells"], 1):
            extract.add(f"cell {cell_number}", "\n".join(_cell_lines(cell)))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Unreadable("the notebook is damaged, or older than version 4") from None
    if pictures := len(re.findall(r'"image/[\w+.-]{1,40}"\s{0,5}:', text)):
        extract.warnings.append(f"{quantity(pictures, 'picture')} left out")


def _cell_lines(cell: Mapping[str, Any]) -> Iterator[str]:
    yield "".join(cell["source"])
    for output in cell.get("outputs", ()):
        output_text = "".join(output.get("text") or output.get("data", {}).get("text/plain", ()))
        if "ename" in output:
            output_text = f"{output['ename']}: {output['evalue']}"
        yield _ESCAPES.sub("", output_text)


def _pdf(extract: Extract, content: bytes) -> None:
    from pdf_oxide import PdfDocument

    most_pages = extract.most_pages
    try:
        document = PdfDocument.from_bytes(content)
        opens = b"/Encrypt" not in content or document.authenticate("")
        count = document.page_count()
    except Exception:  # noqa: BLE001 - a damaged file fails in any way
        raise Unreadable("the PDF is damaged") from None
    if not opens:
        raise Unreadable("it has a password")
    if b"/EmbeddedFile" in content:
        extract.warnings.append("attached files were not read")
    pages_by_doubt = dict[str, list[str]]()
    for index in range(min(count, most_pages)):
        if extract.is_full:
            break
        try:
            text, doubts = _page(document, index)
        except Exception:  # noqa: BLE001 - a damaged page fails in any way
            text, doubts = "", ["damaged and left out"]
        for doubt in doubts:
            pages_by_doubt.setdefault(doubt, []).append(number(index + 1))
        if text.strip():
            extract.add(f"page {index + 1}", text)
    else:
        if count > most_pages:
            pages_read = f"{most_pages} of {number(count)} pages"
            extract.warnings.append(f"only the first {pages_read} were read")
    for doubt, pages in pages_by_doubt.items():
        page_list = ", ".join(pages[:20]) + (" and more" if len(pages) > 20 else "")  # noqa: PLR2004 - enough to look for
        noun = "page" if len(pages) == 1 else "pages"
        extract.warnings.append(f"{noun} {page_list}: {doubt}")


def _page(document: Any, index: int) -> tuple[str, Sequence[str]]:
    """The text of a page with its form fields and comments, and its problems."""
    text, doubts = document.extract_text(index), list[str]()
    signals = json.loads(document.classify_page(index))["signals"]
    if not text.strip():
        doubts.append("no text (a scan?)")
    has_invisible_text = signals["invisible_text_ratio"] > 0.02  # noqa: PLR2004 - more than a stray sign
    has_pictures = signals["image_area_ratio"] > 0
    # Behind a picture this is the text that a scanner recognised.
    if has_invisible_text and not has_pictures:
        doubts.append("invisible text read like visible text")
        text = f"[This page contains invisible text.]\n{text}"
    elif has_pictures and text.strip() and not has_invisible_text:
        doubts.append("pictures were not read")
    chars = document.extract_chars(index)
    if _has_raised_digits(chars):
        doubts.append("raised or lowered numbers read like ordinary ones (10² as 102)")
    signs = "".join(sign.char for sign in chars).replace("\x00", "\ufffd")
    if lost_count := signs.count("\ufffd"):
        text = _with_gaps(text.replace("\ufffd", ""), signs)
        doubts.append(f"{quantity(lost_count, 'letter')} cannot be read")
    annotations = document.get_annotations(index)
    if any(annotation.get("subtype") == "StrikeOut" for annotation in annotations):
        doubts.append("struck-out passages read like other text")
    lines = (text, *filter(None, map(_annotation_line, annotations)))
    return "\n".join(dict.fromkeys(lines)), doubts


def _annotation_line(annotation: Mapping[str, Any]) -> str:
    """A filled form field or a remark on a page; empty for other annotations."""
    if annotation.get("subtype") == "Widget" and annotation.get("field_value"):
        field = " ".join(("field", annotation.get("field_name") or "")).strip()
        return f"[{field}: {annotation['field_value']}]"
    is_remark = annotation.get("contents") and annotation.get("subtype") != "Link"
    return f"[remark: {annotation['contents']}]" if is_remark else ""


def _has_raised_digits(signs: Sequence[Any]) -> bool:
    """Whether a digit is smaller than the letter or digit directly before, as in 10² or H₂O."""
    if len({sign.font_size for sign in signs}) == 1:  # most pages of tables
        return False
    ends = defaultdict[int, list[tuple[float, float]]](list)
    for sign in signs:
        if sign.char.isalnum():
            x, y, width, _ = sign.bbox
            ends[round(x + width)].append((y, sign.font_size))
    return any(
        sign.font_size < 0.9 * size and abs(sign.bbox[1] - y) < size
        for sign in signs
        if sign.char.isdigit()
        for x in (-1, 0, 1)
        for y, size in ends.get(round(sign.bbox[0]) + x, ())
    )


def _with_gaps(text: str, signs: str) -> str:
    """The text with U+FFFD for each lost letter; unchanged if its letters have another order."""
    from rapidfuzz.distance import Indel

    readable = signs.replace("\ufffd", "")
    if "".join(text.split()) != "".join(readable.split()):
        return text
    parts = list[str]()
    for step in Indel.opcodes(text, signs):
        inserted_text = signs[step.dest_start : step.dest_end] if step.tag == "insert" else ""
        parts += [text[step.src_start : step.src_end], "\ufffd" * inserted_text.count("\ufffd")]
    return "".join(parts)


def _rtf(extract: Extract, content: bytes) -> None:
    from striprtf.striprtf import (
        rtf_to_text,  # pyright: ignore[reportUnknownVariableType]
    )

    if re.search(rb"\\(?:deleted|v|strike|striked1)(?![a-z0-9])", content):
        raise Unreadable(
            "it has deleted, struck-out or hidden words, which Moot marks only in .docx; save it "
            "as .docx"
        )
    for part_name, sign in (("headers", b"\\header"), ("footnotes", b"\\footnote")):
        extract.warnings += [f"{part_name} were not read"] if sign in content else []
    extract.warnings.append("numbers of lists and clauses may be missing")
    try:
        extract.add("", str(rtf_to_text(content.decode("latin-1"))))  # pyright: ignore[reportUnknownArgumentType]
    except Exception:  # noqa: BLE001 - a damaged file fails in any way
        raise Unreadable("it is damaged or has unknown content; save it as .docx") from None
