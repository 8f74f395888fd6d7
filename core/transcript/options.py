"""The options of a debate as text: what they are, who stands where, who moved (pure)."""

from collections.abc import Iterator, Mapping, Sequence

from core.debate.contributions import Contribution
from core.debate.state import Debate
from core.debate.verdict import Verdict
from core.debate.vote import OptionChange
from core.figures import percent
from core.rules import voting
from core.rules.formats import review
from core.rules.movement import cause_words, mind_changes, mover
from core.rules.options import (
    NAMES_A_VERDICT,
    after_edits,
    by_option,
    drafted_by,
    held_by,
    is_listed,
    leading,
    listed_scores,
    named_options,
    option_of,
    options_of,
    stance_in,
)
from core.rules.voting import count_people
from core.transcript.words import ResultLine, ResultSection, name_of


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


def option_rows(debate: Debate) -> tuple[Sequence[str], Mapping[str, Sequence[str]]]:
    """The head of a table, and by the options' ids who began and holds where, the best first."""
    options = options_of(debate)
    scores = {score.option: score for score in (debate.tally.options if debate.tally else ())}
    holders: dict[str, list[str]] = {}
    drafters: dict[str, list[str]] = {}
    for agent in debate.setup.agents:
        before = " (before the vote)" if voting.is_uncounted(debate, agent.id) else ""
        favourite = leading(held_by(debate, agent.id))
        holders.setdefault(favourite, []).append(f"{agent.name}{before}")
        # A draft can argue for another option than its author holds likeliest.
        drafted = drafted_by(debate, agent.id) or option_of(debate, agent.id)
        drafters.setdefault(drafted, []).append(agent.name)
    people = count_people(debate)
    people_first = {score.option: score.first_choices for score in people.scores}
    rows: dict[str, Sequence[str]] = {}
    listed = listed_scores(options, scores.values())
    places = {score.option: place for place, score in enumerate(listed)}
    for item in sorted(options.items, key=lambda item: places.get(item.id, len(places))):
        score = scores.get(item.id)
        drafting, holding = drafters.get(item.id, ()), holders.get(item.id, ())
        mean_share = score.mean_probability if score else 0.0
        by_people = people_first.get(item.id, 0)
        if not is_listed(options, item.id, len(drafting), len(holding), mean_share, by_people):
            continue
        row = [
            item.name,
            percent(score.mean_probability) if score else "",
            ", ".join(holding) or "nobody",
            ", ".join(drafting) or "nobody",
        ]
        rows[item.id] = [*row, str(by_people)] if people.voters else row
    # A narrow screen shows the first columns.
    head = ["Option", "Mean probability", "Held best by", "First position of"]
    return [*head, "People's first choice"] if people.voters else head, rows


def gap_line(debate: Debate) -> ResultLine | None:
    """How the team's choice and the agents' differ; None where nobody compares."""
    people, tally = count_people(debate), debate.tally
    agents = voting.winning_options(tally.options) if tally else ()
    if not people.voters or not agents:
        return None
    options = options_of(debate)
    team, theirs = (
        " and ".join(map(options.name, winners)) for winners in (people.winners, agents)
    )
    if set(people.winners) == set(agents):
        return ResultLine(text=f"Team and agents agree: {team}.")
    sides = f"the team is for {team}, the agents are for {theirs}"
    if set(people.winners) & set(agents):
        return ResultLine(text=f"Team and agents overlap: {sides}.")
    first = next((s.first_choices for s in people.scores if s.option == agents[0]), 0)
    counts = f"{first} of {len(people.voters)} in the team put first"
    return ResultLine(text=f"Team and agents differ: {sides}, which {counts}.", is_warning=True)


def edit_lines(debate: Debate) -> Sequence[ResultLine]:
    named, lines = named_options(debate), list[ResultLine]()
    for at, edit in enumerate(debate.option_edits):
        before = after_edits(named, debate.option_edits[:at])
        old, into = before.name(edit.option), before.name(edit.into)
        match edit.change:
            case OptionChange.ADD:
                text = f'added the option "{edit.name}".'
            case OptionChange.RENAME if old:
                text = f'renamed "{old}" to "{edit.name}".'
            case OptionChange.MERGE if old and into:
                text = f'merged "{old}" into "{into}": they count as one.'
            case _:
                text = "changed an option that was there no more, so nothing changed."
        lines.append(ResultLine(by=edit.by, text=text))
    return lines


