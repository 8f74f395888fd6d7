"""Every trouble, small; the whole at its own length is `python -m tests.drill`."""

from pathlib import Path

import pytest

from tests.drill.drill import drill
from tests.drill.faults import TROUBLES, Impossible

pytestmark = pytest.mark.timeout(600)
#: Seconds that each trouble lasts.
SHORT = 5.0
#: One of each kind is also ended in the middle; the command does that with all.
ENDED = ("locked", "full", "moved", "ahead", "frozen", "server", "drops", "drips")
#: CI tries them, too: the quickest for the disk and for Slack's answers, and the one in which Slack
#: gives up what people write. A token that is taken back has scenarios.
QUICKEST = ("locked", "full", "drops")


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICKEST)
async def test_the_quickest_troubles_lose_and_double_nothing(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    await hold(name, tmp_path, request, ending=False)


@pytest.mark.drill
@pytest.mark.parametrize("name", TROUBLES)
async def test_nothing_is_lost_or_doubled_and_all_gets_well(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    await hold(name, tmp_path, request, ending=False)


@pytest.mark.drill
@pytest.mark.parametrize("name", ENDED)
async def test_the_same_with_sigterm_in_the_middle(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    await hold(name, tmp_path, request, ending=True)


async def hold(name: str, folder: Path, request: pytest.FixtureRequest, *, ending: bool) -> None:
    postgres = request.getfixturevalue("postgres") if TROUBLES[name].on_postgres else None
    try:
        seen = await drill(
            name, folder / "machine", seconds=SHORT, ending=ending, postgres=postgres
        )
    except Impossible as why:
        pytest.skip(str(why))
    assert seen.wrong == []
