"""Every trouble and a small storm; `python -m tests.faults` runs longer storms."""

from pathlib import Path

import pytest

from tests.faults.drill import drill
from tests.faults.storm import Storm, blow
from tests.faults.troubles import TROUBLES, Impossible
from tests.postgres import running_postgres

pytestmark = pytest.mark.timeout(600)
#: Seconds that each trouble lasts.
SHORT = 5.0
#: One of each kind is also ended in the middle.
ENDED = ("locked", "full", "moved", "ahead", "frozen", "server", "drops", "drips")
#: CI runs them, too: one of the disk, and one in which Slack drops messages of people.
QUICKEST = ("full", "drops")
DRILLS = [
    *(
        pytest.param(name, False, marks=pytest.mark.slow if name in QUICKEST else pytest.mark.drill)
        for name in TROUBLES
    ),
    *(pytest.param(name, True, marks=pytest.mark.drill) for name in ENDED),
]


@pytest.mark.parametrize(("name", "ending"), DRILLS)
async def test_nothing_is_lost_or_doubled_and_all_gets_well(
    name: str, *, ending: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    postgres = request.getfixturevalue("postgres") if TROUBLES[name].on_postgres else None
    try:
        wrong = await drill(name, tmp_path, seconds=SHORT, ending=ending, postgres=postgres)
    except Impossible as why:
        pytest.skip(str(why))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("storm", "on_postgres"),
    [
        (Storm(debates=4, blows=4, freezes=1), False),
        (Storm(debates=4, blows=4, freezes=1, replicas=2, hits_server=True), True),
    ],
    ids=["one process on SQLite", "two on PostgreSQL, which is hit too"],
)
async def test_a_storm_loses_and_doubles_nothing(
    storm: Storm, *, on_postgres: bool, tmp_path: Path
) -> None:
    if on_postgres:
        with running_postgres() as server:  # one of its own: it is restarted
            outcome = await blow(storm, tmp_path, server)
    else:
        outcome = await blow(storm, tmp_path)
    assert outcome.audit.faults == {}
    assert outcome.audit.debates >= storm.debates
    assert outcome.blows.total() == storm.blows + storm.freezes
