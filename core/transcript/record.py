"""The whole record of a debate as JSON: its events as they happened, and its totals."""

import json
from collections.abc import Sequence

from core.events import Recorded, fold
from core.models import Debate
from core.rules.schedule import rounds_held
from core.transcript.agent_spending import spending
from core.transcript.words import seconds_taken

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
        "totals": _totals(debate),
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


def _totals(debate: Debate) -> dict[str, object]:
    """What the events add up to."""
    agents = {
        one.agent: {"calls": one.calls, **one.usage.model_dump(mode="json")}
        for one in spending(debate)
    }
    return {
        "seconds": round(seconds_taken(debate), 3),
        "seconds_worked": round(debate.worked, 3),
        "rounds_held": rounds_held(debate),
        "contributions": len(debate.contributions),
        "summaries": len(debate.summaries),
        "ballots": len(debate.ballots),
        "failed_turns": len(debate.failures),
        "calls": len(debate.calls),
        **debate.usage.model_dump(mode="json"),
        "agents": agents,
    }
