"""The vote as Markdown: by option, whose text was ranked best, every ballot, who moved (pure)."""

from collections.abc import Iterator, Sequence

from core.figures import number, percent
from core.models import Ballot, Debate, Tally
from core.rules.degradations import tie_break
from core.rules.formats.review import NOT_READY
from core.rules.options import listed_scores, options_of
from core.rules.voting import OWN_TEXT, counted, winning_options
from core.transcript.markdown import inert_line
from core.transcript.options import (
    cross_check_words,
    edits_words,
    gap_words,
    moves_section,
    option_behind,
    option_words,
    options_table,
    shares,
)
from core.transcript.people import people_ballots
from core.transcript.words import bullets, name_of, table


def vote_words(debate: Debate) -> str:
    """The vote in a sentence or three: by option, then whose text was ranked best."""
    tally = debate.tally
    if tally is None or not tally.voters:
        return "There was no vote." if tally is None else "No ballot could be counted."
    texts = list[str]()
    if tally.options:
        options = options_of(debate)
        first, *others = listed_scores(options, tally.options) or tally.options
        counts = [option_words(debate, first)]
        for other in others:
            name = inert_line(options.name(other.option) or other.option)
            counts.append(
                f"{name}: {number(other.first_choices)}, {percent(other.mean_probability)}"
            )
        texts += [f"{'; '.join(counts)}.", close_words(tally)]
    return " ".join(filter(None, (*texts, _by_text(debate, tally))))


def vote_lines(debate: Debate) -> Iterator[str]:
    """The vote, the judge's check of a close one, and how people's choice differs."""
    yield f"Vote: {vote_words(debate)}"
    options, tally = options_of(debate), debate.tally
    decided = options.resolve(debate.verdict.option) if debate.verdict else ""
    leads = winning_options(tally.options) if tally and tally.options else ()
    if decided and leads and decided not in leads:
        first = " and ".join(options.name(option) for option in leads)
        text = f"The judge decided for {options.name(decided)}"
        if debate.verdict and NOT_READY in debate.verdict.warnings:
            text = f"Open findings make it {options.name(decided)}"
        yield inert_line(f"{text}, the vote puts {first} first.")
    yield from filter(None, (cross_check_words(debate), gap_words(debate)))


def vote_section(debate: Debate) -> str:
    """Options and vote; empty if there is nothing to choose and nobody voted."""
    minds = options_table(debate)
    if not (minds or debate.tally or debate.ballots or debate.people_ballots):
        return ""
    parts = ["## Options and vote" if minds else "## Vote", minds]
    parts += [bullets(edits_words(debate))]
    if debate.tally:
        # With a verdict they stand beside it.
        parts += [] if debate.verdict else [*vote_lines(debate)]
        parts.append(_scores(debate, debate.tally))
        parts += [OWN_TEXT] if debate.setup.vote.exclude_self else []
        parts += [_ballot(debate, ballot) for ballot in counted(debate, debate.tally)]
    # Of the ballots that count: a blind one that a later one follows is not missed.
    voters = debate.tally.voters if debate.tally else ()
    missing = {
        abstention.turn.agent: f"{name_of(debate, abstention.turn.agent)}: {abstention.reason}"
        for abstention in debate.abstentions.values()
        if abstention.turn.agent not in voters
    }
    parts += [f"### Abstentions\n\n{bullets(missing.values())}"] if missing else []
    parts += [moves_section(debate), people_ballots(debate)]
    return "\n\n".join(part for part in parts if part)


def close_words(tally: Tally) -> str:
    """That the best options are tied or close, and what decided; empty where neither is so."""
    if len(winning_options(tally.options)) > 1:
        return "A tie: the best options are level, and no rule breaks it."
    first_choices = [option.first_choices for option in tally.options]
    if any(first_choices) and first_choices[:1] == first_choices[1:2]:
        return "Level on first choices: the higher average puts one first."
    if tally.options and tally.controversial:
        return "Close: the best two options are within 10 points of each other."
    return ""


def _by_text(debate: Debate, tally: Tally) -> str:
    """Whose text was ranked best, and how a tie was broken."""
    names = [name_of(debate, winner) for winner in tally.winners]
    points = ", ".join(f"{name_of(debate, s.position)} {number(s.points)}" for s in tally.scores)
    if tally.options:
        # A note above the verdict has told how a tie was broken.
        noted = debate.verdict.warnings if debate.verdict else ()
        broken = "" if tie_break(debate) in noted else tie_break(debate)
        if len(names) > 1:
            return broken or f"Texts tied as the best: {', '.join(names)}."
        behind = option_behind(debate, tally.winners[0])
        other = behind != options_of(debate).name(tally.options[0].option)
        stands_for = f", for {inert_line(behind)}," if behind and other else ""
        how = "put first" if tie_break(debate) else "ranked best"
        text = f"{names[0]}'s text{stands_for} was {how} (points: {points})."
        return f"{text} {broken}".strip()
    close = "; the top two are within one point" if tally.controversial else ""
    if len(names) == 1:
        return f"{names[0]} won the vote ({points}{close})."
    return f"The vote is tied: {', '.join(names)} ({points}{close})."


def _scores(debate: Debate, tally: Tally) -> str:
    """The count by text."""
    if tally.options:
        rows: list[Sequence[object]] = []
        for s in tally.scores:
            behind = option_behind(debate, s.position)
            rows.append((name_of(debate, s.position), behind, number(s.points), s.first_places))
        return table(("Text of", "Stands for", "Points", "First places"), rows)
    rows = [
        (name_of(debate, s.position), number(s.points), s.first_places, _figure(s.mean_confidence))
        for s in tally.scores
    ]
    return table(("Position of", "Points", "First places", "Mean confidence"), rows)


def _ballot(debate: Debate, ballot: Ballot) -> str:
    lines = [
        f"{place}. {name_of(debate, position)}: "
        f"{inert_line(ballot.reasons.get(position, 'no reason given'))}"
        for place, position in enumerate(ballot.ranking, start=1)
    ]
    name = inert_line(name_of(debate, ballot.voter))
    minds = inert_line(shares(debate, ballot.probabilities))
    title = f"### {name}: {minds}" if minds else f"### {name}"
    if not minds and ballot.confidence is not None:
        title += f" (confidence {_figure(ballot.confidence)})"
    return "\n\n".join([title, "\n".join(lines)])


def _figure(confidence: float | None) -> str:
    return "not given" if confidence is None else percent(confidence)
