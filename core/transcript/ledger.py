"""Shows which facts people gave survive in positions, summaries and verdict (pure)."""

from collections.abc import Sequence

from core.models import Debate
from core.rules import facts
from core.rules.formats.registry import format_of
from core.transcript.words import name_of, table


def facts_section(debate: Debate) -> str:
    """Every figure and requirement, and where it survives; empty where people gave none.

    That a verdict repeats the words does not show that it meets the requirement: that is in the
    judge's table, beside which no count of repeated words is told.
    """
    known = facts.ledger(debate)
    if not known:
        return ""
    parts = ["## Facts people gave"]
    if debate.verdict and debate.verdict.confidence is None:
        parts.append("Repeating a fact is not checking it: the judge gave no confidence.")
    elif debate.verdict and not debate.verdict.requirements:
        left = len(known) - len(facts.lost(known, facts.words_of(debate.verdict)))
        parts.append(f"{left} of {len(known)} hold in the verdict.")
    verdict, positions = debate.verdict, format_of(debate).positions(debate)
    judged = verdict and verdict.confidence is not None and not verdict.requirements
    rows = list[Sequence[str]]()
    for fact in known:
        held = facts.holds(facts.words_of(verdict), fact) if verdict else False
        kept = ("holds" if judged else "repeated") if held else "lost"
        lost = [agent for agent, one in positions.items() if not facts.holds(one.text, fact)]
        names = f", not {', '.join(name_of(debate, agent) for agent in lost)}" if lost else ""
        in_positions = f"{len(positions) - len(lost)} of {len(positions)}{names}"
        summaries = [facts.holds(one.text, fact) for one in debate.summaries.values()]
        rows.append(
            (
                fact.text,
                fact.source,
                in_positions if positions else "",
                f"{sum(summaries)} of {len(summaries)}" if summaries else "",
                kept if verdict else "",
            )
        )
    head = ("Fact", "From", "Final positions", "Summaries", "Verdict")
    return "\n\n".join([*parts, table(head, rows)])
