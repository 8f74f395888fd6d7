"""People's ballots: the form, the team's count beside the agents', who moved and why (pure)."""

from collections.abc import Iterator, Sequence

from slack_sdk.models.blocks import ActionsBlock, ButtonElement

from bot.slack.ids import ActionId, BlockId, CallbackId, address_of, rank_field, turn_key
from bot.slack.mrkdwn.convert import bare_thesis, gist, thesis
from bot.slack.mrkdwn.escape import bare
from bot.views.forms import OPTION_LIMIT, Field, Form, form, select
from bot.views.message import Block, as_json, listed, sections
from bot.views.words import name_of, plain_name, turn_noun
from core.figures import counted, number
from core.models import Act, Ballot, Debate, Tally, Turn
from core.rules.formats.registry import format_of
from core.rules.mind_changes import mind_changes
from core.rules.voting import count, is_people_vote_closed

_NAMES_LIMIT = 600
_MOVES_LIMIT = 1400
_QUESTION_LIMIT = 300
_POSITION_LIMIT = 400
_OPTION_NAME_LIMIT = 30
_HOW = (
    "\nPut every position in its place, the best one first. People's ballots are counted beside "
    "the agents' own."
)
_AGAIN = " You have ranked them before; until the team decides you can change your ballot."
_PLACES = ("First choice", "Second choice", "Third choice")


def positions_of(debate: Debate) -> Sequence[str]:
    """Ids of the agents whose positions can be ranked."""
    return tuple(format_of(debate).positions(debate))


def people_tally(debate: Debate) -> Tally:
    """The team's count, by the same rules as the agents' but for weights."""
    positions = positions_of(debate)
    ballots = [
        Ballot(turn=Turn(act=Act.BALLOT, round=0, agent=ballot.by.id), ranking=ballot.ranking)
        for ballot in debate.people_ballots.values()
        if set(ballot.ranking) == set(positions)
    ]
    return count(positions, ballots)


def ballot_form(debate: Debate, by: str = "") -> Form:
    """Return the form to rank all positions, with the ranking this person chose before."""
    texts = format_of(debate).positions(debate)
    options = dict[str, str]()
    for agent, made in texts.items():
        name = bare(plain_name(debate, agent), _OPTION_NAME_LIMIT)
        options[agent] = f"{name}: {bare_thesis(made.text, OPTION_LIMIT - len(name) - 2)}"
    shown = "\n".join(
        f"• *{name_of(debate, agent)}*: {thesis(made.text, _POSITION_LIMIT)}"
        for agent, made in texts.items()
    )
    mine = debate.people_ballots.get(by)
    chosen = dict(enumerate(mine.ranking if mine else ()))
    fields = [
        select(
            Field(
                id=rank_field(place),
                label=_PLACES[place] if place < len(_PLACES) else f"Place {place + 1}",
            ),
            options,
            chosen.get(place, ""),
        )
        for place in range(len(texts))
    ]
    intro = (
        f"*{gist(debate.setup.question, _QUESTION_LIMIT)}*\n{shown}{_HOW}{_AGAIN if mine else ''}"
    )
    return form(
        CallbackId.BALLOT_FORM,
        title="Rank the positions",
        submit="Change ballot" if mine else "Cast ballot",
        blocks=[*sections(intro), *fields],
        metadata={"debate": debate.id},
    )


def team_count(debate: Debate) -> str:
    """What the team would choose, and how far that is from the agents' choice."""
    tally = people_tally(debate)
    if not tally.voters:
        return (
            "*The team's vote*: nobody has cast a ballot yet. Anybody here can rank the positions."
        )
    points = listed(
        (f"{name_of(debate, s.position)} {number(s.points)}" for s in tally.scores),
        _NAMES_LIMIT,
        ", ",
    )
    cast = counted(len(tally.voters), "ballot")
    # How many ballots are not their voter's first.
    changed = 0
    for voter in tally.voters:
        first = f"people-ballot/{voter}"
        changed += sum(key == first or key.startswith(f"{first}/") for key in debate.times) > 1
    cast += f", {changed} changed" if changed else ""
    head = f"*The team's vote* ({cast}): {points}."
    return f"{head}\n{_gap(debate, tally)}".rstrip()


def moves(debate: Debate) -> str:
    """Who ranks another position first than before the debate, and which critique moved them."""
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
        before, after = name_of(debate, change.before), name_of(debate, change.after)
        moved = f"• {name_of(debate, change.voter)} moved from {before} to {after}"
        made = debate.contributions.get(change.moved_by or "")
        if made is None:
            lines.append(f"{moved} and names no critique.")
        else:
            where = address_of(turn_key(debate.id, made.turn.key))
            what = f"{name_of(debate, made.turn.agent)}'s {turn_noun(debate, made.turn)}"
            lines.append(f"{moved}, moved by <{where}|{what}>.")
    lines += [f"• Stayed with their first choice: {stayed}."] if stayed else []
    return "*Who changed their mind*\n" + listed(lines, _MOVES_LIMIT)


def _gap(debate: Debate, tally: Tally) -> str:
    """The difference between the team's choice and the agents', in words."""
    agents = debate.tally.winners if debate.tally else ()
    if not agents:
        return ""
    team, theirs = (
        listed((f"*{name_of(debate, agent)}*" for agent in found), _NAMES_LIMIT, ", ")
        for found in (tally.winners, agents)
    )
    if set(tally.winners) == set(agents):
        return f"Team and agents agree: {team}."
    if set(tally.winners) & set(agents):
        return f"Team and agents overlap: the team is for {team}, the agents are for {theirs}."
    places = {score.position: place for place, score in enumerate(tally.scores, start=1)}
    place = places.get(agents[0], len(places))
    return (
        f":warning: Team and agents differ: the team is for {team}, the agents are for {theirs}, "
        f"which the team puts in place {place} of {len(places)}."
    )


def people_votes(debate: Debate) -> Iterator[str]:
    """What stands beside the agents' count."""
    yield team_count(debate)
    yield moves(debate)


def ballot_button(debate: Debate) -> list[Block]:
    """Return the button that opens the form; none where there is nothing to rank."""
    if len(positions_of(debate)) <= 1 or is_people_vote_closed(debate):
        return []
    button = ButtonElement(
        text="Cast or change your ballot",
        action_id=ActionId.BALLOT.value,
        value=debate.id,
        accessibility_label="Cast or change your ballot: rank the positions yourself",
    )
    return [as_json(ActionsBlock(block_id=BlockId.BALLOT.value, elements=[button]))]
