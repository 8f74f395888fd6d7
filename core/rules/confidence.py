"""How sure a verdict is, computed from the recorded ballots and said with what it rests on (pure).

What a model says of its own confidence is too high and climbs in a debate whatever happens
(arXiv:2505.19184, arXiv:2306.13063). Measured on recorded forecasts (arXiv:2512.22625): the mean of
the counted ballots, each model once and bounded as below, errs least (Brier .1546; the spread of
the first answers alone .1730). A cap where no source was given would be wrong there. What is taken
off for missing ballots and turns was not measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.debate.agents import EXAMPLE, OFFLINE
from core.debate.state import Debate
from core.debate.turn import BESIDE
from core.debate.verdict import RequirementStatus, Verdict, VerdictSource
from core.figures import percent, quantity
from core.rules import voting
from core.rules.agreement import GAP_FROM, Probabilities, mean, spread_of
from core.rules.formats import review
from core.rules.options import options_of

#: The most a verdict is sure, in percent: at all; where first answers lay far apart; of one model.
AT_MOST, SPLIT_AT_MOST, ONE_MODEL_AT_MOST = 92, 75, 85
#: The most of what no judge has written, and of what leaves a major requirement unmet.
UNWRITTEN_AT_MOST, UNMET_AT_MOST = 75, 40
#: Fewer ballots say nothing of how sure anybody is.
LEAST_BALLOTS = 2
#: Taken off for each major requirement of which nobody can say whether it is met, 20 at most.
_UNKNOWN, _UNKNOWN_AT_MOST = 5, 20
#: Taken off when the judge decided otherwise with the order of the positions swapped.
_SWAP = 20
#: Taken off at most for ballots that were not counted and turns that failed, by their share.
_MISSING = 30
#: Least percent → the word for it.
BANDS = ((80, "high"), (65, "fair"), (50, "low"), (0, "very low"))
_BY_FINDINGS = "open findings set the verdict, whatever the vote"
_BY_RULES = "checklists agree with themselves, and no AI model was asked"
_WRITTEN = "this is a written example, and no AI model was asked"
_HUNDRED = 100


@dataclass(frozen=True, kw_only=True)
class Grounds:
    #: The option decided for.
    option: str
    #: The final probabilities by voter, counted ballots only.
    votes: Mapping[str, Probabilities]
    #: The first ones, before anybody had read the others; also of voters whose last one is missing.
    first_votes: Mapping[str, Probabilities]
    #: The model of each voter, as `provider/model`.
    models: Mapping[str, str]
    #: Voters there could have been, and those of them who abstained themselves.
    voters: int
    abstained: int = 0
    turns_planned: int = 0
    turns_failed: int = 0
    requirements_unmet: int = 0
    requirements_unknown: int = 0
    #: Whether the judge, asked again in another order, decided for another option.
    swap_disagreed: bool = False
    #: Whether the debate had any source to rest on: said beside the figure, which stays as it is.
    has_sources: bool = True
    #: Whether a judge wrote the verdict.
    is_written: bool = True


@dataclass(frozen=True)
class Confidence:
    #: 0 to 100; None: none can be given, and why is said.
    percent: int | None
    rests_on: tuple[str, ...]

    @property
    def word(self) -> str:
        figure = self.percent or 0
        return next(word for least, word in BANDS if figure >= least)


def confidence_of(debate: Debate, verdict: Verdict) -> Confidence | None:
    """How sure the verdict is, whatever its writer says of it; None: nobody was asked to vote."""
    tally, option = debate.tally, verdict.option
    if all(agent.provider == EXAMPLE for agent in debate.setup.agents):
        # What somebody wrote by hand agrees as it was written to.
        return Confidence(None, (_WRITTEN,))
    if tally is None or verdict.is_undecided:
        return None
    if all(agent.provider == OFFLINE for agent in debate.setup.agents):
        return Confidence(None, (_BY_RULES,))
    if review.NOT_READY in verdict.warnings:
        return Confidence(None, (_BY_FINDINGS,))
    options, check = options_of(debate), debate.cross_check
    decided = options.resolve(option)
    votes = {
        ballot.voter: options.probabilities(ballot.probabilities)
        for ballot in voting.counted_ballots(debate, tally)
    }
    abstainers = {
        abstention.turn.agent
        for abstention in voting.last_abstentions(debate)
        if abstention.declared
    }
    # What a review finds unmet is why its verdict is what it is, and no doubt about it.
    requirements = verdict.requirements if debate.setup.format != review.NAME else ()
    status = [requirement.status for requirement in requirements]
    failed = sum(failure.turn.act not in BESIDE for failure in debate.failures.values())
    return confidence(
        Grounds(
            option=decided,
            votes={voter: shares for voter, shares in votes.items() if shares},
            first_votes=voting.first_votes(debate),
            models=debate.setup.models,
            voters=len(debate.setup.agents),
            abstained=len(abstainers.difference(tally.voters)),
            turns_planned=len(debate.contributions) + failed,
            turns_failed=failed,
            requirements_unmet=status.count(RequirementStatus.NOT_MET),
            requirements_unknown=status.count(RequirementStatus.UNKNOWN),
            swap_disagreed=check is not None and options.resolve(check.option) != decided,
            has_sources=bool(debate.evidence),
            is_written=verdict.source is not VerdictSource.WINNER,
        )
    )


def confidence(grounds: Grounds) -> Confidence:
    """How sure the verdict is; no figure where the ballots say too little."""
    votes = grounds.votes
    ballots = f"{len(votes)} of {quantity(grounds.voters, 'ballot')}"
    if not grounds.option:
        return Confidence(None, ("the verdict takes none of the options that were voted on",))
    if len(votes) < LEAST_BALLOTS:
        return Confidence(None, (f"only {ballots} could be counted",))
    rests_on = list[str]()
    figure = _from_ballots(grounds, rests_on)
    off = 0.0
    if uncounted := max(0, grounds.voters - len(votes)):
        abstained = f", {grounds.abstained} abstained" if grounds.abstained else ""
        rests_on.append(f"only {ballots} could be counted{abstained}")
        off += _MISSING * uncounted / grounds.voters
    if grounds.turns_failed and grounds.turns_planned:
        rests_on.append(f"{grounds.turns_failed} of {grounds.turns_planned} turns failed")
        off += _MISSING * min(1.0, grounds.turns_failed / grounds.turns_planned)
    figure -= min(off, _MISSING)
    if grounds.swap_disagreed:
        figure -= _SWAP
        rests_on.append("the judge decided otherwise when it read the positions in another order")
    if unknown := grounds.requirements_unknown:
        figure -= min(unknown * _UNKNOWN, _UNKNOWN_AT_MOST)
        which = quantity(unknown, "major requirement")
        rests_on.append(f"whether it meets {which} is not known")
    if unmet := grounds.requirements_unmet:
        figure = min(figure, UNMET_AT_MOST)
        rests_on.append(f"{quantity(unmet, 'major requirement')} not met")
    if not grounds.is_written:
        figure = min(figure, UNWRITTEN_AT_MOST)
        rests_on.append("no judge wrote it")
    return Confidence(round(max(0.0, figure)), tuple(rests_on))


def _from_ballots(grounds: Grounds, rests_on: list[str]) -> float:
    votes, first_votes = grounds.votes, grounds.first_votes
    average = mean(votes, grounds.models).get(grounds.option, 0.0)
    models = len({grounds.models.get(voter, voter) for voter in votes})
    ballots = f"mean of {quantity(len(votes), 'ballot')} from {quantity(models, 'model')}"
    at_most = AT_MOST
    if models == 1:
        ballots += ", whose agreement with itself says little"
        at_most = ONE_MODEL_AT_MOST
    elif models < len(votes):
        ballots += ", each counted once"
    if len(first_votes) >= LEAST_BALLOTS:
        spread = spread_of(grounds.option, first_votes.values())
        shares = [vote.get(grounds.option, 0.0) for vote in first_votes.values()]
        ends = dict.fromkeys((percent(min(shares)), percent(max(shares))))
        all_of_them = len(first_votes) == grounds.voters
        whose = "" if all_of_them else f" of {len(first_votes)} of {grounds.voters} agents"
        rests_on.append(f"first ballots{whose} gave it {' to '.join(ends)}")
        at_most = min(at_most, SPLIT_AT_MOST) if spread > GAP_FROM else at_most
    is_bounded = round(_HUNDRED * average) > at_most
    bounded = f", counted as {at_most}%" if is_bounded else ""
    rests_on.insert(0, f"{ballots}: {percent(average)}{bounded}")
    if not grounds.has_sources:
        rests_on.append("no source was given")
    return min(_HUNDRED * average, at_most)
