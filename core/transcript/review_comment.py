"""Findings of a review as Markdown: a table for reports, a task list for a pull request (pure)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from core.debate.agents import OFFLINE
from core.debate.contributions import FindingStatus, ReviewFinding
from core.debate.state import Debate
from core.errors import BadInput
from core.evidence.citations import RawCitation, render_citations
from core.figures import quantity
from core.redaction import clean
from core.rules.formats import review
from core.rules.formats.review import current_findings, references, struck_words
from core.transcript.cited import decision_line, link_citations
from core.transcript.words import ResultSection, blocks, name_of

#: Limits of a comment and of each field. GitHub allows 65,536 characters in a comment.
_COMMENT_MAX_CHARS = 60_000
_FIELD_MAX_CHARS = 600
_BY_MODELS = "Written by AI agents, who can be wrong: check what matters."
_BY_NOBODY = (
    "No AI model was asked, so nothing was looked for: that no finding is here says nothing."
)
#: Markdown marks. GitHub does not treat `_` between letters as a mark.
_MARKS = re.compile(r"[\\`*\[\]!|~#]|(?<!\w)_|_(?!\w)")
#: Inline code.
_CODE = re.compile(r"(?<!`)(`{1,9})(?!`)(.{1,600}?)(?<!`)\1(?!`)")
#: Text that GitHub turns into mentions, issues, links, `:emoji:` or formulas between dollar signs.
#: https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting
_ACTIVE = re.compile(
    r"@|(?<=#)(?=\d)|(?<=\bGH)-(?=\d)|(?<=:)(?=//|[\w+-]{1,50}:)|(?<=\bwww)(?=\.)|\$",
    re.IGNORECASE,
)
#: An invisible character that separates two words.
_JOINER = "\u2060"
_RUNS = re.compile(r"`+")


def findings_section(debate: Debate, title: str) -> ResultSection:
    """All findings of a review, the most severe first, with changes of the text they quote."""
    if debate.setup.format != review.NAME:
        return ResultSection(title=title)
    findings = debate.verdict.findings if debate.verdict else current_findings(debate)
    rows = [
        (
            finding.number,
            finding.severity.value,
            f"“{finding.citation.words}” ({_place(finding)})",
            link_citations(finding.wrong, ()),
            link_citations(finding.mend, ()),
            link_citations(": ".join(filter(None, (finding.status.value, finding.why))), ()),
            ", ".join(name_of(debate, agent) for agent in finding.raised_by),
        )
        for finding in findings
    ]
    changes = [
        "\n    ".join((f"Changed at finding {finding.number}:\n", *map(clean, finding.changed)))
        for finding in findings
        if finding.changed
    ]
    head = ("", "Severity", "About", "What is wrong", "What would mend it", "State", "Found by")
    note = blocks(*changes, struck_words(debate))
    return ResultSection(title=title, head=head, rows=rows, note=note)


def task_list(debate: Debate) -> str:
    """The verdict of a review as a comment for GitHub, with a task for each finding.

    Text of people and agents is inert: no mentions, no references to issues, no HTML.
    """
    if debate.setup.format != review.NAME:
        raise BadInput(f"Debate {debate.id} is no review: only reviews can be written so.")
    verdict = debate.verdict
    names = {source.id: source.reference.title for source in debate.evidence}
    decision = decision_line(verdict) if verdict else "no verdict"
    reasons = verdict.reasons if verdict else ()
    text = blocks(
        f"### Review: {in_text(decision)}",
        f"Of {', '.join(in_text(reference.title) for reference in references(debate))}.",
        "\n".join(f"- {in_text(reason, names)}" for reason in reasons),
        struck_words(debate),
        *(f"> **Note:** {in_text(warning)}" for warning in (verdict.warnings if verdict else ())),
    )
    footer, empty = _BY_MODELS, "No findings." if verdict else "No findings yet."
    if all(agent.provider == OFFLINE for agent in (*debate.setup.agents, debate.setup.judge)):
        footer, empty = _BY_NOBODY, ""
    findings = verdict.findings if verdict else current_findings(debate)
    tasks = _tasks(findings, names, _COMMENT_MAX_CHARS - len(text))
    return blocks(text, tasks or empty, f"{footer} Moot review `{debate.id}`.") + "\n"


def _tasks(findings: Sequence[ReviewFinding], names: Mapping[str, str], room: int) -> str:
    """Tasks in at most `room` characters, open findings first, and the number of omitted ones."""
    tasks, omitted = list[str](), 0
    for finding in sorted(findings, key=lambda finding: not finding.is_open):
        task = "\n".join(_task(finding, names))
        if len(task) > room:
            omitted += 1
        else:
            tasks.append(task)
            room -= len(task)
    note = f"{quantity(omitted, 'more finding')}: see the report." if omitted else ""
    return blocks("\n".join(tasks), note)


def in_text(text: str, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """Untrusted text as one inert line of GitHub's Markdown; `names` are titles of sources by id.

    Quotes look as in reports, without the marks of their check. Code stays code.
    """

    def quote(mention: RawCitation, is_verified: bool) -> str:  # noqa: FBT001 - the port's
        words = f"“{mention.words}” " if mention.words else ""
        name = names.get(mention.source, mention.source)
        return f"{words}({name})" if is_verified else f"{words}(not found in {name})"

    line = " ".join(clean(render_citations(text, quote)).split())
    if len(line) > _FIELD_MAX_CHARS:
        line = f"{line[:_FIELD_MAX_CHARS]}…"
    result, position = "", 0
    for code in _CODE.finditer(line):
        result += _inert(line[position : code.start()]) + as_code(code[2].strip())
        position = code.end()
    return result + _inert(line[position:])


def _inert(line: str) -> str:
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _ACTIVE.sub(lambda match: f"{match[0]}{_JOINER}", line)
    # A dollar sign becomes an entity, because GitHub would show a backslash before it.
    return _MARKS.sub(lambda match: f"\\{match[0]}", line).replace("$", "&#36;")


def as_code(text: str) -> str:
    """Untrusted text as inline code, in which nothing is active."""
    line = " ".join(clean(text).split())[:_FIELD_MAX_CHARS] or " "
    fence = "`" * (1 + max((len(run) for run in _RUNS.findall(line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _task(finding: ReviewFinding, names: Mapping[str, str]) -> Iterator[str]:
    mark = " " if finding.is_open else "x"
    mend = f" *To mend it*: {in_text(finding.mend, names)}" if finding.mend else ""
    is_plain = finding.status is FindingStatus.OPEN and not finding.why
    state = "" if is_plain else f" *{finding.status.value}*"
    reason = f": {in_text(finding.why, names)}" if finding.why else ""
    yield (
        f"- [{mark}] **{finding.severity.value}** {as_code(_place(finding, names))}: "
        f"{in_text(finding.wrong, names)}{mend}{state}{reason}"
    )
    yield f"  > {as_code(finding.citation.words)}"
    yield from (f"  > {as_code(line)}" for line in finding.changed)


def _place(finding: ReviewFinding, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """The place of the quoted words: path and line of a diff, else source with page or line."""
    source, place = finding.citation.source, finding.citation.place
    source = names.get(source, source)
    return place if ":" in place else ", ".join(filter(None, (source, place)))
