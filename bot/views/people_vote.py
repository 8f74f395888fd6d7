"""People's ballots: the form, the team's count beside the agents', who moved and why (pure)."""

from collections.abc import Iterator

from bot.slack.blocks import actions, button
from bot.slack.ids import ActionId, BlockId, CallbackId, address_of, rank_field
from bot.slack.mrkdwn.convert import gist
from bot.views.forms import Field, Form, form, select
from bot.views.message import Block, listed, sections
from bot.views.options import option_labels, option_name
from bot.views.turn_groups import post_key
from bot.views.words import name_of, turn_noun
from core.figures import counted, percent
from core.models import Agent, Contribution, Debate, Source
from core.rules.mind_changes import mind_changes, mover
from core.rules.options import by_option, is_listed, options_of
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
    """Return the form to choose between the options, with what this person chose before."""
    options = options_of(debate)
    words = option_labels(options.items)
    lines = list[str]()
    for option, agents in by_option(debate).items():
        names = ", ".join(name_of(debate, agent) for agent in agents)
        lines.append(f"• *{option_name(debate, option)}*" + (f" – {names}" if names else ""))
    mine = debate.people_ballots.get(by)
    chosen = dict(enumerate(map(options.resolve, mine.options if mine else ())))
    fields = [
        select(
            Field(id=rank_field(place), label=_PLACES[place], optional=place > 0),
            words,
            chosen.get(place, ""),
        )
        for place in range(places_of(debate))
    ]
    again = _AGAIN if chosen else ""
    question = gist(debate.setup.question, _QUESTION_LIMIT)
    intro = f"*{question}*\n{listed(lines, _OPTIONS_LIMIT)}{_HOW}{again}"
    return form(
        CallbackId.BALLOT_FORM,
        title="Your ballot",
        submit="Change ballot" if chosen else "Cast ballot",
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
    said = counted(cast, "ballot") + (f", {changed} changed" if changed else "")
    late = count_people(debate, late=True)
    since = ", ".join(
        f"{option_name(debate, score.option)} {score.first_choices}"
        for score in late.scores
        if score.first_choices
    )
    after = f"\nSince the reveal, counted apart: {since}." if since else ""
    return f"*The team's vote* ({said}): {scores}.\n{_gap(debate, count)}{after}".rstrip()


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
        lines.append(f"{moved}: “{gist(change.why, _WHY_LIMIT)}”" if change.why else f"{moved}.")
    lines += [f"• Stayed with their first choice: {stayed}."] if stayed else []
    return "*Who changed their mind*\n" + listed(lines, _MOVES_LIMIT)


def _gap(debate: Debate, count: PeopleCount) -> str:
    """The difference between the team's choice and the agents', in words."""
    agents = winning_options(debate.tally.options) if debate.tally else ()
    if not agents:
        return ""
    team, theirs = (
        listed((f"*{option_name(debate, option)}*" for option in found), _NAMES_LIMIT, ", ")
        for found in (count.winners, agents)
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
