"""What people made of a debate, as Markdown: their ballots, their decisions, their feedback."""

from collections.abc import Iterable, Iterator

from core.figures import day
from core.models import Debate, Decision, DecisionKind, Feedback, Person
from core.rules.options import options_of
from core.transcript.words import bullets, name_of, table

_STATUS = {
    DecisionKind.ACCEPT: "accepted",
    DecisionKind.REJECT: "rejected",
    DecisionKind.REVISIT: "to be revisited",
    DecisionKind.SUPERSEDE: "superseded",
}


def adr_status(debate: Debate) -> str:
    """Where the decision stands: what the team said last, else proposed, else open."""
    if debate.decision:
        return _words(debate.decision)
    return "proposed" if debate.verdict else "open"


def team_section(debate: Debate) -> str:
    """The team's decisions and what people thought of the verdict; empty if nobody said."""
    rows = [(_name(one.by), _words(one), one.why) for one in debate.decisions]
    decided = table(("Who", "Decision", "Why"), rows) if rows else ""
    said = bullets(feedback_lines(debate.feedback.values()))
    parts = [part for part in (decided, said) if part]
    return "\n\n".join(["## The team's decision", *parts]) if parts else ""


def people_ballots(debate: Debate) -> str:
    """How people ranked the options (older versions: the positions); empty if nobody did."""
    if not debate.people_ballots:
        return ""
    options, lines = options_of(debate), list[str]()
    for ballot in debate.people_ballots.values():
        # What people merged after somebody's ballot is named once.
        standing = dict.fromkeys(options.resolve(option) for option in ballot.options)
        ranked = [options.name(option) for option in standing if option]
        ranked = ranked or [name_of(debate, position) for position in ballot.ranking]
        lines.append(f"{_name(ballot.by)}: {'; '.join(ranked)}")
    return f"### People's ballots, best first\n\n{bullets(lines)}"


def _words(decision: Decision) -> str:
    words = _STATUS[decision.kind]
    if decision.revisit_on:
        words += f" on {day(decision.revisit_on)}"
    if decision.superseded_by:
        words += f" by debate `{decision.superseded_by}`"
    return words


def feedback_lines(feedback: Iterable[Feedback]) -> Iterator[str]:
    """What each person thought of the verdict and why, a line each."""
    for given in feedback:
        comment = f": {' '.join(given.comment.split())}" if given.comment else ""
        yield f"{_name(given.by)} found it {'helpful' if given.helpful else 'not helpful'}{comment}"


def _name(person: Person) -> str:
    return person.name or person.id
