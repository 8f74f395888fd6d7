"""What an agent said: a turn as posts, or its round as one with the rest folded beneath (pure)."""

from collections.abc import Iterator, Sequence

from bot.slack.mrkdwn.convert import gist, mrkdwn
from bot.views.agents import finding_lines
from bot.views.fold import FoldedBlock, folded, pieces_of
from bot.views.message import MessageView, context, pages, plain_name, sections
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
from core.debate.agents import EXAMPLE, Agent
from core.debate.contributions import Contribution, Failure
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.figures import duration
from core.rules.formats import council
from core.transcript.cited import link_citations
from core.usage import Usage

_WARNING_LIMIT = 400
_MODEL_LIMIT = 120
#: How the offline engine marks its texts, and how our own note begins.
_MARK = OFFLINE_NOTE.partition(":")[0]


def turn(debate: Debate, contribution: Contribution) -> list[MessageView]:
    """Return the posts with the whole text of a contribution.

    Each begins with its kind and, for a critique, the author of the proposal.
    """
    agent = debate.setup.agent(contribution.turn.agent)
    parts = pages(words_of(agent, contribution)) or ["_Nothing was said._"]
    what = turn_noun(debate, contribution.turn)
    # Below its last part: the model, and warnings.
    below = [*filter(None, [letters(debate, contribution)])]
    if is_offline(agent):
        below.append(OFFLINE_NOTE)
    elif agent.provider == EXAMPLE:
        below.append(EXAMPLE_NOTE)
    elif contribution.call:
        model = gist(f"{contribution.call.provider} · {contribution.call.model}", _MODEL_LIMIT)
        took = duration(contribution.call.latency_ms / 1000)
        below.append(f"{model} · {took} · {cost(contribution.call.usage)}")
    below += [f":warning: {gist(warning, _WARNING_LIMIT)}" for warning in contribution.warnings[:5]]
    messages = list[MessageView]()
    for number, part in enumerate(parts, start=1):
        which = f" · part {number} of {len(parts)}" if len(parts) > 1 else ""
        head = f"*{what[0].upper()}{what[1:]}* · round {contribution.turn.round}{which}"
        foot = below if number == len(parts) else []
        blocks = [*context(head), *sections(part), *(context(*foot) if foot else [])]
        message = MessageView(
            text="\n".join([head, part, *(note for note in foot if note == OFFLINE_NOTE)]),
            blocks=blocks,
            username=plain_name(title(agent)),
            icon=icon(agent),
        )
        messages.append(message)
    return messages


def answer_of(agent: Agent, contribution: Contribution, limit: int) -> str:
    """Return its answer, or the beginning of its text; safe mrkdwn, in one line."""
    return gist(contribution.answer or words_of(agent, contribution), limit)


def words_of(agent: Agent, contribution: Contribution) -> str:
    """Return the text with its quotes as checked.

    Without the engine's own last line: the post's foot says the same.
    """
    text = link_citations(contribution.text, contribution.citations)
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
    debate: Debate, contributions: Sequence[Contribution], failures: Sequence[Failure] = ()
) -> MessageView:
    """Return an agent's post: its answer in bold, the first one, points, whom it criticised."""
    first = contributions[0].turn
    agent = debate.setup.agent(first.agent)
    lines = list(_in_short(debate, agent, contributions))
    for failure in failures:
        reason = gist(failure.reason, _REASON_LIMIT).rstrip(".")
        lines.append(f":warning: Its {turn_noun(debate, failure.turn)} is missing: {reason}.")
    text, head = "\n".join(lines), f"Round {first.round}"
    if debate.setup.format == council.NAME:  # an agent has two posts in its round
        head += f": {turn_noun(debate, (_position(contributions) or contributions[-1]).turn)}"
    foot = list(_foot(agent, contributions))
    if of_letters := letters(debate, *contributions):
        foot.insert(0, of_letters)
    return MessageView(
        text="\n".join([head, text, *(note for note in foot if note == OFFLINE_NOTE)]),
        blocks=folded(
            everything(debate, first, contributions),
            [*context(head), *sections(text)],
            context(*foot),
        ),
        username=plain_name(title(agent)),
        icon=icon(agent),
    )


