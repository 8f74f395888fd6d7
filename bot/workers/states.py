"""What workers and their supervisor tell each other, a JSON line at a time (pure)."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.operations.health import PARTS, moot_version

#: Seconds between two lines to one another, and without one after which somebody counts as silent.
NEWS_SECONDS = 2.0
SILENT_SECONDS = 10.0


class WorkState(StrEnum):
    """How it stands with a worker."""

    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    #: It lives and says nothing: frozen, or something computes on its event loop.
    SILENT = "silent"
    #: It died, and is started again.
    RESTARTING = "restarting"


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True)

    def line(self) -> bytes:
        """Return it as a line to be sent."""
        return self.model_dump_json().encode() + b"\n"


class WorkerOrders(_Line):
    """What a supervisor starts a worker with. The numbers of files are open in the worker."""

    number: int
    #: The connection to the supervisor.
    channel: int
    #: Sockets that all workers accept from.
    listening: tuple[int, ...]


class WorkerNews(_Line):
    """What a worker says of itself: whether work may be sent to it, and what its `/health` says."""

    state: WorkState
    report: Mapping[str, Any] = {}


class WorkerState(WorkerNews):
    """One worker as the supervisor knows it."""

    worker: int
    #: How often it was started again.
    restarts: int = 0


class WorkerStates(_Line):
    """All workers as the supervisor knows them."""

    workers: tuple[WorkerState, ...] = ()


def whole_report(states: Sequence[WorkerState]) -> Mapping[str, Any]:
    """Return what `/health` says of all workers together: ok where each of them is at work and ok.

    Args:
        states: One for each worker, in their order; the one that answers has a report.
    """
    reports = [one.report for one in states if one.report]
    said = {
        part: next((found for one in reports if (found := one.get(part, "ok")) != "ok"), "ok")
        for part in (*PARTS, "requests")
    }
    is_well = all(
        one.state is WorkState.READY and one.report.get("status") == "ok" for one in states
    )
    workers = [
        {"worker": one.worker, "state": one.state.value, "restarts": one.restarts}
        | {part: one.report[part] for part in (*PARTS, "debates") if part in one.report}
        for one in states
    ]
    return {
        "status": "ok" if is_well else "degraded",
        "version": moot_version(),
        **said,
        "debates": sum(one.get("debates", 0) for one in reports),
        "workers": workers,
    }
