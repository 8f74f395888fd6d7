"""Parses Markdown of models and people within limits, and makes it safe for documents (pure).

The result must look as written and be inert: no HTML, no images from other servers, no links except
to the web, no mentions of people, no headings at the level of the document's own, and no code block
that is not closed. `inert` writes the parsed text again, so that all Markdown programs show the
same, even if the original is ambiguous.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.emphasis import tokenize
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from core.redaction import clean

#: Letters of scripts without spaces between words: Chinese, Japanese, Korean, Thai, Khmer, …
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fff\u3040-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]"
)


def _emphasis(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the parser's interface
    """Parse emphasis as CommonMark does, and also next to letters of scripts without spaces.

    In CommonMark `**` between punctuation and a letter can end formatting only if a space follows.
    Chinese and Korean texts have no space there.
    """
    start, count = state.pos, len(state.delimiters)
    if not tokenize(state, silent):
        return False
    before, after = state.src[start - 1 : start], state.src[state.pos : state.pos + 1]
    for delimiter in state.delimiters[count:]:
        if state.src[start] == "*":
            delimiter.open |= bool(_UNSPACED.match(before)) and not after.isspace() and after != ""
            delimiter.close |= bool(_UNSPACED.match(after)) and not before.isspace() and start > 0
    return True


def _parser(*without: str) -> MarkdownIt:
    """Create a parser that keeps link reference definitions as text instead of dropping them."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.inline.ruler.at("emphasis", _emphasis)
    return parser.disable(["reference", *without])


PARSER = _parser()
#: Keeps entities and escapes as written.
_VERBATIM_PARSER = _parser("entity", "text_join")
#: Characters with a meaning in Markdown. Each costs the parser 20 to 40 microseconds. A text with
#: more of them than any real answer is not parsed but shown as it is.
SIGN = re.compile(r"[\n\r*_~`\[\]!<&\\|]")
MOST_SIGNS = 1200
#: The limit for documents, which include long texts and are made less often.
_MOST_SIGNS_OF_DOCUMENTS = 6000
#: The line below a table's head, even in a list or a quotation.
_RULER = re.compile(r"[\s>*+.):0-9|-]+")
#: Deepest nesting. Each level takes a nested call, and the parser drops deeper blocks.
_DEEPEST = int(PARSER.options["maxNesting"]) - 1
_DEEPEST_HEADING = 6
#: Spaces before a line of code.
_TAB = 4

_LISTS = ("bullet_list", "ordered_list")
#: Nodes that are prose, and nodes that can be inside a word.
_PROSE = (*_LISTS, "paragraph", "blockquote")
_WITHIN_WORDS = ("inline", "strong", "em", "s", "link")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_LINKS = ("http://", "https://", "mailto:", "#")
#: Characters that can have a meaning within a line or at its beginning.
_MEANS_SOMETHING = re.compile(r"[<\[\]`@\\*_~]|^[#=>|:+\d-]")
_TAG = re.compile(r"<(?=[A-Za-z/!?]|$)")
_MENTION = re.compile(r"(?<![\w.@/])@(?=\w)")
_SIGN_OF_TEXT = re.compile(r"[\\`*_\[\]<~|@]")
#: An entity in an address.
_ENTITY = re.compile(r"&(?=#?\w+;)")
#: Text that begins a block, or turns the line above it into a heading or a table.
_BLOCK_SIGN = re.compile(
    r"^(?:(?P<fence>`{3,}(?=[^`]*$)|~{3,})|(?P<number>\d{1,9})(?=[.)](?:\s|$))"
    r"|(?:#(?=#{0,5}(?:\s|$))|>|[-+*](?=\s|$)|[=|:-](?=[=|:\s-]*$)|[*_](?=(?:\s*[*_]){2,}\s*$)))"
)
_RUNS = re.compile(r"`+|~+")
_PARENTHESIS = re.compile(r"[()]")
#: A thematic break, which nested empty list items can look like.
_ACROSS = re.compile(r"^([-*])(?:[ \t]*\1){2,}[ \t]*$")
#: Marks of quotations and list items at the beginning of a line; many programs drop deeper ones.
_SIGNS = re.compile(r"(?:(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]))[ \t]*){0,6}")
#: A host name. The limits are those of DNS and prevent slow matches.
_HOST = re.compile(
    r"(?<![\w-])(?:[\w-]{1,63}\.){1,10}[^\W\d_]{2,}|(?:\d{1,3}\.){3}\d{1,3}|localhost",
    re.IGNORECASE,
)
_Node = SyntaxTreeNode


