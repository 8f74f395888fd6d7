"""What a debate's playbook asks of people, of the sources and of the judge (pure)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from core.debate.contributions import Question
from core.debate.rules import Playbook, PlaybookCriterion, VerdictPart, WantedEvidence
from core.debate.state import Debate, once_per_debate

_KINDS = {
    "file": "a file",
    "link": "a link",
    "thread": "a thread",
    "tool": "a tool's answer",
    "text": "pasted text",
}


def criteria_of(playbook: Playbook | None) -> Mapping[str, PlaybookCriterion]:
    criteria = playbook.criteria if playbook else ()
    return {f"k{number}": criterion for number, criterion in enumerate(criteria, start=1)}


def parts_of(playbook: Playbook | None) -> Mapping[str, VerdictPart]:
    parts = playbook.verdict if playbook else ()
    return {f"v{number}": part for number, part in enumerate(parts, start=1)}


def asks_people(debate: Debate) -> bool:
    playbook = debate.setup.playbook
    return playbook is not None and bool(playbook.questions or playbook.evidence)


def standing_questions(debate: Debate) -> Iterator[Question]:
    """What people are asked: the playbook's questions, and for evidence that no source holds."""
    playbook = debate.setup.playbook
    for question in playbook.questions if playbook else ():
        yield Question(text=question.question, assumption=question.assumption)
    if missing := missing_evidence(debate):
        named = "; ".join(f"{evidence.name} ({kinds_words(evidence)})" for evidence in missing)
        yield Question(
            text=f"No source given so far holds this: {named}. What does it show? In Slack it can "
            "also be added in this thread.",
            assumption="Nobody has it. The verdict is given without it, and says so.",
        )


def kinds_words(evidence: WantedEvidence) -> str:
    """The allowed kinds, in words: "a file or a link"."""
    *others, last = (_KINDS[kind] for kind in evidence.kinds)
    return " or ".join(filter(None, (", ".join(others), last)))


@once_per_debate
def missing_evidence(debate: Debate) -> Sequence[WantedEvidence]:
    missing = list[WantedEvidence]()
    for evidence in debate.setup.playbook.evidence if debate.setup.playbook else ():
        # "price" is in "prices", not in "enterprise"; "%" may follow a figure.
        begins = (rf"\b{re.escape(w)}" if w[0].isalnum() else re.escape(w) for w in evidence.words)
        words = re.compile("|".join(begins), re.IGNORECASE)
        if not any(
            words.search(f"{source.reference.title}\n{source.text}")
            for source in debate.evidence
            if source.reference.kind.value in evidence.kinds
        ):
            missing.append(evidence)
    return missing
