"""Bounds against abuse and accidents: debates at once, sizes of texts, money that is spent."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from core.debate.people import Person, Place
from core.debate.state import Debate
from core.errors import BadInput, NotesFull
from core.figures import money
from core.opening import check_length
from core.ports import DebateEntry, Spending
from core.settings import QUESTION_CHARACTERS, Caps
from core.usage import SpendingScope


def _bound(usual: int, variable: str) -> Any:
    return Field(default=usual, ge=1, validation_alias=variable)


class Bounds(BaseModel):
    model_config = ConfigDict(frozen=True, validate_by_name=True, validate_by_alias=True)

    #: Debates at once that one person has started, in one channel, and in one workspace.
    debates_per_person: int = _bound(3, "moot_debates_per_person")
    debates_per_channel: int = _bound(5, "moot_debates_per_channel")
    debates_per_workspace: int = _bound(50, "moot_debates_per_workspace")
    #: Characters of a question, of the context given with it, and of a note or an answer.
    question_characters: int = _bound(QUESTION_CHARACTERS, "moot_question_characters")
    context_characters: int = _bound(12_000, "moot_context_characters")
    note_characters: int = _bound(4000, "moot_note_characters")
    #: Notes that one debate takes: of all, and from one person in an hour.
    notes_per_debate: int = _bound(200, "moot_notes_per_debate")
    notes_per_person_hour: int = _bound(60, "moot_notes_per_person_hour")
    #: Questions that one debate takes after its verdict.
    questions_per_debate: int = _bound(50, "moot_questions_per_debate")
    #: Tokens for programs that one person has at once.
    tokens_per_person: int = _bound(5, "moot_tokens_per_person")


#: For a surface whose people answer for themselves: the terminal.
UNBOUNDED = Bounds(**dict.fromkeys(Bounds.model_fields, sys.maxsize))


def check_room(by: Person, place: Place, running: Sequence[DebateEntry], bounds: Bounds) -> None:
    if len(running) >= bounds.debates_per_workspace:
        raise BadInput(
            f"{bounds.debates_per_workspace} debates run in this workspace, as many as may at "
            "once. Try again in a few minutes."
        )
    own = [entry.debate_id for entry in running if entry.asked_by == by.id]
    if len(own) >= bounds.debates_per_person:
        listed = ", ".join(f"`{debate_id}`" for debate_id in own)
        raise BadInput(
            f"You have {len(own)} debates running ({listed}), as many as one person may at once. "
            "Ask again when one has ended, or end one with `/debate stop ID`."
        )
    here = [entry for entry in running if entry.channel == place.channel]
    if len(here) >= bounds.debates_per_channel:
        raise BadInput(
            f"{len(here)} debates run in this channel, as many as may at once. `/debate list` "
            "shows them; ask again when one has ended, or in another channel."
        )


async def check_money(caps: Caps, spent: Spending, whose: SpendingScope, *, otherwise: str) -> None:
    """Make sure that somebody may have models asked on that day.

    `otherwise`: what did not happen, as the end of a sentence: "nothing was started".
    """
    of_person = "You have spent what one person may spend in a day"
    of_programs = "What debates may cost a day that are started with one token is spent"
    of_all = "What all debates of a day may cost is spent"
    for words, cap, scope in (
        (of_person, caps.person_day_cost, replace(whose, token=None)),
        (of_programs, caps.token_day_cost if whose.token else None, replace(whose, person=None)),
        (of_all, caps.day_cost, replace(whose, person=None, token=None)),
    ):
        if cap is None or cap > await spent.total_cost(scope):
            continue
        raise BadInput(
            f"{words} ({money(cap)}), so {otherwise}. Ask again tomorrow (UTC), or let "
            "whoever runs Moot raise the cap."
        )


def check_context(context: str, bounds: Bounds) -> None:
    instead = "Shorten it, or add the rest as notes in the thread."
    check_length("The context", context, bounds.context_characters, instead=instead)


def check_size(text: str, bounds: Bounds) -> None:
    instead = "The agents did not get it: shorten it, or send it in parts."
    check_length("What you wrote", text, bounds.note_characters, instead=instead)


def check_notes(debate: Debate, bounds: Bounds) -> None:
    count = len(debate.all_notes)
    if count >= bounds.notes_per_debate:
        raise NotesFull(
            f"Debate `{debate.id}` has {count} notes, as many as one can take, so the "
            "agents did not get yours. Ask about it in a new debate."
        )
