"""The counted vote: by option, whose text was ranked best, a table, each ballot (pure).

A post of its own where every turn is one; in a quiet debate a part of the verdict's.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from bot.slack.mrkdwn.convert import gist
from bot.slack.mrkdwn.escape import bare
from bot.slack.mrkdwn.newer_blocks import CHART, PERCENT, POINTS
from bot.slack.mrkdwn.split import split
from bot.views.message import (
    PAGE_LIMIT,
    Block,
    MessageView,
    context,
    header,
    listed,
    sections,
)
from bot.views.options import shares_words, vote_by_option, vote_remark
from bot.views.people_vote import ballot_button, people_votes
from bot.views.words import name_of, plain_name
from core.figures import counted, number, percent
from core.models import Act, Debate, Failure, Tally
from core.rules import voting
from core.rules.options import NAME_MAX_CHARS, is_listed, options_of

#: Slack's limits of a chart: bars, characters of a bar's name.
_MOST_BARS = 20
_LABEL_LIMIT = 20
_CELL_WIDTH = 40
_MOST_ROWS = 25
_BALLOTS_LIMIT = 1400
_BY_OPTION_LIMIT = 1200
#: Options that the vote names in a line.
_MOST_IN_LINE = 2
_REASON_LIMIT = 160
#: Of debates that compared texts: whether two want the same is for people to judge.
_CONTROVERSIAL = (
    ":warning: *Controversial:* the best two are no more than one point apart. Read both; they may "
    "want the same in different ways."
)
_BY_TEXT = (
    "A text gets one point for each text a ballot ranks below it{own}; the judge starts from the "
    "best."
)
_RULES = (
    "A position gets one point for each position a ballot ranks below it{own}. "
    "Confidence: mean of the agents who ranked it first."
)
_OPTION_HEADS = ("Option", "First choices", "On average", "Texts for it")
_HEADS = ("Position", "Points", "First places", "Confidence")


def vote(debate: Debate, tally: Tally, *, superseded: str = "") -> MessageView:
    """Return the post that shows the result: in words, or by option as a chart and in figures.

    Args:
        debate: The debate.
        tally: The count.
        superseded: Why it counts no more, as safe mrkdwn; empty while it does.
    """
    above = [superseded] if superseded else []
    said = [*above, outcome(debate, tally), *_remarks(debate, tally)]
    blocks = [header("The vote"), *in_figures(debate, tally, superseded)]
    beside = list[str]()
    if not superseded:
        beside = [words for words in people_votes(debate) if words]
        blocks += [block for words in beside for block in sections(words)]
        blocks += ballot_button(debate)
    blocks += context(*each_ballot(debate, tally))
    # Edited when people vote: an edit takes less text than a post.
    text = split("\n".join(["The vote", *said, *beside]), PAGE_LIMIT)[0]
    return MessageView(text=text, blocks=blocks)


def in_figures(debate: Debate, tally: Tally, heading: str = "") -> list[Block]:
    """Return the result as a chart and a table; above them the heading and what they do not say."""
    is_by_option = tally.options and tally.winners and tally.voters
    said = _beside_table(debate, tally) if is_by_option else outcome(debate, tally)
    blocks = sections("\n".join(filter(None, (heading, said, *_remarks(debate, tally)))))
    if tally.options:
        return [*blocks, *_options_table(debate, tally)]
    return [*blocks, *_positions_table(debate, tally)] if tally.scores else blocks


def each_ballot(debate: Debate, tally: Tally) -> Sequence[str]:
    """Return what every agent's ballot says, and how ballots are counted."""
    ballots = list[str]()
    options = options_of(debate)
    for ballot in voting.counted(debate, tally):
        ranking = ", ".join(name_of(debate, position) for position in ballot.ranking)
        shares = shares_words(debate, options.probabilities(ballot.probabilities))
        sure = ""
        if ballot.confidence is not None and not shares:
            sure = f" (confidence {percent(ballot.confidence)})"
        held = f"{shares}; " if shares else ""
        ballots.append(f"{name_of(debate, ballot.voter)}: {held}ranked {ranking}{sure}")
    own = ", the voter's own left out" if debate.setup.vote.exclude_self else ""
    rules = (_BY_TEXT if tally.options else _RULES).format(own=own)
    return [listed(ballots, _BALLOTS_LIMIT), rules]


