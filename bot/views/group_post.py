"""What an agent said: a turn as posts, or its round as one with the rest folded beneath (pure)."""

from collections.abc import Iterator, Sequence

from bot.slack.mrkdwn.convert import gist, mrkdwn
from bot.views.agents import finding_lines
from bot.views.fold import FoldedBlock, folded, pieces_of
from bot.views.message import MessageView, context, named, pages, sections
from bot.views.words import (
    EXAMPLE_NOTE,
    OFFLINE_NOTE,
    cost,
    icon,
    is_offline,
    letters,
    name_of,
    title,
    turn_noun,
)
from core.figures import duration
from core.models import EXAMPLE, Act, Agent, Contribution, Debate, Failure, Turn, Usage
from core.rules.formats import council
from core.transcript.cited import cited

_WARNING_LIMIT = 400
_MODEL_LIMIT = 120
#: How the offline engine marks its texts, and how our own note begins.
_MARK = OFFLINE_NOTE.partition(":")[0]


def turn(debate: Debate, made: Contribution) -> list[MessageView]:
    """Return the posts that hold the whole text, none cut off.

    The first says what it is and, for a critique, whose proposal it is about.
    """
    agent = debate.setup.agent(made.turn.agent)
    parts = pages(words_of(agent, made)) or ["_Nothing was said._"]
    what = turn_noun(debate, made.turn)
    # Below its last part: who made it, and what went wrong on the way.
    below = [*filter(None, [letters(debate, made)])]
    if is_offline(agent):
        below.append(OFFLINE_NOTE)
    elif agent.provider == EXAMPLE:
        below.append(EXAMPLE_NOTE)
    elif made.call:
        model = gist(f"{made.call.provider} · {made.call.model}", _MODEL_LIMIT)
        took = duration(made.call.latency_ms / 1000)
        below.append(f"{model} · {took} · {cost(made.call.usage)}")
    below += [f":warning: {gist(warning, _WARNING_LIMIT)}" for warning in made.warnings[:5]]
    messages = list[MessageView]()
    for number, part in enumerate(parts, start=1):
        which = f" · part {number} of {len(parts)}" if len(parts) > 1 else ""
        head = f"*{what[0].upper()}{what[1:]}* · round {made.turn.round}{which}"
        foot = below if number == len(parts) else []
        blocks = [*context(head), *sections(part), *(context(*foot) if foot else [])]
        message = MessageView(
            text="\n".join([head, part, *(note for note in foot if note == OFFLINE_NOTE)]),
            blocks=blocks,
            username=named(title(agent)),
            icon=icon(agent),
        )
        messages.append(message)
    return messages


def answer_of(agent: Agent, made: Contribution, limit: int) -> str:
    """Return its answer as it said it, or the beginning of its text; safe, in one line.

    Args:
        agent: Who said it.
        made: What was said.
        limit: Characters at most.
    """
    return gist(made.answer or words_of(agent, made), limit)


def words_of(agent: Agent, made: Contribution) -> str:
    """Return what was said, its quotes as they were found to be.

    Without the engine's own last line: the post's foot says the same.
    """
    text = cited(made.text, made.citations)
    if is_offline(agent):
        rest, _, last = text.rstrip().rpartition("\n")
        text = (rest if last.strip("_ ").startswith(_MARK) else text).rstrip()
    return text


#: Characters that all these posts of a debate show together, and one of them at least and at most:
#: about 900 words, so that board, vote and verdict have room in 1,500.
_ALL, _LEAST, _MOST = 5400, 380, 900
_ANSWER_LIMIT = 240
_FIRST_LIMIT = 110
_MOST_POINTS = 3
_POINT_LIMIT = 150
_LINE_LIMIT = 140
_REASON_LIMIT = 200
_GROUP_POST_MODEL_LIMIT = 80
_GROUP_POST_WARNING_LIMIT = 200
#: What an agent stands for, the newest first.
_POSITIONS = (
    *(Act.STATEMENT, Act.REFINEMENT, Act.ADJUST, Act.FORMULATE),
    *(Act.PROPOSAL, Act.GATHER),
    *(Act.SECOND_LOOK, Act.REVIEW),
)
#: What it says of the others.
_OF_OTHERS = frozenset({Act.CRITIQUE, Act.DEBATE, Act.REBUTTAL})


