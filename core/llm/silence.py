"""How long a model may be silent before a call gives it up: some times what it usually is."""

from collections import defaultdict, deque
from typing import NamedTuple

from core.llm.call_options import ModelRef
from core.models import Act
from core.request import Effort

#: Replies from which the usual silence is known, at least and at most.
_KNOWN, _REMEMBERED = 3, 16
#: Times the longest of them: vendors slow down under load, and models think longer now and then.
_FACTOR = 4.0
#: Seconds that a model may always be silent.
_LEAST = 20.0
#: The same where only replies with another effort are known: it may think for longer.
_LEAST_OF_OTHER_EFFORTS = 60.0
#: How often that doubles at most: long past what any provider allows, and still a number.
_MOST_DOUBLINGS = 8


class AskedFor(NamedTuple):
    """What a model is silent about: it thinks longer over a verdict than over a ballot."""

    ref: ModelRef
    act: Act
    effort: Effort


class Silences:
    """The longest silence in each model's last replies; nothing is known at first."""

    def __init__(self) -> None:
        self._seconds: dict[AskedFor, deque[float]] = {}
        self._given_up = defaultdict[AskedFor, int](int)

    def allowed(self, asked: AskedFor) -> float | None:
        """Seconds of silence after which a call is given up; None: as long as its provider says.

        Most acts of a debate come once or twice: what a model was seldom asked for is judged by its
        other replies with the same effort, or else by all of them, and then more leniently. The
        seconds double with each call that was given up, so that a model that became slow is not
        lost.
        """
        like = [one for one in self._seconds if one.ref == asked.ref]
        for known, least in (
            ([asked], _LEAST),
            ([one for one in like if one.effort == asked.effort], _LEAST),
            (like, _LEAST_OF_OTHER_EFFORTS),
        ):
            seconds = [one for each in known for one in self._seconds.get(each, ())]
            if len(seconds) >= _KNOWN:
                doublings = min(self._given_up.get(asked, 0), _MOST_DOUBLINGS)
                return max(least, _FACTOR * max(seconds)) * 2**doublings
        return None

    def answered(self, asked: AskedFor, longest: float) -> None:
        """Note the longest silence of a reply that came, in seconds; 0: nobody measured it."""
        if longest > 0:
            self._seconds.setdefault(asked, deque(maxlen=_REMEMBERED)).append(longest)
        self._given_up.pop(asked, None)

    def gave_up(self, asked: AskedFor) -> None:
        """Note that a call was given up."""
        self._given_up[asked] += 1
