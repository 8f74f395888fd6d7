"""Bounds against abuse and accidents: debates at once, sizes of what people write (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import BadInput
from core.models import Debate
from core.opening import Wish
from core.ports import DebateEntry
from core.transcript.words import counted, number


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How much people may ask of one installation; `.env` sets each of them."""

    #: Debates at once that one person has started.
    debates_per_person: int = 3
    #: Debates at once in one channel.
    debates_per_channel: int = 5
    #: Debates at once in one workspace.
    debates_per_workspace: int = 50
    #: Characters of a question.
    question_characters: int = 4000
    #: Characters of the context given with a question.
    context_characters: int = 12_000
    #: Characters of a note or an answer.
    note_characters: int = 4000
    #: Notes that one debate takes.
    notes_per_debate: int = 200


def check_room(wish: Wish, running: Sequence[DebateEntry], bounds: Bounds) -> None:
    """Make sure that one more debate may run.

    Args:
        wish: The debate that was asked for.
        running: Debates of its workspace that run now; no more than the bound are needed.
        bounds: What holds.

    Raises:
        BadInput: There are too many; says whose, and what to do.
    """
    if len(running) >= bounds.debates_per_workspace:
        raise BadInput(
            f"{bounds.debates_per_workspace} debates run in this workspace, as many as may at "
            "once. Try again in a few minutes."
        )
    own = [one.debate_id for one in running if one.asked_by == wish.asked_by.id]
    if len(own) >= bounds.debates_per_person:
        listed = ", ".join(f"`{debate_id}`" for debate_id in own)
        raise BadInput(
            f"You have {len(own)} debates running ({listed}), as many as one person may at once. "
            "Ask again when one has ended, or end one with `/debate stop ID`."
        )
    here = [one for one in running if one.channel == wish.place.channel]
    if len(here) >= bounds.debates_per_channel:
        raise BadInput(
            f"{len(here)} debates run in this channel, as many as may at once. `/debate list` "
            "shows them; ask again when one has ended, or in another channel."
        )


def check_context(context: str, bounds: Bounds) -> None:
    """Make sure that the context given with a question is not too long.

    Raises:
        BadInput: It is; says what to do.
    """
    if len(context) > bounds.context_characters:
        raise BadInput(
            f"The context has {counted(len(context), 'character')}; the most is "
            f"{number(bounds.context_characters)}. "
            "Shorten it, or add the rest as notes in the thread."
        )


def check_size(text: str, bounds: Bounds) -> None:
    """Make sure that a note or an answer is not too long.

    Raises:
        BadInput: It is; says what to do.
    """
    if len(text) > bounds.note_characters:
        raise BadInput(
            f"What you wrote has {counted(len(text), 'character')}; the most is "
            f"{number(bounds.note_characters)}. "
            "The agents did not get it: shorten it, or send it in parts."
        )


def check_notes(debate: Debate, bounds: Bounds) -> None:
    """Make sure that the debate takes one more note.

    Raises:
        BadInput: It does not; says what to do.
    """
    if len(debate.notes) >= bounds.notes_per_debate:
        raise BadInput(
            f"Debate `{debate.id}` has {len(debate.notes)} notes, as many as one can take, so the "
            "agents did not get yours. Ask about it in a new debate."
        )
