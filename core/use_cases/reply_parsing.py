"""Parses replies to the agents' questions (pure).

`2: about 10k rps` answers question 2; `skip all` skips all questions; other text is a note.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

#: The part of a time of day after the hour: `:30`, `:30 pm`; but not `:10k`, `:500`, `:10,000`.
_TIME = r"[0-5]\d(?:\s?[ap]\.?m\b|(?!\w|[.,]\d|\s?%))"
_NUMBER = r"(?:q|question\s|#)?(?P<number>\d{1,2})"
#: `2: text`, `2:text`, `• *Q2:* text`, `#2) text`, `2. text`; but not a time of day (`2:30`).
#: Japanese and Chinese keyboards type the wide colon.
_NUMBERED = re.compile(
    rf"\s*(?:[-•]\s)?[*_]{{0,2}}{_NUMBER}[*_]{{0,2}}"
    rf"(?P<sign>[:\uff1a](?!{_TIME})|[.)](?=[\s*_]))[*_]{{0,2}}"
    r"(?P<space>\s*)(?P<text>.*)",
    re.IGNORECASE,
)
#: The next answer on the same line: `1: ten 2: us`. With a full stop (`2.`) it must be the
#: following number.
_NEXT = re.compile(
    rf"(?<![\s,;|/])[\s,;|/]+{_NUMBER}(?P<sign>[:\uff1a](?!{_TIME})\s*|[.)]\s+)(?=\S)",
    re.IGNORECASE,
)
#: Words that skip a question, so that its assumption holds.
_SKIP = re.compile(
    r"(?:skip|pass|n/?a|no idea|unknown|(?:i )?(?:don[’']?t|do not) know"
    r"|(?:(?:das |ich )?wei(?:ß|ss) (?:(?:ich|es) )?nicht|keine ahnung|unbekannt))[.!]?",
    re.IGNORECASE,
)
_SKIP_ALL = re.compile(r"skip\s+(?:all|everything|the rest)[.!]?", re.IGNORECASE)


@dataclass(frozen=True)
class GivenAnswer:
    number: int
    text: str


@dataclass(frozen=True)
class ParsedReply:
    answers: Sequence[GivenAnswer] = ()
    #: The text before the first answer; it becomes a note.
    rest: str = ""
    #: Whether the text names questions. A number without text (`2:`) gives no answer.
    is_numbered: bool = False
    #: Whether it names no question while some are open; then all text is in `rest`.
    is_unclear: bool = False
    #: Numbers in the text that are no questions.
    unknown: Sequence[int] = ()


def parse_reply(text: str, questions: Container[int], unanswered: Sequence[int]) -> ParsedReply:
    """Split a reply into numbered answers and the rest.

    An answer begins at a line with a question's number and includes the lines after it.

    Args:
        text: The person's reply.
        questions: Numbers of all questions.
        unanswered: Numbers of the questions that can still be answered, oldest first.
    """
    text = text.strip()
    if not text or not unanswered:
        return ParsedReply(rest=text)
    if _SKIP_ALL.fullmatch(text):
        return ParsedReply([GivenAnswer(number, "") for number in unanswered], is_numbered=True)
    lines = [(line, _NUMBERED.fullmatch(line)) for line in text.splitlines()]
    if unknown := _unknown_numbers([match for _, match in lines if match], questions):
        return ParsedReply(unknown=unknown)
    # Collect lines and join them once: joining after each line would be quadratic.
    before, entries = list[str](), list[tuple[int, list[str]]]()
    for line, match in lines:
        if match and int(match["number"]) in questions:
            entries += ((number, [part]) for number, part in _on_this_line(match, questions))
        else:
            (entries[-1][1] if entries else before).append(line)
    if not entries:
        return ParsedReply(rest=text, is_unclear=True)
    return ParsedReply(
        [
            GivenAnswer(number, answer_in(answer))
            for number, parts in entries
            if (answer := "\n".join(parts).strip())
        ],
        "\n".join(before).strip(),
        is_numbered=True,
    )


def answer_in(words: str) -> str:
    """Return the answer in a text; empty if the text skips the question."""
    return "" if _SKIP.fullmatch(words.strip()) else words.strip()


def _unknown_numbers(matches: Iterable[re.Match[str]], questions: Container[int]) -> Sequence[int]:
    """Return the numbers of lines like `42: text` for which there is no question."""
    numbers = dict.fromkeys(
        int(match["number"])
        for match in matches
        if match["sign"] != "." and match["space"] and match["text"]
    )
    return [number for number in numbers if number not in questions]


def _on_this_line(match: re.Match[str], questions: Container[int]) -> Iterator[tuple[int, str]]:
    line, number, start = match.string, int(match["number"]), match.start("text")
    begin = start
    while after := _NEXT.search(line, begin):
        following, begin = int(after["number"]), after.end()
        is_next = after["sign"][0] != "." or following == number + 1
        if following in questions and following != number and is_next:
            yield number, line[start : after.start()]
            number, start = following, begin
    yield number, line[start:]
