"""What a reply means while agents wait for answers (pure).

`2: about 10k rps` answers question 2, `skip all` lets all assumptions hold; other words are a note.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

#: A time of day once its hour is read as a number: `:30`, `:30 pm`; no `:10k`, `:500`, `:10,000`.
_TIME = r"[0-5]\d(?:\s?[ap]\.?m\b|(?!\w|[.,]\d|\s?%))"
_NUMBER = r"(?:q|question\s|#)?(?P<number>\d{1,2})"
#: `2: text`, `2:text`, `*Q2:* text`, `#2) text`, `2. text`; but no time of day (`2:30`).
_NUMBERED = re.compile(
    rf"\s*[*_]{{0,2}}{_NUMBER}[*_]{{0,2}}(?P<sign>:(?!{_TIME})|[.)](?=[\s*_]))[*_]{{0,2}}"
    r"(?P<space>\s*)(?P<text>.*)",
    re.IGNORECASE,
)
#: The next answer on the same line: `1: ten 2: us`; after a full stop only the next number is one.
_NEXT = re.compile(
    rf"(?<![\s,;|/])[\s,;|/]+{_NUMBER}(?P<sign>:(?!{_TIME})\s*|[.)]\s+)(?=\S)", re.IGNORECASE
)
#: Words that leave a question to its assumption: who does not know answers nothing.
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
    #: What is left over; it becomes a note.
    rest: str = ""
    #: It names its questions; one that it says nothing of, as `2:` alone, has no answer.
    is_numbered: bool = False
    #: It names no question while some are open; all of it is the rest.
    is_unclear: bool = False
    #: Numbers it names that no question has.
    unknown: Sequence[int] = ()


def parse_reply(text: str, questions: Container[int], unanswered: Sequence[int]) -> ParsedReply:
    """Split a reply into numbered answers and the rest.

    A line that begins with a question's number begins its answer; further lines belong to it.

    Args:
        text: What was written.
        questions: Numbers of all questions.
        unanswered: Of these, the ones that can still be answered, oldest first.
    """
    text = text.strip()
    if not text or not unanswered:
        return ParsedReply(rest=text)
    if _SKIP_ALL.fullmatch(text):
        return ParsedReply([GivenAnswer(number, "") for number in unanswered], is_numbered=True)
    lines = [(line, _NUMBERED.fullmatch(line)) for line in text.splitlines()]
    if unknown := _unknown_numbers([match for _, match in lines if match], questions):
        return ParsedReply(unknown=unknown)
    # An answer of very many lines is joined once: it must not be copied with each of them.
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
    """Return the answer these words give; empty where they let the assumption hold."""
    return "" if _SKIP.fullmatch(words.strip()) else words.strip()


def _unknown_numbers(matches: Iterable[re.Match[str]], questions: Container[int]) -> Sequence[int]:
    """Numbers of lines that are meant for a question, though there is none: `42: text`."""
    meant = [
        match for match in matches if match["sign"] != "." and match["space"] and match["text"]
    ]
    numbers = dict.fromkeys(int(match["number"]) for match in meant)
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
