"""Markdown of models and people, parsed within bounds (pure)."""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

# Definitions of references stay text: they would vanish otherwise.
PARSER = (
    MarkdownIt("commonmark", {"html": False})
    .enable(["table", "strikethrough"])
    .disable("reference")
)
#: Signs that may mean something in Markdown. Each costs the parser 20 to 40 microseconds, and a
#: text with more of them than any answer has is no formatting: it is shown as it is.
SIGN = re.compile(r"[\n\r*_~`\[\]!<&\\|]")
MOST_SIGNS = 1200
#: The line below a table's head, also in a list or a quotation.
_RULER = re.compile(r"[\s>*+.):0-9|-]+")
#: Marks inside one another; each level is read by a call inside a call.
_DEEPEST = 40


def parsed(text: str, most: int = MOST_SIGNS) -> Sequence[Token] | None:
    """The text's tokens; None where it is no formatting: too many signs, or far too deep.

    Args:
        text: Clean text.
        most: Signs that may mean something, and cells of tables: the parser fills up each row to
            the width of the head.
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
    tokens = PARSER.parse(text)
    levels = (one.level for token in tokens for one in (token, *(token.children or ())))
    return tokens if max(levels, default=0) <= _DEEPEST else None