def visible(text: str) -> str:
    """The text without escape sequences and invisible characters, safe for a terminal."""
    return clean(text)


def parse(text: str, most: int = MOST_SIGNS, parser: MarkdownIt = PARSER) -> list[Token] | None:
    """The tokens of a clean text; None if it has too many Markdown characters or is too deep.

    `most` limits Markdown characters and, separately, cells of tables, because the parser fills
    each row to the width of the head.
    """
    if len(SIGN.findall(text)) > most:
        return None
    cells = columns = 0
    for line in text.split("\n"):
        if "-" in line and "|" in line and _RULER.fullmatch(line):
            columns = line.count("|") + 1
        columns = columns if line.strip() else 0
        cells += columns
    if cells > most:
        return None
    tokens = parser.parse(text)
    levels = (token.level for outer in tokens for token in (outer, *(outer.children or ())))
    return tokens if max(levels, default=0) < _DEEPEST else None


# --- one line without formatting ------------------------------------------------------------------


def plain_line(text: str, *, is_prose: bool = False) -> str:
    """The text on one line without formatting.

    With `is_prose` headings, code and tables are left out, unless there is nothing else.
    """
    tokens = parse(clean(text))
    if tokens is None:
        return " ".join(clean(text).split())
    blocks = _Node(tokens).children
    prose = [node for node in blocks if node.type in _PROSE] if is_prose else []
    return " ".join(" ".join(map(bare_words, prose or blocks)).split())


def bare_words(node: SyntaxTreeNode) -> str:
    if node.type in {"softbreak", "hardbreak"}:
        return " "
    if node.children:
        joint = "" if node.type in _WITHIN_WORDS else " "
        return joint.join(map(bare_words, node.children))
    return _BREAK.sub(" ", node.content) if node.token else ""


def shown_as_is(line: str) -> str:
    """Plain text as an inert line of Markdown that shows all its characters."""
    return inert_line(line) if plain_line(line) == line else _literal(line)


# --- safe to embed --------------------------------------------------------------------------------


def code_block(text: str) -> str:
    """The text in a code block that no text inside can close."""
    text = visible(text)
    return _fence("```", "text", text)


def inert(text: str, level: int = 0) -> str:
    """The text as Markdown in which only links to the web are active and all code is closed.

    Text that cannot be parsed becomes a code block. All headings are below those of `level`.
    """
    text = clean(text)
    tokens = parse(text, _MOST_SIGNS_OF_DOCUMENTS, _VERBATIM_PARSER)
    if tokens is None:
        return code_block(text)
    depths = [int(token.tag[1:]) for token in tokens if token.type == "heading_open"]
    shift = max(0, level + 1 - min(depths, default=level + 1)) if level else 0
    return "\n".join(_blocks(_Node(tokens), shift))


def inert_line(text: str) -> str:
    """The text as one line of Markdown in which only links to the web are active."""
    line = " ".join(clean(text).split())
    if not _MEANS_SOMETHING.search(line):
        return line  # true for most lines
    text = _SIGNS.sub("", line, count=1)
    signs = line[: len(line) - len(text)]
    (inline,) = (
        _VERBATIM_PARSER.parseInline(text) if len(SIGN.findall(text)) <= MOST_SIGNS else (None,)
    )
    if (
        inline is None
        or max((token.level for token in inline.children or ()), default=0) >= _DEEPEST
    ):
        return signs + _literal(text)
    return signs + " ".join(_lines(_Node([inline])))


