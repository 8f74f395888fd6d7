"""What was said round by round: its order, its titles, who answered at what cost (pure)."""

from collections.abc import Mapping, Sequence

from core.debate.contributions import Contribution
from core.debate.gate import Guidance
from core.debate.state import Debate
from core.figures import duration, money
from core.rules.fallback_models import answering
from core.rules.formats.registry import format_of
from core.transcript.markdown import inert_line
from core.transcript.options import holds_words
from core.transcript.words import name_of, tokens_words


def by_round(debate: Debate) -> Mapping[int, Sequence[Contribution]]:
    """Contributions by round, within it by phase; 0: before round 1."""
    order = {act: place for place, act in enumerate(format_of(debate).phases)}
    rounds = dict[int, list[Contribution]]()
    for contribution in sorted(
        debate.contributions.values(),
        key=lambda contribution: (
            contribution.turn.round,
            order.get(contribution.turn.act, len(order)),
        ),
    ):
        rounds.setdefault(contribution.turn.round, []).append(contribution)
    return rounds


def round_name(number: int) -> str:
    """`Round 2`, or what comes before the first."""
    return f"Round {number}" if number else "Before round 1"


def title_words(debate: Debate, contribution: Contribution) -> str:
    """Author and kind: `Ann (architect): Critique of Bob`."""
    about = f" of {name_of(debate, contribution.turn.target)}" if contribution.turn.target else ""
    agent = debate.setup.agent(contribution.turn.agent)
    return f"{inert_line(agent.name)} ({agent.role}): {contribution.turn.act.label}{about}"


def origin_words(debate: Debate, contribution: Contribution) -> str:
    """The model, time and cost of a contribution, and the agent's stance by then."""
    call = contribution.call
    if contribution.carried_from or call is None:
        # Its text is in the earlier round.
        return f"Carried over unchanged from `{contribution.carried_from}`; 0 tokens, 0 s"
    instead = f" in place of {call.stands_in_for}" if call.stands_in_for else ""
    origin = (
        f"{answering(call)}{instead}; {tokens_words(call.usage)}; "
        f"{duration(call.latency_ms / 1000)}; {money(call.usage.cost)}"
    )
    minds = holds_words(debate, contribution)
    return f"{origin}. Now holds: {inert_line(minds)}" if minds else origin


def is_solution(debate: Debate, contribution: Contribution) -> bool:
    """Whether its text is the verdict's solution, word for word."""
    return (
        debate.verdict is not None and contribution.text.strip() == debate.verdict.solution.strip()
    )


def guidance_words(guidance: Guidance) -> tuple[str, str]:
    """The author of a guidance, and the guidance, in words."""
    words = guidance.next_step.value.replace("_", " ")
    focus = f" Focus: {inert_line(guidance.focus)}" if guidance.focus else ""
    question = inert_line(guidance.question.text) if guidance.question else ""
    question_words = f" Question to people: {question}" if question else ""
    # By rule: the decision above says why.
    return "Moot" if guidance.gate else "Facilitator", f"Next: {words}.{focus}{question_words}"
