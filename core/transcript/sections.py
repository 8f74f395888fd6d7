"""What is said of a verdict, section by section: each surface has one way to show a section (pure).

Texts are Markdown as models and people wrote it: whoever shows it makes it safe.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.acts.verdict_faults import is_doubted
from core.figures import percent
from core.models import Debate, Person, Relation, Turn, Verdict
from core.rules.options import held_by, leading, options_of
from core.rules.raised import first_turn
from core.transcript.cited import check_words
from core.transcript.found import changes_words, findings_rows
from core.transcript.markdown import inert_line
from core.transcript.options import criteria_rows, criteria_title
from core.transcript.people import assumptions
from core.transcript.words import bullets, name_of, nested, table, turn_words

#: Titles of sections that some surface shows in its own way.
REASONS, SOLUTION, FINDINGS = "Why", "Reasoning and solution", "Findings"
TRADEOFFS, OVERTURNED_BY = "Trade-offs", "What would overturn it"


@dataclass(frozen=True, kw_only=True)
class ResultLine:
    """A line of a section."""

    text: str
    #: Stands before the text.
    label: str = ""
    #: On which turn, or by whom, it was said.
    turn: Turn | None = None
    by: Person | None = None
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
        """Whether it says nothing."""
        return not (self.text.strip() or self.lines or self.rows or self.note)


def lines_of(texts: Iterable[str]) -> Sequence[ResultLine]:
    """A line for each text."""
    return tuple(ResultLine(text=text) for text in texts)


def line_words(debate: Debate, line: ResultLine) -> str:
    """A line as Markdown: `Risk, Ann: proposal, round 1: It is slow.`."""
    who = turn_words(debate, line.turn) if line.turn else ""
    who = line.by.display_name if line.by else who
    label = ", ".join(filter(None, (line.label, who)))
    return f"{label}: {line.text}" if label else line.text


def as_markdown(debate: Debate, section: ResultSection, level: int) -> str:
    """A section as inert Markdown under a heading of that level; empty where it says nothing."""
    body = body_words(debate, section, level)
    return f"{'#' * level} {inert_line(section.title)}\n\n{body}" if body else ""


def body_words(debate: Debate, section: ResultSection, level: int) -> str:
    """The same without its heading."""
    parts = (
        nested(section.text, level),
        bullets(line_words(debate, line) for line in section.lines),
        table(section.head, section.rows) if section.rows else "",
        section.note,
    )
    return "\n\n".join(filter(None, parts))


def verdict_sections(debate: Debate, verdict: Verdict) -> Iterator[ResultSection]:
    """Every field of a verdict that says something, what a reader needs first at the top.

    Args:
        debate: The debate.
        verdict: Its verdict, quotes in it as people read them (`cited_verdict`).
    """
    heads, rows = findings_rows(debate)
    criteria_heads, criteria = criteria_rows(debate, verdict)
    requirements = [
        (
            requirement.text,
            requirement.status.value
            + (" (an audit doubts it)" if is_doubted(debate, requirement) else ""),
            requirement.words or "–",
        )
        for requirement in verdict.requirements
    ]
    unmet = () if requirements else verdict.unmet_requirements
    sections = (
        ResultSection(title=FINDINGS, head=heads, rows=rows, note=changes_words(debate)),
        ResultSection(title=REASONS, lines=lines_of(verdict.reasons), note=check_words(debate)),
        *(ResultSection(title=own.title, text=own.text) for own in verdict.sections),
        ResultSection(
            title="Dissent", text=verdict.dissent, lines=tuple(_holdouts(debate, verdict))
        ),
        ResultSection(title=OVERTURNED_BY, lines=lines_of(verdict.overturned_by)),
        ResultSection(title="Said by one agent only", lines=lone_lines(debate, verdict)),
        ResultSection(title="Earlier decisions", lines=earlier_lines(verdict)),
        ResultSection(title=SOLUTION, text=_without_decision(verdict)),
        ResultSection(title="Implementation", text=verdict.implementation),
        ResultSection(
            title="Requirements",
            head=("Requirement", "Status", "Words that show it"),
            rows=requirements,
        ),
        ResultSection(title="Requirements that are not met", lines=lines_of(unmet)),
        ResultSection(title=criteria_title(debate), head=criteria_heads, rows=criteria),
        ResultSection(title=TRADEOFFS, lines=lines_of(verdict.tradeoffs)),
        ResultSection(title="Recommendations", lines=lines_of(verdict.recommendations)),
        ResultSection(title="Open questions", lines=lines_of(verdict.open_questions)),
        ResultSection(title="Assumptions", lines=lines_of(assumptions(debate))),
    )
    return (section for section in sections if not section.is_empty)


def notes_section(debate: Debate, verdict: Verdict | None) -> ResultSection:
    """What people added, and what became of it; what the judge passes over, too."""
    outcomes = {outcome.note: outcome for outcome in (verdict.notes if verdict else ())}
    lines = list[ResultLine]()
    for note in debate.notes:
        outcome = outcomes.get(note.id)
        used = "used" if outcome and outcome.used else "not used"
        silent = "The judge says nothing about it."
        if verdict is None:
            used, silent = "not answered", "There is no verdict."
        why = outcome.explanation if outcome else silent
        text = f"“{note.text}” ({used}) {why}"
        lines.append(ResultLine(label=f"Note {note.number}", by=note.author, text=text))
    return ResultSection(title="What became of the notes", lines=lines)


def lone_lines(debate: Debate, verdict: Verdict) -> Sequence[ResultLine]:
    """What one agent alone raised and the decision leaves out, with where it stands."""
    return tuple(
        ResultLine(
            label=point.kind.value.capitalize(), turn=first_turn(debate, point), text=point.text
        )
        for point in verdict.lone
    )


def earlier_lines(verdict: Verdict, *, whole: bool = True) -> Sequence[ResultLine]:
    """How the verdict stands to earlier decisions; in whole, with why."""
    lines = list[ResultLine]()
    for earlier in verdict.earlier:
        title = f"[{earlier.title}]({earlier.address})" if earlier.address else earlier.title
        why = f": {earlier.why}" if whole and earlier.why else ""
        lines.append(
            ResultLine(
                label=f"{earlier.relation.value.capitalize()} {earlier.source}",
                text=f"{title} (`{earlier.debate}`){why}",
                is_warning=earlier.relation is Relation.CONTRADICTS,
            )
        )
    return lines


def _holdouts(debate: Debate, verdict: Verdict) -> Iterator[ResultLine]:
    """Agents who hold another option best at the end, and how likely."""
    for agent in debate.setup.agents if verdict.option else ():
        shares = held_by(debate, agent.id)
        best = leading(shares)
        if best and best != verdict.option:
            name = options_of(debate).name(best)
            text = f"{name_of(debate, agent.id)} ended with {name} ({percent(shares[best])})"
            yield ResultLine(text=text)


def _without_decision(verdict: Verdict) -> str:
    """The solution without a first paragraph that only says the decision again."""
    first, _, rest = verdict.solution.strip().partition("\n\n")
    texts = [" ".join(text.split()).strip("*# .") for text in (first, verdict.decision)]
    return rest if rest.strip() and texts[0] == texts[1] else verdict.solution
