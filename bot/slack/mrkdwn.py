"""Converts untrusted text to safe mrkdwn within Slack's limits (pure).

Control sequences of Slack are escaped, mentions of groups are broken up, invisible characters are
removed, and links are created only if their label does not mislead about the address.

Posts use `mrkdwn` sections with `verbatim`, not Slack's `markdown` block, because Slack documents
only for mrkdwn how to write a literal `<!channel>`. mrkdwn has no headings, tables or images: they
become bold lines, aligned code (lists for wide tables) and text.

Sources: https://docs.slack.dev/messaging/formatting-message-text (escaping, links, mentions);
OWASP Top 10 for LLM Applications (invisible characters).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from urllib.parse import urlsplit

from markdown_it.tree import SyntaxTreeNode
from rich.cells import cell_len

from core.redaction import clean
from core.transcript.markdown import bare_words, misleads, parse, plain_line

#: Zero-width space: breaks up text that Slack would read as a mention or as formatting.
GAP = "\u200b"
#: A link created by `link`: `<https://…>` or `<https://…|label>`.
_LINK = re.compile(r"<(?:https?://|mailto:)[^<>|\s]+(?:\|[^<>\n]*)?>")
_FENCE = "```"
#: Longer addresses are no links but text. A longer label is shown with the address after it.
_LONGEST_URL, _LONGEST_LABEL = 500, 300
_GROUP_MENTION = re.compile(r"@(?=(?:channel|here|everyone|group)(?![a-z0-9]))", re.IGNORECASE)
# The same for text that may be cut, because a cut could turn "@everyone00" into "@everyone".
_BEGUN_GROUP_MENTION = re.compile(r"@(?=channel|here|everyone|group)", re.IGNORECASE)
_BARE_URL = re.compile(r"https?://[^\s<>|\"`]+", re.IGNORECASE)
_AFTER_URL = ".,;:!?*_~]}'\u201d\u2019"
_MARKS = {"strong": "*", "em": "_", "s": "~"}
_MARKED = frozenset({*_MARKS, "code_inline"})
_BULLETS = "•◦▪"
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
#: Wider tables wrap on a laptop and are unreadable as code.
_WIDEST_TABLE = 88
_LISTS = frozenset({"bullet_list", "ordered_list"})
#: Characters of Markdown that are read per character of a gist.
_GIST_SOURCE = 12

_Node = SyntaxTreeNode


def literal(text: str) -> str:
    """Escape clean text, so that mrkdwn shows it unchanged and nobody is notified.

    Every `&`, `<` and `>` becomes an entity, so `<!channel>`, `<@U…>` and `<!subteam^…>` have no
    effect; `@here` and similar are broken up; three backticks open no code block.
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _GROUP_MENTION.sub(f"@{GAP}", text).replace("``", f"`{GAP}`")


def bare(text: str, limit: int) -> str:
    """One line for places where Slack shows text unformatted (names, cells).

    Entities do not work there, so angle brackets are removed. `limit` is at least 1.
    """
    line = " ".join(clean(text).replace("<", " ").replace(">", " ").split())
    line = _BEGUN_GROUP_MENTION.sub(f"@{GAP}", line)
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def plain(text: str) -> str:
    """A person's text as safe mrkdwn; addresses become links, code blocks stay."""
    *pieces, last = clean(text).split(_FENCE)
    if len(pieces) % 2:  # the last fence has no partner, so it is plain text
        last = _FENCE.join((pieces.pop(), last))
    texts = [
        _code(piece.strip("\n")) if index % 2 else with_links(piece).strip()
        for index, piece in enumerate((*pieces, last))
    ]
    return "\n".join(filter(None, texts))


def with_links(text: str) -> str:
    """Escape clean text, and turn bare addresses into links."""
    end, result = 0, ""
    for match in _BARE_URL.finditer(text):
        url = match.group()
        # Punctuation of the sentence around it does not belong to the address.
        while url[-1] in _AFTER_URL or (url[-1] == ")" and url.count(")") > url.count("(")):
            url = url[:-1]
        result += literal(text[end : match.start()]) + link(url)
        end = match.start() + len(url)
    return result + literal(text[end:])


def link(url: str, label: str = "") -> str:
    """A link, or text if a link would not be safe. `label` is clean text.

    Only http, https and mailto become links; hosts under `.invalid` do not, because the
    placeholders for addresses of our posts use that. A label that looks like another address is
    dropped, so that people see the real address.
    """
    label = " ".join(label.split())
    if not _may_link(url) or len(label) > _LONGEST_LABEL:
        return literal(f"{label} ({url})" if label and label != url else url)
    target = url.replace("<", "%3C").replace(">", "%3E").replace("|", "%7C").replace("&", "&amp;")
    target = _GROUP_MENTION.sub("%40", target)
    if not label or misleads(label, url) or label == url:
        return f"<{target}>"
    return f"<{target}|{literal(label)}>"


