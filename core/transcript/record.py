"""The whole record of a debate as JSON: its events as they happened, and its totals."""

import json
from collections.abc import Sequence

from core.events import Recorded, fold
from core.transcript.outcome import outcome, totals

#: Version of the record's outer form; the events have their own, tolerant one.
VERSION = 2


def record_json(log: Sequence[Recorded]) -> str:
    """The record of a debate, readable by programs and people. `docs/hooks.md` tells its form.

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
                "event": recorded.event.model_dump(mode="json"),
            }
            for recorded in log
        ],
    }
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"
