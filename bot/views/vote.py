"""The counted vote: by option, whose text was ranked best, each ballot; people's votes (pure)."""

from collections.abc import Collection, Sequence

from bot.slack.blocks import CHART, PERCENT, actions, button
from bot.slack.ids import ActionId, BlockId, CallbackId, rank_field
from bot.slack.limits import CHART_BARS, CHART_LABEL
from bot.slack.mrkdwn import bare, gist, split
from bot.views.forms import Field, Form, form, select
from bot.views.message import PAGE_LIMIT, Block, MessageView, context, header, item_list, sections
from bot.views.options import option_labels, option_name
from bot.views.results import line_text, section_text
from bot.views.words import name_of
from core.debate.state import Debate
from core.debate.vote import Tally
from core.figures import quantity
from core.rules import voting
from core.rules.options import NAME_MAX_CHARS, by_option, listed_scores, options_of
from core.rules.voting import is_people_vote_closed
from core.transcript.ballots import (
    MEAN_PROBABILITY,
    NOBODY_VOTED,
    best_text_words,
    close_words,
    missing_ballots,
    option_lines,
)
from core.transcript.options import moves_section, option_rows, shares
from core.transcript.people import team_vote_lines

_NAMES_LIMIT = 1800
_MOVES_LIMIT = 1400
_QUESTION_LIMIT = 300
_OPTIONS_LIMIT = 1200
_HOW = (
    "\nSay what you would choose first; the other places may stay empty. People's ballots are "
    "counted beside the agents' own."
)
_AGAIN = " You have voted before; until the team decides you can change your ballot."
_PLACES = ("First choice", "Second choice", "Third choice")
_NOBODY = "*The team's vote*: nobody has cast a ballot yet. Anybody here can vote."
_NOBODY_DID = "*The team's vote*: nobody cast a ballot before the team decided."
_CELL_WIDTH = 100
_BALLOTS_LIMIT = 1400
_BY_OPTION_LIMIT = 1200
#: Options that the vote names in a line at least.
_LEAST_IN_LINE = 2
_REASON_LIMIT = 160
_BY_TEXT = (
    "A text gets one point for each text a ballot ranks below it{own}; the judge starts from the "
    "best."
)


def places_of(debate: Debate) -> int:
    """How many places a person's ballot has."""
    return min(len(_PLACES), len(options_of(debate).items))


def ballot_form(debate: Debate, by: str = "") -> Form:
    """Return the form to rank options, filled with this person's earlier ballot."""
    options = options_of(debate)
    words = option_labels(options.items)
    lines = list[str]()
    for option, agents in by_option(debate).items():
        names = ", ".join(name_of(debate, agent) for agent in agents)
        lines.append(f"• *{option_name(debate, option)}*" + (f" – {names}" if names else ""))
    mine = debate.people_ballots.get(by)
    choices = dict(enumerate(map(options.resolve, mine.options if mine else ())))
    fields = [
        select(
            Field(id=rank_field(place), label=_PLACES[place], optional=place > 0),
            words,
            choices.get(place, ""),
        )
        for place in range(places_of(debate))
    ]
    again = _AGAIN if choices else ""
    question = gist(debate.setup.question, _QUESTION_LIMIT)
    intro = f"*{question}*\n{item_list(lines, _OPTIONS_LIMIT)}{_HOW}{again}"
    return form(
        CallbackId.BALLOT_FORM,
        title="Your ballot",
        submit="Change ballot" if choices else "Cast ballot",
        blocks=[*sections(intro), *fields],
        metadata={"debate": debate.id},
    )


def team_count(debate: Debate) -> str:
    """What the team would choose, and how far that is from the agents' choice."""
    if lines := [line_text(debate, line) for line in team_vote_lines(debate)]:
        return item_list(lines, _NAMES_LIMIT)
    # Older versions took ballots on the agents' texts: the report has them.
    if len(options_of(debate).items) <= 1 or debate.people_ballots:
        return ""
    return _NOBODY_DID if is_people_vote_closed(debate) else _NOBODY


def people_votes(debate: Debate) -> Sequence[str]:
    """What stands beside the agents' count."""
    moves = section_text(debate, moves_section(debate), _MOVES_LIMIT)
    return [*filter(None, (team_count(debate), moves))]


def ballot_button(debate: Debate) -> list[Block]:
    """Return the button that opens the form; none where there is nothing to choose."""
    if len(options_of(debate).items) <= 1 or is_people_vote_closed(debate):
        return []
    text = "Cast or change your ballot"
    label = f"{text}: choose between the options yourself"
    return [actions(BlockId.BALLOT, button(text, ActionId.BALLOT, debate.id, label=label))]


def vote(debate: Debate, tally: Tally, *, superseded: str = "") -> MessageView:
    """Return the post that shows the result: by option in words, as a chart and in figures.

    `superseded`: why it counts no more, as safe mrkdwn; empty while it does.
    """
    texts = [superseded, outcome(debate, tally), _missing(debate)]
    blocks = [header("The vote"), *in_figures(debate, tally, superseded)]
    if not superseded:
        beside = people_votes(debate)
        texts += beside
        blocks += [block for words in beside for block in sections(words)]
        blocks += ballot_button(debate)
    blocks += context(*each_ballot(debate, tally))
    # Edited when people vote: an edit takes less text than a post.
    text = split("\n".join(["The vote", *filter(None, texts)]), PAGE_LIMIT)[0]
    return MessageView(text=text, blocks=blocks)


