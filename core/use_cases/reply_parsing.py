"""What a reply means while agents wait for answers (pure).

`2: about 10k rps` answers question 2, several such lines answer several, `skip all` lets all
assumptions hold. Anything else is a note, until its author says with a button what it answers.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

#: A time of day once its hour is read as a number: `:30`, `:30 pm`; no `:10k`, `:500`, `:10,000`.
_TIME = r"[0-5]\d(?:\s?[ap]\.?m\b|(?!\w|[.,]\d|\s?%))"
#: `2: text`, `2:text`, `Q2: text`, `#2) text`, `2. text`, `2 - text`; but no time of day (`2:30`).
_NUMBERED = re.compile(
    r"\s*[*_]{0,2}(?:q|question\s|#)?(?P<number>\d{1,2})[*_]{0,2}"
    rf"(?::(?!{_TIME})\s*|[.)]\s+|\s+[-–]\s+)(?P<text>.*)",
    re.IGNORECASE,
)
#: `42: text`, `Q42) text`: meant for a question, whether there is one or not.
_MEANT = re.compile(
    r"\s*[*_]{0,2}(?:q|question\s|#)?(?P<number>\d{1,2})[*_]{0,2}[:)][*_]{0,2}\s+\S.*",
    re.IGNORECASE,
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
    """An answer to one question; an empty text lets the assumption hold."""

    number: int
    text: str


@dataclass(frozen=True)
class ParsedReply:
    """What a reply says."""

    answers: Sequence[GivenAnswer] = ()
    #: What is left over; it becomes a note.
    rest: str = ""
    #: It names its questions; one that it says nothing of, as `2:` alone, has no answer.
    is_numbered: bool = False
    #: It names no question while some are open; all of it is the rest.
    is_unclear: bool = False
    #: Numbers it names that no question has.
    unknown: Sequence[int] = ()


def parse_reply(text: str, asked: Collection[int], unanswered: Sequence[int]) -> ParsedReply:
    """Return what a reply says.

    Args:
        text: As it was typed.
        asked: Numbers of all questions of the debate.
        unanswered: Numbers of those that can still be answered, oldest first.
    """
    said = text.strip()
    if not said or not unanswered:
        return ParsedReply(rest=said)
    if _SKIP_ALL.fullmatch(said):
        skipped = [GivenAnswer(number, "") for number in unanswered]
        return ParsedReply(skipped, is_numbered=True)
    meant = (_MEANT.fullmatch(line) for line in said.splitlines())
    numbers = dict.fromkeys(int(match["number"]) for match in meant if match)
    if unknown := [number for number in numbers if number not in asked]:
        return ParsedReply(unknown=unknown)
    numbered, rest = _numbered(said, asked)
    if numbered:
        return ParsedReply(
            [GivenAnswer(number, answer_in(answer)) for number, answer in numbered if answer],
            rest,
            is_numbered=True,
        )
    return ParsedReply(rest=said, is_unclear=True)


def answer_in(words: str) -> str:
    """Return the answer these words give; empty where they let the assumption hold."""
    return "" if _SKIP.fullmatch(words.strip()) else words.strip()


def _numbered(text: str, asked: Collection[int]) -> tuple[list[tuple[int, str]], str]:
    """The numbered answers, and what stands before the first; other lines go on an answer."""
    found: list[tuple[int, list[str]]] = []
    before: list[str] = []
    for line in text.splitlines():
        match = _NUMBERED.fullmatch(line)
        number = int(match["number"]) if match else 0
        if match and number in asked:
            found.append((number, [match["text"]]))
        elif found:
            found[-1][1].append(line)
        else:
            before.append(line)
    # Joined once, whole: an answer of very many lines must not be copied with each of them.
    answers = [(number, "\n".join(lines).strip()) for number, lines in found]
    return answers, "\n".join(before).strip()
