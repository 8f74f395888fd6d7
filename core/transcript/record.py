"""The whole record of a debate as JSON: its events as they happened, and its totals."""

from collections.abc import Sequence

from pydantic_core import to_json

from core.debate.log import Event, RecordedEvent, fold
from core.debate.message_events import ClarificationAnswered, NoteAdded, NoteChanged
from core.debate.state import Debate
from core.debate.turn_events import ShadowAnswered, ShadowPlaced
from core.debate.verdict import ShadowAnswer
from core.rules.shadow import is_sealed
from core.transcript.outcome import outcome, totals

#: Version of the record's outer form; the events have their own, tolerant one.
VERSION = 3


def record_json(log: Sequence[RecordedEvent]) -> str:
    """The record of a debate, readable by programs and people. `docs/record.md` tells its form.

    Raises:
        LogBroken: The log cannot be.
    """
    debate = fold(log)
    record = {
        "moot": VERSION,
        "debate_id": debate.id,
        "status": debate.status.value,
        "outcome": outcome(debate),
        "totals": totals(debate),
        "events": [
            {
                "seq": recorded.seq,
                "at": recorded.at.isoformat(),
                "key": recorded.event.key,
                "event": shown_in(recorded.event, debate).model_dump(mode="json"),
            }
            for recorded in log
        ],
    }
    # Ten times as fast as `json.dumps`, which leaves C for Python where it indents.
    return to_json(record, indent=2).decode() + "\n"


#: Stands in a record for what nobody may read before the verdict.
SEALED = "Sealed until the verdict."
#: Stands in a record for words that their author deleted.
WITHDRAWN = "Deleted by its author."


def shown_in(event: Event, debate: Debate) -> Event:
    """The event as it may be read now: without a sealed single answer and withdrawn texts.

    An answer whose message was deleted stays if agents may have read it.
    """
    match event:
        case NoteAdded(note=note) if note.id in debate.withdrawn:
            blank = note.model_copy(update={"text": WITHDRAWN})
            return event.model_copy(update={"note": blank})
        case NoteChanged(note=changed) if changed in debate.withdrawn:
            return event.model_copy(update={"text": WITHDRAWN})
        case ClarificationAnswered(answer=answer) if (
            answer.origin in debate.withdrawn
            and answer.text
            and answer != debate.answers.get(answer.number)
        ):
            return event.model_copy(
                update={"answer": answer.model_copy(update={"text": WITHDRAWN})}
            )
        case _ if not is_sealed(debate):
            return event
        case ShadowAnswered(shadow=alone):
            sealed = ShadowAnswer(turn=alone.turn, decision=SEALED, call=alone.call)
            return ShadowAnswered(shadow=sealed)
        case ShadowPlaced(choice=choice):
            return ShadowPlaced(choice=choice.model_copy(update={"option": ""}))
        case _:
            return event