def misleads(label: str, url: str) -> bool:
    """Whether a link's label names another address than the link's."""
    text = unicodedata.normalize("NFKC", label).casefold().strip()
    if "://" in text:
        return text.rstrip("/") != url.casefold().rstrip("/")
    parts = urlsplit(url)
    host = parts.path.rpartition("@")[2] if parts.scheme == "mailto" else parts.hostname or ""
    names = {name.removeprefix("www.") for name in _HOST.findall(text)}
    return bool(names - {host.casefold().removeprefix("www.")})


# --- blocks ---------------------------------------------------------------------------------------


def _blocks(parent: _Node, shift: int, *, is_tight: bool = False) -> list[str]:
    lines, before = list[str](), ""
    for node in parent.children:
        # Without an empty line some programs read a table's head as part of the paragraph.
        if before and not (is_tight and node.type != "table"):
            lines.append("")
        lines += _BLOCKS[node.type](node, shift)
        before = node.type
    return lines


def _heading(node: _Node, shift: int) -> list[str]:
    words = " ".join(_lines(node.children[0])) if node.children else ""
    return [f"{'#' * min(_DEEPEST_HEADING, int(node.tag[1:]) + shift)} {words}".rstrip()]


def _list(node: _Node, shift: int) -> list[str]:
    is_tight = all(
        block.hidden
        for item in node.children
        for block in item.children
        if block.type == "paragraph"
    )
    lines = list[str]()
    for item in node.children:
        marker = f"{item.info}{item.markup} "
        first, *others = _blocks(item, shift, is_tight=is_tight) or [""]
        if _ACROSS.match(f"{marker}{first}"):  # nested empty items
            first, others = "", [first, *others]
        if lines and not is_tight:
            lines.append("")
        lines.append(f"{marker}{first}" if first else marker.rstrip())
        lines += [f"{' ' * len(marker)}{line}" if line else "" for line in others]
    return lines


def _code(node: _Node, _: int) -> list[str]:
    lines = node.content.rstrip("\n").split("\n")
    before = node.previous_sibling
    if before and before.type in _LISTS:  # it would become part of the last item
        return [_literal(line.strip()) for line in lines if line.strip()]
    return [f"{' ' * _TAB}{line}".rstrip() for line in lines]


def _fenced_code(node: _Node, _: int) -> list[str]:
    # Some programs look for tables first and read a line of bars as a table's head.
    info = _text(node.info.strip()).replace("|", "&#124;")
    return _fence(node.markup, info, node.content.removesuffix("\n")).split("\n")


def _fence(sign: str, info: str, code: str) -> str:
    fences = (fence for fence in _RUNS.findall(code) if fence[0] == sign[0])
    longest = max(map(len, fences), default=0)
    sign = sign[0] * max(3, longest + 1 if longest >= len(sign) else len(sign))
    gap = (
        " " if info.startswith(sign[0]) else ""
    )  # otherwise the fence would be longer than its end
    return "\n".join([f"{sign}{gap}{info}", *([code] if code else []), sign])


_RULERS = {
    "": "---",
    "text-align:left": ":---",
    "text-align:center": ":---:",
    "text-align:right": "---:",
}


def _table(node: _Node, _: int) -> list[str]:
    rows = [row for part in node.children for row in part.children]
    lines = list[str]()
    for row in rows:
        cells = [" ".join(_lines(cell.children[0])).replace("|", "\\|") for cell in row.children]
        lines.append(f"| {' | '.join(cells)} |")
    rulers = [_RULERS[str(cell.attrs.get("style", ""))] for cell in rows[0].children]
    lines.insert(1, f"| {' | '.join(rulers)} |")
    return lines


