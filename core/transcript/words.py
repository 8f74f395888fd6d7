"""Wording and layout shared by all surfaces: agents, turns, usage; sections as Markdown (pure).

Texts of sections are Markdown as models and people wrote it: whoever shows it makes it safe.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.debate.agents import OFFLINE
from core.debate.contributions import Contribution, Summary
from core.debate.evidence import SourceKind
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.turn import ENGINE, PLAYBOOK, RESERVED_IDS, Act, Turn
from core.debate.verdict import Verdict
from core.debate.vote import Ballot
from core.figures import money, number, quantity, tenths
from core.rules.confidence import Confidence
from core.rules.history.material import reads_letters
from core.transcript.markdown import inert, inert_line
from core.usage import Usage

#: What may name agents by their letters.
Spoken = Contribution | Summary | Ballot | Verdict
_READINGS = {
    SourceKind.REGISTER: "Search for earlier decisions",
    SourceKind.DECISION: "Reading of an earlier decision",
}
#: As prompts name positions, and what an agent said: "Position B", "B's critique". A letter alone
#: may be anything: an article, a language, an option.
_POSITION = re.compile(r"\b[Pp]osition ([A-Z])(?![\w+#&]|[-/]\w)")
_POSITIONS = re.compile(
    r"\b[Pp]osition(?:s|en) ([A-Z](?:(?:,|,? and|,? or| und| oder) [A-Z]\b){1,25})"
)
#: What may stand before a letter that is nobody else's: else it is "vendor B's proposal".
_BEFORE = (
    "about|accept|accepted|accepts|after|against|also|and|answer|answers|as|because|both|but|by|"
    "concede|conceded|contradicts|for|from|if|in|like|met|of|on|or|reject|rejected|rejects|see|"
    "since|support|supports|take|than|that|to|under|when|where|while|with"
)
#: What agents are told that a text is: from `Act.noun`.
_NOUNS = "answer|critique|facts|plan|position|proposal|rebuttal|statement"
_SPOKEN = re.compile(
    rf"(?:^\W{{0,20}}|[.,;:!?()\[\]\"“”*—–]\s?|\b(?i:{_BEFORE})\s)"
    rf"([A-Z]['’]s(?:(?:,|,? and|,? or) [A-Z]['’]s){{0,25}}) (?:[a-z]+ )?(?:{_NOUNS})s?\b",
    re.MULTILINE,
)
#: A letter that a sentence of a summary is about: "A: …", "A and C lean", "B moved"; not "A date".
_SUBJECT = re.compile(
    r"(?:^\W{0,6}|[.;:!?]\s+)(?:[A-Z](?=[:,]| \(| (?:and|und) [A-Z]\b)|[B-HJ-Z](?= [a-z]))",
    re.MULTILINE,
)
_ALONE = re.compile(r"(?<![\w'’+#&-])[A-Z](?![\w+#&-])")


def listed_names(names: Sequence[str]) -> str:
    """`Ann, Bob and Cleo`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def name_of(debate: Debate, agent: str) -> str:
    if agent == ENGINE:
        return "Moot"
    if agent == PLAYBOOK:
        return "the playbook"
    ids = {agent.id for agent in debate.setup.agents} | RESERVED_IDS
    return debate.setup.agent(agent).name if agent in ids else agent


def letters_words(debate: Debate, texts: Iterable[Spoken]) -> str:
    """A key to the letters that texts use for agents: `B is Security, C is Legal.`; else "".

    A letter counts only in the words in which prompts use it, and only where the prompt did; in a
    summary, whose prompt calls every agent by a letter, also where one begins a sentence.
    """
    texts = [*texts]
    named = "".join(
        match[1]
        for text in texts
        if isinstance(text, Summary | Verdict | Ballot) or reads_letters(debate, text.turn)
        for form in (_POSITION, _POSITIONS, _SPOKEN)
        for match in form.finditer(_words_in(text))
    )
    for text in texts:
        if isinstance(text, Summary) and _SUBJECT.search(text.text):
            named += "".join(_ALONE.findall(text.text))
    letters = {debate.setup.letter(agent.id): agent.name for agent in debate.setup.agents}
    used = [f"{letter} is {name}" for letter, name in letters.items() if letter in named]
    return ", ".join(used) + "." if used else ""


def _words_in(text: Spoken) -> str:
    """A text with its short form; the reasons of a ballot; what the judge says of agents."""
    match text:
        case Contribution():
            return "\n".join((text.text, text.answer, *text.points))
        case Ballot():
            return "\n".join((*text.reasons.values(), text.why_moved))
        case Verdict():
            return "\n".join((*text.reasons, text.solution, text.dissent))
        case Summary():
            return text.text


def act_words(turn: Turn) -> str:
    blind = turn.act is Act.BALLOT and not turn.round
    return "Blind ballot" if blind else turn.act.label


def work_words(debate: Debate, turn: Turn) -> str:
    """What the turn brings forth; where nobody gave a source, only earlier decisions are read."""
    if turn.act is Act.READING:
        kind = debate.references[int(turn.target or 1) - 1].kind
        return _READINGS.get(kind, act_words(turn))
    return act_words(turn)