def _may_link(url: str) -> bool:
    """Whether the scheme is allowed, and no user name before an `@` could pass for the host."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if len(url) > _LONGEST_URL or re.search(r"\s", url):
        return False
    if parts.scheme == "mailto":
        return "@" in parts.path
    if not host or host.rstrip(".").endswith(".invalid"):
        return False
    return parts.scheme in {"http", "https"} and "@" not in parts.netloc


@lru_cache(maxsize=512)
def gist(text: str, limit: int) -> str:
    """The beginning of a model's Markdown as one safe line without formatting.

    Headings, code and tables are left out if there is other text. `limit` counts the characters of
    entities.
    """
    return _shorten(literal(_first_words(text, limit)), limit)


def bare_gist(text: str, limit: int) -> str:
    """A gist for places where Slack shows text unformatted: options, cells, names."""
    return _shorten(bare(_first_words(text, limit), limit * _GIST_SOURCE), limit)


def _first_words(text: str, limit: int) -> str:
    return plain_line(text[: limit * _GIST_SOURCE], is_prose=True)


def _shorten(line: str, limit: int) -> str:
    if len(line) <= limit:
        return line
    return split(line, limit - 1)[0].rstrip(".,:!? ") + "…"


# --- a model's Markdown: blocks -------------------------------------------------------------------


def mrkdwn(text: str) -> str:
    tokens = parse(clean(text))
    return plain(text) if tokens is None else _blocks(_Node(tokens).children).strip("\n")


def _blocks(nodes: Iterable[_Node], depth: int = 0, separator: str = "\n\n") -> str:
    result, before = "", None
    for node in nodes:
        if text := _BLOCKS[node.type](node, depth):
            has_title = before is not None and node.type in _LISTS and _is_list_title(before)
            gap = "" if before is None else "\n" if has_title else separator
            result, before = f"{result}{gap}{text}", node
    return result


def _is_list_title(node: _Node) -> bool:
    """Whether it is a heading, or a bold line that serves as one: "**Risks**:"."""
    if node.type == "heading":
        return True
    spans = _spans(node) if node.type == "paragraph" else list[_Node]()
    prose = [child for child in spans if child.content.strip(" :") or child.children]
    return [child.type for child in prose] == ["strong"]


def _spans(node: _Node) -> Sequence[_Node]:
    return node.children[0].children if node.children else []


def _paragraph(node: _Node, _depth: int) -> str:
    return "\n".join(line.strip() for line in _inline(_spans(node)).split("\n"))


def _heading(node: _Node, _depth: int) -> str:
    text = _inline(_spans(node), frozenset({"strong"}))
    return f"*{text}*" if text.strip() else ""


def _code(code: str) -> str:
    return f"{_FENCE}\n{literal(code)}\n{_FENCE}" if code.strip() else ""


def _list(node: _Node, depth: int) -> str:
    bullet = _BULLETS[min(depth, len(_BULLETS) - 1)]
    items = list[str]()
    for number, item in enumerate(node.children, int(node.attrs.get("start", 1))):
        marker = bullet if node.type == "bullet_list" else f"{number}."
        body = _blocks(item.children, depth + 1, separator="\n")
        items.append(_indent(body, f"{marker} ", "    ") if body else marker)
    return "\n".join(items)


def _indent(text: str, first: str, following: str) -> str:
    """Put a prefix before each line, except in code blocks, which Slack wants at the margin."""
    lines, in_code = list[str](), False
    for index, line in enumerate(text.split("\n")):
        fence = line.startswith(_FENCE)
        if fence and not index:
            lines.append(first.rstrip())
        lines.append(line if fence or in_code else (following if index else first) + line)
        in_code ^= fence
    return "\n".join(lines)


def _table(node: _Node, _depth: int) -> str:
    rows = [row.children for part in node.children for row in part.children]
    cells = [[bare_words(cell).strip() for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    if sum(widths) + 3 * len(widths) > _WIDEST_TABLE:
        return _table_as_list(cells[0], rows[1:])
    lines = [
        " | ".join(
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in cells
    ]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return _code("\n".join(lines))


def _table_as_list(heads: Sequence[str], rows: Sequence[Sequence[_Node]]) -> str:
    """One item per row, with the column's title before each cell."""
    heads = list(map(literal, heads))
    items = [
        "• "
        + "; ".join(
            f"{head}: {text}" if head else text
            for head, cell in zip(heads, row, strict=True)
            for text in (_inline(_spans(cell)).replace("\n", " "),)
        )
        for row in rows
    ]
    return "\n".join(items) or " | ".join(heads)


_BLOCKS: Mapping[str, Callable[[_Node, int], str]] = {
    "paragraph": _paragraph,
    "heading": _heading,
    "fence": lambda node, _: _code(node.content.rstrip("\n")),
    "code_block": lambda node, _: _code(node.content.rstrip("\n")),
    "hr": lambda _node, _: "———",
    "blockquote": lambda node, depth: _indent(_blocks(node.children, depth), "> ", "> "),
    "bullet_list": _list,
    "ordered_list": _list,
    "table": _table,
}


