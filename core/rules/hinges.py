"""What a verdict hangs on: one voter of the first ballots, or one source (pure)."""

from collections.abc import Sequence

from core.debate.evidence import CitationStatus
from core.debate.state import Debate
from core.debate.verdict import Verdict
from core.rules.agreement import mean
from core.rules.formats import review
from core.rules.options import leading, options_of
from core.rules.voting import first_votes

#: Of two voters each one decides.
_LEAST_VOTERS = 3


def first_lead(debate: Debate) -> str:
    """Id of the option that led among the first ballots; empty: two were level, or none was cast.

    Every model counts once.
    """
    return leading(mean(first_votes(debate), debate.setup.models))


def decisive_voters(debate: Debate) -> Sequence[tuple[str, str]]:
    """Ids of agents without whose first ballot another option led, each with that option's id.

    First ballots were cast before anybody had read the others'. Every model counts once.
    """
    votes, models, lead = first_votes(debate), debate.setup.models, first_lead(debate)
    if not lead or len(votes) < _LEAST_VOTERS:
        return ()
    without = {
        voter: leading(mean({other: votes[other] for other in votes if other != voter}, models))
        for voter in votes
    }
    return tuple((voter, other) for voter, other in without.items() if other not in {"", lead})


def only_source(verdict: Verdict) -> str:
    """Id of the one source that all verified quotes of the verdict come from; empty: there is none.

    Empty as well where nothing is quoted.
    """
    quoted = {
        citation.source
        for citation in verdict.citations
        if citation.status is CitationStatus.VERIFIED
    }
    return next(iter(quoted)) if len(quoted) == 1 else ""


def hinge_words(debate: Debate, verdict: Verdict) -> str:
    """What the verdict hangs on, in a sentence or two; empty: on nothing in particular."""
    options, texts, without = options_of(debate), list[str](), dict[str, list[str]]()
    for voter, other in decisive_voters(debate):
        without.setdefault(other, []).append(f"without {debate.setup.agent(voter).name}")
    if without:
        # The option that led at first may be another one than the verdict's.
        would = "; ".join(
            f'{", or ".join(voters)}, "{options.name(other)}" would have led'
            for other, voters in without.items()
        )
        texts.append(f'Among the first ballots "{options.name(first_lead(debate))}" led; {would}.')
    # A review is about its subject.
    if debate.setup.format != review.NAME and (source := only_source(verdict)):
        texts.append(f"The verdict's checked quotes all come from one source: {source}.")
    return " ".join(texts)
