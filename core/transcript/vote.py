"""The vote by option, the best text, every ballot, and changes of mind, as text (pure)."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from core.debate.contributions import Contribution
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.debate.verdict import Verdict
from core.debate.vote import Ballot, OptionChange, OptionScore, Tally
from core.figures import listed, number, percent
from core.figures import quantity as count_words
from core.rules.ending import tie_break
from core.rules.formats import review
from core.rules.judging import chose_otherwise
from core.rules.movement import cause_of, cause_words, mind_changes
from core.rules.options import (
    NAMES_A_VERDICT,
    after_edits,
    current_option,
    current_stance,
    drafted_option,
    is_listed,
    leading,
    listed_scores,
    named_options,
    options_of,
    stance_in,
    supporters,
)
from core.rules.voting import (
    OWN_TEXT,
    count_people,
    counted_ballots,
    is_close,
    is_uncounted,
    winning_options,
)
from core.transcript.markdown import inert_line
from core.transcript.words import (
    ResultLine,
    ResultSection,
    as_markdown,
    bullets,
    line_words,
    name_of,
    table,
    titled,
)

MEAN_PROBABILITY = (
    "Mean probability: how likely the counted ballots hold an option to be the best, on average."
)
NOBODY_VOTED = "No ballot could be counted."


# --- options --------------------------------------------------------------------------------------


def headline_option(debate: Debate) -> str:
    """The option of the verdict, or before it the vote's; empty without options.

    In a tie, all leading options.
    """
    options = options_of(debate)
    if debate.verdict:
        # Empty if the judge declined to decide.
        return options.name(debate.verdict.option)
    return " / ".join(options.name(option) for option in winning_options(debate.option_scores))


def shares(debate: Debate, stance: Mapping[str, float]) -> str:
    """Probabilities as text, the highest first: `PostgreSQL 80%; Kafka 20%`."""
    options = options_of(debate)
    ranking = sorted(options.probabilities(stance).items(), key=lambda item: -item[1])
    return "; ".join(
        f"{options.name(option)} {percent(share)}"
        for option, share in ranking
        if is_listed(options, option, share)
    )


def holds_words(debate: Debate, contribution: Contribution) -> str:
    """The author's probabilities in words, or a reviewer's verdict; empty if none is stated."""
    stance = stance_in(debate, contribution)
    if contribution.turn.act in NAMES_A_VERDICT:
        return options_of(debate).name(leading(stance))
    return shares(debate, stance)


def option_rows(debate: Debate) -> tuple[Sequence[str], Mapping[str, Sequence[str]]]:
    """The head and, by option id, the rows of the table of options, the best option first."""
    options, people = options_of(debate), count_people(debate)
    scores = {score.option: score for score in debate.option_scores}
    firsts = {score.option: score.first_choices for score in people.scores}
    holders, drafters = dict[str, list[str]](), dict[str, list[str]]()
    for agent in debate.setup.agents:
        early = " (before the vote)" if is_uncounted(debate, agent.id) else ""
        favourite = leading(current_stance(debate, agent.id))
        holders.setdefault(favourite, []).append(f"{agent.name}{early}")
        # A draft can argue for another option than its author's likeliest.
        drafted = drafted_option(debate, agent.id) or current_option(debate, agent.id)
        drafters.setdefault(drafted, []).append(agent.name)
    order = [score.option for score in listed_scores(options, scores.values())]
    rows, width = dict[str, Sequence[str]](), 5 if people.voters else 4
    for item in sorted(options.items, key=lambda item: [*order, item.id].index(item.id)):
        score, first = scores.get(item.id), firsts.get(item.id, 0)
        holding, drafting = holders.get(item.id, ()), drafters.get(item.id, ())
        mean = score.mean_probability if score else 0.0
        if is_listed(options, item.id, len(drafting), len(holding), mean, first):
            agents = (", ".join(names) or "nobody" for names in (holding, drafting))
            rows[item.id] = [item.name, percent(mean) if score else "", *agents, str(first)][:width]
    # Narrow screens show only the first columns.
    head = ["Option", "Mean probability", "Held best by", "First position of"]
    return [*head, "People's first choice"][:width], rows


def options_words(debate: Debate) -> str:
    head, options = option_rows(debate)
    if debate.is_sealed:
        return bullets(name for name, *_ in options.values())
    return table(head, options.values())


def positions_words(debate: Debate) -> Iterator[str]:
    options = options_of(debate)
    for option, agents in supporters(debate).items():
        if is_listed(options, option, len(agents)):
            names = ", ".join(name_of(debate, agent) for agent in agents)
            names = names or ("sealed" if debate.is_sealed else "no agent favours it")
            yield f"{options.name(option)}: {names}"


def edit_lines(debate: Debate) -> Sequence[ResultLine]:
    options, lines = named_options(debate), list[ResultLine]()
    for index, edit in enumerate(debate.option_edits):
        before = after_edits(options, debate.option_edits[:index])
        old, target = before.name(edit.option), before.name(edit.into)
        match edit.change:
            case OptionChange.ADD:
                text = f'added the option "{edit.name}".'
            case OptionChange.RENAME if old:
                text = f'renamed "{old}" to "{edit.name}".'
            case OptionChange.MERGE if old and target:
                text = f'merged "{old}" into "{target}": they count as one.'
            case _:
                text = "changed an option that was there no more, so nothing changed."
        lines.append(ResultLine(by=edit.by, text=text))
    return lines


def criteria_section(debate: Debate, verdict: Verdict) -> ResultSection:
    """The judge's words on each option by each criterion.

    In a review the subject is judged, in the row of its verdict.
    """
    options = options_of(debate)
    cells: dict[str, dict[str, str]] = {}
    for criterion in verdict.criteria:
        if option := options.resolve(criterion.option):
            row = cells.setdefault(option, {})
            # Options that people merged have one cell each.
            words = filter(None, (row.get(criterion.criterion), criterion.words))
            row[criterion.criterion] = "; ".join(words)
    criteria = list(dict.fromkeys(name for row in cells.values() for name in row))
    rows = [
        [options.name(option), *(row.get(name, "") for name in criteria)]
        for option, row in cells.items()
    ]
    title, first_column = "Options by criterion", "Option"
    if debate.setup.format == review.NAME:
        title, first_column = "The subject by criterion", "Verdict"
    return ResultSection(title=title, head=(first_column, *criteria), rows=rows)


# --- the vote -------------------------------------------------------------------------------------


def vote_words(debate: Debate) -> str:
    tally = debate.tally
    if tally is None:  # while it runs or is sealed, it is not known whether there is one
        is_known = debate.status is not Status.RUNNING and not debate.is_sealed
        return "There was no vote." if is_known or debate.verdict else ""
    if not tally.voters:
        return NOBODY_VOTED
    counts = "; ".join(map(line_words, option_lines(debate, tally, short=True)))
    warnings = debate.verdict.warnings if debate.verdict else ()
    best = best_text_words(debate, tally, warnings)
    texts = (f"{counts}." if counts else "", close_words(debate, tally), best)
    return inert_line(" ".join(filter(None, texts)))


def option_lines(debate: Debate, tally: Tally, *, short: bool = False) -> Sequence[ResultLine]:
    """The vote by option, best first: `PostgreSQL`, `3 of 3 agents, mean probability 84%`.

    With `short` all lines after the first have the form `0 of 3, mean 16%`.
    """
    options, lines = options_of(debate), list[ResultLine]()
    ballots = (options.probabilities(item.probabilities) for item in counted_ballots(debate))
    votes = [ballot for ballot in ballots if ballot]
    agents = count_words(len(votes), "agent")
    if len(votes) < len(debate.setup.agents):
        agents += " with a ballot that counts"
    for score in listed_scores(options, tally.options):
        first = sum(leading(vote) == score.option for vote in votes)
        weight = number(score.first_choices)
        by_weight = "" if first == score.first_choices else f", {weight} by their weights"
        mean = percent(score.mean_probability)
        text = f"{first} of {agents}{by_weight}, mean probability {mean}"
        if short and lines:
            text = f"{first} of {len(votes)}{by_weight}, mean {mean}"
        lines.append(ResultLine(label=options.name(score.option) or score.option, text=text))
    return lines


def vote_lines(debate: Debate, verdict: Verdict | None) -> Iterator[ResultLine]:
    if vote := vote_words(debate):
        yield ResultLine(label="Vote", text=vote)
    options, tally = options_of(debate), debate.tally
    if tally and tally.options:
        yield ResultLine(text=MEAN_PROBABILITY)
    decision = options.resolve(verdict.option) if verdict else ""
    leads = winning_options(tally.options) if tally else ()
    if verdict and decision and leads and decision not in leads:
        first = " and ".join(options.name(option) for option in leads)
        text = f"The verdict is for {options.name(decision)}"
        if review.NOT_READY in verdict.warnings:
            text = f"Open findings make it {options.name(decision)}"
        yield ResultLine(text=f"{text}, the vote puts {first} first.")
    yield from filter(None, (cross_check_line(debate, verdict), gap_line(debate)))


def close_words(debate: Debate, tally: Tally) -> str:
    options, scores = options_of(debate), tally.options

    def names(scores: Sequence[OptionScore]) -> str:
        return listed([options.name(score.option) or score.option for score in scores])

    if (count := len(winning_options(scores))) > 1:
        return f"A tie that no rule breaks: {names(scores[:count])}."
    level = [score for score in scores if score.first_choices == scores[0].first_choices > 0]
    if len(level) > 1:
        best = names(scores[:1])
        return f"Level on first choices: {names(level)}; {best} has the higher mean probability."
    if scores and tally.controversial:
        near = [score for score in scores[1:] if is_close((scores[0], score))]
        return f"Close: {names((scores[0], *near))} are within 10 points of probability."
    return ""


def best_text_words(debate: Debate, tally: Tally, warnings: Collection[str] = ()) -> str:
    """The author of the best text, and the text's option if another option leads.

    The rule that broke a tie is left out if it is among the `warnings`.
    """
    names = [name_of(debate, winner) for winner in tally.winners]
    points = ", ".join(f"{name_of(debate, s.position)} {number(s.points)}" for s in tally.scores)
    option, *others = {option_behind(debate, winner) for winner in tally.winners}
    leads = options_of(debate).name(tally.options[0].option) if tally.options else option
    stands_for = "" if others or option in {"", leads} else f", for {option},"
    texts = (
        f"{names[0]}'s text{stands_for} was"
        if len(names) == 1
        else f"The texts of {listed(names)}{stands_for} were"
    )
    tie = "" if tie_break(debate) in warnings else tie_break(debate)
    return f"{tie} {texts} ranked best (points: {points}).".lstrip()


def option_behind(debate: Debate, agent: str) -> str:
    return options_of(debate).name(current_option(debate, agent))


def cross_check_line(
    debate: Debate, verdict: Verdict | None, *, short: bool = False
) -> ResultLine | None:
    """The judge's choice with the positions in the opposite order; None if it was not asked.

    With `short` without the judge's reason, which may be long.
    """
    check = debate.cross_check
    if check is None:
        return None
    name = options_of(debate).name(check.option) or "none of the options"
    reason = f" (“{check.reason.strip()}”)" if check.reason.strip() and not short else ""
    asked = "with the positions in the opposite order, the judge chose"
    match chose_otherwise(debate, verdict) if verdict else None:
        case None:
            return ResultLine(text=f"Asked {asked} {name}{reason}.")
        case False:
            return ResultLine(text=f"Asked again {asked} the same.")
        case True:
            text = f"Asked again {asked} {name} instead{reason}"
            warning = ": check this verdict before you follow it."
            return ResultLine(text=text + warning, is_warning=True)


def gap_line(debate: Debate) -> ResultLine | None:
    """The team's choice compared with the agents'; None if one of them has not voted."""
    people, tally, options = count_people(debate), debate.tally, options_of(debate)
    agents = winning_options(tally.options) if tally else ()
    if not people.voters or not agents:
        return None
    if set(people.winners) == set(agents):
        names = listed([*map(options.name, agents)])
        return ResultLine(text=f"Team and agents agree: {names}.")
    team_choice, agents_choice = (
        f"{'level between' if len(winners) > 1 else 'for'} " + listed([*map(options.name, winners)])
        for winners in (people.winners, agents)
    )
    if not set(people.winners).isdisjoint(agents):
        return ResultLine(text=f"The team is {team_choice}, the agents are {agents_choice}.")
    first = sum(score.first_choices for score in people.scores if score.option in agents)
    counts = f"which {first} of {len(people.voters)} in the team put first"
    text = (
        f"Team and agents differ: the team is {team_choice}, "
        f"the agents are {agents_choice}, {counts}."
    )
    return ResultLine(text=text, is_warning=True)


def team_vote_lines(debate: Debate) -> Iterator[ResultLine]:
    count, options = count_people(debate), options_of(debate)
    if not count.voters:
        return
    scores = ", ".join(
        f"{options.name(score.option)} {score.first_choices} of {len(count.voters)}"
        for score in count.scores
        if is_listed(options, score.option, score.first_choices)
    )
    # The number of voters who changed their ballot.
    change_count = 0
    for voter in count.voters:
        first = f"people-ballot/{voter}"
        change_count += sum(key == first or key.startswith(f"{first}/") for key in debate.times) > 1
    again = f", {change_count} changed" if change_count else ""
    label = f"The team's vote ({count_words(len(count.voters), 'ballot')}{again})"
    yield ResultLine(label=label, text=f"{scores}.")
    if gap := gap_line(debate):
        yield gap
    if late_votes := [
        f"{options.name(score.option)} {score.first_choices}"
        for score in count_people(debate, late=True).scores
        if score.first_choices
    ]:
        yield ResultLine(
            text=f"Ballots after the reveal, counted separately: {', '.join(late_votes)}."
        )


def missing_ballots(debate: Debate) -> Mapping[str, str]:
    if debate.tally is None:
        return {}
    outcomes = [
        outcome
        for outcome in (*debate.failures.values(), *debate.abstentions.values())
        if outcome.turn.act is Act.BALLOT and outcome.turn.agent not in debate.tally.voters
    ]
    outcomes.sort(key=lambda outcome: outcome.turn.round)
    return {outcome.turn.agent: outcome.reason for outcome in outcomes}


def moves_section(debate: Debate) -> ResultSection:
    """Agents who changed their first choice, with the cause, and agents who did not.

    Empty if nobody voted both before and after the debate, and in debates of older versions.
    """
    blind, final = (
        {
            ballot.voter
            for ballot in debate.ballots.values()
            if ballot.probabilities and (ballot.turn.round > 0) is is_final
        }
        for is_final in (False, True)
    )
    if not blind or not final:
        return ResultSection(title="")
    lines = [*move_lines(debate)]
    steady_ids = (blind & final) - {change.voter for change in mind_changes(debate)}
    steady = [agent.name for agent in debate.setup.agents if agent.id in steady_ids]
    if steady:
        text = f"Put the same option first at the start and the end: {', '.join(steady)}."
        lines.append(ResultLine(text=text))
    return ResultSection(title="Who changed their mind", lines=lines)


def move_lines(debate: Debate) -> Iterator[ResultLine]:
    options = options_of(debate)
    for change in mind_changes(debate):
        before, after = (
            f"{options.name(option)} ({percent(vote.get(option, 0.0))})"
            for option, vote in ((change.before, change.first), (change.after, change.final))
        )
        cause = cause_of(debate, change)
        yield ResultLine(
            label=name_of(debate, change.voter),
            text=f"from {before} to {after}{cause_words(debate, change)}",
            turn=cause.turn if isinstance(cause, Contribution) else None,
        )


def vote_section(debate: Debate) -> str:
    options, tally = options_words(debate), debate.tally
    if not (options or tally or debate.ballots or debate.people_ballots):
        return ""
    texts = list[str]()
    if tally:
        # The verdict section has these lines if there is a verdict.
        texts += [] if debate.verdict else map(line_words, vote_lines(debate, None))
        rows = [
            (
                name_of(debate, score.position),
                option_behind(debate, score.position) or "–",
                number(score.points),
                score.first_places,
            )
            for score in tally.scores
        ]
        texts.append(table(("Text of", "Its author favours", "Points", "First places"), rows))
        texts += [OWN_TEXT] if debate.setup.vote.exclude_self else []
        texts += [_ballot(debate, ballot) for ballot in counted_ballots(debate)]
    missing = [
        f"{name_of(debate, agent)}: {reason}" for agent, reason in missing_ballots(debate).items()
    ]
    return titled(
        "Options and vote" if options else "Vote",
        options,
        bullets(map(line_words, edit_lines(debate))),
        *texts,
        titled("Without a ballot", bullets(missing), level=3),
        as_markdown(moves_section(debate), 3),
        titled("People's ballots, best first", bullets(_people_ballots(debate)), level=3),
    )


def _ballot(debate: Debate, ballot: Ballot) -> str:
    title = ": ".join(
        filter(None, (name_of(debate, ballot.voter), shares(debate, ballot.probabilities)))
    )
    lines = (
        f"{place}. {name_of(debate, position)}: "
        + inert_line(ballot.reasons.get(position, "no reason given"))
        for place, position in enumerate(ballot.ranking, start=1)
    )
    return titled(inert_line(title), "\n".join(lines), level=3)


def _people_ballots(debate: Debate) -> Iterator[str]:
    options = options_of(debate)
    for ballot in debate.people_ballots.values():
        # Options that were merged after the ballot are listed once.
        ranking = dict.fromkeys(map(options.resolve, ballot.options))
        # In older versions people ranked agents' texts.
        names = [options.name(option) for option in ranking if option] or [
            name_of(debate, position) for position in ballot.ranking
        ]
        # A sealed ballot shows only who cast it.
        yield ": ".join(filter(None, (ballot.by.display_name, "; ".join(names))))
