"""The result of a check: a mark, a finding, and a remedy (pure)."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import Enum


class CheckMark(Enum):
    GOOD = "✓"
    BAD = "✗"
    #: Not needed, or cannot be checked here.
    SKIPPED = "–"


@dataclass(frozen=True)
class Finding:
    """One line of the report. It must not contain secrets."""

    mark: CheckMark
    #: The thing that was checked.
    what: str
    #: The result of the check, as text for people.
    found: str
    #: How to correct it.
    remedy: str = ""
    #: Whether settings must be changed; decides the exit code.
    is_configuration: bool = False


def good(subject: str, text: str) -> Finding:
    return Finding(CheckMark.GOOD, subject, text)


def bad(subject: str, text: str, remedy: str = "", *, is_configuration: bool = False) -> Finding:
    return Finding(CheckMark.BAD, subject, text, remedy, is_configuration)


def skip(subject: str, text: str, remedy: str = "") -> Finding:
    """A finding that needs no action."""
    return Finding(CheckMark.SKIPPED, subject, text, remedy)


def as_text(findings: Iterable[Finding]) -> str:
    lines = list[str]()
    for finding in findings:
        lines.append(f"{finding.mark.value} {finding.what}: {' '.join(finding.found.split())}")
        if finding.remedy:
            lines.append(f"    → {finding.remedy}")
    return "\n".join(lines)


def as_json(findings: Sequence[Finding]) -> str:
    rows = [{**asdict(finding), "mark": finding.mark.name.lower()} for finding in findings]
    report = {"well": is_well(findings), "findings": rows}
    return json.dumps(report, ensure_ascii=False, indent=2) + "\n"


def is_well(findings: Iterable[Finding]) -> bool:
    return all(finding.mark is not CheckMark.BAD for finding in findings)


def exit_code(findings: Iterable[Finding]) -> int:
    """0 when nothing must be done, 4 when settings must be changed, else 1."""
    problems = [finding for finding in findings if finding.mark is CheckMark.BAD]
    if not problems:
        return 0
    return 4 if any(finding.is_configuration for finding in problems) else 1
