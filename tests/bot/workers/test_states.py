"""What `/health` says of several workers, made from what each says of itself."""

from typing import Any

import pytest

from bot.workers.states import WorkerState, WorkState, whole_report


def a_report(**changed: Any) -> dict[str, Any]:
    fine = {"status": "ok", "database": "ok", "slack": "ok", "token": "ok", "requests": "ok"}
    return {**fine, "debates": 2, **changed}


def a_worker(number: int, state: WorkState = WorkState.READY, **changed: Any) -> WorkerState:
    return WorkerState(worker=number, state=state, report=a_report(**changed))


def test_all_is_well_when_each_worker_is_at_work_and_well() -> None:
    said = whole_report([a_worker(1), a_worker(2)])
    assert (said["status"], said["debates"]) == ("ok", 4)
    assert [one["state"] for one in said["workers"]] == ["ready", "ready"]


@pytest.mark.parametrize(
    "state", [WorkState.STARTING, WorkState.STOPPING, WorkState.SILENT, WorkState.RESTARTING]
)
def test_a_worker_that_is_not_at_work_is_named_and_the_parts_stay_well(state: WorkState) -> None:
    said = whole_report([a_worker(1), a_worker(2, state)])
    assert (said["status"], said["database"]) == ("degraded", "ok")
    assert said["workers"][1]["state"] == state.value


def test_what_one_worker_misses_is_told_of_the_whole() -> None:
    said = whole_report([a_worker(1), a_worker(2, status="degraded", slack="down")])
    assert (said["status"], said["slack"], said["token"]) == ("degraded", "down", "ok")
    assert [one["slack"] for one in said["workers"]] == ["ok", "down"]


def test_a_worker_that_has_said_nothing_yet_counts_as_not_at_work() -> None:
    said = whole_report([a_worker(1), WorkerState(worker=2, state=WorkState.STARTING)])
    assert (said["status"], said["debates"]) == ("degraded", 2)
    assert said["workers"][1] == {"worker": 2, "state": "starting", "restarts": 0}
