"""The counted vote: who wins, a bar chart, a table, each ballot (pure)."""

from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size
from slack_sdk.models.blocks import RawTextObject, TableBlock

from bot.slack.mrkdwn.convert import gist
from bot.slack.mrkdwn.escape import bare, literal
from bot.views.message import Block, MessageView, as_json, context, header, listed, sections
from bot.views.people_vote import ballot_button, people_votes
from bot.views.words import name_of, plain_name
from core.figures import counted, number, percent
from core.models import Act, Debate, Failure, Tally
from core.rules import voting

_BAR_WIDTH = 16
_NAME_WIDTH = 24
_CELL_WIDTH = 40
_MOST_ROWS = 25
_BALLOTS_LIMIT = 1400
_REASON_LIMIT = 160
#: A rule of the count alone: whether two texts want the same is for people to judge.
_CONTROVERSIAL = (
    ":warning: *Controversial:* the best two are no more than one point apart. Read both; they may "
    "want the same in different ways."
)
_RULES = (
    "A position gets one point for each position a ballot ranks below it. "
    "Confidence: mean of the agents who ranked it first."
)
_HEADS = ("Position", "Points", "First places", "Confidence")


def vote(debate: Debate, tally: Tally) -> MessageView:
    """Return the post that shows the result, in words before pictures."""
    said = [outcome(debate, tally), *_remarks(debate, tally)]
    beside = [words for words in people_votes(debate) if words]
    shown = tally.scores[:_MOST_ROWS]
    blocks: list[Block] = [header("The vote"), *sections("\n".join(said))]
    if shown:
        names = [plain_name(debate, score.position) for score in shown]
        width = min(max(map(cell_len, names)), _NAME_WIDTH)
        totals = [score.points for score in shown]
        bars = [round(_BAR_WIDTH * max(each / (max(totals) or 1.0), 0.0)) for each in totals]
        lines = [
            f"{set_cell_size(name, width)} {'█' * full}{'░' * (_BAR_WIDTH - full)} {points}"
            for name, full, points in zip(names, bars, map(number, totals), strict=True)
        ]
        rows = [
            _HEADS,
            *(
                (
                    bare(plain_name(debate, score.position), _CELL_WIDTH),
                    number(score.points),
                    str(score.first_places),
                    "–"
                    if score.mean_confidence is None or not score.first_places
                    else percent(score.mean_confidence),
                )
                for score in shown
            ),
        ]
        blocks += [
            *sections("```\n" + "\n".join(map(literal, lines)) + "\n```"),
            as_json(
                TableBlock(
                    rows=[[RawTextObject(text=cell) for cell in row] for row in rows],
                    column_settings=[{"align": "left"}, *({"align": "right"} for _ in _HEADS[1:])],
                )
            ),
        ]
    for words in beside:
        blocks += sections(words)
    ballots = list[str]()
    for ballot in voting.counted(debate, tally):
        ranking = ", ".join(name_of(debate, position) for position in ballot.ranking)
        sure = "" if ballot.confidence is None else f" (confidence {percent(ballot.confidence)})"
        ballots.append(f"{name_of(debate, ballot.voter)} ranked: {ranking}{sure}")
    blocks += [*ballot_button(debate), *context(listed(ballots, _BALLOTS_LIMIT), _RULES)]
    return MessageView(text="\n".join(["The vote", *said, *beside]), blocks=blocks)


def outcome(debate: Debate, tally: Tally) -> str:
    """Who won, by how much."""
    if not tally.winners or not tally.voters:
        return "*Nobody won:* no ballot could be counted."
    names = listed((f"*{name_of(debate, winner)}*" for winner in tally.winners), 800, ", ")
    won = tally.scores[0].points
    points = f"{number(won)} {'point' if won == 1 else 'points'}"
    votes = counted(len(tally.voters), "ballot")
    if len(tally.winners) > 1:
        return f"*A tie* between {names}, with {points} each ({votes}). No rule breaks it."
    close = f" {_CONTROVERSIAL}" if tally.controversial else ""
    first, *others = tally.scores
    level = [score for score in others if score.points == first.points]
    decider = ""
    if level:
        more = all(score.first_places < first.first_places for score in level)
        why = "the number of first places" if more else "the voters' confidence"
        decider = f" Others have as many points; {why} decided."
    return f"{names} wins with {points} ({votes}).{decider}{close}"


def _remarks(debate: Debate, tally: Tally) -> Iterator[str]:
    failed = {agent: why for agent in tally.abstained if (why := _failure(debate, agent))}
    useless = [agent for agent in tally.abstained if agent not in failed]
    # Those who abstained themselves in the vote that counts, and why.
    last = max((one.turn.round for one in debate.abstentions.values()), default=0)
    declared = {
        one.turn.agent: gist(one.reason, _REASON_LIMIT).rstrip(".")
        for one in debate.abstentions.values()
        if one.declared and one.turn.round == last > 0 and one.turn.agent in useless
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
    if len(tally.scores) > _MOST_ROWS:
        yield f"The first {_MOST_ROWS} of {len(tally.scores)} positions are shown."


def _failure(debate: Debate, agent: str) -> str:
    """Why the agent's final ballot never came; empty if one came that is no use."""
    outcomes = (*debate.failures.values(), *debate.abstentions.values())
    ballots = [one for one in outcomes if one.turn.act is Act.BALLOT and one.turn.agent == agent]
    last = max(ballots, key=lambda one: one.turn.round, default=None)
    if not isinstance(last, Failure) or not last.turn.round:
        return ""
    return gist(last.reason, _REASON_LIMIT).rstrip(".")
