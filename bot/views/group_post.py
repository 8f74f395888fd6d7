"""Posts of agents: one turn as posts, or all turns of a round as one post with a fold (pure)."""

from collections.abc import Iterator, Sequence

from bot.slack.mrkdwn import gist, mrkdwn
from bot.views.agents import finding_lines
from bot.views.message import (
    EXAMPLE_NOTE,
    OFFLINE_NOTE,
    FoldedBlock,
    MessageView,
    context,
    is_offline,
    letters,
    name_of,
    pages,
    sections,
    titled_pieces,
    turn_noun,
    with_fold,
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
#: Most characters that all these posts of a debate show together, and the bounds for one post. The
#: sum is about 900 words, so that a thread with board, vote and verdict stays below 1,500 words.
_ALL, _LEAST, _MOST = 5400, 380, 900
_ANSWER_LIMIT = 240
_FIRST_LIMIT = 110
_MOST_POINTS = 3
_POINT_LIMIT = 150
_LINE_LIMIT = 140
_REASON_LIMIT = 200
#: Acts that state an agent's position, the latest act of a round first.
_POSITIONS = (
    *(Act.STATEMENT, Act.REFINEMENT, Act.ADJUST, Act.FORMULATE),
    *(Act.PROPOSAL, Act.GATHER),
    *(Act.SECOND_LOOK, Act.REVIEW),
)
#: Acts in which an agent criticises others.
_CRITICISM = frozenset({Act.CRITIQUE, Act.DEBATE, Act.REBUTTAL})


def turn_posts(debate: Debate, contribution: Contribution) -> list[MessageView]:
    """Return the posts with the whole text of a contribution."""
    agent = debate.setup.agent(contribution.turn.agent)
    parts = pages(cited_text(agent, contribution)) or ["_Nothing was said._"]
    title = _capital(turn_noun(debate, contribution.turn))
    messages = list[MessageView]()
    for number, part in enumerate(parts, start=1):
        part_number = f" · part {number} of {len(parts)}" if len(parts) > 1 else ""
        head = f"*{title}* · round {contribution.turn.round}{part_number}"
        foot = _foot(debate, [contribution], 5) if number == len(parts) else ()
        messages.append(
            MessageView(
                text="\n".join([head, part, *(note for note in foot if note == OFFLINE_NOTE)]),
                blocks=[*context(head), *sections(part), *context(*foot)],
                speaker=agent,
            )
        )
    return messages


def short_answer(agent: Agent, contribution: Contribution, limit: int) -> str:
    """Return the contribution's answer, or the beginning of its text, as mrkdwn on one line."""
    return gist(contribution.answer or cited_text(agent, contribution), limit)


def cited_text(agent: Agent, contribution: Contribution) -> str:
    """Return the contribution's text with its checked citations.

    The last line of the offline engine is left out, because the post's foot says the same.
    """
    text = link_citations(contribution.text, contribution.citations)
    if is_offline(agent):
        body, _, last = text.rstrip().rpartition("\n")
        is_mark = last.strip("_ ").startswith(OFFLINE_NOTE.partition(":")[0])
        text = (body if is_mark else text).rstrip()
    return text


def group_post(
    debate: Debate, contributions: Sequence[Contribution], failures: Sequence[Failure] = ()
) -> MessageView:
    """Return an agent's post for a round.

    It shows the answer in bold, the first answer, the main points and criticism of other agents.
    """
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
        blocks=with_fold(
            full_turn_texts(debate, first, contributions),
            [*context(head), *sections(text)],
            context(*foot),
        ),
        speaker=agent,
    )


