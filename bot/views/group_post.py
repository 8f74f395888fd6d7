"""What an agent said: a turn as posts, or its round as one with the rest folded beneath (pure)."""

from collections.abc import Iterator, Sequence

from bot.slack.mrkdwn import gist, mrkdwn
from bot.views.agents import finding_lines
from bot.views.message import (
    EXAMPLE_NOTE,
    OFFLINE_NOTE,
    FoldedBlock,
    MessageView,
    context,
    folded,
    is_offline,
    letters,
    name_of,
    pages,
    pieces_of,
    sections,
    turn_noun,
)
from core.debate.agents import EXAMPLE, Agent
from core.debate.contributions import Contribution, Failure
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.figures import duration, money
from core.rules.formats import council
from core.transcript.cited import link_citations
from core.usage import Usage

_MODELS_LIMIT = 120
_WARNING_LIMIT = 400
#: Characters that all these posts of a debate show together, and one of them at least and at most:
#: about 900 words, so that board, vote and verdict have room in 1,500.
_ALL, _LEAST, _MOST = 5400, 380, 900
_ANSWER_LIMIT = 240
_FIRST_LIMIT = 110
_MOST_POINTS = 3
_POINT_LIMIT = 150
_LINE_LIMIT = 140
_REASON_LIMIT = 200
#: What an agent stands for, the newest first.
_POSITIONS = (
    *(Act.STATEMENT, Act.REFINEMENT, Act.ADJUST, Act.FORMULATE),
    *(Act.PROPOSAL, Act.GATHER),
    *(Act.SECOND_LOOK, Act.REVIEW),
)
#: What it says of the others.
_OF_OTHERS = frozenset({Act.CRITIQUE, Act.DEBATE, Act.REBUTTAL})


def turn(debate: Debate, contribution: Contribution) -> list[MessageView]:
    """Return the posts with the whole text of a contribution."""
    agent = debate.setup.agent(contribution.turn.agent)
    parts = pages(words_of(agent, contribution)) or ["_Nothing was said._"]
    what = _capital(turn_noun(debate, contribution.turn))
    messages = list[MessageView]()
    for number, part in enumerate(parts, start=1):
        which = f" · part {number} of {len(parts)}" if len(parts) > 1 else ""
        head = f"*{what}* · round {contribution.turn.round}{which}"
        foot = _foot(debate, [contribution], 5) if number == len(parts) else ()
        messages.append(
            MessageView(
                text="\n".join([head, part, *(note for note in foot if note == OFFLINE_NOTE)]),
                blocks=[*context(head), *sections(part), *context(*foot)],
                speaker=agent,
            )
        )
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
        is_mark = last.strip("_ ").startswith(OFFLINE_NOTE.partition(":")[0])
        text = (rest if is_mark else text).rstrip()
    return text


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
    foot = _foot(debate, contributions, 2)
    return MessageView(
        text="\n".join([head, text, *(note for note in foot if note == OFFLINE_NOTE)]),
        blocks=folded(
            everything(debate, first, contributions),
            [*context(head), *sections(text)],
            context(*foot),
        ),
        speaker=agent,
    )


def everything(debate: Debate, first: Turn, contributions: Sequence[Contribution]) -> FoldedBlock:
    """Return the agent's texts of these turns, the newest position first, and critiques of them."""
    main = _position(contributions)
    own = sorted(contributions, key=lambda contribution: contribution is not main)
    critiques = [
        critique
        for critique in debate.contributions.values()
        if critique.turn.act is Act.CRITIQUE
        and (critique.turn.round, critique.turn.target) == (first.round, first.agent)
    ]
    titled = [(_capital(turn_noun(debate, text.turn)), text) for text in own]
    titled += [
        (f"{name_of(debate, text.turn.agent)} on this: {turn_noun(debate, text.turn)}", text)
        for text in critiques
    ]
    return FoldedBlock(
        title="Everything it wrote and was told",
        parts=[
            piece
            for title, text in titled
            for piece in pieces_of(
                title, mrkdwn(words_of(debate.setup.agent(text.turn.agent), text))
            )
        ],
        value=f"{debate.id}/{first.key}",
    )


def _in_short(debate: Debate, agent: Agent, contributions: Sequence[Contribution]) -> Iterator[str]:
    of_others = [
        _on_others(debate, agent, contribution)
        for contribution in contributions
        if contribution.turn.act in _OF_OTHERS
    ]
    if main := _position(contributions):
        room = min(_MOST, max(_LEAST, _ALL // (len(debate.setup.agents) * debate.setup.rounds)))
        answer = answer_of(agent, main, min(_ANSWER_LIMIT, room // 2))
        text = f"*{answer or 'Nothing was said.'}*"
        yield text
        room -= len(text) + sum(map(len, of_others))
        # Critiques are about its first answer, so that is shown as well.
        drafts = (each for each in contributions if each.turn.act is Act.PROPOSAL)
        drafted = answer_of(agent, next(drafts, main), _FIRST_LIMIT)
        if drafted and drafted != answer_of(agent, main, _FIRST_LIMIT):
            room -= len(drafted)
            yield f"_First answer_: {drafted}"
        if main.findings:
            yield from (f"• {line}" for line in finding_lines(main.findings, _MOST_POINTS + 1))
            return
        for number, point in enumerate(main.points[:_MOST_POINTS]):
            line = gist(point, _POINT_LIMIT)
            room -= len(line)
            if room >= 0 or number == 0:
                yield f"• {line}"
    yield from of_others


def _on_others(debate: Debate, agent: Agent, contribution: Contribution) -> str:
    turn = contribution.turn
    whom = (
        f"On {name_of(debate, turn.target)}" if turn.target else _capital(turn_noun(debate, turn))
    )
    if turn.act is Act.CRITIQUE and turn.round == 1:  # its post shows the refined answer
        whom += "'s first draft"
    return f":speech_balloon: _{whom}_: {answer_of(agent, contribution, _LINE_LIMIT)}"


def _position(contributions: Sequence[Contribution]) -> Contribution | None:
    """The newest position among the contributions."""
    return min(
        (each for each in contributions if each.turn.act in _POSITIONS),
        key=lambda contribution: _POSITIONS.index(contribution.turn.act),
        default=None,
    )


def _foot(
    debate: Debate, contributions: Sequence[Contribution], most_warnings: int
) -> Sequence[str]:
    """Whom letters mean; models, cost and, where every turn has a post, its time; warnings."""
    agent = debate.setup.agent(contributions[0].turn.agent)
    calls = [contribution.call for contribution in contributions if contribution.call]
    lines = [letters(debate, *contributions)]
    if is_offline(agent):
        lines.append(OFFLINE_NOTE)
    elif agent.provider == EXAMPLE:
        lines.append(EXAMPLE_NOTE)
    elif calls:
        models = dict.fromkeys(f"{call.provider} · {call.model}" for call in calls)
        took = "" if debate.setup.quiet else f" · {duration(calls[0].latency_ms / 1000)}"
        spent = money(sum((call.usage for call in calls), Usage()).cost)
        lines.append(f"{gist(', '.join(models), _MODELS_LIMIT)}{took} · {spent}")
    warnings = dict.fromkeys(text for each in contributions for text in each.warnings)
    lines += [
        f":warning: {gist(warning, _WARNING_LIMIT)}" for warning in list(warnings)[:most_warnings]
    ]
    return [*filter(None, lines)]


def _capital(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"
