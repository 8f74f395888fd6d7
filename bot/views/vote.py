"""The counted vote: by option, whose text was ranked best, each ballot; people's votes (pure)."""

import re
from collections.abc import Collection, Iterator, Sequence

from bot.slack.blocks import actions, button
from bot.slack.ids import ActionId, BlockId, CallbackId, address_of, rank_field
from bot.slack.mrkdwn.convert import gist
from bot.slack.mrkdwn.escape import bare
from bot.slack.mrkdwn.newer_blocks import CHART, PERCENT, POINTS
from bot.slack.mrkdwn.split import split
from bot.views.forms import Field, Form, form, select
from bot.views.message import (
    PAGE_LIMIT,
    Block,
    MessageView,
    context,
    header,
    listed,
    sections,
)
from bot.views.options import option_labels, option_name, shares_words, vote_by_option, vote_remark
from bot.views.turn_groups import post_key
from bot.views.words import name_of, plain_name, turn_noun
from core.figures import counted, number, percent
from core.models import Act, Agent, Contribution, Debate, Failure, Source, Tally
from core.rules import voting
from core.rules.mind_changes import mind_changes, mover
from core.rules.options import NAME_MAX_CHARS, by_option, is_listed, listed_scores, options_of
from core.rules.people_count import PeopleCount, count_people
from core.rules.voting import is_people_vote_closed, winning_options

_NAMES_LIMIT = 600
_MOVES_LIMIT = 1400
_QUESTION_LIMIT = 300
_TITLE_LIMIT = 80
_WHY_LIMIT = 200
_OPTIONS_LIMIT = 1200
_HOW = (
    "\nSay what you would choose first; the other places may stay empty. People's ballots are "
    "counted beside the agents' own."
)
_AGAIN = " You have voted before; until the team decides you can change your ballot."
_PLACES = ("First choice", "Second choice", "Third choice")
_NOBODY = "*The team's vote*: nobody has cast a ballot yet. Anybody here can vote."
_NOBODY_DID = "*The team's vote*: nobody cast a ballot before the team decided."


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
    intro = f"*{question}*\n{listed(lines, _OPTIONS_LIMIT)}{_HOW}{again}"
    return form(
        CallbackId.BALLOT_FORM,
        title="Your ballot",
        submit="Change ballot" if choices else "Cast ballot",
        blocks=[*sections(intro), *fields],
        metadata={"debate": debate.id},
    )


def team_count(debate: Debate) -> str:
    """What the team would choose, and how far that is from the agents' choice."""
    if len(options_of(debate).items) <= 1 and not debate.people_ballots:
        return ""
    count = count_people(debate)
    if not count.voters:
        # Older versions took ballots on positions.
        ranked = sum(bool(ballot.ranking) for ballot in debate.people_ballots.values())
        if not ranked:
            return _NOBODY_DID if is_people_vote_closed(debate) else _NOBODY
        cast = counted(ranked, "ballot")
        return f"*The team's vote*: {cast} on the agents' texts; the report has them."
    cast = len(count.voters)
    options = options_of(debate)
    scores = listed(
        (
            f"{option_name(debate, score.option)} {score.first_choices} of {cast}"
            for score in count.scores
            if is_listed(options, score.option, score.first_choices)
        ),
        _NAMES_LIMIT,
        ", ",
    )
    # How many ballots are not their voter's first.
    changed = 0
    for voter in count.voters:
        first = f"people-ballot/{voter}"
        changed += sum(key == first or key.startswith(f"{first}/") for key in debate.times) > 1
    text = counted(cast, "ballot") + (f", {changed} changed" if changed else "")
    late = count_people(debate, late=True)
    since = ", ".join(
        f"{option_name(debate, score.option)} {score.first_choices}"
        for score in late.scores
        if score.first_choices
    )
    after = f"\nSince the reveal, counted apart: {since}." if since else ""
    return f"*The team's vote* ({text}): {scores}.\n{_gap(debate, count)}{after}".rstrip()


