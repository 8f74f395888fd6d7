"""What the judge, who sees names, reads of the vote and of what agents raised (pure)."""

from collections.abc import Sequence

from core.debate.state import Debate
from core.figures import percent, quantity
from core.request import Part, PartKind
from core.rules import voting
from core.rules.mind_changes import cause_words, mind_changes
from core.rules.options import options_of
from core.rules.raised import raised_points


def raised_part(debate: Debate) -> Sequence[Part]:
    """What each agent raised on its own, by label."""
    lines = [
        f"{label}: {point.kind.value}, {name_of(debate, point.agent)}: {point.text}"
        for label, point in raised_points(debate).items()
    ]
    label = "What agents raised before they read one another"
    return [Part(kind=PartKind.OTHER, label=label, text="\n".join(lines))] if lines else ()


def tally_part(debate: Debate) -> Sequence[Part]:
    """The counted vote, every ballot with all its reasons, and who moved by what."""
    if not debate.tally:
        return ()
    options, rules = options_of(debate), debate.setup.vote
    by_weight = " by weight" if rules.weights else ""
    lines = [
        f"{options.name(score.option)} ({score.option}): first choice of "
        f"{quantity(score.first_choices, 'voter')}{by_weight}, "
        f"{percent(score.mean_probability)} on average"
        for score in debate.tally.options
    ]
    lines += [
        f"The text of {name_of(debate, score.position)}: {quantity(score.points, 'point')}, "
        f"{quantity(score.first_places, 'first place')}"
        for score in debate.tally.scores
    ]
    lines += [voting.OWN_TEXT] if rules.exclude_self else []
    for ballot in voting.counted_ballots(debate, debate.tally):
        order = ", then ".join(name_of(debate, position) for position in ballot.ranking)
        shares = ", ".join(
            f"{option} {percent(share)}"
            for option, share in options.probabilities(ballot.probabilities).items()
        )
        sure = f"; best for the team: {shares}" if shares else ""
        lines.append(f"The ballot of {name_of(debate, ballot.voter)}: texts {order}{sure}.")
        lines += [
            f"- on {name_of(debate, position)}: {' '.join(reason.split())}"
            for position, reason in ballot.reasons.items()
        ]
    for move in mind_changes(debate):
        before, after = options.name(move.before), options.name(move.after)
        who = name_of(debate, move.voter)
        cause = cause_words(debate, move)
        lines.append(f"{who} held {before} best before the debate, and {after} after it{cause}.")
    return (Part(kind=PartKind.TALLY, label="The vote", text="\n".join(lines)),)


def name_of(debate: Debate, agent: str) -> str:
    """What the judge, who sees names, calls an agent."""
    return debate.setup.agent(agent).name
