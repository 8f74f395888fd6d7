"""How long a model may be silent before a call gives it up, by what is usual for it.

A stream is silent until its first token and between two of them: a few seconds. A reply in one
piece is silent until it is whole, which costs a thirtieth of the CPU; so that a model that hangs is
still found in about the same time, replies come so only where they are known to be quick.
"""

from collections import defaultdict, deque
from dataclasses import replace
from typing import NamedTuple

from core.llm.call_options import ModelRef
from core.models import Act
from core.request import Effort, ModelReply, ModelRequest

#: Replies from which what is usual is known, at least and at most.
_KNOWN, _REMEMBERED = 3, 16
#: Times the longest silence: vendors slow down under load, and models think longer now and then.
_FACTOR = 4.0
#: The same of the time that whole replies take, which varies less: they are as long as asked for.
_WHOLE_FACTOR = 2.0
#: Seconds that a model may always be silent.
_LEAST = 20.0
#: The same where only replies with another effort are known: it may think for longer. The others
#: wait through one such silence; a model that thinks for longer is asked again, and joins them.
_LEAST_OF_OTHER_EFFORTS = 45.0
#: How often that doubles at most: long past what any provider allows, and still a number.
_MOST_DOUBLINGS = 8
#: Seconds that a reply may take to come in one piece. With twice that the silence is a minute,
#: after which proxies on the way drop a connection.
_LONGEST_IN_ONE_PIECE = 30.0
#: Tokens, hidden reasoning included, that may be reserved for one: vendors want larger ones
#: streamed. Source: Anthropic's SDK refuses what may take ten minutes at 128,000 tokens an hour.
_MOST_IN_ONE_PIECE = 21_333


class AskedFor(NamedTuple):
    """What a model is silent about: it thinks longer over a verdict than over a ballot."""

    ref: ModelRef
    act: Act
    effort: Effort


class Silences:
    """How long each model's last replies took; nothing is known at first."""

    def __init__(self) -> None:
        self._seconds: dict[AskedFor, deque[float]] = {}
        #: How long whole replies took, and how many tokens each was allowed.
        self._wholes: dict[AskedFor, deque[tuple[float, int]]] = {}
        self._given_up = defaultdict[AskedFor, int](int)
        #: Models whose last reply in one piece did not come, and that have streamed none since.
        self._doubted: set[ModelRef] = set()

    def waited_for(
        self, asked: AskedFor, request: ModelRequest, room: int, *, awaited: bool
    ) -> ModelRequest:
        """The request, saying whether its reply is streamed and how long it may be silent.

        Args:
            asked: What it asks for.
            request: The request.
            room: Tokens reserved for the reply, hidden reasoning included.
            awaited: Whether others wait for the reply to begin.
        """
        seconds = None
        if not awaited and asked.effort is not Effort.HIGH and room <= _MOST_IN_ONE_PIECE:
            seconds = self._in_one_piece(asked, request.max_output_tokens)
        silence = seconds or self.allowed(asked)
        return replace(request, streamed=seconds is None, silence=silence)

    def _in_one_piece(self, asked: AskedFor, tokens: int) -> float | None:
        """Seconds after which a reply in one piece is given up; None: it is to be streamed.

        Like silences, but what a model was seldom asked for is judged by its other replies with the
        same effort only, and a reply that may be longer than those takes longer.
        """
        if asked.ref in self._doubted or self._given_up.get(asked):
            return None
        like = [one for one in self._wholes if (one.ref, one.effort) == (asked.ref, asked.effort)]
        for known in ([asked], like):
            took = [one for each in known for one in self._wholes.get(each, ())]
            if len(took) >= _KNOWN:
                usual = max(seconds * max(1.0, tokens / allowed) for seconds, allowed in took)
                is_quick = usual <= _LONGEST_IN_ONE_PIECE
                return max(_LEAST, _WHOLE_FACTOR * usual) if is_quick else None
        return None

    def allowed(self, asked: AskedFor) -> float | None:
        """Seconds of silence after which a stream is given up; None: as long as its provider says.

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

    def answered(self, asked: AskedFor, reply: ModelReply, tokens: int) -> None:
        """Note how long a reply took that came, and that its model may be trusted again.

        Args:
            asked: What was asked for.
            reply: What nobody measured of it is 0.
            tokens: How many it was allowed.
        """
        if reply.longest_silence > 0:
            silences = self._seconds.setdefault(asked, deque(maxlen=_REMEMBERED))
            silences.append(reply.longest_silence)
            self._doubted.discard(asked.ref)  # it was streamed
        if reply.seconds > 0:
            wholes = self._wholes.setdefault(asked, deque(maxlen=_REMEMBERED))
            wholes.append((reply.seconds, tokens))
        self._given_up.pop(asked, None)

    def lost(self, ref: ModelRef) -> None:
        """Note that a reply in one piece did not come: the next are streamed, until one came."""
        self._doubted.add(ref)

    def gave_up(self, asked: AskedFor) -> None:
        """Note that a call was given up."""
        self._given_up[asked] += 1
