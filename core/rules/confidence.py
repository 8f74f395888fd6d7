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
from core.debate.vote import Tally
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
    providers = {agent.provider for agent in debate.setup.agents}
    if providers == {EXAMPLE}:
        # What somebody wrote by hand agrees as it was written to.
        return Confidence(None, (_WRITTEN,))
    if debate.tally is None or verdict.is_undecided:
        return None
    if providers == {OFFLINE}:
        return Confidence(None, (_BY_RULES,))
    if review.NOT_READY in verdict.warnings:
        return Confidence(None, (_BY_FINDINGS,))
    option = options_of(debate).resolve(verdict.option)
    if not option:
        return Confidence(None, ("the verdict takes none of the options that were voted on",))
    return _of_counted(debate, debate.tally, verdict, option)


def _of_counted(debate: Debate, tally: Tally, verdict: Verdict, option: str) -> Confidence:
    options, agents = options_of(debate), len(debate.setup.agents)
    votes = {
        ballot.voter: shares
        for ballot in voting.counted_ballots(debate, tally)
        if (shares := options.probabilities(ballot.probabilities))
    }
    counted = f"only {len(votes)} of {quantity(agents, 'ballot')} could be counted"
    if len(votes) < LEAST_BALLOTS:
        return Confidence(None, (counted,))
    first, models = voting.first_votes(debate), debate.setup.models
    figure, rests_on = from_ballots(option, votes, first, models, voters=agents)
    if not debate.evidence:
        rests_on.append("no source was given")
    off = 0.0
    if len(votes) < agents:
        last = voting.last_abstentions(debate)
        abstainers = {it.turn.agent for it in last if it.declared}.difference(tally.voters)
        rests_on.append(counted + (f", {len(abstainers)} abstained" if abstainers else ""))
        off += _MISSING * (agents - len(votes)) / agents
    if failed := sum(failure.turn.act not in BESIDE for failure in debate.failures.values()):
        planned = len(debate.contributions) + failed
        rests_on.append(f"{failed} of {planned} turns failed")
        off += _MISSING * failed / planned
    figure -= min(off, _MISSING)
    if debate.cross_check and options.resolve(debate.cross_check.option) != option:
        figure -= _SWAP
        rests_on.append("the judge decided otherwise when it read the positions in another order")
    figure = _by_requirements(debate, verdict, figure, rests_on)
    if verdict.source is VerdictSource.WINNER:
        figure = min(figure, UNWRITTEN_AT_MOST)
        rests_on.append("no judge wrote it")
    return Confidence(round(max(0.0, figure)), tuple(rests_on))


def from_ballots(
    option: str,
    votes: Mapping[str, Probabilities],
    first_votes: Mapping[str, Probabilities],
    models: Mapping[str, str],
    *,
    voters: int,
) -> tuple[float, list[str]]:
    """The mean of the counted ballots for the option decided for, bounded, and what it rests on.

    Args:
        option: The option decided for.
        votes: The final probabilities by voter, counted ballots only.
        first_votes: The first ones, before anybody had read the others'; also of voters whose last
            one is missing.
        models: The model of each voter; one that is missing is a model of its own.
        voters: How many there could have been.
    """
    average = mean(votes, models).get(option, 0.0)
    count = len({models.get(voter, voter) for voter in votes})
    ballots = f"mean of {quantity(len(votes), 'ballot')} from {quantity(count, 'model')}"
    at_most, first = AT_MOST, list[str]()
    if count == 1:
        ballots += ", whose agreement with itself says little"
        at_most = ONE_MODEL_AT_MOST
    elif count < len(votes):
        ballots += ", each counted once"
    if len(first_votes) >= LEAST_BALLOTS:
        shares = [vote.get(option, 0.0) for vote in first_votes.values()]
        ends = dict.fromkeys((percent(min(shares)), percent(max(shares))))
        is_whole = len(first_votes) == voters
        whose = "" if is_whole else f" of {len(first_votes)} of {voters} agents"
        first = [f"first ballots{whose} gave it {' to '.join(ends)}"]
        if spread_of(option, first_votes.values()) > GAP_FROM:
            at_most = min(at_most, SPLIT_AT_MOST)
    bounded = f", counted as {at_most}%" if round(_HUNDRED * average) > at_most else ""
    return min(_HUNDRED * average, at_most), [f"{ballots}: {percent(average)}{bounded}", *first]


def _by_requirements(debate: Debate, verdict: Verdict, figure: float, rests_on: list[str]) -> float:
    if debate.setup.format == review.NAME:
        return figure  # what a review finds unmet is why its verdict is as it is, and no doubt
    status = [requirement.status for requirement in verdict.requirements]
    if unknown := status.count(RequirementStatus.UNKNOWN):
        figure -= min(unknown * _UNKNOWN, _UNKNOWN_AT_MOST)
        which = quantity(unknown, "major requirement")
        rests_on.append(f"whether it meets {which} is not known")
    if unmet := status.count(RequirementStatus.NOT_MET):
        figure = min(figure, UNMET_AT_MOST)
        rests_on.append(f"{quantity(unmet, 'major requirement')} not met")
    return figure
