"""A playbook as agents and judge read it: a quoted part, the same for all; labels for the judge."""

from collections.abc import Sequence

from core.debate.state import Debate
from core.request import Part, PartKind
from core.rules.formats.review import NAME as REVIEW
from core.rules.playbook import criteria_of, kinds_words, missing_evidence, parts_of


def playbook_part(debate: Debate) -> Sequence[Part]:
    """What kind of debate it is, what it compares options by and what its verdict must hold."""
    playbook = debate.setup.playbook
    if playbook is None:
        return ()
    weighed, fails = "What options are compared by", " An option that fails this is no good."
    if debate.setup.format == REVIEW:
        weighed, fails = "What the subject is judged by", " Where it fails this, it is not ready."
    lists = (
        (
            f"{weighed}, the gravest first",
            [
                f"{criterion.name}: {criterion.meaning}" + (fails if criterion.must else "")
                for criterion in playbook.criteria
            ],
        ),
        ("What the answer should rest on", [evidence.name for evidence in playbook.evidence]),
        (
            "Sections the verdict will have besides the usual ones",
            [f"{part.title}: {part.asks}" for part in playbook.verdict],
        ),
    )
    blocks = [f"{playbook.title}: {playbook.description}"]
    blocks += ["\n- ".join([f"{title}:", *items]) for title, items in lists if items]
    text = "\n\n".join(blocks)
    return (Part(kind=PartKind.PLAYBOOK, label="The kind of debate", text=text),)


def judges_parts(debate: Debate) -> Sequence[Part]:
    """For the judge: evidence that is missing, and labels for what the playbook names."""
    playbook = debate.setup.playbook
    missing = [
        f"- {evidence.name} ({kinds_words(evidence)})" for evidence in missing_evidence(debate)
    ]
    labels = [f"{label}: {criterion.name}" for label, criterion in criteria_of(playbook).items()]
    labels += [f"{label}: {part.title}" for label, part in parts_of(playbook).items()]
    lists = (
        ("What the answer should rest on and no source holds", missing),
        ("Labels of what the kind of debate names", labels),
    )
    return [
        Part(kind=PartKind.PLAYBOOK, label=label, text="\n".join(lines))
        for label, lines in lists
        if lines
    ]
