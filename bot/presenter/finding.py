"""The words a debate is found by (pure)."""

from core.models import Debate


def words_of(debate: Debate) -> str:
    """The question, what was decided and why, and what the team said to it."""
    setup, verdict = debate.setup, debate.verdict
    parts = [debate.id, setup.question, setup.context]
    if verdict:
        parts += [verdict.decision, verdict.solution, verdict.implementation, verdict.dissent]
        parts += [*verdict.tradeoffs, *verdict.recommendations, *verdict.open_questions]
    parts += [decision.why for decision in debate.decisions]
    return "\n".join(part for part in parts if part)