def confidence(verdict: Verdict) -> str:
    """`fair (70 of 100)`; `not given` where none can be, with the reason if there is one.

    In debates of older versions it is what the judge said, which no word stands for.
    """
    if verdict.confidence is None:
        return ": ".join(["not given", *verdict.rests_on])
    figure = f"{verdict.confidence} of 100"
    if not verdict.rests_on:
        return f"{figure}, by the judge's own estimate"
    word = Confidence(percent=verdict.confidence, rests_on=verdict.rests_on).word
    return f"{word} ({figure})"


def confidence_words(verdict: Verdict) -> str:
    rests_on = "; ".join(verdict.rests_on) if verdict.confidence is not None else ""
    text = f"Confidence: {confidence(verdict)}."
    return f"{text} It rests on this: {inert_line(rests_on)}." if rests_on else text


def turn_words(debate: Debate, turn: Turn) -> str:
    """The turn in words: `Ann: critique of Bob, round 1`."""
    what = work_words(debate, turn).lower()
    ids = {agent.id for agent in debate.setup.agents}
    if turn.target in ids:
        what += f" of {name_of(debate, turn.target or '')}"
    who = "Auditor" if turn.act is Act.AUDIT else name_of(debate, turn.agent)
    return f"{who}: {what}, {turn.when}"


def after(debate: Debate, at: datetime) -> str:
    """How long after its start: `+12.5 s`."""
    return f"+{tenths((at - debate.started_at).total_seconds())} s"


def seconds_taken(debate: Debate) -> float:
    """Seconds from the start to the end, or to the newest event."""
    return ((debate.ended_at or debate.now) - debate.started_at).total_seconds()


def tokens_words(usage: Usage) -> str:
    """Tokens in one line: `1,200 tokens in (400 cached), 80 out`."""
    cached = f" ({number(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    return f"{quantity(usage.input_tokens, 'token')} in{cached}, {number(usage.output_tokens)} out"


def usage_words(usage: Usage) -> str:
    return f"{tokens_words(usage)}, {quantity(usage.attempts, 'request')}, {money(usage.cost)}"


def calls_words(debate: Debate) -> str:
    """Calls and cost: `9 model calls (11 requests with those repeated or failed), $0.10`.

    A call led to something that is in the log. Requests are all that were made of a model: tries
    again, repairs, and those of turns that failed.
    """
    if debate.calls and all(call.provider == OFFLINE for call in debate.calls):
        return f"no model call, {money(debate.usage.cost)}"
    made, calls = debate.usage.attempts, quantity(len(debate.calls), "model call")
    if made != len(debate.calls):
        calls += f" ({quantity(made, 'request')} with those repeated or failed)"
    return f"{calls}, {money(debate.usage.cost)}"


def blocks(*texts: str) -> str:
    """Blocks of Markdown below one another; empty ones are left out."""
    return "\n\n".join(filter(None, texts))


def titled(title: str, *texts: str, level: int = 2) -> str:
    """Blocks under a heading of that level; empty where there are none."""
    body = blocks(*texts)
    return f"{'#' * level} {title}\n\n{body}" if body else ""


def bullets(items: Iterable[str]) -> str:
    """A Markdown list; items are kept on one line and do nothing."""
    return "\n".join(f"- {inert_line(item)}" for item in items)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; cells are kept on one line and do nothing. Empty without rows."""
    cells = [[inert_line(str(cell)).replace("|", "\\|") for cell in row] for row in (head, *rows)]
    cells.insert(1, ["---"] * len(head))
    return "\n".join(f"| {' | '.join(line)} |" for line in cells) if cells[2:] else ""


def csv_cell(text: str) -> str:
    """A text for a cell of CSV, with an apostrophe before what would be a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def quotation(text: str) -> str:
    """A Markdown quotation: what people wrote cannot pose as the report's own words."""
    return "\n".join(f"> {line}".rstrip() for line in inert(text.strip()).split("\n") if text)


def nested(text: str, level: int) -> str:
    """Inert Markdown whose headings all lie below a heading of that level."""
    return inert(text.strip(), level)


@dataclass(frozen=True, kw_only=True)
class ResultLine:
    text: str
    label: str = ""
    #: Who said it; without a label who did it: the text goes on after their name.
    by: Person | None = None
    #: The turn whose post says more.
    turn: Turn | None = None
    is_warning: bool = False


@dataclass(frozen=True, kw_only=True)
class ResultSection:
    """A titled part of a result: a text, lines, a table; what is empty is not shown."""

    title: str
    text: str = ""
    lines: Sequence[ResultLine] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    #: Stands below all of it: words of ours, safe Markdown.
    note: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.text.strip() or self.lines or self.rows or self.note)


def lines_of(texts: Iterable[str]) -> Sequence[ResultLine]:
    return tuple(ResultLine(text=text) for text in texts if text)


def line_words(line: ResultLine) -> str:
    """A line as Markdown: `Note 1, Sam: No Kafka people.`; `Sam added the option "SQS".`."""
    who = line.by.display_name if line.by else ""
    if who and not line.label:
        return f"{who} {line.text}"
    label = ", ".join(filter(None, (line.label, who)))
    return f"{label}: {line.text}" if label else line.text


def as_markdown(section: ResultSection, level: int) -> str:
    return titled(inert_line(section.title), body_words(section, level), level=level)


def body_words(section: ResultSection, level: int) -> str:
    """The same without its heading."""
    return blocks(
        nested(section.text, level),
        bullets(map(line_words, section.lines)),
        table(section.head, section.rows),
        section.note,
    )
