"""Findings of a review: each once, how they stand, and in how many words they are told (pure)."""

import re
from collections.abc import Iterable, Sequence

from core.debate.findings import FindingStatus, ReviewFinding, Severity
from core.debate.state import Debate, once_per_debate
from core.debate.turn import Act
from core.figures import quantity

#: Findings that one agent may make, on each look.
MOST_FINDINGS = 8
#: Findings that are put to the author: more are not answered one by one.
MOST_PUT = 8
#: The gravest first.
ORDER = tuple(Severity)
#: What the author is asked about.
WEIGHTY = frozenset({Severity.BLOCKER, Severity.MAJOR})
#: Of several second looks at a finding the first of these counts.
_BY_WEAKNESS = tuple(FindingStatus)
#: Two findings are one where so large a share of their words is the same: of the words they are
#: about, and of what is wrong.
_SAME_PLACE, _SAME_FAULT = 0.6, 0.5
_WORD = re.compile(r"[^\W_]+")
#: Words that tell no faults apart.
_IDLE = frozenset(
    _WORD.findall("a an and are as at be by for from has in is it of on or the this to")
)


def raised_findings(debate: Debate) -> Sequence[ReviewFinding]:
    """What the agents found by themselves, agent by agent; what was struck out is left out."""
    return _of(debate, Act.REVIEW)


def merge_findings(
    findings: Sequence[ReviewFinding], same_as: Sequence[int] = ()
) -> tuple[ReviewFinding, ...]:
    """Each finding once, with everybody who raised it, the gravest first, numbered from 1.

    Of several that say the same the gravest stays as it is worded, else the first.

    Args:
        findings: The findings, each with its `raised_by`.
        same_as: For each the place (from 0) of the first one that says the same, its own where
            none does; empty: by their words.
    """
    # For each the first one of another agent that says the same in nearly the same words.
    firsts = list(same_as)
    for place, finding in enumerate(() if same_as else findings):
        same = (
            firsts[other]
            for other in range(place)
            if not set(findings[other].raised_by) & set(finding.raised_by)
            and findings[other].citation.source == finding.citation.source
            and _share(findings[other].citation.words, finding.citation.words) >= _SAME_PLACE
            and _share(findings[other].wrong, finding.wrong) >= _SAME_FAULT
        )
        firsts.append(next(same, place))
    groups: dict[int, list[ReviewFinding]] = {}
    for place, finding in enumerate(findings):
        groups.setdefault(firsts[place], []).append(finding)
    once = [
        min(group, key=lambda finding: ORDER.index(finding.severity)).model_copy(
            update={
                "raised_by": tuple(
                    dict.fromkeys(by for finding in group for by in finding.raised_by)
                )
            }
        )
        for group in groups.values()
    ]
    once.sort(key=lambda finding: ORDER.index(finding.severity))
    return tuple(
        finding.model_copy(update={"number": number})
        for number, finding in enumerate(once, start=1)
    )


@once_per_debate
def standing(debate: Debate) -> tuple[ReviewFinding, ...]:
    """Every finding as it stands now, the gravest first.

    One is resolved, or answered, if no second look leaves it open; new findings of second looks
    are numbered on.
    """
    first = debate.findings.items if debate.findings else merge_findings(raised_findings(debate))
    second_looks = _of(debate, Act.SECOND_LOOK)
    findings = list[ReviewFinding]()
    for finding in first:
        looks = [item for item in second_looks if item.number == finding.number]
        weakest = min(looks, key=lambda look: _BY_WEAKNESS.index(look.status), default=finding)
        said_so = [look for look in looks if look.status is weakest.status]
        update = {
            "status": weakest.status,
            "why": next((look.why for look in said_so if look.why), ""),
            "mended_by": next((look.mended_by for look in said_so if look.mended_by), None),
            "changed": next((look.changed for look in looks if look.changed), ()),
        }
        findings.append(finding.model_copy(update=update))
    new = merge_findings([finding for finding in second_looks if not finding.number])
    findings += [
        finding.model_copy(
            update={"status": FindingStatus.NEW, "number": len(first) + finding.number}
        )
        for finding in new
    ]
    return tuple(
        sorted(findings, key=lambda finding: (ORDER.index(finding.severity), finding.number))
    )


