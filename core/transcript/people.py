"""What people made of a debate, as Markdown: ballots, decisions, outcomes, feedback."""

from collections.abc import Iterable, Iterator, Sequence

from core.debate.contributions import Clarification
from core.debate.state import Debate
from core.debate.verdict import Decision, DecisionKind, DecisionOutcome, Feedback, OutcomeKind
from core.figures import day, quantity
from core.rules.formats.review import left_to_text, questions_to_people
from core.rules.options import is_listed, options_of
from core.rules.voting import count_people
from core.transcript.cited import link_citations
from core.transcript.markdown import inert_line
from core.transcript.options import gap_line
from core.transcript.words import ResultLine, bullets, name_of, nested, quotation, table, titled

_STATUS = {
    DecisionKind.ACCEPT: "accepted",
    DecisionKind.REJECT: "rejected",
    DecisionKind.REVISIT: "to be revisited",
    DecisionKind.SUPERSEDE: "superseded",
}

#: What is said above a verdict that somebody asked for: only what was accepted is decided.
_RECALLED = {
    DecisionKind.ACCEPT: "What was decided",
    DecisionKind.REJECT: "What the agents recommended; your team rejected it",
    DecisionKind.REVISIT: "What the agents recommended; your team will look at it again",
    DecisionKind.SUPERSEDE: "What the agents recommended; your team has another decision now",
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
    """How a verdict stands with the team: "accepted", "not decided yet"; empty: it says nothing."""
    if not debate.is_decidable:
        return ""
    return _words(debate.decision) if debate.decision else "not decided yet"


def recalled_title(debate: Debate) -> str:
    if debate.decision:
        return _RECALLED[debate.decision.kind]
    # Where a debate is held in no channel, as on a terminal, nobody can accept.
    is_open = "; your team has not decided yet" if debate.setup.place.channel else ""
    return f"What the agents recommended{is_open}"


def team_section(debate: Debate) -> str:
    rows = [
        (decision.by.display_name, _words(decision), decision.why) for decision in debate.decisions
    ]
    after = inert_line(outcome_words(debate.outcome)) if debate.outcome else ""
    return titled(
        "The team's decision",
        table(("Who", "Decision", "Why"), rows),
        f"How it turned out: {after}" if after else "",
        bullets(feedback_lines(debate.feedback.values())),
    )


def outcome_words(outcome: DecisionOutcome) -> str:
    why = f" {' '.join(outcome.why.split())}" if outcome.why.strip() else ""
    return f"{OUTCOMES[outcome.kind]}, says {outcome.by.display_name}.{why}"


def assumptions(debate: Debate) -> Sequence[str]:
    lines = list[str]()
    for item in questions_to_people(debate):
        answer = debate.answers.get(item.number)
        if answer is None or not answer.text:
            who = ", ".join(name_of(debate, agent) for agent in item.asked_by)
            by = f" (asked by {who})" if who else ""
            assumed = item.assumption or "nothing in particular"
            why = unanswered_words(debate, item)
            lines.append(f"{item.question}{by} {why}; assumed: {assumed}")
    return lines


def unanswered_words(debate: Debate, item: Clarification) -> str:
    """Why a question has no answer: `Nobody answered`, `Skipped by Kim`."""
    answer = debate.answers.get(item.number)
    if left_to_text(debate, item):
        return "The changed text is the answer"
    return f"Skipped by {answer.by.display_name}" if answer else "Nobody answered"


def asked_section(debate: Debate) -> str:
    parts = list[str]()
    for question in debate.follow_ups:
        answer = debate.follow_up_answers.get(question.number)
        text = link_citations(answer.text, answer.citations) if answer else "Not answered yet."
        why = inert_line(answer.fault) if answer else ""
        title = f"{question.by.display_name} asked"
        parts.append(titled(title, quotation(question.text), why, nested(text, 3), level=3))
    return titled("Asked after the verdict", *parts)


def team_vote_lines(debate: Debate) -> Iterator[ResultLine]:
    count, options = count_people(debate), options_of(debate)
    cast = len(count.voters)
    if not cast:
        return
    # How many ballots are not their voter's first.
    changed = 0
    for voter in count.voters:
        first = f"people-ballot/{voter}"
        changed += sum(key == first or key.startswith(f"{first}/") for key in debate.times) > 1
    again = f", {changed} changed" if changed else ""
    scores = ", ".join(
        f"{options.name(score.option)} {score.first_choices} of {cast}"
        for score in count.scores
        if is_listed(options, score.option, score.first_choices)
    )
    label = f"The team's vote ({quantity(cast, 'ballot')}{again})"
    yield ResultLine(label=label, text=f"{scores}.")
    if gap := gap_line(debate):
        yield gap
    if since := [
        f"{options.name(score.option)} {score.first_choices}"
        for score in count_people(debate, late=True).scores
        if score.first_choices
    ]:
        yield ResultLine(text=f"Since the reveal, counted apart: {', '.join(since)}.")


def people_ballots(debate: Debate) -> str:
    options, lines = options_of(debate), list[str]()
    for ballot in debate.people_ballots.values():
        # Options merged after the ballot are named once.
        ranking = dict.fromkeys(options.resolve(option) for option in ballot.options)
        ranked = [options.name(option) for option in ranking if option]
        ranked = ranked or [name_of(debate, position) for position in ballot.ranking]
        lines.append(f"{ballot.by.display_name}: {'; '.join(ranked)}")
    return titled("People's ballots, best first", bullets(lines), level=3)


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