def everything(debate: Debate, first: Turn, contributions: Sequence[Contribution]) -> FoldedBlock:
    """Return the agent's texts of these turns, the newest position first, and critiques of them."""
    agent = debate.setup.agent(first.agent)
    main = _position(contributions)
    own = [
        *([main] if main else []),
        *(contribution for contribution in contributions if contribution is not main),
    ]
    parts = [
        part
        for contribution in own
        for part in pieces_of(
            _capital(turn_noun(debate, contribution.turn)), mrkdwn(words_of(agent, contribution))
        )
    ]
    # Critiques of the agent's text in that round.
    critiques = [
        critique
        for critique in debate.contributions.values()
        if critique.turn.act is Act.CRITIQUE
        and critique.turn.round == first.round
        and critique.turn.target == first.agent
    ]
    for critique in critiques:
        head = f"{name_of(debate, critique.turn.agent)} on this: {turn_noun(debate, critique.turn)}"
        other = debate.setup.agent(critique.turn.agent)
        parts += pieces_of(head, mrkdwn(words_of(other, critique)))
    return FoldedBlock(
        title="Everything it wrote and was told", parts=parts, value=f"{debate.id}/{first.key}"
    )


def _in_short(debate: Debate, agent: Agent, contributions: Sequence[Contribution]) -> Iterator[str]:
    room = min(_MOST, max(_LEAST, _ALL // (len(debate.setup.agents) * debate.setup.rounds)))
    of_others = [
        line for contribution in contributions for line in _on_others(debate, agent, contribution)
    ]
    main = _position(contributions)
    if main:
        answer = answer_of(agent, main, min(_ANSWER_LIMIT, room // 2))
        text = f"*{answer or 'Nothing was said.'}*"
        yield text
        characters = room - len(text) - sum(map(len, of_others))
        # Critiques are about its first answer, so that is shown as well.
        draft = next(
            (
                contribution
                for contribution in contributions
                if contribution.turn.act is Act.PROPOSAL
            ),
            main,
        )
        drafted = answer_of(agent, draft, _FIRST_LIMIT)
        if drafted and drafted != answer_of(agent, main, _FIRST_LIMIT):
            characters -= len(drafted)
            yield f"_First answer_: {drafted}"
        if main.findings:
            yield from (f"• {line}" for line in finding_lines(main.findings, _MOST_POINTS + 1))
            return
        for number, point in enumerate(main.points[:_MOST_POINTS]):
            line = gist(point, _POINT_LIMIT)
            characters -= len(line)
            if characters >= 0 or number == 0:
                yield f"• {line}"
    yield from of_others


def _on_others(debate: Debate, agent: Agent, contribution: Contribution) -> Iterator[str]:
    """A line about a contribution on another agent's text; none for others."""
    if contribution.turn.act not in _OF_OTHERS:
        return
    target = contribution.turn.target
    whom = (
        f"On {name_of(debate, target)}"
        if target
        else _capital(turn_noun(debate, contribution.turn))
    )
    if (
        contribution.turn.act is Act.CRITIQUE and contribution.turn.round == 1
    ):  # its post shows the refined answer
        whom += "'s first draft"
    yield f":speech_balloon: _{whom}_: {answer_of(agent, contribution, _LINE_LIMIT)}"


def _position(contributions: Sequence[Contribution]) -> Contribution | None:
    """The newest position among the contributions."""
    positions = [
        contribution for contribution in contributions if contribution.turn.act in _POSITIONS
    ]
    return min(
        positions,
        key=lambda contribution: _POSITIONS.index(contribution.turn.act),
        default=None,
    )


def _foot(agent: Agent, contributions: Sequence[Contribution]) -> Iterator[str]:
    """The models, the cost, and two warnings at most."""
    calls = [contribution.call for contribution in contributions if contribution.call]
    if is_offline(agent):
        yield OFFLINE_NOTE
    elif agent.provider == EXAMPLE:
        yield EXAMPLE_NOTE
    elif calls:
        models = dict.fromkeys(f"{call.provider} · {call.model}" for call in calls)
        spent = sum((call.usage for call in calls), Usage())
        yield f"{gist(', '.join(models), _GROUP_POST_MODEL_LIMIT)} · {cost(spent)}"
    warnings = dict.fromkeys(
        warning for contribution in contributions for warning in contribution.warnings
    )
    for warning in list(warnings)[:2]:
        yield f":warning: {gist(warning, _GROUP_POST_WARNING_LIMIT)}"


def _capital(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"
