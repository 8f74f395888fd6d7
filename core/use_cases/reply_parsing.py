"""What a reply means while agents wait for answers (pure).

`2: about 10k rps` answers question 2, `skip all` lets all assumptions hold; other words are a note.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

#: A time of day once its hour is read as a number: `:30`, `:30 pm`; no `:10k`, `:500`, `:10,000`.
_TIME = r"[0-5]\d(?:\s?[ap]\.?m\b|(?!\w|[.,]\d|\s?%))"
#: `2: text`, `2:text`, `Q2: text`, `#2) text`, `2. text`, `2 - text`; but no time of day (`2:30`).
_NUMBERED = re.compile(
    r"\s*[*_]{0,2}(?:q|question\s|#)?(?P<number>\d{1,2})[*_]{0,2}"
    rf"(?::(?!{_TIME})\s*|[.)]\s+|\s+[-–]\s+)(?P<text>.*)",
    re.IGNORECASE,
)
#: The next answer on the same line: `1: ten 2: us`; after a full stop only the next number is one.
_NEXT = re.compile(
    rf"(?<![\s,;|/])[\s,;|/]+(?:q|question\s|#)?(?P<number>\d{{1,2}})(?P<sign>:(?!{_TIME})\s*|[.)]\s+)(?=\S)",
    re.IGNORECASE,
)
#: A line that quotes something.
_QUOTED = re.compile(r">[\s>]*(?P<text>.*)")
_PERSON = r"@[^\s@]{1,60}(?:\s(?-i:[A-Z])[^\s@]{0,40}){0,2}"
#: `@Priya knows that`, `ask @Priya`, `no idea, @Priya?`: it names who knows the answer.
_REFERRAL = re.compile(
    rf"(?:{_PERSON}[,:]?\s(?:(?:should|would|might|will|can|could)\s)?"
    r"(?:know|knows|say|tell|answer|has|have|wei[sß]s?|beantworten)"
    r"(?:\s(?:you|us|me|that|this|it|more|best|better|the answer|about (?:it|that)|das|es))*"
    r"|(?:(?:please|maybe|perhaps|better|but|just|so|sorry|no idea|not sure|dunno|i don[’']?t know"
    r"|keine ahnung|bitte)[,.;:!]?\s)*(?:(?:ask|ping|cc|over to|question for"
    r"|that[’']?s (?:one )?for|frage?|fragt)\s)?"
    rf"{_PERSON}(?:(?:,|\sor|\sand|\sund|\soder)?\s{_PERSON}){{0,3}})[.?!]*",
    re.IGNORECASE,
)
_ONLY_PERSON = re.compile(_PERSON)
#: What asks for a person, who is an answer to it by name alone.
_ASKS_WHO = re.compile(
    r"\b(?:who|whom|whose|people|person|owner|team|we[rmn]|wessen)\b", re.IGNORECASE
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


#: Characters of an answer that only names who knows.
_LONGEST_REFERRAL = 300


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
    #: Of the answers, those which only name who knows: their questions stay open.
    referrals: Sequence[GivenAnswer] = ()


def parse_reply(text: str, questions: Mapping[int, str], unanswered: Sequence[int]) -> ParsedReply:
    """Split a reply into numbered answers, referrals and the rest.

    `unanswered`: numbers of the questions that can still be answered, oldest first.
    """
    text = text.strip()
    if not text or not unanswered:
        return ParsedReply(rest=text)
    if _SKIP_ALL.fullmatch(text):
        skipped = [GivenAnswer(number, "") for number in unanswered]
        return ParsedReply(skipped, is_numbered=True)
    matches = (_MEANT.fullmatch(line) for line in text.splitlines())
    numbers = dict.fromkeys(int(match["number"]) for match in matches if match)
    if unknown := [number for number in numbers if number not in questions]:
        return ParsedReply(unknown=unknown)
    numbered, rest = _numbered_answers(text, questions)
    if numbered:
        all_answers = [
            GivenAnswer(number, answer_in(answer)) for number, answer in numbered if answer
        ]
        referrals = [
            answer for answer in all_answers if _is_referral(answer.text, questions[answer.number])
        ]
        answers = [answer for answer in all_answers if answer not in referrals]
        return ParsedReply(answers, rest, is_numbered=True, referrals=referrals)
    return ParsedReply(rest=text, is_unclear=True)


def answer_in(words: str) -> str:
    """Return the answer these words give; empty where they let the assumption hold."""
    return "" if _SKIP.fullmatch(words.strip()) else words.strip()


def _is_referral(answer: str, question: str) -> bool:
    """Whether an answer only names who knows; a name alone answers what asks for a person."""
    if "@" not in answer or len(answer) > _LONGEST_REFERRAL or not _REFERRAL.fullmatch(answer):
        return False
    return not (_ONLY_PERSON.fullmatch(answer) and _ASKS_WHO.search(question))


def _one_a_line(text: str, questions: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """The lines of a reply, with the number of the question that each begins to answer, or 0.

    The lines below a quoted question answer it. Several answers on one line become a line each.
    """
    numbers = {_plain(question): number for number, question in questions.items()}
    is_quote = False
    for line in text.splitlines():
        quoted, number = _QUOTED.fullmatch(line.lstrip()), 0
        content = quoted["text"] if quoted else line
        if match := _NUMBERED.fullmatch(content):
            number = int(match["number"])
        if quoted:
            number = number if number in questions else numbers.get(_plain(content), 0)
            if number or not is_quote:
                yield (number, "") if number else (0, line)
            is_quote = is_quote or bool(number)
            continue
        is_quote = False
        if match is None or number not in questions:
            yield 0, line
            continue
        yield from _on_this_line(content, match.start("text"), number, questions)


def _on_this_line(
    line: str, start: int, number: int, questions: Container[int]
) -> Iterator[tuple[int, str]]:
    begin = start
    while after := _NEXT.search(line, begin):
        following, begin = int(after["number"]), after.end()
        is_next = after["sign"][0] != "." or following == number + 1
        if following in questions and following != number and is_next:
            yield number, line[start : after.start()]
            number, start = following, begin
    yield number, line[start:]


def _plain(question: str) -> str:
    return " ".join(re.findall(r"\w+", question.casefold()))


def _numbered_answers(text: str, questions: Mapping[int, str]) -> tuple[list[tuple[int, str]], str]:
    """The numbered answers, and the text before the first; further lines belong to the answer."""
    entries: list[tuple[int, list[str]]] = []
    before: list[str] = []
    for number, line in _one_a_line(text, questions):
        if number:
            entries.append((number, [line]))
        elif entries:
            entries[-1][1].append(line)
        else:
            before.append(line)
    # Joined once, whole: an answer of very many lines must not be copied with each of them.
    answers = [(number, "\n".join(lines).strip()) for number, lines in entries]
    return answers, "\n".join(before).strip()
