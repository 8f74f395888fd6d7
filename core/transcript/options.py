"""The options of a debate as text: what they are, who stands where, who moved (pure)."""

from collections.abc import Iterator, Mapping, Sequence

from core.figures import number, percent
from core.models import Contribution, Debate, OptionChange, OptionScore, Verdict
from core.rules import voting
from core.rules.formats import review
from core.rules.mind_changes import cause_words, mind_changes
from core.rules.options import (
    NAMES_A_VERDICT,
    after_edits,
    as_named,
    by_option,
    held_by,
    is_listed,
    leading,
    listed_scores,
    option_of,
    options_of,
    stance_in,
)
from core.rules.people_count import count_people
from core.transcript.markdown import inert_line
from core.transcript.words import bullets, name_of, table


def headline_option(debate: Debate) -> str:
    """What the debate has led to: the option decided for, else the vote's; empty without options.

    Where the vote is tied, all that lead.
    """
    options = options_of(debate)
    if debate.verdict:
        # Declining to decide is no option.
        return options.name(debate.verdict.option)
    scores = debate.tally.options if debate.tally else ()
    return " / ".join(options.name(option) for option in voting.winning_options(scores))


def option_words(debate: Debate, score: OptionScore) -> str:
    """One option's result: `PostgreSQL: 3 of 3 agents, 84% across all`."""
    name = options_of(debate).name(score.option) or score.option
    tally, weights = debate.tally, debate.setup.vote.weights
    counted = voting.counted(debate, tally) if tally else ()
    voters = [ballot.voter for ballot in counted if ballot.probabilities]
    total = sum(weights.get(voter, 1.0) for voter in voters)
    unit = f" agent{'' if total == 1 else 's'}" if tally else ""
    if any(weights.get(voter, 1.0) != 1.0 for voter in voters):
        unit = " votes by weight"
    first = f"{number(score.first_choices)} of {number(total)}{unit}"
    return f"{inert_line(name)}: {first}, {percent(score.mean_probability)} across all"


def shares(debate: Debate, stance: Mapping[str, float]) -> str:
    """Probabilities as people read them, likeliest first: `PostgreSQL 80%; Kafka 20%`."""
    options = options_of(debate)
    ranked = sorted(options.probabilities(stance).items(), key=lambda item: -item[1])
    return "; ".join(
        f"{options.name(option)} {percent(share)}"
        for option, share in ranked
        if is_listed(options, option, share)
    )


def holds_words(debate: Debate, contribution: Contribution) -> str:
    """The author's shares by option in words, of a reviewer the verdict; empty: none stated."""
    stance = stance_in(debate, contribution)
    if contribution.turn.act in NAMES_A_VERDICT:
        return options_of(debate).name(leading(stance))
    return shares(debate, stance)


def options_table(debate: Debate) -> str:
    """A table of options with their holders and average shares; empty without options."""
    options = options_of(debate)
    if not options.items:
        return ""
    if debate.is_sealed:
        return bullets(item.name for item in options.items)
    scores = {score.option: score for score in (debate.tally.options if debate.tally else ())}
    holders: dict[str, list[str]] = {}
    for agent in debate.setup.agents:
        before = " (before the vote)" if voting.is_uncounted(debate, agent.id) else ""
        favourite = leading(held_by(debate, agent.id))
        holders.setdefault(favourite, []).append(f"{agent.name}{before}")
    stands = by_option(debate)
    people = count_people(debate)
    first = {score.option: score.first_choices for score in people.scores}
    rows: list[Sequence[str]] = []
    listed = listed_scores(options, scores.values())
    places = {score.option: place for place, score in enumerate(listed)}
    for item in sorted(options.items, key=lambda item: places.get(item.id, len(places))):
        score = scores.get(item.id)
        drafters, holding = stands.get(item.id, ()), holders.get(item.id, ())
        mean_share = score.mean_probability if score else 0.0
        by_people = first.get(item.id, 0)
        if not is_listed(options, item.id, len(drafters), len(holding), mean_share, by_people):
            continue
        row = [
            item.name,
            ", ".join(name_of(debate, agent) for agent in drafters) or "nobody",
            ", ".join(holding) or "nobody",
            percent(score.mean_probability) if score else "",
        ]
        rows.append([*row, str(by_people)] if people.voters else row)
    head = ["Option", "Position of", "Held best by", "On average"]
    return table([*head, "People's first choice"] if people.voters else head, rows)


