"""Token buckets: the calls allowed now, and the time to wait (pure)."""

import math
from dataclasses import dataclass, replace
from typing import Literal

Tier = Literal[1, 2, 3, 4]
TIER_PER_MINUTE: dict[Tier, int] = {1: 1, 2: 20, 3: 50, 4: 100}


@dataclass(frozen=True, slots=True)
class Rate:
    """A burst of calls, then a number of calls per second."""

    burst: float
    per_second: float


@dataclass(frozen=True, slots=True)
class Bucket:
    """A token bucket at one moment.

    Attributes:
        tokens: calls that may be made now.
        at: the time of that count, in seconds.
    """

    tokens: float
    at: float


def full(rate: Rate, now: float) -> Bucket:
    return Bucket(rate.burst, now)


def draw(bucket: Bucket, rate: Rate, now: float) -> tuple[Bucket, int]:
    """Take one token.

    Returns:
        The new bucket, and 0, or the seconds to wait (Retry-After) if it was empty.
    """
    grown = min(rate.burst, bucket.tokens + max(0.0, now - bucket.at) * rate.per_second)
    current = replace(bucket, tokens=grown, at=now)
    if grown >= 1.0 - 1e-9:
        return replace(current, tokens=grown - 1.0), 0
    return current, max(1, math.ceil((1.0 - grown) / rate.per_second))


@dataclass(frozen=True, slots=True)
class SlackPace:
    """Rate limits and time limits of Slack; all times in seconds.

    Attributes:
        speed: multiplies every allowed rate; tests turn it up.
        post_burst: messages that may be posted to a channel at once.
        post_per_second: messages a second and channel after that.
        ack_seconds: how long an app has to acknowledge.
        redelivery_delays: pauses before the second, third and fourth delivery of an event.
        trigger_seconds: how long a trigger_id lives.
        response_seconds: how long a response_url lives.
        response_posts: how often a response_url may be used.
        warning_seconds: from a socket's `warning` to its end.
        refresh_seconds: from `refresh_requested` to the end of a socket that stays.
        page: the most messages of a channel or thread in one answer; newer apps outside Slack's
            Marketplace get 15, once a minute (`history_tier` 1).
        history_tier: the tier of `conversations.history` and `conversations.replies`.
    """

    speed: float = 1.0
    post_burst: int = 4
    post_per_second: float = 1.0
    ack_seconds: float = 3.0
    redelivery_delays: tuple[float, ...] = (0.0, 60.0, 300.0)
    trigger_seconds: float = 3.0
    response_seconds: float = 1800.0
    response_posts: int = 5
    warning_seconds: float = 10.0
    refresh_seconds: float = 1.0
    page: int = 1000
    history_tier: Tier = 3

    def posting(self) -> Rate:
        """Return the rate of messages in one channel."""
        return Rate(self.post_burst * max(1.0, self.speed), self.post_per_second * self.speed)

    def tier(self, tier: Tier) -> Rate:
        """Return the rate of a method of a tier, per app and workspace."""
        per_minute = TIER_PER_MINUTE[tier] * self.speed
        return Rate(max(1.0, per_minute), per_minute / 60.0)


QUICK = SlackPace(speed=1000.0, redelivery_delays=(0.0, 0.05, 0.1), warning_seconds=0.05)
"""For tests: no waiting for rates, short pauses before redelivery; Slack's 3 s stay."""
