"""Voters that changed their first choice during the debate, and the causes they name (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.debate.agents import Agent
from core.debate.contributions import Contribution
from core.debate.evidence import CitationStatus, Source
from core.debate.state import Debate, roster
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
    #: The voter's probabilities before and after, 0 to 1 by option id.
    first: Mapping[str, float]
    final: Mapping[str, float]
    #: The cause that it names: key of a critique, id of a source or of an agent; None: no cause.
    moved_by: str | None
    #: Its reason in its own words; empty: none.
    why: str


def mind_changes(debate: Debate) -> Sequence[MindChange]:
    """The voters that changed their first choice, in roster order.

    Empty without a blind ballot, before the final ballot, and in debates of older versions, which
    had no options.
    """
    options, blind_votes = options_of(debate), first_votes(debate)
    by_round = sorted(debate.ballots.values(), key=lambda ballot: ballot.turn.round)
    # If a voter has several ballots after the blind one, the newest counts.
    final = {ballot.voter: ballot for ballot in by_round if ballot.turn.round > 0}
    changes = list[MindChange]()
    for agent in [agent for agent in roster(debate) if agent in final]:
        ballot, first = final[agent], blind_votes.get(agent, {})
        last = options.probabilities(ballot.probabilities)
        before, after = leading(first), leading(last)
        if before and after and before != after:
            changes.append(
                MindChange(agent, before, after, first, last, ballot.moved_by, ballot.why_moved)
            )
    return changes


def cause_of(debate: Debate, change: MindChange) -> Contribution | Source | Agent | None:
    """The cause that the voter names: a critique, a source or another agent; None: no cause.

    For any text but a critique only its agent is returned: older versions recorded the agent's
    newest text, which may be later than the change.
    """
    contribution = debate.contributions.get(change.moved_by or "")
    agent_id = contribution.turn.agent if contribution else change.moved_by
    if agent_id == change.voter:
        return None
    if contribution and contribution.turn.act is Act.CRITIQUE:
        return contribution
    for agent in debate.setup.agents:
        if agent.id == agent_id:
            return agent
    return next((source for source in debate.evidence if source.id == change.moved_by), None)


def cause_words(debate: Debate, change: MindChange) -> str:
    """`, moved by Ann's critique of Bob in round 1; Bob says: “It is slow.”`; else ""."""
    match cause_of(debate, change):
        case Contribution(turn=turn):
            author = debate.setup.agent(turn.agent).name
            target = f" of {debate.setup.agent(turn.target).name}" if turn.target else ""
            cause = f", moved by {author}'s critique{target} in round {turn.round}"
        case Agent(name=name):
            cause = f", moved by {name}"
        case Source(id=number, reference=reference):
            cause = f", moved by the source {number} ({reference.title})"
        case None:
            cause = ""
    voter = debate.setup.agent(change.voter).name
    return cause + (f"; {voter} says: “{change.why}”" if change.why else "")


#: With two voters every ballot decides, so this says nothing.
_LEAST_VOTERS = 3


def hinge_words(debate: Debate, verdict: Verdict) -> str:
    """The single ballots or the single source on which the verdict depends; empty: none.

    A ballot counts if another option would have led without it.
    """
    options, texts, without = options_of(debate), list[str](), dict[str, list[str]]()
    votes, models = first_votes(debate), debate.setup.models
    lead = leading(mean(votes, models))
    for voter in votes if len(votes) >= _LEAST_VOTERS else ():
        remaining_votes = {name: vote for name, vote in votes.items() if name != voter}
        option = leading(mean(remaining_votes, models))
        if lead and option not in {"", lead}:
            without.setdefault(option, []).append(f"without {debate.setup.agent(voter).name}")
    if without:
        # The verdict may be for another option than the one that led at first.
        results = "; ".join(
            f'{", or ".join(voters)}, "{options.name(option)}" would have led'
            for option, voters in without.items()
        )
        texts.append(f'Among the first ballots "{options.name(lead)}" led; {results}.')
    verified = CitationStatus.VERIFIED
    sources = {quote.source for quote in verdict.citations if quote.status is verified}
    # A review has one subject, so one source is no news.
    if debate.setup.format != review.NAME and len(sources) == 1:
        texts.append(f"The verdict's checked quotes all come from one source: {sources.pop()}.")
    return " ".join(texts)
