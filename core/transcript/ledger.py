"""What became of the facts people gave: who still holds them at the end (pure)."""

from collections.abc import Mapping, Sequence

from core.models import Contribution, Debate, Summary
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
    head = ("Fact", "From", "Final positions", "Summaries", "Verdict")
    rows = [_row(debate, fact) for fact in known]
    return f"## Facts people gave\n\n{_in_short(debate, known)}{table(head, rows)}"


def _in_short(debate: Debate, known: Sequence[facts.Fact]) -> str:
    if not debate.verdict:
        return ""
    if debate.verdict.confidence is None:
        return "Repeating a fact is not checking it: the judge gave no confidence.\n\n"
    if debate.verdict.requirements:
        return ""
    kept = len(known) - len(facts.lost(known, facts.words_of(debate.verdict)))
    return f"{kept} of {len(known)} hold in the verdict.\n\n"


def _row(debate: Debate, fact: facts.Fact) -> Sequence[str]:
    verdict = debate.verdict
    held = facts.holds(facts.words_of(verdict), fact) if verdict else False
    judged = verdict and verdict.confidence is not None and not verdict.requirements
    kept = "holds" if judged else "repeated"
    return (
        fact.text,
        fact.source,
        _in_positions(debate, fact, format_of(debate).positions(debate)),
        _in_summaries(fact, list(debate.summaries.values())),
        (kept if held else "lost") if verdict else "",
    )


def _in_positions(debate: Debate, fact: facts.Fact, made: Mapping[str, Contribution]) -> str:
    """In how many, and in whose it is lost."""
    lost = [agent for agent, one in made.items() if not facts.holds(one.text, fact)]
    names = f", not {', '.join(name_of(debate, agent) for agent in lost)}" if lost else ""
    return f"{len(made) - len(lost)} of {len(made)}{names}" if made else ""


def _in_summaries(fact: facts.Fact, made: Sequence[Summary]) -> str:
    """In how many of them."""
    kept = sum(facts.holds(one.text, fact) for one in made)
    return f"{kept} of {len(made)}" if made else ""
