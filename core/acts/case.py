"""The judge's case: positions by name, the last critiques and words, the vote, who moved (pure)."""

from collections.abc import Sequence

from core.acts.act import ACTS
from core.acts.context import letters, options_part, told_in_short
from core.figures import counted, percent
from core.models import Act, Debate, Source, Turn
from core.request import Part, PartKind
from core.rules import voting
from core.rules.formats.registry import format_of
from core.rules.history.strategies import judge_summary
from core.rules.mind_changes import mind_changes, mover
from core.rules.options import option_of, options_of

#: The judge sees the critiques of so many positions: the best of the options that came first.
_CRITICISED = 2


def judged_case(debate: Debate, turn: Turn) -> Sequence[Part]:
    """What the judge reads: positions, the critiques that count, last words, options, the vote."""
    return (
        *final_positions(debate),
        *told_in_short(debate, turn),
        *last_critiques(debate),
        *last_words(debate),
        *format_of(debate).shown(debate, turn),
        *options_part(debate, by_name=True),
        *tally_part(debate),
    )


def final_positions(debate: Debate) -> Sequence[Part]:
    """All final positions by name, in the order of the vote; the winner is shortened last.

    Where settings have the judge's material summed up, the winner stays in full.
    """
    positions = format_of(debate).positions(debate)
    winners = voting.best_texts(debate.tally) if debate.tally else ()
    summary = judge_summary(debate)
    shown = [
        Part(
            kind=PartKind.POSITION,
            label=f"Position of {debate.setup.agent(agent).name}",
            text=positions[agent].text,
            trim_priority=1 if agent in winners else 3,
        )
        for agent in _by_vote(debate)
        if not summary or agent in winners
    ]
    if summary:
        label = "All positions in short"
        shown.append(Part(kind=PartKind.SUMMARY, label=label, text=summary.text))
    return shown


def _by_vote(debate: Debate) -> Sequence[str]:
    """Ids of the agents that have a position, in the order of the vote."""
    positions = format_of(debate).positions(debate)
    scores = debate.tally.scores if debate.tally else ()
    order = [score.position for score in scores] or list(positions)
    return [agent for agent in order if agent in positions]


def last_critiques(debate: Debate) -> Sequence[Part]:
    """The newest critiques of the best positions for the two options that came first."""
    parts: list[Part] = []
    roster = [agent.id for agent in debate.setup.agents]
    ranked, best = _by_vote(debate), list[str]()
    for score in debate.tally.options if debate.tally else ():
        best += [a for a in ranked if option_of(debate, a) == score.option][:1]
    for target in (best or ranked)[:_CRITICISED]:
        about = [
            made
            for made in debate.contributions.values()
            if made.turn.act is Act.CRITIQUE and made.turn.target == target
        ]
        last = max((made.turn.round for made in about), default=0)
        parts += [
            Part(
                kind=PartKind.CRITIQUE,
                label=f"{name_of(debate, made.turn.agent)} on the position of "
                f"{name_of(debate, target)} in round {last}",
                text=made.text,
                trim_priority=4,
            )
            for made in sorted(about, key=lambda one: roster.index(one.turn.agent))
            if made.turn.round == last
        ]
    return parts


def last_words(debate: Debate) -> Sequence[Part]:
    """The council's rebuttals; where there were none, everybody's answers to the others."""
    for act, what in ((Act.REBUTTAL, "Last word"), (Act.DEBATE, "Answers to the others")):
        said = [made for made in debate.contributions.values() if made.turn.act is act]
        if said:
            return [
                Part(
                    kind=PartKind.CRITIQUE,
                    label=f"{what} of {name_of(debate, made.turn.agent)} ({letters(debate)})",
                    text=made.text,
                    trim_priority=4,
                )
                for made in said
            ]
    return ()


def tally_part(debate: Debate) -> Sequence[Part]:
    """The counted vote, every ballot with all its reasons, and who moved by what."""
    if not debate.tally:
        return ()
    options, rules = options_of(debate), debate.setup.vote
    by_weight = " by weight" if rules.weights else ""
    lines = [
        f"{options.name(score.option)} ({score.option}): first choice of "
        f"{counted(score.first_choices, 'voter')}{by_weight}, "
        f"{percent(score.mean_probability)} on average"
        for score in debate.tally.options
    ]
    lines += [
        f"The text of {name_of(debate, score.position)}: {counted(score.points, 'point')}, "
        f"{counted(score.first_places, 'first place')}"
        for score in debate.tally.scores
    ]
    lines += ["Where a voter ranked its own text does not count."] if rules.exclude_self else []
    for ballot in voting.counted(debate, debate.tally):
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
        by = mover(debate, move)
        what = (
            f"source {by.id}"
            if isinstance(by, Source)
            else f"{name_of(debate, by.turn.agent)}'s {ACTS[by.turn.act].noun}"
            if by
            else ""
        )
        cause = f", moved by {what}" if what else ""
        before, after = options.name(move.before), options.name(move.after)
        who = name_of(debate, move.voter)
        lines.append(f"{who} held {before} best before the debate, and {after} after it{cause}.")
    return (Part(kind=PartKind.TALLY, label="The vote", text="\n".join(lines)),)


def name_of(debate: Debate, agent: str) -> str:
    """What the judge, who sees names, calls an agent."""
    return debate.setup.agent(agent).name
