"""Findings of a review: each once, how they stand, and in how many words they are told (pure)."""

import re
from collections import Counter
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
    for first, finding in zip(firsts, findings, strict=True):
        groups.setdefault(first, []).append(finding)
    once = list[ReviewFinding]()
    for group in groups.values():
        raised_by = tuple(dict.fromkeys(by for finding in group for by in finding.raised_by))
        once.append(min(group, key=_weight).model_copy(update={"raised_by": raised_by}))
    return tuple(
        finding.model_copy(update={"number": number})
        for number, finding in enumerate(sorted(once, key=_weight), start=1)
    )


def _weight(finding: ReviewFinding) -> int:
    return ORDER.index(finding.severity)


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
    for finding in merge_findings([finding for finding in second_looks if not finding.number]):
        update = {"status": FindingStatus.NEW, "number": len(first) + finding.number}
        findings.append(finding.model_copy(update=update))
    return tuple(sorted(findings, key=lambda finding: (_weight(finding), finding.number)))


def findings_for_author(debate: Debate) -> Sequence[ReviewFinding]:
    items = debate.findings.items if debate.findings else ()
    return [item for item in items if item.severity in WEIGHTY][:MOST_PUT]


def unasked_count(debate: Debate) -> int:
    items = debate.findings.items if debate.findings else ()
    return max(0, sum(item.severity in WEIGHTY for item in items) - MOST_PUT)


def not_put_words(debate: Debate) -> str:
    count = unasked_count(debate)
    if not count:
        return ""
    what = "1 more that matters is" if count == 1 else f"{count} more that matter are"
    return f"{what} not asked about: nobody answers for them, and they stand in the verdict."


def own(debate: Debate, agent: str) -> Sequence[ReviewFinding]:
    items = debate.findings.items if debate.findings else ()
    return [item for item in items if agent in item.raised_by]


def struck_count(debate: Debate) -> int:
    findings = (it for said in debate.contributions.values() for it in said.findings)
    return sum(not finding.counts for finding in findings)


def struck_words(debate: Debate) -> str:
    lost = quantity(struck_count(debate), "finding")
    return f"{lost} struck out: not about words of the subject." if struck_count(debate) else ""


def counted_words(findings: Iterable[ReviewFinding]) -> str:
    """How many are still to be mended, by severity: "2 blockers, 3 minor"; empty if none is."""
    count = Counter(finding.severity for finding in findings if finding.is_open)
    plurals = {Severity.MAJOR: "major", Severity.MINOR: "minor"}
    return ", ".join(
        quantity(count[severity], severity.value, plurals.get(severity, ""))
        for severity in ORDER
        if count[severity]
    )


def answered_words(findings: Iterable[ReviewFinding]) -> str:
    number = sum(
        finding.counts and finding.status is FindingStatus.ANSWERED for finding in findings
    )
    return f"{number} answered" if number else ""


def line_of(finding: ReviewFinding) -> str:
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
    words = [
        {word for word in _WORD.findall(text.casefold()) if word not in _IDLE}
        for text in (text, other)
    ]
    shorter = min(map(len, words))
    return len(words[0] & words[1]) / shorter if shorter else 0.0
