"""Computes the confidence of a verdict from the recorded ballots, with its reasons (pure).

A model's own confidence is too high, and rises in a debate in any case (arXiv:2505.19184,
arXiv:2306.13063). Measured on recorded forecasts (arXiv:2512.22625): the mean of the counted
ballots, with one vote per model and the bounds below, has the smallest error (Brier .1546; the
spread of the first answers alone .1730). There a cap for debates without sources would be wrong.
The deductions for missing ballots and turns were not measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.debate.agents import EXAMPLE, OFFLINE
from core.debate.state import Debate
from core.debate.turn import BACKGROUND_ACTS, Act
from core.debate.verdict import RequirementStatus, Verdict, VerdictSource
from core.figures import percent, quantity
from core.rules import voting
from core.rules.agreement import GAP_FROM, Probabilities, mean, spread_of
from core.rules.formats import review
from core.rules.judging import chose_otherwise
from core.rules.options import options_of

#: The highest confidence in percent: of any verdict; if the first ballots differ much; if all
#: ballots come from one model.
AT_MOST, SPLIT_AT_MOST, ONE_MODEL_AT_MOST = 92, 75, 85
#: The highest confidence of a verdict that no judge wrote, and with an unmet major requirement.
UNWRITTEN_AT_MOST, UNMET_AT_MOST = 75, 40
#: With fewer counted ballots no confidence is computed.
LEAST_BALLOTS = 2
#: The deduction for each major requirement with status "unknown", and the most of all together.
_UNKNOWN, _UNKNOWN_AT_MOST = 5, 20
#: The deduction if the judge chose another option with the positions in the opposite order.
_SWAP = 20
#: Acts whose failure is no failed turn. A failed ballot is an uncounted ballot.
_APART = frozenset({*BACKGROUND_ACTS, Act.BALLOT})
#: The most deducted for uncounted ballots and failed turns; the deduction is their share of it.
_MISSING = 30
#: The least percentage → its word.
BANDS = ((80, "high"), (65, "fair"), (50, "low"), (0, "very low"))
_BY_FINDINGS = "open findings set the verdict, whatever the vote"
_BY_RULES = "checklists agree with themselves, and no AI model was asked"
#: In an example the author of the text decides how far the agents agree.
_WRITTEN = "this is a written example, and no AI model was asked"
_HUNDRED = 100


@dataclass(frozen=True)
class Confidence:
    #: 0 to 100; None: it cannot be computed, and `rests_on` says why.
    percent: int | None
    rests_on: tuple[str, ...]

    @property
    def word(self) -> str:
        figure = self.percent or 0
        return next(word for least, word in BANDS if figure >= least)


def confidence_of(debate: Debate, verdict: Verdict) -> Confidence | None:
    """The confidence of a verdict, independent of the judge's own; None: it decides nothing."""
    options, agents = options_of(debate), len(debate.setup.agents)
    option, tally = options.resolve(verdict.option), debate.tally
    if verdict.is_undecided:
        return None
    reason = _reason_without_figure(debate, verdict, option)
    if tally is None or reason:
        return Confidence(None, (reason,))
    votes = {
        ballot.voter: shares
        for ballot in voting.counted_ballots(debate)
        if (shares := options.probabilities(ballot.probabilities))
    }
    counted = f"only {len(votes)} of {quantity(agents, 'ballot')} could be counted"
    if len(votes) < LEAST_BALLOTS:
        return Confidence(None, (counted,))
    first, models = voting.first_votes(debate), debate.setup.models
    figure, rests_on = from_ballots(option, votes, first, models, voters=agents)
    if not debate.evidence:
        rests_on.append("no source was given")
    deduction = 0.0
    if len(votes) < agents:
        abstentions = voting.last_abstentions(debate)
        abstainers = {item.turn.agent for item in abstentions if item.declared}.difference(
            tally.voters
        )
        rests_on.append(counted + (f", {len(abstainers)} abstained" if abstainers else ""))
        deduction += _MISSING * (agents - len(votes)) / agents
    if failures := sum(failure.turn.act not in _APART for failure in debate.failures.values()):
        turns = len(debate.contributions) + failures
        rests_on.append(f"{failures} of {turns} turns failed")
        deduction += _MISSING * failures / turns
    figure -= min(deduction, _MISSING)
    if chose_otherwise(debate, verdict):
        figure -= _SWAP
        rests_on.append("the judge decided otherwise when it read the positions in another order")
    figure = _by_requirements(debate, verdict, figure, rests_on)
    if verdict.source is VerdictSource.WINNER:
        figure = min(figure, UNWRITTEN_AT_MOST)
        rests_on.append("no judge wrote it")
    return Confidence(round(max(0.0, figure)), tuple(rests_on))


def _reason_without_figure(debate: Debate, verdict: Verdict, option: str) -> str:
    """The first reason for which no confidence is computed; empty: there is none."""
    providers = {agent.provider for agent in debate.setup.agents}
    reasons = {
        _WRITTEN: providers == {EXAMPLE},
        "there was no vote": debate.tally is None,
        _BY_RULES: providers == {OFFLINE},
        _BY_FINDINGS: review.NOT_READY in verdict.warnings,
        "the verdict takes none of the options that were voted on": not option,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def from_ballots(
    option: str,
    votes: Mapping[str, Probabilities],
    first_votes: Mapping[str, Probabilities],
    models: Mapping[str, str],
    *,
    voters: int,
) -> tuple[float, list[str]]:
    """The bounded mean probability of the option decided for, in percent, with its reasons.

    Args:
        option: The option decided for.
        votes: The final probabilities by voter, counted ballots only.
        first_votes: The probabilities of the blind ballots, also of voters without a final one.
        models: The model of each voter; a voter that is missing here counts as its own model.
        voters: The number of agents that could vote.
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
        bounds = dict.fromkeys((percent(min(shares)), percent(max(shares))))
        is_complete = len(first_votes) == voters
        coverage = "" if is_complete else f" of {len(first_votes)} of {voters} agents"
        first = [f"first ballots{coverage} gave it {' to '.join(bounds)}"]
        if spread_of(option, first_votes.values()) > GAP_FROM:
            at_most = min(at_most, SPLIT_AT_MOST)
    bound = f", counted as {at_most}%" if round(_HUNDRED * average) > at_most else ""
    return min(_HUNDRED * average, at_most), [f"{ballots}: {percent(average)}{bound}", *first]


def _by_requirements(debate: Debate, verdict: Verdict, figure: float, rests_on: list[str]) -> float:
    """Lower the figure for requirements that are unknown or not met; reasons go to `rests_on`."""
    if debate.setup.format == review.NAME:
        return figure  # in a review unmet requirements are reasons for its verdict
    status = [requirement.status for requirement in verdict.requirements]
    if unknown := status.count(RequirementStatus.UNKNOWN):
        figure -= min(unknown * _UNKNOWN, _UNKNOWN_AT_MOST)
        count = quantity(unknown, "major requirement")
        rests_on.append(f"whether it meets {count} is not known")
    if unmet := status.count(RequirementStatus.NOT_MET):
        figure = min(figure, UNMET_AT_MOST)
        rests_on.append(f"{quantity(unmet, 'major requirement')} not met")
    return figure
