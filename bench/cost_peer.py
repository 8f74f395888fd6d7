"""What dialectic 0.7.0 sends for a debate that critique holds too: recorded, not run.

Recorded at a server on the loopback that answered each of its requests with a text of 1,800
characters: `dialectic debate` with the question below, the roles architect, performance and
security, three rounds, `includeFullHistory` and summaries as they are by default. It sends no
marks for a cache, and no two of its requests begin with the same 1,024 tokens, which is the least
that the vendors keep; so nothing is read from a cache.
"""

from collections.abc import Mapping, Sequence

from bench.vendor import REPLY_CHARACTERS, long_text
from core.acts.act import ACTS
from core.debate.turn import Act
from core.request import ModelRequest
from core.testing import options_in, plausible_reply

QUESTION = (
    "Should we move our job queue from PostgreSQL to Kafka? It must keep every job, and two people "
    "have to be able to run it."
)
#: Characters of each request, in their order: system text and prompt.
REQUESTS: Mapping[str, Sequence[int]] = {
    "proposal": (5429, 4619, 4818),
    "critique": (
        *(6277, 6277, 6183, 6183, 6369, 6369),
        *(7833, 7833, 7925, 7739, 7739, 7925),
        *(7708, 7799, 7708, 7799, 7614, 7614),
    ),
    "refinement": (10746, 10604, 10416, 12302, 11972, 12160, 11264, 11407, 11077),
    "summary": (10710, 10292, 10476, 12116),
    "synthesis": (13731,),
}
_SHORT_FORM = (
    "\n\nIn short: Keep the queue where it is until it holds nobody up, and look again in a year.\n"
    "- Nobody has to run a second system at night.\n"
    "- A job and its order are committed together."
)
_RAISED = "\nRisk: Nobody has measured how long the table is locked.\nFact: 900 jobs a second."


def reply_as_long(request: ModelRequest, number: int) -> str:
    """What the peer was answered, with what the act's form adds to it or asks instead."""
    reply = plausible_reply(request)
    if reply.startswith("{"):
        return reply
    if not ACTS[request.act].is_speech:
        return long_text(str(number))[: request.most_chars or REPLY_CHARACTERS]
    end = _SHORT_FORM + (_RAISED if request.act is Act.PROPOSAL else "")
    if ACTS[request.act].states_stance and options_in(request):
        end += "\nStance: o1 70 %, o2 30 %"
    return long_text(str(number))[: REPLY_CHARACTERS - len(end)] + end
