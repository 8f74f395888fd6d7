"""People's decisions, outcomes, answers and feedback for a debate, as Markdown (pure)."""

from collections.abc import Iterable, Iterator, Sequence

from core.debate.contributions import Clarification
from core.debate.state import Debate
from core.debate.verdict import Decision, DecisionKind, DecisionOutcome, Feedback, OutcomeKind
from core.figures import day
from core.rules.formats.review import is_settled_by_text, questions_to_people
from core.transcript.cited import link_citations
from core.transcript.markdown import inert_line
from core.transcript.words import bullets, name_of, nested, quotation, table, titled

_STATUS = {
    DecisionKind.ACCEPT: "accepted",
    DecisionKind.REJECT: "rejected",
    DecisionKind.REVISIT: "to be revisited",
    DecisionKind.SUPERSEDE: "superseded",
}

OUTCOMES = {
    OutcomeKind.HELD: "held",
    OutcomeKind.PARTLY: "held in part",
    OutcomeKind.REVERSED: "reversed",
    OutcomeKind.TOO_EARLY: "too early to say",
}


def adr_status(debate: Debate) -> str:
    if debate.decision:
        return _words(debate.decision)
    return "proposed" if debate.decides else "open"


def standing_words(debate: Debate) -> str:
    """The team's decision on a verdict: "accepted", "not decided yet"; empty without a verdict."""
    if not debate.is_decidable:
        return ""
    return _words(debate.decision) if debate.decision else "not decided yet"


def recalled_title(debate: Debate) -> str:
    """The title above a recalled verdict: "decided" only if the team accepted it."""
    if debate.decision:
        is_decided = debate.decision.kind is DecisionKind.ACCEPT
        return "What was decided" if is_decided else "What the agents recommended"
    # Without a channel, as on a terminal, nobody can accept.
    is_open = "; your team has not decided yet" if debate.setup.place.channel else ""
    return f"What the agents recommended{is_open}"


def team_section(debate: Debate) -> str:
    rows = [
        (decision.by.display_name, _words(decision), decision.why) for decision in debate.decisions
    ]
    outcome = inert_line(outcome_words(debate.outcome))
    return titled(
        "The team's decision",
        table(("Who", "Decision", "Why"), rows),
        f"How it turned out: {outcome}" if outcome else "",
        bullets(feedback_lines(debate.feedback.values())),
    )


def outcome_words(outcome: DecisionOutcome | None) -> str:
    """`held, says Dana. It runs well.`; empty without an outcome."""
    if outcome is None:
        return ""
    return f"{OUTCOMES[outcome.kind]}, says {outcome.by.display_name}. {outcome.why}".strip()


def assumptions(debate: Debate) -> Sequence[str]:
    lines = list[str]()
    for item in questions_to_people(debate):
        answer = debate.answers.get(item.number)
        if answer is None or not answer.text:
            names = ", ".join(name_of(debate, agent) for agent in item.asked_by)
            origin = f" (asked by {names})" if names else ""
            assumption = item.assumption or "nothing in particular"
            reason = unanswered_words(debate, item)
            lines.append(f"{item.question}{origin} {reason}; assumed: {assumption}")
    return lines


def unanswered_words(debate: Debate, item: Clarification) -> str:
    """The reason why a question has no answer: `Nobody answered`, `Skipped by Kim`."""
    answer = debate.answers.get(item.number)
    if is_settled_by_text(debate, item):
        return "The changed text is the answer"
    return f"Skipped by {answer.by.display_name}" if answer else "Nobody answered"


def follow_ups_section(debate: Debate) -> str:
    parts = list[str]()
    for question in debate.follow_ups:
        answer = debate.follow_up_answers.get(question.number)
        text = link_citations(answer.text, answer.citations) if answer else "Not answered yet."
        fault = inert_line(answer.fault) if answer else ""
        title = f"{question.by.display_name} asked"
        parts.append(titled(title, quotation(question.text), fault, nested(text, 3), level=3))
    return titled("Asked after the verdict", *parts)


def _words(decision: Decision) -> str:
    words = _STATUS[decision.kind]
    if decision.revisit_on:
        words += f" on {day(decision.revisit_on)}"
    if decision.superseded_by:
        words += f" by debate `{decision.superseded_by}`"
    return words


def feedback_lines(feedback: Iterable[Feedback]) -> Iterator[str]:
    for item in feedback:
        comment = f": {' '.join(item.comment.split())}" if item.comment else ""
        opinion = "helpful" if item.helpful else "not helpful"
        yield f"{item.by.display_name} found it {opinion}{comment}"
