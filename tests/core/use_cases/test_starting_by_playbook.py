"""Which playbook a debate is held by: chosen by hand, the channel's, or none."""

from core.config.playbooks import built_in
from core.debate.people import Person, Place
from core.estimate import estimate
from core.opening import DebateRequest
from core.settings import Settings
from core.store.memory import InMemoryStore
from core.testing import InMemoryChannelChoices, ManualClock
from core.use_cases.choices import NO_PLAYBOOK, ChannelChoices, Choices
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import UNBOUNDED
from core.use_cases.start import StartDebate

PLACE = Place(surface="slack", workspace="T1", channel="C1")


async def starting(choices: Choices) -> StartDebate:
    """What starts debates, where the channel has chosen so."""
    clock, channels = ManualClock(), InMemoryChannelChoices()
    await channels.put(PLACE, ChannelChoices(choices=choices))
    return StartDebate(
        facts=FactLog(store=InMemoryStore(), clock=clock, wake=lambda _: None),
        settings=lambda: Settings(playbooks=built_in()),
        channels=channels,
        estimating=estimate,
        bounds=UNBOUNDED,
    )


def a_request(playbook: str | None = None) -> DebateRequest:
    return DebateRequest(
        question="Alpha or Beta?", asked_by=Person(id="U1"), place=PLACE, playbook=playbook
    )


async def test_the_channels_playbook_holds_where_nobody_names_another_or_none() -> None:
    start = await starting(Choices(playbook="vendor-choice", rounds=5, agents=("legal", "finance")))

    usual = await start.setup_for(a_request())
    other = await start.setup_for(a_request("build-or-buy"))
    none = await start.setup_for(a_request(), Choices(playbook=NO_PLAYBOOK))

    assert usual.playbook == built_in()["vendor-choice"]
    assert usual.rounds == built_in()["vendor-choice"].rounds, "the playbook wins over the channel"
    assert other.playbook == built_in()["build-or-buy"]
    assert none.playbook is None
    assert (none.rounds, [agent.id for agent in none.agents]) == (5, ["legal", "finance"])


async def test_a_channels_playbook_that_is_gone_is_left_out_with_a_word() -> None:
    start = await starting(Choices(playbook="old-kind"))

    setup = await start.setup_for(a_request())

    assert setup.playbook is None
    assert "This channel's playbook “old-kind” is left out: it is gone." in setup.warnings
    assert (await start.usual(PLACE)).playbook == NO_PLAYBOOK