def full_turn_texts(
    debate: Debate, first: Turn, contributions: Sequence[Contribution]
) -> FoldedBlock:
    """Return the full texts of these turns and all critiques of them, the newest position first."""
    main = _position(contributions)
    ordered = sorted(contributions, key=lambda contribution: contribution is not main)
    critiques = [
        critique
        for critique in debate.contributions.values()
        if critique.turn.act is Act.CRITIQUE
        and (critique.turn.round, critique.turn.target) == (first.round, first.agent)
    ]
    texts = [(_capital(turn_noun(debate, text.turn)), text) for text in ordered]
    texts += [
        (f"{name_of(debate, text.turn.agent)} on this: {turn_noun(debate, text.turn)}", text)
        for text in critiques
    ]
    return FoldedBlock(
        title="Everything it wrote and was told",
        parts=[
            piece
            for title, text in texts
            for piece in titled_pieces(
                title, mrkdwn(cited_text(debate.setup.agent(text.turn.agent), text))
            )
        ],
        value=f"{debate.id}/{first.key}",
    )


def _in_short(debate: Debate, agent: Agent, contributions: Sequence[Contribution]) -> Iterator[str]:
    criticism = [
        _criticism_line(debate, agent, contribution)
        for contribution in contributions
        if contribution.turn.act in _CRITICISM
    ]
    if main := _position(contributions):
        room = min(_MOST, max(_LEAST, _ALL // (len(debate.setup.agents) * debate.setup.rounds)))
        answer = short_answer(agent, main, min(_ANSWER_LIMIT, room // 2))
        text = f"*{answer or 'Nothing was said.'}*"
        yield text
        room -= len(text) + sum(map(len, criticism))
        # Shown because critiques are about the first answer.
        drafts = (item for item in contributions if item.turn.act is Act.PROPOSAL)
        draft = short_answer(agent, next(drafts, main), _FIRST_LIMIT)
        if draft and draft != short_answer(agent, main, _FIRST_LIMIT):
            room -= len(draft)
            yield f"_First answer_: {draft}"
        if main.findings:
            yield from (f"• {line}" for line in finding_lines(main.findings, _MOST_POINTS + 1))
            return
        for number, point in enumerate(main.points[:_MOST_POINTS]):
            line = gist(point, _POINT_LIMIT)
            room -= len(line)
            if room >= 0 or number == 0:
                yield f"• {line}"
    yield from criticism


def _criticism_line(debate: Debate, agent: Agent, contribution: Contribution) -> str:
    turn = contribution.turn
    title = (
        f"On {name_of(debate, turn.target)}" if turn.target else _capital(turn_noun(debate, turn))
    )
    if turn.act is Act.CRITIQUE and turn.round == 1:  # the post shows the refined answer
        title += "'s first draft"
    return f":speech_balloon: _{title}_: {short_answer(agent, contribution, _LINE_LIMIT)}"


def _position(contributions: Sequence[Contribution]) -> Contribution | None:
    """The newest position among the contributions."""
    return min(
        (item for item in contributions if item.turn.act in _POSITIONS),
        key=lambda contribution: _POSITIONS.index(contribution.turn.act),
        default=None,
    )


def _foot(
    debate: Debate, contributions: Sequence[Contribution], most_warnings: int
) -> Sequence[str]:
    """The key to letters, models, cost, warnings; the time of the call if each turn has a post."""
    agent = debate.setup.agent(contributions[0].turn.agent)
    calls = [contribution.call for contribution in contributions if contribution.call]
    lines = [letters(debate, *contributions)]
    if is_offline(agent):
        lines.append(OFFLINE_NOTE)
    elif agent.provider == EXAMPLE:
        lines.append(EXAMPLE_NOTE)
    elif calls:
        models = dict.fromkeys(f"{call.provider} · {call.model}" for call in calls)
        latency = "" if debate.setup.quiet else f" · {duration(calls[0].latency_ms / 1000)}"
        cost = money(sum((call.usage for call in calls), Usage()).cost)
        lines.append(f"{gist(', '.join(models), _MODELS_LIMIT)}{latency} · {cost}")
    warnings = dict.fromkeys(text for item in contributions for text in item.warnings)
    lines += [
        f":warning: {gist(warning, _WARNING_LIMIT)}" for warning in list(warnings)[:most_warnings]
    ]
    return [*filter(None, lines)]


def _capital(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"
