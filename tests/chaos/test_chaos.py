"""A short storm; a long one is `python -m tests.chaos`."""

from pathlib import Path

import pytest

from tests.chaos.program import blow_on_program
from tests.chaos.storm import Storm, blow
from tests.postgres import running_postgres

pytestmark = pytest.mark.slow


@pytest.mark.timeout(300)
@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
async def test_one_bot_loses_and_doubles_nothing(location: str, tmp_path: Path) -> None:
    outcome = await blow(Storm(debates=4, seconds=10), location, tmp_path)
    assert outcome.audit.faults == {}
    assert outcome.audit.debates >= 4
    assert outcome.kills >= 2


@pytest.mark.timeout(300)
@pytest.mark.parametrize("location", ["postgres"], indirect=True)
async def test_three_replicas_lose_and_double_nothing(location: str, tmp_path: Path) -> None:
    outcome = await blow(Storm(debates=4, seconds=10, replicas=3), location, tmp_path)
    assert outcome.audit.faults == {}
    assert outcome.audit.debates >= 4
    assert outcome.kills >= 2


@pytest.mark.timeout(300)
async def test_a_process_whose_server_is_hit_too_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with running_postgres() as server:  # one of its own: it is restarted
        survived = await blow_on_program(server, tmp_path, debates=3, blows=3)
    assert survived.audit.faults == {}
    assert survived.audit.debates >= 3
    assert survived.blows == {"process": 2, "server": 1}
