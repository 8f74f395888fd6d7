"""What a verdict hangs on: one voter of the first ballots, or one source (pure)."""

from core.debate.evidence import CitationStatus
from core.debate.state import Debate
from core.debate.verdict import Verdict
from core.rules.agreement import mean
from core.rules.formats import review
from core.rules.options import leading, options_of
from core.rules.voting import first_votes

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