def in_figures(debate: Debate, tally: Tally, heading: str = "") -> list[Block]:
    """Return the result as a chart and a table; above them the heading and what they do not say."""
    texts = (heading, _beside_table(debate, tally), _missing(debate))
    blocks = sections("\n".join(filter(None, texts)))
    return [*blocks, *_options_table(debate, tally)] if tally.options else blocks


def each_ballot(debate: Debate, tally: Tally) -> Sequence[str]:
    """Return what every agent's ballot says, and how ballots are counted."""
    ballots = list[str]()
    for ballot in voting.counted_ballots(debate, tally):
        ranking = ", ".join(name_of(debate, position) for position in ballot.ranking)
        share_text = gist(shares(debate, ballot.probabilities), _OPTIONS_LIMIT)
        share_text = f"{share_text}; " if share_text else ""
        ballots.append(f"{name_of(debate, ballot.voter)}: {share_text}ranked {ranking}")
    own = ", the voter's own left out" if debate.setup.vote.exclude_self else ""
    rules = [*([MEAN_PROBABILITY] if tally.options else []), _BY_TEXT.format(own=own)]
    return [item_list(ballots, _BALLOTS_LIMIT), " ".join(rules)]


def _options_table(debate: Debate, tally: Tally) -> list[Block]:
    """How likely agents hold each option the best, as a chart, and who stands where."""
    head, options = option_rows(debate)
    means = {score.option: score.mean_probability for score in tally.options}
    labels, names = _labelled([bare(name, NAME_MAX_CHARS) for name, *_ in options.values()])
    rows = [(name, *cells[1:]) for name, cells in zip(names, options.values(), strict=True)]
    bars = [round(100 * means.get(option, 0.0)) for option in options]
    aligned = ["right" if column in {1, 4} else "left" for column in range(len(head))]
    table: Block = {
        "column_settings": [{"align": side} for side in aligned],
        "rows": [
            [{"text": bare(str(cell), _CELL_WIDTH) or "–", "type": "raw_text"} for cell in row]
            for row in (head, *rows)
        ],
        "type": "table",
    }
    return [*_chart(labels, bars), table]


def _labelled(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The labels of bars, and of the rows of the table beside the chart.

    Where a name is too long for its bar, or not unique, bars have numbers, and rows numbers and
    names.
    """
    labels = [name or "–" for name in names]
    if len(set(labels)) == len(labels) and all(len(name) <= CHART_LABEL for name in labels):
        return labels, labels
    numbers = [str(place) for place in range(1, len(labels) + 1)]
    return numbers, [f"{place}. {name}" for place, name in zip(numbers, labels, strict=True)]


def _chart(labels: Sequence[str], values: Sequence[int]) -> list[Block]:
    """A bar for each label, which is there once; none where all are empty."""
    if not any(values):
        return []
    labels, unit = list(labels[:CHART_BARS]), PERCENT.capitalize()
    data = [{"label": label, "value": value} for label, value in zip(labels, values, strict=False)]
    axes = {"categories": labels, "y_label": unit}
    chart = {"type": "bar", "series": [{"name": unit, "data": data}], "axis_config": axes}
    return [
        {
            "type": "data_visualization",
            "block_id": f"{CHART}{PERCENT}",
            "title": "How likely agents hold each option the best",
            "chart": chart,
        }
    ]


def outcome(debate: Debate, tally: Tally, noted: Collection[str] = ()) -> str:
    """The vote by option, then whose text was ranked best, without a tie-break noted elsewhere."""
    lines = [line_text(debate, line) for line in option_lines(debate, tally)]
    parts = (
        item_list(lines if tally.voters else [], _BY_OPTION_LIMIT),
        _beside_table(debate, tally, noted),
    )
    return "\n".join(filter(None, parts))


def _beside_table(debate: Debate, tally: Tally, noted: Collection[str] = ()) -> str:
    """What the table by option does not say: how close it was, whose text was ranked best."""
    if not tally.winners or not tally.voters:
        return NOBODY_VOTED
    best = gist(best_text_words(debate, tally, noted), _BY_OPTION_LIMIT)
    return "\n".join(filter(None, (_close(debate, tally), best)))


def _close(debate: Debate, tally: Tally) -> str:
    text = gist(close_words(debate, tally), _BY_OPTION_LIMIT) if tally.voters else ""
    return f":warning: {text}" if text else ""


def in_a_line(debate: Debate, tally: Tally) -> str:
    """The vote by option in a line, the best ones named; by text in debates of older versions."""
    lines = [line_text(debate, line) for line in option_lines(debate, tally, short=True)]
    if not lines or not tally.voters:
        return outcome(debate, tally)
    # The runner-up, and whatever an agent puts first.
    scores = listed_scores(options_of(debate), tally.options)
    named = [
        line
        for place, (line, score) in enumerate(zip(lines, scores, strict=True))
        if place < _LEAST_IN_LINE or score.first_choices
    ]
    more = len(lines) - len(named)
    others = [f"{quantity(more, 'more option')}"] if more > 0 else []
    parts = (f"*Vote*: {'; '.join([*named, *others])}", _close(debate, tally))
    return "\n".join(filter(None, parts))


def _missing(debate: Debate) -> str:
    """Whose ballots are missing, and why."""
    missing = [
        f"{name_of(debate, agent)} ({gist(why, _REASON_LIMIT).rstrip('.')})"
        for agent, why in missing_ballots(debate).items()
    ]
    return f"Without a ballot: {item_list(missing, 800, '; ')}." if missing else ""
