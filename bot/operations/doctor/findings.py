"""The result of a check: a mark, what was found, what to do (pure)."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import Enum


class CheckMark(Enum):
    GOOD = "✓"
    BAD = "✗"
    #: Not needed, or not to be checked here.
    SKIPPED = "–"


@dataclass(frozen=True)
class Finding:
    """One line of the report. No secret is ever in it."""

    mark: CheckMark
    #: What was looked at.
    what: str
    #: What was found, in words for people.
    found: str
    #: What to do about it.
    remedy: str = ""
    #: Settings are wrong, not the world.
    is_configuration: bool = False


def good(what: str, words: str) -> Finding:
    return Finding(CheckMark.GOOD, what, words)


def bad(what: str, words: str, remedy: str = "", *, is_configuration: bool = False) -> Finding:
    return Finding(CheckMark.BAD, what, words, remedy, is_configuration)


def skip(what: str, words: str, remedy: str = "") -> Finding:
    """Nothing must be done."""
    return Finding(CheckMark.SKIPPED, what, words, remedy)


def as_text(findings: Iterable[Finding]) -> str:
    lines = list[str]()
    for finding in findings:
        lines.append(f"{finding.mark.value} {finding.what}: {' '.join(finding.found.split())}")
        if finding.remedy:
            lines.append(f"    → {finding.remedy}")
    return "\n".join(lines)


def as_json(findings: Sequence[Finding]) -> str:
    listed = [{**asdict(finding), "mark": finding.mark.name.lower()} for finding in findings]
    report = {"well": is_well(findings), "findings": listed}
    return json.dumps(report, ensure_ascii=False, indent=2) + "\n"


def is_well(findings: Iterable[Finding]) -> bool:
    return all(finding.mark is not CheckMark.BAD for finding in findings)


def exit_code(findings: Iterable[Finding]) -> int:
    """0 when nothing must be done, 4 when settings must be changed, else 1."""
    wrong = [finding for finding in findings if finding.mark is CheckMark.BAD]
    if not wrong:
        return 0
    return 4 if any(finding.is_configuration for finding in wrong) else 1