def moves(debate: Debate) -> str:
    """Who holds another option best than before the debate, and what moved them."""
    if not options_of(debate).items:
        return ""
    blind = {ballot.voter for ballot in debate.ballots.values() if ballot.turn.round == 0}
    final = {ballot.voter for ballot in debate.ballots.values() if ballot.turn.round > 0}
    both = [agent.id for agent in debate.setup.agents if agent.id in blind & final]
    if not both:
        return ""
    changes = mind_changes(debate)
    stayed = listed(
        (name_of(debate, agent) for agent in both if agent not in {c.voter for c in changes}),
        _NAMES_LIMIT,
        ", ",
    )
    lines = list[str]()
    for change in changes:
        before = f"{option_name(debate, change.before)} ({percent(change.first[change.before])})"
        after = f"{option_name(debate, change.after)} ({percent(change.final[change.after])})"
        moved = f"• {name_of(debate, change.voter)} moved from {before} to {after}"
        match mover(debate, change):
            case Contribution(turn=turn):
                where = address_of(post_key(debate, turn))
                what = f"{name_of(debate, turn.agent)}'s {turn_noun(debate, turn)}"
                moved += f", moved by <{where}|{what}>"
            case Agent(id=agent):
                moved += f", moved by {name_of(debate, agent)}"
            case Source(id=number, reference=reference):
                moved += f", moved by the source {number} ({gist(reference.title, _TITLE_LIMIT)})"
            case None:
                pass
        why = gist(change.why, _WHY_LIMIT)
        voter = name_of(debate, change.voter)
        lines.append(f"{moved}; {voter} says: “{why}”" if why else f"{moved}.")
    lines += [f"• Stayed with their first choice: {stayed}."] if stayed else []
    return "*Who changed their mind*\n" + listed(lines, _MOVES_LIMIT)


def _gap(debate: Debate, count: PeopleCount) -> str:
    """The difference between the team's choice and the agents', in words."""
    agents = winning_options(debate.tally.options) if debate.tally else ()
    if not agents:
        return ""
    team, theirs = (
        listed((f"*{option_name(debate, option)}*" for option in group), _NAMES_LIMIT, ", ")
        for group in (count.winners, agents)
    )
    if set(count.winners) == set(agents):
        return f"Team and agents agree: {team}."
    if set(count.winners) & set(agents):
        return f"Team and agents overlap: the team is for {team}, the agents are for {theirs}."
    first = next((s.first_choices for s in count.scores if s.option == agents[0]), 0)
    return (
        f":warning: Team and agents differ: the team is for {team}, the agents are for {theirs}, "
        f"which {first} of {len(count.voters)} in the team put first."
    )


def people_votes(debate: Debate) -> Iterator[str]:
    """What stands beside the agents' count."""
    yield team_count(debate)
    yield moves(debate)


def ballot_button(debate: Debate) -> list[Block]:
    """Return the button that opens the form; none where there is nothing to choose."""
    if len(options_of(debate).items) <= 1 or is_people_vote_closed(debate):
        return []
    text = "Cast or change your ballot"
    label = f"{text}: choose between the options yourself"
    return [actions(BlockId.BALLOT, button(text, ActionId.BALLOT, debate.id, label=label))]


#: Slack's limits of a chart: bars, characters of a bar's name.
_MOST_BARS = 20
_LABEL_LIMIT = 20
_CELL_WIDTH = 40
_MOST_ROWS = 25
_BALLOTS_LIMIT = 1400
_BY_OPTION_LIMIT = 1200
#: Options that the vote names in a line at least.
_LEAST_IN_LINE = 2
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
    texts = [*above, outcome(debate, tally), *_remarks(debate, tally)]
    blocks = [header("The vote"), *in_figures(debate, tally, superseded)]
    beside = list[str]()
    if not superseded:
        beside = [words for words in people_votes(debate) if words]
        blocks += [block for words in beside for block in sections(words)]
        blocks += ballot_button(debate)
    blocks += context(*each_ballot(debate, tally))
    # Edited when people vote: an edit takes less text than a post.
    text = split("\n".join(["The vote", *texts, *beside]), PAGE_LIMIT)[0]
    return MessageView(text=text, blocks=blocks)


def in_figures(debate: Debate, tally: Tally, heading: str = "") -> list[Block]:
    """Return the result as a chart and a table; above them the heading and what they do not say."""
    is_by_option = tally.options and tally.winners and tally.voters
    text = _beside_table(debate, tally) if is_by_option else outcome(debate, tally)
    blocks = sections("\n".join(filter(None, (heading, text, *_remarks(debate, tally)))))
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
        share_text = f"{shares}; " if shares else ""
        ballots.append(f"{name_of(debate, ballot.voter)}: {share_text}ranked {ranking}{sure}")
    own = ", the voter's own left out" if debate.setup.vote.exclude_self else ""
    rules = (_BY_TEXT if tally.options else _RULES).format(own=own)
    return [listed(ballots, _BALLOTS_LIMIT), rules]


