"""What is held back is seen later, whole, and nothing else is held back for it."""

import selectors
import socket
from collections.abc import Callable

from tests.late_sockets import LateSelector, by_chance


def drawing(*seconds: float) -> Callable[[], float]:
    left = iter(seconds)
    return lambda: next(left)


def test_what_is_ready_is_seen_later_and_not_lost() -> None:
    near, far = socket.socketpair()
    with near, far, LateSelector(drawing(0.05, 0.0)) as late:
        late.register(near, selectors.EVENT_READ)
        far.send(b"x")

        assert late.select(0) == []
        assert [key.fileobj for key, _ in late.select(10)] == [near]
        assert [key.fileobj for key, _ in late.select(0)] == [near]  # it was not read


def test_a_wait_ends_though_all_is_held_back() -> None:
    near, far = socket.socketpair()
    with near, far, LateSelector(drawing(3600)) as late:
        late.register(near, selectors.EVENT_READ)
        far.send(b"x")

        assert late.select(0.01) == []


def test_what_is_watched_anew_is_not_held_back_any_more() -> None:
    near, far = socket.socketpair()
    with near, far, LateSelector(drawing(3600, 0.0)) as late:
        late.register(near, selectors.EVENT_READ)
        far.send(b"x")
        assert late.select(0) == []
        late.unregister(near)
        late.register(near, selectors.EVENT_READ)

        assert [key.fileobj for key, _ in late.select(0)] == [near]


def test_the_same_seed_draws_the_same() -> None:
    one, same, other = (by_chance(seed) for seed in ("1", "1", "2"))
    drawn = [one() for _ in range(50)]
    assert [same() for _ in range(50)] == drawn != [other() for _ in range(50)]
    assert 0.0 in drawn
    assert max(drawn) > 0
