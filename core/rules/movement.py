"""Who holds another option best after the debate than before it, and what moved them (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.debate.agents import Agent
from core.debate.contributions import Contribution
from core.debate.evidence import CitationStatus, Source
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.verdict import Verdict
from core.rules.agreement import mean
from core.rules.formats import review
from core.rules.options import leading, options_of
from core.rules.voting import first_votes


@dataclass(frozen=True)
class MindChange:
    voter: str
    before: str
    after: str
    #: How likely it held both before and after, 0 to 1 by option id.
    first: Mapping[str, float]
    final: Mapping[str, float]
    #: What it says moved it: key of a critique, id of a source or of an agent; None: nothing.
    moved_by: str | None
    #: What convinced it, in its own words; empty: it said nothing.
    why: str


def mind_changes(debate: Debate) -> Sequence[MindChange]:
    """Voters who moved, in roster order.

    Empty without a blind ballot, before the final one, and in debates of older versions, which
    compared whose text was ranked first.
    """
    options, first_held = options_of(debate), first_votes(debate)
    by_round = sorted(debate.ballots.values(), key=lambda ballot: ballot.turn.round)
    # Of several later ballots of a voter the newest counts.
    final = {ballot.voter: ballot for ballot in by_round if ballot.turn.round > 0}
    changes = list[MindChange]()
    for agent in [agent.id for agent in debate.setup.agents if agent.id in final]:
        ballot, first = final[agent], first_held.get(agent, {})
        last = options.probabilities(ballot.probabilities)
        before, after = leading(first), leading(last)
        if before and after and before != after:
            changes.append(
                MindChange(agent, before, after, first, last, ballot.moved_by, ballot.why_moved)
            )
    return changes


def cause_of(debate: Debate, change: MindChange) -> Contribution | Source | Agent | None:
    """What the voter says moved it: a critique, a source or another agent; None: nothing.

    Where texts go by their author's letter only the agent is known: the text that older versions
    recorded is its newest one, which the voter may have moved before.
    """
    contribution = debate.contributions.get(change.moved_by or "")
    named = contribution.turn.agent if contribution else change.moved_by
    if named == change.voter:
        return None
    if contribution and contribution.turn.act is Act.CRITIQUE:
        return contribution
    for agent in debate.setup.agents:
        if agent.id == named:
            return agent
    return next((source for source in debate.evidence if source.id == change.moved_by), None)


def cause_words(debate: Debate, change: MindChange) -> str:
    """`, moved by Ann's critique of Bob in round 1; Bob says: “It is slow.”`; else ""."""
    match cause_of(debate, change):
        case Contribution(turn=turn):
            author = debate.setup.agent(turn.agent).name
            of = f" of {debate.setup.agent(turn.target).name}" if turn.target else ""
            by = f", moved by {author}'s critique{of} in round {turn.round}"
        case Agent(name=name):
            by = f", moved by {name}"
        case Source(id=number, reference=reference):
            by = f", moved by the source {number} ({reference.title})"
        case None:
            by = ""
    voter = debate.setup.agent(change.voter).name
    return by + (f"; {voter} says: “{change.why}”" if change.why else "")


#: Of two voters each one decides.
_LEAST_VOTERS = 3


def hinge_words(debate: Debate, verdict: Verdict) -> str:
    """What the verdict hangs on, in a sentence or two; empty: on nothing in particular."""
    options, texts, without = options_of(debate), list[str](), dict[str, list[str]]()
    votes, models = first_votes(debate), debate.setup.models
    lead = leading(mean(votes, models))
    for voter in votes if len(votes) >= _LEAST_VOTERS else ():
        others = {other: vote for other, vote in votes.items() if other != voter}
        other = leading(mean(others, models))
        if lead and other not in {"", lead}:
            without.setdefault(other, []).append(f"without {debate.setup.agent(voter).name}")
    if without:
        # The option that led at first may be another one than the verdict's.
        would = "; ".join(
            f'{", or ".join(voters)}, "{options.name(other)}" would have led'
            for other, voters in without.items()
        )
        texts.append(f'Among the first ballots "{options.name(lead)}" led; {would}.')
    verified = CitationStatus.VERIFIED
    sources = {quote.source for quote in verdict.citations if quote.status is verified}
    # A review is about its subject.
    if debate.setup.format != review.NAME and len(sources) == 1:
        texts.append(f"The verdict's checked quotes all come from one source: {sources.pop()}.")
    return " ".join(texts)