def _options_table(debate: Debate, tally: Tally) -> list[Block]:
    """How likely agents hold each option the best, as a chart and in figures."""
    options = options_of(debate)
    scores = listed_scores(options, tally.options)
    names = [bare(options.name(score.option), NAME_MAX_CHARS) for score in scores]
    labels, names = _labelled(names)
    shares = [score.mean_probability for score in scores]
    rows: list[Sequence[str]] = [_OPTION_HEADS]
    for name, score in zip(names, scores, strict=True):
        texts = [item.position for item in tally.scores if item.option == score.option]
        authors = ", ".join(plain_name(debate, agent) for agent in texts)
        mean = percent(score.mean_probability)
        rows.append((name, number(score.first_choices), mean, bare(authors, _CELL_WIDTH) or "–"))
    bars = [round(100 * share) for share in shares]
    title = "How likely agents hold each option the best"
    return [*_chart(title, labels, bars, PERCENT), _table(rows, right=(1, 2))]


def _positions_table(debate: Debate, tally: Tally) -> list[Block]:
    """Points of each text, for debates of older versions, which had no options."""
    scores = tally.scores[:_MOST_ROWS]
    names = [bare(plain_name(debate, score.position), _CELL_WIDTH) for score in scores]
    labels, names = _labelled(names)
    totals = [score.points for score in scores]
    rows: list[Sequence[str]] = [_HEADS]
    for name, score in zip(names, scores, strict=True):
        is_known = score.mean_confidence is not None and score.first_places
        sure = percent(score.mean_confidence or 0.0) if is_known else "–"
        rows.append((name, number(score.points), str(score.first_places), sure))
    chart = _chart("Points of each text", labels, totals, POINTS)
    return [*chart, _table(rows, right=(1, 2, 3))]


def _labelled(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The labels of bars, and of the rows of the table beside the chart.

    Where a name is too long for its bar, or not unique, bars have numbers, and rows numbers and
    names.
    """
    labels = [name or "–" for name in names]
    if len(set(labels)) == len(labels) and all(len(name) <= _LABEL_LIMIT for name in labels):
        return labels, labels
    numbers = [str(place) for place in range(1, len(labels) + 1)]
    return numbers, [f"{place}. {name}" for place, name in zip(numbers, labels, strict=True)]


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
    parts = (by_option, _beside_table(debate, tally))
    return "\n".join(filter(None, parts))


def _beside_table(debate: Debate, tally: Tally) -> str:
    """What the table by option does not say: how close it was, whose text was ranked best."""
    return "\n".join(filter(None, (vote_remark(tally), _best_text(debate, tally))))


def in_a_line(debate: Debate, tally: Tally) -> str:
    """The vote by option in a line, the best ones named; by text in debates of older versions."""
    lines = vote_by_option(debate, tally)
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
    others = [f"{counted(more, 'more option')}"] if more > 0 else []
    first, *rest = named
    # As the first line is told: agents, then the mean of all.
    short = [re.sub(r" of \d+ agents?(?=,)| across all$", "", line) for line in rest]
    parts = (f"*Vote*: {'; '.join([first, *short, *others])}", vote_remark(tally))
    return "\n".join(filter(None, parts))


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
        texts = list[str]()
        for reason in reasons:
            same = [name_of(debate, agent) for agent, why in declared.items() if why == reason]
            texts.append(f"{', '.join(same)} ({reason})")
        yield f"Abstained: {listed(texts, 800, '; ')}."
    useless = [agent for agent in useless if agent not in declared]
    if useless:
        names = listed((name_of(debate, agent) for agent in useless), 600, ", ")
        yield f"Abstained (the ballot could not be used): {names}."
    if failed:
        texts = (f"{name_of(debate, agent)} ({why})" for agent, why in failed.items())
        yield f"No ballot came from: {listed(texts, 800, ', ')}."
    if len(tally.scores) > _MOST_ROWS and not tally.options:
        yield f"The first {_MOST_ROWS} of {len(tally.scores)} positions are shown."


def _failure(debate: Debate, agent: str) -> str:
    """Why the agent's final ballot never came; empty if one came that is no use."""
    outcomes = (*debate.failures.values(), *debate.abstentions.values())
    ballots = [
        failure
        for failure in outcomes
        if failure.turn.act is Act.BALLOT and failure.turn.agent == agent
    ]
    last = max(ballots, key=lambda failure: failure.turn.round, default=None)
    if not isinstance(last, Failure) or not last.turn.round:
        return ""
    return gist(last.reason, _REASON_LIMIT).rstrip(".")
