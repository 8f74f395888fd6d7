"""When a debate counts as settled."""

from core.models import Act, Ballot, Turn
from core.rules.convergence import are_stable


def ballot(voter: str, *ranking: str) -> Ballot:
    return Ballot(turn=Turn(act=Act.BALLOT, round=1, agent=voter), ranking=ranking)


def test_nothing_is_stable_where_nobody_voted_twice() -> None:
    ann, bob = ballot("ann", "ann", "bob"), ballot("bob", "ann", "bob")

    assert not are_stable([], [])
    assert not are_stable([ann], [bob])
    assert are_stable([ann], [ann, bob])
