"""Fault switches: errors of the next calls, for tests."""

import random
from dataclasses import dataclass, field
from typing import Literal

FaultKind = Literal["drop_before", "drop_after", "delay", "server_error", "rate_limit", "refuse"]
ANY_METHOD = "*"


@dataclass(slots=True)
class CallFault:
    """An active fault.

    Attributes:
        kind: drop_before (nothing happens, no answer), drop_after (it happens, no answer), delay
            (the answer comes late), server_error (an HTML page instead of JSON), rate_limit (429),
            refuse (nothing happens, the answer has an error code).
        method: a Web API method, or `*` for all.
        times: how many calls are hit; None for all.
        probability: how likely a call is hit.
        seconds: the delay, or Retry-After.
        status: the HTTP status of a server_error.
        containing: only calls whose arguments contain these words are hit.
        code: the error code of a refuse.
    """

    kind: FaultKind
    method: str = ANY_METHOD
    times: int | None = 1
    probability: float = 1.0
    seconds: float = 1.0
    status: int = 503
    containing: str = ""
    code: str = "fatal_error"


@dataclass(slots=True)
class Faults:
    """All faults of a workspace; their random numbers are seeded."""

    seed: int = 0
    active: list[CallFault] = field(default_factory=list[CallFault])
    double_events: int = 0
    #: Types of blocks that this workspace refuses, as one without Slack's newest blocks.
    refused_blocks: set[str] = field(default_factory=set[str])
    #: Whether the refusal names the block.
    names_refused_blocks: bool = True
    #: The roots of threads in which nobody may reply, by ts.
    locked_threads: set[str] = field(default_factory=set[str])
    #: Whether a reply to a message that was deleted is posted in the channel, not refused.
    lost_replies_in_channel: bool = False
    _random: random.Random = field(init=False)

    def __post_init__(self):
        self._random = random.Random(self.seed)  # noqa: S311 chance, not a secret

    def add(self, fault: CallFault) -> CallFault:
        self.active.append(fault)
        return fault

    def drop_after(
        self, method: str, *, times: int | None = 1, probability: float = 1.0
    ) -> CallFault:
        """Run the call, then close the connection without an answer."""
        return self.add(CallFault("drop_after", method, times, probability))

    def drop_before(
        self, method: str, *, times: int | None = 1, probability: float = 1.0
    ) -> CallFault:
        """Close the connection without running the call."""
        return self.add(CallFault("drop_before", method, times, probability))

    def delay(
        self, method: str, seconds: float, *, times: int | None = 1, probability: float = 1.0
    ) -> CallFault:
        """Delay the answer by `seconds`."""
        return self.add(CallFault("delay", method, times, probability, seconds))

    def server_error(
        self, method: str, *, status: int = 503, times: int | None = 1, probability: float = 1.0
    ) -> CallFault:
        """Answer with an HTML error page."""
        return self.add(CallFault("server_error", method, times, probability, status=status))

    def rate_limit(self, method: str, *, seconds: float = 1.0, times: int | None = 1) -> CallFault:
        """Answer 429 with Retry-After."""
        return self.add(CallFault("rate_limit", method, times, seconds=seconds))

    def refuse(
        self, method: str, code: str, *, times: int | None = None, containing: str = ""
    ) -> CallFault:
        """Answer with an error code; with `containing`, only for calls with these words."""
        fault = CallFault("refuse", method, times, containing=containing, code=code)
        return self.add(fault)

    def double_next_events(self, times: int = 1) -> None:
        """Deliver the next events twice, with the same event_id."""
        self.double_events += times

    def refuse_blocks(self, *types: str, named: bool = True) -> None:
        """Answer `invalid_blocks` to every message with a block of these types.

        Args:
            types: as an older workspace that has no such blocks.
            named: whether the answer says which block it is about, as Slack mostly does.
        """
        self.refused_blocks |= set(types)
        self.names_refused_blocks = named

    def lock_thread(self, ts: str) -> None:
        """Refuse replies of apps in the thread with this root (`…_thread_locked`)."""
        self.locked_threads.add(ts)

    def clear(self) -> None:
        """Turn everything off."""
        self.active.clear()
        self.refused_blocks.clear()
        self.names_refused_blocks = True
        self.locked_threads.clear()
        self.lost_replies_in_channel = False
        self.double_events = 0

    def take(self, kind: FaultKind, method: str, sent: str = "") -> CallFault | None:
        """Return the fault that hits this call, and count it."""
        for fault in self.active:
            is_meant = fault.kind == kind and fault.method in {method, ANY_METHOD}
            is_left = fault.times is None or fault.times > 0
            if not (is_meant and fault.containing in sent and is_left):
                continue
            if self._random.random() < fault.probability:
                if fault.times is not None:
                    fault.times -= 1
                return fault
        return None
