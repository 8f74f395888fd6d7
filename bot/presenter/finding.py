"""The words a debate is found by (pure)."""

from core.models import Debate
from core.rules.options import options_of


def words_of(debate: Debate) -> str:
    """The question, the options, what was decided and why, and what the team said to it."""
    setup, verdict = debate.setup, debate.verdict
    options = (item.name for item in options_of(debate).items)
    parts = [debate.id, setup.question, setup.context, *options]
    if verdict:
        parts += [verdict.decision, verdict.solution, verdict.implementation, verdict.dissent]
        parts += [
            *verdict.reasons,
            *verdict.tradeoffs,
            *verdict.recommendations,
            *verdict.open_questions,
        ]
    parts += [decision.why for decision in debate.decisions]
    parts += [said.why for said in debate.outcomes]
    return "\n".join(part for part in parts if part)
