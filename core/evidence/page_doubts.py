"""Says of a page that it may stand in for the one that was asked for (pure)."""

import re
from collections.abc import Iterator

#: Pages that stand in for another one are short, in characters.
_LONGEST_STUB = 1500
_TITLES = re.compile(r"<title[^<>]{0,200}>([^<]{0,200})", re.IGNORECASE)
_ROBOT_CHECK = re.compile(
    r"just a moment|checking your browser|verify (?:that )?you are (?:a )?human|are you a robot",
    re.IGNORECASE,
)
_PASSWORD_FIELD = re.compile(r"type\s{0,5}=\s{0,5}[\"']?password", re.IGNORECASE)
_NOT_FOUND = re.compile(r"\b404\b|page not found|not found\b|nicht gefunden", re.IGNORECASE)
_REFRESH = re.compile(r"http-equiv\s{0,5}=\s{0,5}[\"']?refresh\b[^<>]{0,500}url", re.IGNORECASE)


def doubts_of_page(page: str, text: str) -> Iterator[str]:
    """Signs in a page and its visible text that it is not the page of the address."""
    if len(text) > _LONGEST_STUB:
        return
    heading = _TITLES.search(page)
    title = heading[1] if heading else ""
    if _ROBOT_CHECK.search(f"{title} {text[:300]}"):
        yield "the page checks for robots instead of showing its text"
    elif _PASSWORD_FIELD.search(page):
        yield "the page is a sign-in, perhaps in place of the one that was asked for"
    elif _NOT_FOUND.search(f"{title} {text[:200]}"):
        yield "the page says that it was not found"
    elif _REFRESH.search(page):
        yield "the page leads on to another one, which was not read"
