"""A contribution as posts in the thread, under its agent's name and icon (pure)."""

from bot.slack.mrkdwn.convert import gist
from bot.views.message import MessageView, context, named, pages, sections
from bot.views.words import (
    EXAMPLE_NOTE,
    OFFLINE_NOTE,
    cost,
    icon,
    is_offline,
    letters,
    title,
    turn_noun,
)
from core.figures import duration
from core.models import EXAMPLE, Agent, Contribution, Debate
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