def findings_for_author(debate: Debate) -> Sequence[ReviewFinding]:
    """The findings the author is asked about: those that matter, the gravest first."""
    items = debate.findings.items if debate.findings else ()
    return [item for item in items if item.severity in WEIGHTY][:MOST_PUT]


def unasked_count(debate: Debate) -> int:
    """How many findings matter and are not put to the author, because there are too many."""
    items = debate.findings.items if debate.findings else ()
    return max(0, sum(item.severity in WEIGHTY for item in items) - MOST_PUT)


def not_put_words(debate: Debate) -> str:
    """A sentence that findings that matter are not put to the author; empty where all are."""
    count = unasked_count(debate)
    if not count:
        return ""
    what = "1 more that matters is" if count == 1 else f"{count} more that matter are"
    return f"{what} not asked about: nobody answers for them, and they stand in the verdict."


def own(debate: Debate, agent: str) -> Sequence[ReviewFinding]:
    """The merged findings that this agent raised."""
    items = debate.findings.items if debate.findings else ()
    return [item for item in items if agent in item.raised_by]


def struck_count(debate: Debate) -> int:
    """How many findings were struck out: the words they are about are not in the subject."""
    findings = (
        finding
        for contribution in debate.contributions.values()
        for finding in contribution.findings
    )
    return sum(not finding.counts for finding in findings)


def struck_words(debate: Debate) -> str:
    """That findings were struck out, in a sentence; empty where none was."""
    lost = struck_count(debate)
    return (
        f"{quantity(lost, 'finding')} struck out: not about words of the subject." if lost else ""
    )


def counted_words(findings: Iterable[ReviewFinding]) -> str:
    """How many are still to be mended, by severity: "2 blockers, 3 minor"; empty if none is."""
    severities = [finding.severity for finding in findings if finding.is_open]
    words = {
        Severity.BLOCKER: quantity(severities.count(Severity.BLOCKER), "blocker"),
        Severity.MAJOR: f"{severities.count(Severity.MAJOR)} major",
        Severity.MINOR: f"{severities.count(Severity.MINOR)} minor",
        Severity.DETAIL: quantity(severities.count(Severity.DETAIL), "detail"),
    }
    return ", ".join(words[severity] for severity in ORDER if severity in severities)


def answered_words(findings: Iterable[ReviewFinding]) -> str:
    """How many were answered without a changed text: "2 answered"; empty if none was."""
    number = sum(
        finding.counts and finding.status is FindingStatus.ANSWERED for finding in findings
    )
    return f"{number} answered" if number else ""


def line_of(finding: ReviewFinding) -> str:
    """A finding in a line: severity, the words it is about and their place, what is wrong."""
    cited = finding.citation
    place = f" ({', '.join(filter(None, (cited.source, cited.place)))})"
    mend = f" To mend it: {finding.mend}" if finding.mend else ""
    return f"{finding.severity.value}: “{cited.words}”{place}: {finding.wrong}{mend}"


def _of(debate: Debate, act: Act) -> Sequence[ReviewFinding]:
    contributions = {
        contribution.turn.agent: contribution
        for contribution in debate.contributions.values()
        if contribution.turn.act is act
    }
    return [
        finding.model_copy(update={"raised_by": (agent.id,)})
        for agent in debate.setup.agents
        for finding in (contributions[agent.id].findings if agent.id in contributions else ())
        if finding.counts
    ]


def _share(text: str, other: str) -> float:
    """The share of the shorter text's words that the longer one has as well."""
    words = [
        {word for word in _WORD.findall(text.casefold()) if word not in _IDLE}
        for text in (text, other)
    ]
    shorter = min(map(len, words))
    return len(words[0] & words[1]) / shorter if shorter else 0.0
