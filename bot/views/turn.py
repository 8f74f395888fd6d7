"""A contribution as posts in the thread, under its agent's name and icon (pure)."""

from collections.abc import Iterator

from bot.slack.mrkdwn.convert import gist
from bot.views.message import Block, Message, context, named, pages, sections
from bot.views.words import OFFLINE_NOTE, cost, deed, icon, is_offline, title
from core.figures import duration
from core.models import Agent, Contribution, Debate

_WARNING_LIMIT = 400
_MODEL_LIMIT = 120
#: How the offline engine marks its texts, and how our own note begins.
_MARK = OFFLINE_NOTE.partition(":")[0]


def turn(debate: Debate, made: Contribution) -> list[Message]:
    """Return the posts that hold the whole text, none cut off.

    The first says what it is and, for a critique, whose proposal it is about.
    """
    agent = debate.setup.agent(made.turn.agent)
    text = _unmarked(made.text) if is_offline(agent) else made.text
    parts = pages(text) or ["_Nothing was said._"]
    return [_page(debate, made, agent, (number, parts)) for number in range(len(parts))]


def _page(
    debate: Debate, made: Contribution, agent: Agent, place: tuple[int, list[str]]
) -> Message:
    number, parts = place
    head = _head(debate, made, number, len(parts))
    said = list(_foot(made, agent)) if number == len(parts) - 1 else []
    foot = context(*said) if said else []
    blocks: list[Block] = [*context(head), *sections(parts[number]), *foot]
    return Message(
        text="\n".join([head, parts[number], *(note for note in said if note == OFFLINE_NOTE)]),
        blocks=blocks,
        username=named(title(agent)),
        icon=icon(agent),
    )


def _head(debate: Debate, made: Contribution, number: int, count: int) -> str:
    what = deed(debate, made.turn)
    part = f" · part {number + 1} of {count}" if count > 1 else ""
    return f"*{what[0].upper()}{what[1:]}* · round {made.turn.round}{part}"


def _unmarked(text: str) -> str:
    """The text without the engine's own last line, which says what the post's foot says."""
    whole = text.rstrip()
    rest, _, last = whole.rpartition("\n")
    return rest.rstrip() if last.strip("_ ").startswith(_MARK) else whole


def _foot(made: Contribution, agent: Agent) -> Iterator[str]:
    """Who made it and what went wrong on the way."""
    if is_offline(agent):
        yield OFFLINE_NOTE
    elif made.call:
        model = gist(f"{made.call.provider} · {made.call.model}", _MODEL_LIMIT)
        seconds = made.call.latency_ms / 1000
        yield f"{model} · {duration(seconds)} · {cost(made.call.usage)}"
    for warning in made.warnings[:5]:
        yield f":warning: {gist(warning, _WARNING_LIMIT)}"
