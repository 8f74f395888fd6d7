"""How long a model may be silent, by how long it usually is."""

from core.llm.call_options import ModelRef
from core.llm.silence import AskedFor, Silences
from core.models import Act
from core.request import Effort

QUICK = AskedFor(ModelRef("openai", "gpt-6.1-terra"), Act.PROPOSAL, Effort.MEDIUM)


def after(*seconds: float) -> Silences:
    silences = Silences()
    for one in seconds:
        silences.answered(QUICK, one)
    return silences


def test_of_a_model_that_is_hardly_known_the_provider_knows_best() -> None:
    assert after().allowed(QUICK) is None
    assert after(1.0, 1.0).allowed(QUICK) is None
    assert after(0.0, 0.0, 0.0).allowed(QUICK) is None  # nobody measured it


def test_a_model_may_be_silent_for_some_times_the_longest_that_it_was() -> None:
    assert after(1.0, 2.0, 1.0).allowed(QUICK) == 20.0  # the least
    assert after(1.0, 30.0, 1.0).allowed(QUICK) == 120.0
    assert after(30.0, *[6.0] * 16).allowed(QUICK) == 24.0  # only the last replies count


def test_what_it_is_asked_for_counts() -> None:
    silences, ballot = after(1.0, 1.0, 1.0), QUICK._replace(act=Act.BALLOT)
    for _ in range(3):
        silences.answered(ballot, 10.0)

    assert silences.allowed(QUICK) == 20.0
    assert silences.allowed(ballot) == 40.0
    assert silences.allowed(ballot._replace(effort=Effort.HIGH)) == 60.0


def test_of_what_it_was_seldom_asked_its_other_replies_with_the_same_effort_tell() -> None:
    silences, seldom = after(1.0, 9.0), QUICK._replace(act=Act.ADJUST)
    assert silences.allowed(seldom) is None

    silences.answered(QUICK._replace(act=Act.BALLOT), 3.0)

    assert silences.allowed(seldom) == 36.0
    assert silences.allowed(seldom._replace(ref=ModelRef("openai", "gpt-6-luna"))) is None


def test_a_model_that_became_slow_is_given_more_each_time_until_it_answers() -> None:
    silences = after(1.0, 1.0, 1.0)
    for allowed in (20.0, 40.0, 80.0):
        assert silences.allowed(QUICK) == allowed
        silences.gave_up(QUICK)

    silences.answered(QUICK, 50.0)

    assert silences.allowed(QUICK) == 200.0


def test_a_model_that_was_away_for_long_is_still_asked() -> None:
    silences = after(1.0, 1.0, 1.0)
    for _ in range(2000):
        silences.gave_up(QUICK)

    assert silences.allowed(QUICK) == 20.0 * 256