def moves_section(debate: Debate) -> ResultSection:
    """Who holds another option best than before the debate, what moved them, and who stayed.

    Empty where nobody voted before and after it, and in debates of older versions.
    """
    ballots = [ballot for ballot in debate.ballots.values() if ballot.probabilities]
    blind, final = (
        {ballot.voter for ballot in ballots if (ballot.turn.round > 0) is is_final}
        for is_final in (False, True)
    )
    moved = {change.voter for change in mind_changes(debate)}
    stayed = [a.name for a in debate.setup.agents if a.id in (blind & final) - moved]
    lines = [*move_lines(debate)] if blind & final else []
    if stayed:
        lines.append(
            ResultLine(
                text=f"Put the same option first at the start and the end: {', '.join(stayed)}."
            )
        )
    unknown = [a.name for a in debate.setup.agents if a.id in final - blind]
    if unknown and lines:
        lines.append(ResultLine(text=f"Without a first ballot: {', '.join(unknown)}."))
    return ResultSection(title="Who changed their mind", lines=lines)


def move_lines(debate: Debate) -> Iterator[ResultLine]:
    options = options_of(debate)
    for change in mind_changes(debate):
        before, after = (
            f"{options.name(option)} ({percent(vote.get(option, 0.0))})"
            for option, vote in ((change.before, change.first), (change.after, change.final))
        )
        cause = mover(debate, change)
        yield ResultLine(
            label=name_of(debate, change.voter),
            text=f"from {before} to {after}{cause_words(debate, change)}",
            turn=cause.turn if isinstance(cause, Contribution) else None,
        )


def criteria_section(debate: Debate, verdict: Verdict) -> ResultSection:
    """How each option does by each criterion, in the judge's words.

    Of a review it is the subject that is judged, in the row of the verdict it got.
    """
    options = options_of(debate)
    cells: dict[str, dict[str, str]] = {}
    for criterion in verdict.criteria:
        if option := options.resolve(criterion.option):
            row = cells.setdefault(option, {})
            # Options that people merged had a cell each.
            words = filter(None, (row.get(criterion.criterion), criterion.words))
            row[criterion.criterion] = "; ".join(words)
    criteria = list(dict.fromkeys(name for row in cells.values() for name in row))
    rows = [
        [options.name(option), *(row.get(name, "") for name in criteria)]
        for option, row in cells.items()
    ]
    title, of_what = "Options by criterion", "Option"
    if debate.setup.format == review.NAME:
        title, of_what = "The subject by criterion", "Verdict"
    return ResultSection(title=title, head=(of_what, *criteria), rows=rows)


def cross_check_line(debate: Debate, verdict: Verdict | None) -> ResultLine | None:
    """What the judge chose with the positions in the opposite order; None if it was not asked."""
    check, options = debate.cross_check, options_of(debate)
    if check is None:
        return None
    if verdict and options.resolve(check.option) == options.resolve(verdict.option):
        same = "Asked again with the positions in the opposite order, the judge chose the same."
        return ResultLine(text=same)
    name = options.name(check.option) or "none of the options"
    reason = f" (“{check.reason.strip()}”)" if check.reason.strip() else ""
    text = f"Asked with the positions in the opposite order, the judge chose {name}{reason}"
    warning = ": the order decided, so check this verdict before you follow it" if verdict else ""
    return ResultLine(text=f"{text}{warning}.", is_warning=bool(verdict))


def positions_words(debate: Debate) -> Iterator[str]:
    options = options_of(debate)
    for option, agents in by_option(debate).items():
        if is_listed(options, option, len(agents)):
            names = ", ".join(name_of(debate, agent) for agent in agents)
            names = names or ("sealed" if debate.is_sealed else "no agent favours it")
            yield f"{options.name(option)}: {names}"


def option_behind(debate: Debate, agent: str) -> str:
    return options_of(debate).name(option_of(debate, agent))
