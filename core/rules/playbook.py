"""A playbook's questions, missing evidence, criteria and verdict sections (pure)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from core.debate.contributions import Question
from core.debate.rules import Playbook, PlaybookCriterion, VerdictPart, WantedEvidence
from core.debate.state import Debate, cached_per_debate
from core.figures import listed

_KINDS = {
    "file": "a file",
    "link": "a link",
    "thread": "a thread",
    "tool": "a tool's answer",
    "text": "pasted text",
}


def criteria_of(playbook: Playbook | None) -> Mapping[str, PlaybookCriterion]:
    """The criteria by the ids that the judge reads: k1, k2 and so on."""
    criteria = playbook.criteria if playbook else ()
    return {f"k{number}": criterion for number, criterion in enumerate(criteria, start=1)}


def musts_of(playbook: Playbook | None) -> Mapping[str, str]:
    """The names of the criteria that an option must meet, by the same ids."""
    return {id_: item.name for id_, item in criteria_of(playbook).items() if item.must}


def parts_of(playbook: Playbook | None) -> Mapping[str, VerdictPart]:
    """The extra sections of the verdict by the ids that the judge reads: v1, v2 and so on."""
    parts = playbook.verdict if playbook else ()
    return {f"v{number}": part for number, part in enumerate(parts, start=1)}


def asks_people(debate: Debate) -> bool:
    playbook = debate.setup.playbook
    return playbook is not None and bool(playbook.questions or playbook.evidence)


def standing_questions(debate: Debate) -> Iterator[Question]:
    """The playbook's questions to people, and one question for missing evidence."""
    playbook = debate.setup.playbook
    for question in playbook.questions if playbook else ():
        yield Question(text=question.question, assumption=question.assumption)
    if missing := missing_evidence(debate):
        names = "; ".join(f"{evidence.name} ({kinds_words(evidence)})" for evidence in missing)
        yield Question(
            text=f"No source given so far holds this: {names}. What does it show? In Slack it can "
            "also be added in this thread.",
            assumption="Nobody has it. The verdict is given without it, and says so.",
        )


def kinds_words(evidence: WantedEvidence) -> str:
    """The allowed kinds, in words: "a file or a link"."""
    return listed([_KINDS[kind] for kind in evidence.kinds], "or")


@cached_per_debate
def missing_evidence(debate: Debate) -> Sequence[WantedEvidence]:
    missing = list[WantedEvidence]()
    for evidence in debate.setup.playbook.evidence if debate.setup.playbook else ():
        # "price" matches "prices", but not "enterprise". A mark such as "%" matches anywhere.
        begins = (rf"\b{re.escape(w)}" if w[0].isalnum() else re.escape(w) for w in evidence.words)
        words = re.compile("|".join(begins), re.IGNORECASE)
        if not any(
            words.search(f"{source.reference.title}\n{source.text}")
            for source in debate.evidence
            if source.reference.kind.value in evidence.kinds
        ):
            missing.append(evidence)
    return missing
