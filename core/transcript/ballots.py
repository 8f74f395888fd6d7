"""The vote as Markdown: by option, whose text was ranked best, every ballot, who moved (pure)."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.verdict import Verdict
from core.debate.vote import Ballot, OptionScore, Tally
from core.figures import number, percent
from core.figures import quantity as count_words
from core.rules.ending import tie_break
from core.rules.formats.review import NOT_READY
from core.rules.options import leading, listed_scores, options_of
from core.rules.voting import OWN_TEXT, counted_ballots, is_close, winning_options
from core.transcript.markdown import inert_line
from core.transcript.options import (
    cross_check_line,
    edit_lines,
    gap_line,
    moves_section,
    option_behind,
    option_rows,
    shares,
)
from core.transcript.people import people_ballots
from core.transcript.words import (
    ResultLine,
    as_markdown,
    bullets,
    line_words,
    listed_names,
    name_of,
    table,
    titled,
)

MEAN_PROBABILITY = (
    "Mean probability: how likely the counted ballots hold an option to be the best, on average."
)
NOBODY_VOTED = "No ballot could be counted."


def vote_words(debate: Debate) -> str:
    tally = debate.tally
    if tally is None or not tally.voters:
        return "There was no vote." if tally is None else NOBODY_VOTED
    counts = "; ".join(map(line_words, option_lines(debate, tally, short=True)))
    noted = debate.verdict.warnings if debate.verdict else ()
    best = best_text_words(debate, tally, noted)
    texts = (f"{counts}." if counts else "", close_words(debate, tally), best)
    return inert_line(" ".join(filter(None, texts)))


def option_lines(debate: Debate, tally: Tally, *, short: bool = False) -> Sequence[ResultLine]:
    """The vote by option, best first: `PostgreSQL`, `3 of 3 agents, mean probability 84%`.

    In short lines after the first one are as `0 of 3, mean 16%`.
    """
    options, lines = options_of(debate), list[ResultLine]()
    ballots = [
        options.probabilities(ballot.probabilities) for ballot in counted_ballots(debate, tally)
    ]
    votes = [ballot for ballot in ballots if ballot]
    agents = count_words(len(votes), "agent")
    if len(votes) < len(debate.setup.agents):
        agents += " with a ballot that counts"
    for score in listed_scores(options, tally.options):
        first = sum(leading(vote) == score.option for vote in votes)
        weight = number(score.first_choices)
        weighed = "" if first == score.first_choices else f", {weight} by their weights"
        mean = percent(score.mean_probability)
        text = f"{first} of {agents}{weighed}, mean probability {mean}"
        if short and lines:
            text = f"{first} of {len(votes)}{weighed}, mean {mean}"
        lines.append(ResultLine(label=options.name(score.option) or score.option, text=text))
    return lines


def vote_lines(debate: Debate, verdict: Verdict | None) -> Iterator[ResultLine]:
    yield ResultLine(label="Vote", text=vote_words(debate))
    options, tally = options_of(debate), debate.tally
    if tally and tally.options:
        yield ResultLine(text=MEAN_PROBABILITY)
    decided = options.resolve(verdict.option) if verdict else ""
    leads = winning_options(tally.options) if tally and tally.options else ()
    if verdict and decided and leads and decided not in leads:
        first = " and ".join(options.name(option) for option in leads)
        text = f"The judge decided for {options.name(decided)}"
        if NOT_READY in verdict.warnings:
            text = f"Open findings make it {options.name(decided)}"
        yield ResultLine(text=f"{text}, the vote puts {first} first.")
    yield from filter(None, (cross_check_line(debate, verdict), gap_line(debate)))


def options_words(debate: Debate) -> str:
    head, options = option_rows(debate)
    if debate.is_sealed:
        return bullets(name for name, *_ in options.values())
    return table(head, options.values())


def vote_section(debate: Debate) -> str:
    minds, tally = options_words(debate), debate.tally
    if not (minds or tally or debate.ballots or debate.people_ballots):
        return ""
    counted = list[str]()
    if tally:
        # With a verdict they stand beside it.
        counted += [] if debate.verdict else map(line_words, vote_lines(debate, None))
        counted.append(table(*score_rows(debate, tally)))
        counted += [OWN_TEXT] if debate.setup.vote.exclude_self else []
        counted += [_ballot(debate, ballot) for ballot in counted_ballots(debate, tally)]
    missing = [f"{name_of(debate, it)}: {why}" for it, why in missing_ballots(debate).items()]
    return titled(
        "Options and vote" if minds else "Vote",
        minds,
        bullets(map(line_words, edit_lines(debate))),
        *counted,
        titled("Without a ballot", bullets(missing), level=3),
        as_markdown(moves_section(debate), 3),
        people_ballots(debate),
    )


def missing_ballots(debate: Debate) -> Mapping[str, str]:
    voters = debate.tally.voters if debate.tally else ()
    missed = [
        outcome
        for outcome in (*debate.failures.values(), *debate.abstentions.values())
        if outcome.turn.act is Act.BALLOT and outcome.turn.agent not in voters
    ]
    missed.sort(key=lambda outcome: outcome.turn.round)
    return {outcome.turn.agent: outcome.reason for outcome in missed}


def close_words(debate: Debate, tally: Tally) -> str:
    options = options_of(debate)

    def names_of(scores: Sequence[OptionScore]) -> str:
        return listed_names([options.name(score.option) or score.option for score in scores])

    scores = tally.options
    if (tied := len(winning_options(scores))) > 1:
        return f"A tie that no rule breaks: {names_of(scores[:tied])}."
    level = [score for score in scores if score.first_choices == scores[0].first_choices]
    if len(level) > 1 and scores[0].first_choices:
        best = options.name(scores[0].option) or scores[0].option
        return f"Level on first choices: {names_of(level)}; {best} has the higher mean probability."
    if scores and tally.controversial:
        near = [score for score in scores[1:] if is_close((scores[0], score))]
        return f"Close: {names_of((scores[0], *near))} are within 10 points of probability."
    return ""


def best_text_words(debate: Debate, tally: Tally, noted: Collection[str] = ()) -> str:
    names = [name_of(debate, winner) for winner in tally.winners]
    points = ", ".join(f"{name_of(debate, s.position)} {number(s.points)}" for s in tally.scores)
    if not tally.options:
        close = "; the top two are within one point" if tally.controversial else ""
        if len(names) == 1:
            return f"{names[0]} won the vote ({points}{close})."
        return f"The vote is tied: {', '.join(names)} ({points}{close})."
    tie = "" if tie_break(debate) in noted else tie_break(debate)
    option = _other_option(debate, tally)
    if len(names) > 1:
        stands_for = f" Their texts stand for {option}." if option else ""
        return (tie or f"Texts tied as the best: {', '.join(names)}.") + stands_for
    if tie:
        stands_for = f" It stands for {option}." if option else ""
        return f"{tie}{stands_for} Points: {points}."
    stands_for = f", for {option}," if option else ""
    how = "put first" if tie_break(debate) else "ranked best"
    return f"{names[0]}'s text{stands_for} was {how} (points: {points})."


def _other_option(debate: Debate, tally: Tally) -> str:
    """The option that all the best texts stand for, where it is not the one that leads."""
    name, *others = {option_behind(debate, winner) for winner in tally.winners}
    leads = name == options_of(debate).name(tally.options[0].option)
    return "" if others or leads else name


def score_rows(debate: Debate, tally: Tally) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
    """The head of a table, and how each text did, the best first."""
    rows = list[Sequence[object]]()
    for score in tally.scores:
        name, points = name_of(debate, score.position), (number(score.points), score.first_places)
        if tally.options:
            rows.append((name, option_behind(debate, score.position), *points))
        else:
            sure = _figure(score.mean_confidence if score.first_places else None)
            rows.append((name, *points, sure))
    if tally.options:
        return ("Text of", "Its author favours", "Points", "First places"), rows
    return ("Position of", "Points", "First places", "Mean confidence"), rows


def _ballot(debate: Debate, ballot: Ballot) -> str:
    title = inert_line(name_of(debate, ballot.voter))
    if minds := shares(debate, ballot.probabilities):
        title += f": {inert_line(minds)}"
    elif ballot.confidence is not None:
        title += f" (confidence {_figure(ballot.confidence)})"
    reasons = (ballot.reasons.get(position, "no reason given") for position in ballot.ranking)
    lines = (
        f"{place}. {name_of(debate, position)}: {inert_line(reason)}"
        for place, (position, reason) in enumerate(
            zip(ballot.ranking, reasons, strict=True), start=1
        )
    )
    return titled(title, "\n".join(lines), level=3)


def _figure(confidence: float | None) -> str:
    return "not given" if confidence is None else percent(confidence)