_BLOCKS: dict[str, Callable[[_Node, int], list[str]]] = {
    "paragraph": lambda node, _: _lines(node.children[0]),
    "heading": _heading,
    "blockquote": lambda node, shift: [
        f"> {line}" if line else ">" for line in _blocks(node, shift) or [""]
    ],
    "bullet_list": _list,
    "ordered_list": _list,
    "code_block": _code,
    "fence": _fenced_code,
    "table": _table,
    "hr": lambda node, _: [node.markup[0] * 3 if not node.level else "___"],
}


# --- inside a line --------------------------------------------------------------------------------


def _lines(inline: _Node) -> list[str]:
    """The lines of a paragraph, escaped so that none begins a block."""
    lines = (line.lstrip(" \t") for line in _spans(inline.children).rstrip().split("\n"))
    return [
        _BLOCK_SIGN.sub(_as_text, line, count=1) if _BLOCK_SIGN.match(line) else line
        for line in lines
        if line
    ] or [""]


def _as_text(match: re.Match[str]) -> str:
    if match["fence"]:
        return f"&#{ord(match[0][0])};" * len(match[0])
    return f"{match[0]}\\" if match["number"] else f"\\{match[0]}"


def _spans(nodes: Iterable[_Node]) -> str:
    text = ""
    for node in nodes:
        piece = _span(node)
        if text.endswith("!") and piece.startswith("["):
            text = f"{text[:-1]}&#33;"
        text += piece
    return text


def _span(node: _Node) -> str:
    match node.type:
        case "text":
            return _text(node.content)
        case "text_special":
            return node.markup
        case "softbreak":
            return "\n"
        case "hardbreak":
            return "  \n"
        case "code_inline":
            return _code_span(node.content, node.markup)
        case "image":
            return f"&#33;{_link(str(node.attrs['src']), _spans(node.children), node.content)}"
        case "link" if node.markup == "autolink" and not _is_of_the_web(str(node.attrs["href"])):
            return _text(f"<{node.attrs['href']}>")
        case "link":
            return _link(str(node.attrs["href"]), _spans(node.children), _words(node))
        case _:
            return f"{node.markup}{_spans(node.children)}{node.markup}"


def _text(text: str) -> str:
    """Text outside code, without tags, images, links, link definitions and mentions."""
    text = _TAG.sub("&lt;", text).replace("![", "&#33;[").replace("](", "]&#40;")
    return _MENTION.sub("@&#8203;", text.replace("]:", "]&#58;"))


def _literal(text: str) -> str:
    text = _SIGN_OF_TEXT.sub(lambda match: f"&#{ord(match[0])};", text)
    return _BLOCK_SIGN.sub(_as_text, text, count=1)


def _code_span(code: str, sign: str) -> str:
    # Programs differ on bars and backslashes in inline code.
    code = _text(code) if "|" in code or "\\" in code else code
    is_padded = code[:1] == code[-1:] == " " and not code.isspace()
    gap = " " if is_padded or code[:1] == "`" or code[-1:] == "`" else ""
    return f"{sign}{gap}{code}{gap}{sign}"


def _link(url: str, label: str, words: str) -> str:
    """A link to the web that leads where its label says; else the label and the address as text."""
    target = _ENTITY.sub("&amp;", url)
    if not _is_of_the_web(url):
        return f"[{label}]&#40;{_text(target)})"
    if url.startswith("#"):
        return f"[{label}]({target})" if not _PARENTHESIS.search(target) else label
    try:
        is_honest = not misleads(words, url)
    except ValueError:
        return f"[{label}]&#40;{_text(target)})"  # not a valid address
    if words == url:
        return f"<{target}>"
    if not is_honest:
        return f"{label} (<{target}>)"
    return f"[{label}](<{target}>)" if _PARENTHESIS.search(target) else f"[{label}]({target})"


def _is_of_the_web(url: str) -> bool:
    return url.lower().startswith(_LINKS)


def _words(node: _Node) -> str:
    return "".join(map(_words, node.children)) if node.children else node.content