def group_post(
    debate: Debate, said: Sequence[Contribution], failures: Sequence[Failure] = ()
) -> MessageView:
    """Return the post: the answer in bold, the first one, main points, whom it criticised for what.

    Args:
        debate: The debate.
        said: What one agent said, in the order in which it came; at least one thing.
        failures: Its turns of the same group that came to nothing.
    """
    first = said[0].turn
    agent = debate.setup.agent(first.agent)
    lines = list(_in_short(debate, agent, said))
    for failure in failures:
        reason = gist(failure.reason, _REASON_LIMIT).rstrip(".")
        lines.append(f":warning: Its {turn_noun(debate, failure.turn)} is missing: {reason}.")
    text, head = "\n".join(lines), f"Round {first.round}"
    if debate.setup.format == council.NAME:  # an agent has two posts in its round
        head += f": {turn_noun(debate, (_position(said) or said[-1]).turn)}"
    foot = list(_foot(agent, said))
    if of_letters := letters(debate, *said):
        foot.insert(0, of_letters)
    return MessageView(
        text="\n".join([head, text, *(note for note in foot if note == OFFLINE_NOTE)]),
        blocks=folded(
            everything(debate, first, said), [*context(head), *sections(text)], context(*foot)
        ),
        username=named(title(agent)),
        icon=icon(agent),
    )


def everything(debate: Debate, first: Turn, said: Sequence[Contribution]) -> FoldedBlock:
    """Return all that the agent wrote on these turns, the newest position first, and was told.

    Args:
        debate: The debate.
        first: The turn that names the group.
        said: What the agent said.
    """
    agent = debate.setup.agent(first.agent)
    main = _position(said)
    own = [*([main] if main else []), *(made for made in said if made is not main)]
    parts = [
        part
        for made in own
        for part in pieces_of(_capital(turn_noun(debate, made.turn)), mrkdwn(words_of(agent, made)))
    ]
    # What others criticised about the agent's text in that round.
    criticised = [
        made
        for made in debate.contributions.values()
        if made.turn.act is Act.CRITIQUE
        and made.turn.round == first.round
        and made.turn.target == first.agent
    ]
    for made in criticised:
        head = f"{name_of(debate, made.turn.agent)} on this: {turn_noun(debate, made.turn)}"
        other = debate.setup.agent(made.turn.agent)
        parts += pieces_of(head, mrkdwn(words_of(other, made)))
    return FoldedBlock(
        title="Everything it wrote and was told", parts=parts, value=f"{debate.id}/{first.key}"
    )


def _in_short(debate: Debate, agent: Agent, said: Sequence[Contribution]) -> Iterator[str]:
    room = min(_MOST, max(_LEAST, _ALL // (len(debate.setup.agents) * debate.setup.rounds)))
    of_others = [line for made in said for line in _on_others(debate, agent, made)]
    main = _position(said)
    if main:
        answer = answer_of(agent, main, min(_ANSWER_LIMIT, room // 2))
        text = f"*{answer or 'Nothing was said.'}*"
        yield text
        left = room - len(text) - sum(map(len, of_others))
        # Others criticised what it said first; without it nobody understands what they mean.
        draft = next((made for made in said if made.turn.act is Act.PROPOSAL), main)
        drafted = answer_of(agent, draft, _FIRST_LIMIT)
        if drafted and drafted != answer_of(agent, main, _FIRST_LIMIT):
            left -= len(drafted)
            yield f"_First answer_: {drafted}"
        if main.findings:
            yield from (f"• {line}" for line in finding_lines(main.findings, _MOST_POINTS + 1))
            return
        for number, point in enumerate(main.points[:_MOST_POINTS]):
            line = gist(point, _POINT_LIMIT)
            left -= len(line)
            if left >= 0 or number == 0:
                yield f"• {line}"
    yield from of_others


def _on_others(debate: Debate, agent: Agent, made: Contribution) -> Iterator[str]:
    """Whom it criticised for what, a line each."""
    if made.turn.act not in _OF_OTHERS:
        return
    target = made.turn.target
    whom = f"On {name_of(debate, target)}" if target else _capital(turn_noun(debate, made.turn))
    if made.turn.act is Act.CRITIQUE and made.turn.round == 1:  # its post shows the refined answer
        whom += "'s first draft"
    yield f":speech_balloon: _{whom}_: {answer_of(agent, made, _LINE_LIMIT)}"


def _position(said: Sequence[Contribution]) -> Contribution | None:
    """The newest position among what was said."""
    contributions = [made for made in said if made.turn.act in _POSITIONS]
    return min(
        contributions,
        key=lambda contribution: _POSITIONS.index(contribution.turn.act),
        default=None,
    )


def _foot(agent: Agent, said: Sequence[Contribution]) -> Iterator[str]:
    """Who made it, what it cost, and what went wrong on the way."""
    calls = [made.call for made in said if made.call]
    if is_offline(agent):
        yield OFFLINE_NOTE
    elif agent.provider == EXAMPLE:
        yield EXAMPLE_NOTE
    elif calls:
        models = dict.fromkeys(f"{call.provider} · {call.model}" for call in calls)
        spent = sum((call.usage for call in calls), Usage())
        yield f"{gist(', '.join(models), _GROUP_POST_MODEL_LIMIT)} · {cost(spent)}"
    warnings = dict.fromkeys(warning for made in said for warning in made.warnings)
    for warning in list(warnings)[:2]:
        yield f":warning: {gist(warning, _GROUP_POST_WARNING_LIMIT)}"


def _capital(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"
