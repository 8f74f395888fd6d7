"""Who may steer a debate, and that doing it twice has one effect."""

from collections.abc import Sequence

import pytest

from core.debate.people import Person, Place
from core.errors import BadInput
from core.use_cases.limits import UNBOUNDED
from core.use_cases.note import AddNote
from core.use_cases.steer import SteerDebate
from tests.core.use_cases.logs import ALEX, DANA, DEBATE, Recording

SAM = Person(id="U3")


async def only_sam(_place: Place) -> Sequence[str]:
    return [SAM.id]


def steering(log: Recording) -> SteerDebate:
    note = AddNote(facts=log.facts, bounds=UNBOUNDED)
    return SteerDebate(facts=log.facts, note=note, stewards=only_sam, mention="@{}".format)


@pytest.mark.parametrize("by", [DANA, SAM])
async def test_the_starter_and_the_stewards_may_stop_it(by: Person) -> None:
    log = Recording()
    debate = await log.begin()

    await steering(log).stop(debate, by)

    assert (await log.debate()).stop
    assert log.woken == [DEBATE]


async def test_others_are_told_who_may() -> None:
    log = Recording()
    debate = await log.begin()

    with pytest.raises(BadInput, match="Only @U1, who started debate `dabc2345`, and @U3 can stop"):
        await steering(log).stop(debate, ALEX)

    assert (await log.debate()).stop is None


async def test_a_stop_that_was_taken_back_can_be_asked_for_again() -> None:
    log = Recording()
    debate = await log.begin()
    await steering(log).stop(debate, DANA)
    await steering(log).withdraw_stop(await log.debate(), DANA)
    assert (await log.debate()).stop is None

    await steering(log).stop(await log.debate(), DANA)

    assert (await log.debate()).stop