def _options_table(debate: Debate, tally: Tally) -> list[Block]:
    """How likely agents hold each option the best, as a chart and in figures."""
    options = options_of(debate)
    scores = [
        score
        for score in tally.options
        if is_listed(options, score.option, score.first_choices, score.mean_probability)
    ]
    names = [bare(options.name(score.option), NAME_MAX_CHARS) for score in scores]
    labels, names = _labelled(names)
    shares = [score.mean_probability for score in scores]
    rows: list[Sequence[str]] = [_OPTION_HEADS]
    for name, score in zip(names, scores, strict=True):
        texts = [one.position for one in tally.scores if one.option == score.option]
        authors = ", ".join(plain_name(debate, agent) for agent in texts)
        mean = percent(score.mean_probability)
        rows.append((name, number(score.first_choices), mean, bare(authors, _CELL_WIDTH) or "–"))
    bars = [round(100 * share) for share in shares]
    title = "How likely agents hold each option the best"
    return [*_chart(title, labels, bars, PERCENT), _table(rows, right=(1, 2))]


def _positions_table(debate: Debate, tally: Tally) -> list[Block]:
    """Points of each text: all there is in debates of older versions, which had no options."""
    shown = tally.scores[:_MOST_ROWS]
    names = [bare(plain_name(debate, score.position), _CELL_WIDTH) for score in shown]
    labels, names = _labelled(names)
    totals = [score.points for score in shown]
    rows: list[Sequence[str]] = [_HEADS]
    for name, score in zip(names, shown, strict=True):
        known = score.mean_confidence is not None and score.first_places
        sure = percent(score.mean_confidence or 0.0) if known else "–"
        rows.append((name, number(score.points), str(score.first_places), sure))
    chart = _chart("Points of each text", labels, totals, POINTS)
    return [*chart, _table(rows, right=(1, 2, 3))]


