"""How fast Slack lets us go: the pace of each lane, and holds that it asks for."""

import pytest

from bot.queue.rate_limits import Pace, RateLimits


@pytest.mark.parametrize(
    ("lane", "a_minute"),
    [("post/T1/C1", 60), ("edit/T1", 50), ("look/T1", 50), ("react/T1", 50), ("pin/T1", 20)],
)
def test_the_usual_pace_is_what_slack_allows_a_minute(lane: str, a_minute: int) -> None:
    assert 60 / Pace().between(lane) == pytest.approx(a_minute)


def test_holding_a_lane_never_lets_anybody_through_sooner() -> None:
    limits = RateLimits(Pace())
    limits.hold("post/T1/C1", 70.0)
    limits.hold("post/T1/C1", 20.0)
    limits.count_call("post/T1/C1")
    assert 69 < limits.seconds_left("post/T1/C1") <= 70


@pytest.mark.parametrize("method", ["post", "upload"])
def test_a_post_in_doubt_is_looked_for_after_the_last_byte_of_its_call_can_have_left(
    method: str,
) -> None:
    assert Pace().lease_of(method) < Pace().grace_of(method)
