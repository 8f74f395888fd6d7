"""A model's Markdown → Slack's mrkdwn, safe to post (pure).

Posts use `mrkdwn` sections with `verbatim`, not Slack's `markdown` block: only for mrkdwn is it
documented how to write a literal `<!channel>`. Slack has no headings, tables or images in mrkdwn:
they become bold lines, aligned code (or lists, when wide) and words.

Source: https://docs.slack.dev/messaging/formatting-message-text
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice, zip_longest

from markdown_it.tree import SyntaxTreeNode
from rich.cells import cell_len

from bot.slack.mrkdwn.escape import GAP, bare, clean, link, literal, plain, with_links
from bot.slack.mrkdwn.split import split
from core.transcript.markdown import SIGN, bare_words, parse, plain_line

_MARKS = {"strong": "*", "em": "_", "s": "~"}
_MARKED = frozenset({*_MARKS, "code_inline"})
_BULLETS = "•◦▪"
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
#: Wider tables wrap on a laptop and are unreadable as code.
_WIDEST_TABLE = 88
_FENCE = "```"
_LISTS = frozenset({"bullet_list", "ordered_list"})
#: Characters of Markdown that are read for one character of a gist, and signs for a whole one.
_GIST_SOURCE, _GIST_SIGNS = 12, 400

_Node = SyntaxTreeNode


def mrkdwn(text: str) -> str:
    tree = _tree(text)
    return plain(text) if tree is None else _blocks(tree.children).strip("\n")


@lru_cache(maxsize=512)
def gist(text: str, limit: int) -> str:
    """The beginning of a model's Markdown as one safe line without formatting.

    Headings, code and tables are left out where anything else is there. `limit` counts entities as
    they are spelled.
    """
    return _shortened(literal(plain_line(_source(text, limit), is_prose=True)), limit)


def bare_gist(text: str, limit: int) -> str:
    """Return the same for places where Slack shows signs as they are: options, cells, names."""
    return _shortened(
        bare(plain_line(_source(text, limit), is_prose=True), limit * _GIST_SOURCE), limit
    )


def _tree(text: str) -> _Node | None:
    tokens = parse(clean(text))
    return None if tokens is None else _Node(tokens)


def _source(text: str, limit: int) -> str:
    """The beginning of a text that its gist is made of, clean."""
    source = clean(text[: limit * _GIST_SOURCE])
    after = next(islice(SIGN.finditer(source), _GIST_SIGNS, None), None)
    return source[: after.start()] if after else source


def _shortened(line: str, limit: int) -> str:
    if len(line) <= limit:
        return line
    return split(line, limit - 1)[0].rstrip(".,:!? ") + "…"


# --- blocks ---------------------------------------------------------------------------------------


def _blocks(nodes: Iterable[_Node], depth: int = 0, joint: str = "\n\n") -> str:
    result, before = "", None
    for node in nodes:
        if text := _block(node, depth):
            led = before is not None and node.type in _LISTS and _leads(before)
            gap = "" if before is None else "\n" if led else joint
            result, before = f"{result}{gap}{text}", node
    return result


def _leads(node: _Node) -> bool:
    """Whether it is a heading, or a bold line that is meant as one: "**Risks**:"."""
    if node.type == "heading":
        return True
    inline = node.children[0].children if node.type == "paragraph" and node.children else []
    prose = [child for child in inline if child.content.strip(" :") or child.children]
    return [child.type for child in prose] == ["strong"]


def _block(node: _Node, depth: int) -> str:
    match node.type:
        case "paragraph":
            lines = _inline(node.children[0].children).split("\n") if node.children else []
            return "\n".join(line.strip() for line in lines)
        case "heading":
            inline = node.children[0].children if node.children else []
            words = _inline(inline, frozenset({"strong"}))
            return f"*{words}*" if words.strip() else ""
        case "fence" | "code_block":
            code = literal(node.content.rstrip("\n"))
            return f"{_FENCE}\n{code}\n{_FENCE}" if code.strip() else ""
        case "hr":
            return "———"
        case "blockquote":
            return _indented(_blocks(node.children, depth), "> ", "> ")
        case "bullet_list" | "ordered_list":
            bullet = _BULLETS[min(depth, len(_BULLETS) - 1)]
            items = list[str]()
            for number, item in enumerate(node.children, int(node.attrs.get("start", 1))):
                marker = bullet if node.type == "bullet_list" else f"{number}."
                body = _blocks(item.children, depth + 1, joint="\n")
                items.append(_indented(body, f"{marker} ", "    ") if body else marker)
            return "\n".join(items)
        case "table":
            return _table(node)
        case _:
            raise ValueError(f"Markdown has no such block: {node.type}")


def _indented(text: str, first: str, rest: str) -> str:
    """Put a mark before each line; blocks of code stay at the edge, where Slack wants them."""
    lines, in_code = list[str](), False
    for index, line in enumerate(text.split("\n")):
        fence = line.startswith(_FENCE)
        if fence and not index:
            lines.append(first.rstrip())
        lines.append(line if fence or in_code else (rest if index else first) + line)
        in_code ^= fence
    return "\n".join(lines)


def _table(node: _Node) -> str:
    rows = [row for part in node.children for row in part.children]
    cells = [[bare_words(cell).strip() for cell in row.children] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip_longest(*cells, fillvalue="")]
    if sum(widths) + 3 * len(widths) > _WIDEST_TABLE:
        # One item per row, each cell named by its column.
        heads, items = list(map(literal, cells[0])), list[str]()
        for row in rows[1:]:
            spans = (
                " ".join(_inline(child.children) for child in node.children)
                for node in row.children
            )
            named = zip(heads, (words.replace("\n", " ") for words in spans), strict=True)
            items.append(
                "• " + "; ".join(f"{head}: {cell}" if head else cell for head, cell in named)
            )
        return "\n".join(items) or " | ".join(heads)
    lines = list[str]()
    for row in cells:
        padded = (
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        )
        lines.append(" | ".join(padded).rstrip())
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return f"{_FENCE}\n" + "\n".join(map(literal, lines)) + f"\n{_FENCE}"


# --- inside a line --------------------------------------------------------------------------------


def _inline(nodes: Sequence[_Node], open_marks: frozenset[str] = frozenset()) -> str:
    """Words with formatting. `open_marks` are open already and cannot be nested."""
    result, was_marked = "", False
    for node in nodes:
        piece = _span(node, open_marks)
        marked = node.type in _MARKED and node.type not in open_marks
        if result and piece:
            before, right = result[-1], piece[0]
            # Slack sees a mark only at the edge of a word.
            hidden = (was_marked and right.isalnum()) or (marked and before.isalnum())
            if hidden or ((was_marked or marked) and before == right):
                result += GAP
        result, was_marked = result + piece, marked if piece else was_marked
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
            inner = _inline(node.children, open_marks | {node.type})
            mark = "" if node.type in open_marks or not inner.strip() else _MARKS.get(node.type, "")
            return f"{mark}{inner}{mark}"
