"""What one model alone would have said, and what the debate added to it (pure).

Nothing is said before the verdict. What was added is counted from what is in the log: items of the
verdict whose telling words the single answer does not hold. What it says in quite other words
counts as added; that is told wherever the items are listed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.evidence.words import words_of
from core.figures import counted, money
from core.models import Citation, CitationStatus, Debate
from core.rules import shadow
from core.rules.options import options_of
from core.transcript.cited import cited, cited_verdict, where
from core.transcript.inert import inert_line
from core.transcript.words import bullets, nested

#: So large a share of an item's telling words must stand in a text that says it.
_SAID_FROM = 0.6
#: Shorter words tell little; of longer ones the beginning counts, so that endings do not.
_SHORTEST, _STEM = 4, 5
BY_WORDS = (
    "Compared word by word: what the single answer says in quite other words counts as added."
)


@dataclass(frozen=True, kw_only=True)
class Added:
    """What the verdict holds that the single answer does not."""

    #: Names of options it does not mention.
    options: tuple[str, ...] = ()
    #: Trade-offs and the dissent.
    risks: tuple[str, ...] = ()
    overturners: tuple[str, ...] = ()
    #: Verified quotes.
    facts: tuple[Citation, ...] = ()

    @property
    def words(self) -> str:
        """`1 option, 2 risks`; empty for nothing."""
        kinds = (
            (self.options, "option"),
            (self.risks, "risk"),
            (self.overturners, "fact that would overturn it", "facts that would overturn it"),
            (self.facts, "quoted fact"),
        )
        return ", ".join(counted(len(items), *names) for items, *names in kinds if items)


def says(text: str, item: str) -> bool:
    """Whether a text holds most of an item's telling words, or the item as it is."""
    stems = {word[:_STEM] for word in words_of(text)}
    telling = {
        word[:_STEM]
        for word in words_of(item)
        if len(word) >= _SHORTEST or any(map(str.isdigit, word))
    }
    if not telling:
        return f" {' '.join(words_of(item))} " in f" {' '.join(words_of(text))} "
    return len(telling & stems) >= _SAID_FROM * len(telling)


def added(debate: Debate) -> Added:
    """What the debate added to the single answer; nothing before the verdict or without one."""
    alone, verdict = debate.shadow, debate.verdict
    if alone is None or verdict is None or shadow.is_sealed(debate):
        return Added()
    text = cited(alone.text, alone.citations)
    shown = cited_verdict(verdict)
    risks = (*shown.tradeoffs, *([shown.dissent] if shown.dissent.strip() else ()))
    known = {" ".join(words_of(one.words)) for one in alone.citations}
    quoted = [one for one in verdict.citations if one.status is CitationStatus.VERIFIED]
    return Added(
        options=tuple(one.name for one in options_of(debate).items if not says(text, one.name)),
        risks=tuple(one for one in risks if not says(text, one)),
        overturners=tuple(one for one in shown.overturned_by if not says(text, one)),
        facts=tuple(one for one in quoted if " ".join(words_of(one.words)) not in known),
    )


def shadow_words(debate: Debate) -> str:
    """In two sentences what one model alone would have said and what the debate added.

    Empty before the verdict, and where no model answered alone. Plain text, as models wrote it.
    """
    alone = debate.shadow
    if alone is None or debate.verdict is None or shadow.is_sealed(debate):
        return ""
    agrees = shadow.agrees(debate)
    said = "the same." if agrees else f"“{alone.decision.strip().rstrip('.')}”."
    if agrees is None:
        said += " Whether that is the same was not compared."
    more = added(debate).words or "nothing that could be counted"
    return f"A single answer would have said: {said} The debate added: {more}."


def cost_words(debate: Debate) -> str:
    """What the single answer cost, of whose making; empty before the verdict or without one."""
    alone = debate.shadow
    if alone is None or shadow.is_sealed(debate):
        return ""
    call = alone.call
    by = f" of {call.provider}/{call.model}" if call else ""
    cost = money(shadow.spent(debate).cost)
    return f"The single answer{by} cost {cost}, which the debate's total holds."


def shadow_section(debate: Debate, *, level: int = 2) -> str:
    """All of it as Markdown under a heading of that level; empty as above."""
    mark, alone = "#" * level, debate.shadow
    if shadow.is_sealed(debate) or debate.setup.shadow_agent is None:
        return ""
    title = f"{mark} A single answer"
    if alone is None:
        why = debate.shadow_fault or "It was not there when the debate ended."
        return f"{title}\n\nThere is none to compare with. {inert_line(why)}"
    lists = (
        ("What speaks for it", alone.reasons),
        ("Risks it named", alone.risks),
        ("What would overturn it", alone.overturned_by),
    )
    told = [
        f"{mark}# {name}\n\n{bullets([cited(one, alone.citations) for one in items])}"
        for name, items in lists
        if items
    ]
    parts = [
        title,
        inert_line(shadow_words(debate)),
        inert_line(cost_words(debate)),
        *added_lines(debate, level=level + 1),
        f"{mark}# What it said\n\n{nested(cited(alone.decision, alone.citations), level + 1)}",
        nested(cited(alone.solution, alone.citations), level + 1),
        *told,
    ]
    return "\n\n".join(filter(None, parts))


def added_lines(debate: Debate, *, level: int) -> Iterator[str]:
    """What the debate added, item by item, under a heading of that level; nothing for nothing."""
    found = added(debate)
    named = (
        ("Option", found.options),
        ("Risk", found.risks),
        ("Would overturn it", found.overturners),
        ("Quoted", [f"“{one.words}” ({where(one)})" for one in found.facts]),
    )
    items = [f"{what}: {item}" for what, those in named for item in those]
    if items:
        yield f"{'#' * level} What the debate added\n\n{bullets(items)}\n\n{BY_WORDS}"


def shadow_outcome(debate: Debate) -> Mapping[str, Any] | None:
    """The comparison as JSON values; None before the verdict, and where there is none."""
    alone = debate.shadow
    if alone is None or debate.verdict is None or shadow.is_sealed(debate):
        return None
    found, choice = added(debate), debate.shadow_choice
    return {
        "option": options_of(debate).resolve(choice.option) if choice else "",
        "agrees": shadow.agrees(debate),
        "added_options": list(found.options),
        "added_risks": list(found.risks),
        "added_overturners": list(found.overturners),
        "added_facts": len(found.facts),
        "cost": shadow.spent(debate).model_dump(mode="json")["cost"],
    }
