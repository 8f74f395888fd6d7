"""Bounds against abuse and accidents: running debates, lengths of texts, money."""

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


def _bound(default: int, variable: str) -> Any:
    return Field(default=default, ge=1, validation_alias=variable)


class Bounds(BaseModel):
    model_config = ConfigDict(frozen=True, validate_by_name=True, validate_by_alias=True)

    #: Running debates: started by one person, in one channel, and in one workspace.
    debates_per_person: int = _bound(3, "moot_debates_per_person")
    debates_per_channel: int = _bound(5, "moot_debates_per_channel")
    debates_per_workspace: int = _bound(50, "moot_debates_per_workspace")
    #: Characters of a question, of the context given with it, and of a note or an answer.
    question_characters: int = _bound(QUESTION_CHARACTERS, "moot_question_characters")
    context_characters: int = _bound(12_000, "moot_context_characters")
    note_characters: int = _bound(4000, "moot_note_characters")
    #: Notes of one debate: in total, and of one person within an hour.
    notes_per_debate: int = _bound(200, "moot_notes_per_debate")
    notes_per_person_hour: int = _bound(60, "moot_notes_per_person_hour")
    #: Questions about one debate after its verdict.
    questions_per_debate: int = _bound(50, "moot_questions_per_debate")
    #: API tokens that one person may have.
    tokens_per_person: int = _bound(5, "moot_tokens_per_person")


#: For the terminal, whose users need no bounds.
UNBOUNDED = Bounds(**dict.fromkeys(Bounds.model_fields, sys.maxsize))


def check_room(
    person: Person, place: Place, running: Sequence[DebateEntry], bounds: Bounds
) -> None:
    """Raise `BadInput` if the person, the channel or the workspace has too many running debates."""
    if len(running) >= bounds.debates_per_workspace:
        raise BadInput(
            f"{bounds.debates_per_workspace} debates run in this workspace, the most at one time. "
            "Try again in a few minutes."
        )
    persons_ids = [entry.debate_id for entry in running if entry.asked_by == person.id]
    if len(persons_ids) >= bounds.debates_per_person:
        names = ", ".join(f"`{debate_id}`" for debate_id in persons_ids)
        raise BadInput(
            f"You have {len(persons_ids)} debates running ({names}), the most for one person. "
            "Ask again when one has ended, or end one with `/debate stop ID`."
        )
    in_channel = [entry for entry in running if entry.channel == place.channel]
    if len(in_channel) >= bounds.debates_per_channel:
        raise BadInput(
            f"{len(in_channel)} debates run in this channel, the most at one time. `/debate list` "
            "shows them; ask again when one has ended, or in another channel."
        )


async def check_money(caps: Caps, spending: Spending, scope: SpendingScope, *, result: str) -> None:
    """Raise `BadInput` if a daily cap of the person, the token or the workspace is reached.

    `result`: the consequence, as the end of a sentence: "nothing was started".
    """
    of_person = "You have reached the daily cap for one person"
    of_programs = "The daily cap for debates started with one token is reached"
    of_all = "The daily cap for all debates of this workspace is reached"
    for words, cap, capped_scope in (
        (of_person, caps.person_day_cost, replace(scope, token=None)),
        (of_programs, caps.token_day_cost if scope.token else None, replace(scope, person=None)),
        (of_all, caps.day_cost, replace(scope, person=None, token=None)),
    ):
        if cap is None or cap > await spending.total_cost(capped_scope):
            continue
        raise BadInput(
            f"{words} ({money(cap)}), so {result}. Ask again tomorrow (UTC), or ask an "
            "administrator of Moot to raise the cap."
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
            f"Debate `{debate.id}` has {count} notes, the most for one debate, so the agents did "
            "not get yours. Ask about it in a new debate."
        )