def _labelled(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The names of bars, and what the table beside the chart calls them.

    Where a name is too long for its bar, or stands twice, bars go by number, and the table says
    which is which.
    """
    known = [name or "–" for name in names]
    if len(set(known)) == len(known) and all(len(name) <= _LABEL_LIMIT for name in known):
        return known, known
    numbers = [str(place) for place in range(1, len(known) + 1)]
    return numbers, [f"{place}. {name}" for place, name in zip(numbers, known, strict=True)]


def _chart(title: str, labels: Sequence[str], values: Sequence[float], kind: str) -> list[Block]:
    """A bar for each label; none where all are empty.

    Source: https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block (a title of
    50 characters, 20 bars, names of 20 characters, each once). The SDK has no class for it.
    """
    if not any(values):
        return []
    labels = list(labels[:_MOST_BARS])
    data = [{"label": label, "value": value} for label, value in zip(labels, values, strict=False)]
    unit = kind.capitalize()
    axes = {"categories": labels, "y_label": unit}
    series = [{"name": unit, "data": data}]
    chart = {"type": "bar", "series": series, "axis_config": axes}
    block_id = f"{CHART}{kind}"
    return [{"type": "data_visualization", "block_id": block_id, "title": title, "chart": chart}]


def _table(rows: Sequence[Sequence[str]], right: Collection[int]) -> Block:
    aligned = ["right" if column in right else "left" for column in range(len(rows[0]))]
    return {
        "column_settings": [{"align": side} for side in aligned],
        "rows": [[{"text": cell or "–", "type": "raw_text"} for cell in row] for row in rows],
        "type": "table",
    }


def outcome(debate: Debate, tally: Tally) -> str:
    """The vote by option, then whose text was ranked best."""
    if not tally.winners or not tally.voters:
        return "*Nobody won:* no ballot could be counted."
    if not tally.options:
        return _best_text(debate, tally)
    by_option = listed(vote_by_option(debate, tally), _BY_OPTION_LIMIT)
    said = (by_option, _beside_table(debate, tally))
    return "\n".join(filter(None, said))


def _beside_table(debate: Debate, tally: Tally) -> str:
    """What the table by option does not say: how close it was, whose text was ranked best."""
    return "\n".join(filter(None, (vote_remark(tally), _best_text(debate, tally))))


def in_a_line(debate: Debate, tally: Tally) -> str:
    """The vote by option in a line, the best ones named; by text in debates of older versions."""
    lines = vote_by_option(debate, tally)
    if not lines or not tally.voters:
        return outcome(debate, tally)
    more = len(lines) - _MOST_IN_LINE
    others = [f"{counted(more, 'more option')}"] if more > 0 else []
    first, *rest = lines[:_MOST_IN_LINE]
    # As the first line is told: agents, then the average.
    short = [re.sub(r" of \d+ agents?(?=,)| on average$", "", line) for line in rest]
    said = (f"*Vote*: {'; '.join([first, *short, *others])}", vote_remark(tally))
    return "\n".join(filter(None, said))


def _best_text(debate: Debate, tally: Tally) -> str:
    """Whose text was ranked best, by how much."""
    joint = " and " if len(tally.winners) == 2 else ", "  # noqa: PLR2004 - "Ann and Bob"
    names = listed((f"*{name_of(debate, winner)}*" for winner in tally.winners), 800, joint)
    won = tally.scores[0].points
    points = f"{number(won)} {'point' if won == 1 else 'points'}"
    votes = counted(len(tally.voters), "ballot")
    by_option = bool(tally.options)
    if len(tally.winners) > 1:
        what = "Ranked best: a tie" if by_option else "*A tie*"
        each = [score.first_places for score in tally.scores if score.position in tally.winners]
        if any(
            score.points == won and score.position not in tally.winners for score in tally.scores
        ):
            points += f" and {counted(each[0], 'first place')}"  # what sets them apart from others
        return f"{what} between {names}, with {points} each ({votes}). No rule breaks it."
    close = f" {_CONTROVERSIAL}" if tally.controversial and not by_option else ""
    first, *others = tally.scores
    level = [score for score in others if score.points == first.points]
    decider = ""
    if level:
        more = all(score.first_places < first.first_places for score in level)
        surer = (
            "how likely their option is held the best" if by_option else "the voters' confidence"
        )
        why = "the number of first places" if more else surer
        decider = f" Others have as many points; {why} decided."
    if by_option:
        return f"Whose text was ranked best: {names} with {points} ({votes}).{decider}"
    return f"{names} wins with {points} ({votes}).{decider}{close}"


def _remarks(debate: Debate, tally: Tally) -> Iterator[str]:
    failed = {agent: why for agent in tally.abstained if (why := _failure(debate, agent))}
    useless = [agent for agent in tally.abstained if agent not in failed]
    # Those who abstained themselves in the vote that counts, and why.
    last = max((abstention.turn.round for abstention in debate.abstentions.values()), default=0)
    declared = {
        abstention.turn.agent: gist(abstention.reason, _REASON_LIMIT).rstrip(".")
        for abstention in debate.abstentions.values()
        if abstention.declared
        and abstention.turn.round == last > 0
        and abstention.turn.agent in useless
    }
    if declared:
        reasons = dict.fromkeys(declared.values())
        said = list[str]()
        for reason in reasons:
            same = [name_of(debate, agent) for agent, why in declared.items() if why == reason]
            said.append(f"{', '.join(same)} ({reason})")
        yield f"Abstained: {listed(said, 800, '; ')}."
    useless = [agent for agent in useless if agent not in declared]
    if useless:
        names = listed((name_of(debate, agent) for agent in useless), 600, ", ")
        yield f"Abstained (the ballot could not be used): {names}."
    if failed:
        said = (f"{name_of(debate, agent)} ({why})" for agent, why in failed.items())
        yield f"No ballot came from: {listed(said, 800, ', ')}."
    if len(tally.scores) > _MOST_ROWS and not tally.options:
        yield f"The first {_MOST_ROWS} of {len(tally.scores)} positions are shown."


def _failure(debate: Debate, agent: str) -> str:
    """Why the agent's final ballot never came; empty if one came that is no use."""
    outcomes = (*debate.failures.values(), *debate.abstentions.values())
    ballots = [one for one in outcomes if one.turn.act is Act.BALLOT and one.turn.agent == agent]
    last = max(ballots, key=lambda one: one.turn.round, default=None)
    if not isinstance(last, Failure) or not last.turn.round:
        return ""
    return gist(last.reason, _REASON_LIMIT).rstrip(".")