# --- inside a line --------------------------------------------------------------------------------


def _inline(nodes: Sequence[_Node], open_marks: frozenset[str] = frozenset()) -> str:
    """Text with formatting. Marks in `open_marks` are open already and cannot be nested."""
    result, had_mark = "", False
    for node in nodes:
        piece = _span(node, open_marks)
        has_mark = node.type in _MARKED and node.type not in open_marks
        if result and piece:
            before, right = result[-1], piece[0]
            # Slack recognises a mark only at the edge of a word.
            is_inside = (had_mark and right.isalnum()) or (has_mark and before.isalnum())
            if is_inside or ((had_mark or has_mark) and before == right):
                result += GAP
        result, had_mark = result + piece, has_mark if piece else had_mark
    return result


def _span(node: _Node, open_marks: frozenset[str]) -> str:
    match node.type:
        case "text":
            return (" " if open_marks else "\n").join(map(with_links, _BREAK.split(node.content)))
        case "softbreak" | "hardbreak":
            return " " if open_marks else "\n"
        case "code_inline":
            return f"`{literal(node.content.replace('`', chr(39)))}`"
        case "image":
            return literal(f"[image: {bare_words(node).strip() or 'no description'}]")
        case "link":
            return link(str(node.attrs["href"]), bare_words(node))
        case _:
            text = _inline(node.children, open_marks | {node.type})
            mark = "" if node.type in open_marks or not text.strip() else _MARKS.get(node.type, "")
            return f"{mark}{text}{mark}"


# --- pieces within a limit ------------------------------------------------------------------------

_CLOSE = f"\n{_FENCE}"
_OPEN = f"{_FENCE}\n"
# Sequences that must not be cut: entities, links, a character with its combining marks, and a word
# after an @, because the beginning of "@channels" notifies the channel.
_ATOM = re.compile(
    rf"&(?:amp|lt|gt);|{_LINK.pattern}|```|@[A-Za-z0-9]{{1,16}}"
    "|.(?:[\u0300-\u036f\u200d\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]|(?<=\u200d).){0,16}",
    re.DOTALL,
)
# In Chinese and Japanese no space follows the end of a sentence.
_WIDE_ENDS = "\u3002\uff01\uff1f"
_SENTENCE_ENDS = ".!?…:;" + _WIDE_ENDS


class _BreakKind(IntEnum):
    """What ends at a position; a smaller value is a better place to cut."""

    PARAGRAPH = 0
    LINE = 1
    LINE_OF_CODE = 2
    SENTENCE = 3
    WORD = 4
    ANYWHERE = 5


def split(text: str, limit: int) -> list[str]:
    """Split safe mrkdwn into pieces of at most `limit` characters; `limit` is at least 40.

    It cuts at ends of paragraphs if possible, else of lines, of sentences or between words. A code
    block that is cut is closed and opened again. Entities and links are not cut. Only white space
    at the cuts is dropped.
    """
    longest = limit // 2

    def unlink_long(match: re.Match[str]) -> str:
        # A link longer than half a piece becomes text, which can be cut.
        link = match.group()
        return link if len(link) <= longest else link[1:-1].replace("|", " ")

    pieces, remaining = list[str](), _LINK.sub(unlink_long, text)
    while len(remaining) > limit:
        cut = _cut(remaining, limit - len(_CLOSE))
        piece, remaining = remaining[:cut], remaining[cut:]
        if piece.count(_FENCE) % 2:  # inside a block of code
            pieces.append(piece.removesuffix("\n") + _CLOSE)
            remaining = _OPEN + remaining.removeprefix("\n")
        else:
            pieces.append(piece.rstrip())
            remaining = remaining.lstrip("\n")
    return [piece for piece in (*pieces, remaining) if piece.strip()]


def _cut(text: str, limit: int) -> int:
    """Return the position to cut: the last of the best kind that keeps a third of the limit."""
    last_of_kind, in_code = dict[_BreakKind, int](), False
    for atom in _ATOM.finditer(text):
        if atom.end() > limit:
            break
        in_code ^= atom.group() == _FENCE
        last_of_kind[_kind(text, atom.end(), in_code=in_code)] = atom.end()
    worthwhile = [kind for kind, position in last_of_kind.items() if position >= limit // 3]
    return last_of_kind[min(worthwhile)]


def _kind(text: str, position: int, *, in_code: bool) -> _BreakKind:
    before = text[position - 1]
    if before == "\n" and not in_code:
        return _BreakKind.PARAGRAPH if text[position - 2 : position] == "\n\n" else _BreakKind.LINE
    if before == "\n":
        return _BreakKind.LINE_OF_CODE
    if not before.isspace():
        return _BreakKind.SENTENCE if before in _WIDE_ENDS else _BreakKind.ANYWHERE
    return _BreakKind.SENTENCE if text[position - 2] in _SENTENCE_ENDS else _BreakKind.WORD
