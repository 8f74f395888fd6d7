"""The vote as Markdown: the count, every ballot, who moved and which critique moved them (pure)."""

from collections.abc import Sequence

from core.figures import number, percent
from core.models import Ballot, Debate
from core.rules.mind_changes import mind_changes
from core.rules.voting import counted
from core.transcript.inert import inert_line
from core.transcript.people import people_ballots
from core.transcript.words import bullets, name_of, table
from core.turns.acts import ACTS


def vote_section(debate: Debate) -> str:
    """The vote; empty if nobody could vote."""
    if debate.tally is None and not debate.ballots and not debate.people_ballots:
        return ""
    parts = ["## Vote", _scores(debate), _ballots(debate), _abstentions(debate), _moves(debate)]
    parts.append(people_ballots(debate))
    return "\n\n".join(part for part in parts if part)


def _scores(debate: Debate) -> str:
    tally = debate.tally
    if tally is None:
        return ""
    rows = [
        (name_of(debate, s.position), number(s.points), s.first_places, _figure(s.mean_confidence))
        for s in tally.scores
    ]
    head = ("Position of", "Points", "First places", "Mean confidence")
    words = [table(head, rows), f"Winner: {', '.join(name_of(debate, w) for w in tally.winners)}"]
    if len(tally.winners) != 1:
        words[1] = (
            f"Tied: {words[1].removeprefix('Winner: ')}" if tally.winners else "Nobody voted."
        )
    if tally.controversial:
        words.append("The top two are within one point: the vote is controversial.")
    return "\n\n".join(words)


def _final(debate: Debate) -> Sequence[Ballot]:
    """The ballots of the vote that counts."""
    return counted(debate, debate.tally) if debate.tally else ()


def _ballots(debate: Debate) -> str:
    return "\n\n".join(_ballot(debate, ballot) for ballot in _final(debate))


def _ballot(debate: Debate, ballot: Ballot) -> str:
    lines = [
        f"{place}. {name_of(debate, position)}: "
        f"{inert_line(ballot.reasons.get(position, 'no reason given'))}"
        for place, position in enumerate(ballot.ranking, start=1)
    ]
    sure = _figure(ballot.confidence)
    title = f"### {inert_line(name_of(debate, ballot.voter))} (confidence {sure})"
    return "\n\n".join([title, "\n".join(lines)])


def _figure(confidence: float | None) -> str:
    return "not given" if confidence is None else percent(confidence)


def _abstentions(debate: Debate) -> str:
    if not debate.abstentions:
        return ""
    lines = [f"{name_of(debate, a.turn.agent)}: {a.reason}" for a in debate.abstentions.values()]
    return f"### Abstentions\n\n{bullets(lines)}"


def _moves(debate: Debate) -> str:
    """Who changed sides since the blind ballot."""
    if not any(ballot.turn.round == 0 for ballot in debate.ballots.values()):
        return ""
    lines = [
        f"{name_of(debate, change.voter)}: from {name_of(debate, change.before)} "
        f"to {name_of(debate, change.after)}{_because(debate, change.moved_by)}"
        for change in mind_changes(debate)
    ]
    return "### Who moved since the ballot before the debate\n\n" + (bullets(lines) or "Nobody.")


def _because(debate: Debate, critique: str | None) -> str:
    made = debate.contributions.get(critique or "")
    if made is None:
        return ""
    what = ACTS[made.turn.act].label.lower()
    return f", moved by the {what} of {name_of(debate, made.turn.agent)} in round {made.turn.round}"