def gap_words(debate: Debate) -> str:
    """How people's choice and the agents' differ, in a sentence; empty where nobody compares."""
    people, tally = count_people(debate), debate.tally
    if not people.voters or not tally or not tally.options:
        return ""
    options, agents = options_of(debate), voting.winning_options(tally.options)
    theirs = " and ".join(options.name(option) for option in people.winners)
    if set(people.winners) == set(agents):
        return f"People and agents put the same first: {inert_line(theirs)}."
    ours = " and ".join(options.name(option) for option in agents)
    most = f"{people.scores[0].first_choices} of {len(people.voters)}"
    return inert_line(f"People put {theirs} first ({most}), the agents {ours}.")


def edits_words(debate: Debate) -> Sequence[str]:
    """What people changed about the options, a sentence each, with the names of that moment."""
    named, texts = as_named(debate), list[str]()
    for at, edit in enumerate(debate.option_edits):
        before = after_edits(named, debate.option_edits[:at])
        who = edit.by.display_name
        old = before.name(edit.option)
        match edit.change:
            case OptionChange.ADD:
                texts.append(f'{who} added "{edit.name}".')
            case OptionChange.RENAME if old:
                texts.append(f'{who} renamed "{old}" to "{edit.name}".')
            case OptionChange.MERGE if old and before.name(edit.into):
                texts.append(f'{who} merged "{old}" into "{before.name(edit.into)}".')
            case _:
                pass  # it fitted nothing and changed nothing
    return texts


def moves_section(debate: Debate, *, level: int = 3) -> str:
    """Who holds another option best than before the debate, and what moved them.

    Empty where nobody voted before and after it, and in debates of older versions.
    """
    rounds = {ballot.turn.round > 0 for ballot in debate.ballots.values() if ballot.probabilities}
    if rounds != {False, True}:
        return ""
    text = bullets(moves_words(debate)) or "Nobody holds another option best than before."
    return f"{'#' * level} Who changed their mind\n\n{text}"


def moves_words(debate: Debate) -> Sequence[str]:
    """A line per voter whose first choice changed: before, after and the cause."""
    options, lines = options_of(debate), list[str]()
    for change in mind_changes(debate):
        before, after = (
            f"{options.name(option)} ({percent(vote.get(option, 0.0))})"
            for option, vote in ((change.before, change.first), (change.after, change.final))
        )
        line = f"{name_of(debate, change.voter)}: from {before} to {after}"
        lines.append(line + inert_line(cause_words(debate, change)))
    return lines


def criteria_rows(
    debate: Debate, verdict: Verdict
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The head of a table, and how each option does by each criterion, in the judge's words.

    Of a review it is the subject that is judged, in the row of the verdict it got.
    """
    options = options_of(debate)
    cells: dict[str, dict[str, str]] = {}
    for criterion in verdict.criteria:
        if option := options.resolve(criterion.option):
            row = cells.setdefault(option, {})
            # Options that people merged had a cell each.
            row[criterion.criterion] = "; ".join(
                filter(None, (row.get(criterion.criterion), criterion.words))
            )
    criteria = list(dict.fromkeys(name for row in cells.values() for name in row))
    rows = [
        [options.name(option), *(row.get(name, "") for name in criteria)]
        for option, row in cells.items()
    ]
    is_review = debate.setup.format == review.NAME
    return ("Verdict" if is_review else "Option", *criteria), rows


def criteria_title(debate: Debate) -> str:
    """What that table is called."""
    of_review = debate.setup.format == review.NAME
    return "The subject by criterion" if of_review else "Options by criterion"


def cross_check_words(debate: Debate) -> str:
    """What the judge chose when it read the positions in another order; empty if it did not."""
    check = debate.cross_check
    if check is None:
        return ""
    name = options_of(debate).name(check.option) or "none of the options"
    reason = f" ({check.reason})" if check.reason else ""
    text = f"The vote is close. Reading the positions in another order, the judge chose {name}"
    return inert_line(f"{text}{reason}.")


def positions_words(debate: Debate) -> Iterator[str]:
    """Every option and who stands for it, a line each: `Kafka: Ann, Bob`."""
    options = options_of(debate)
    for option, agents in by_option(debate).items():
        if is_listed(options, option, len(agents)):
            names = ", ".join(name_of(debate, agent) for agent in agents)
            names = names or ("sealed" if debate.is_sealed else "no agent stands for it")
            yield f"{options.name(option)}: {names}"


def option_behind(debate: Debate, agent: str) -> str:
    """The name of the option that an agent's position stands for; empty if none is known."""
    return options_of(debate).name(option_of(debate, agent))
