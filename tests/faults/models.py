"""Models: every reply contains the mark of its prompt, and one model can fail."""

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from tests.vendor_replies import good_reply
from tests.vendors.script import Counts, Reject, Say, VendorRequest

STEADY = "steady-1"
#: The model of one agent out of three.
SHAKY = "shaky-1"


class MarkedModels:
    def __init__(self, wait: float) -> None:
        self.wait = wait
        #: The failure of the shaky model; None: it answers.
        self.spoilt: Callable[[Say], Say | Reject] | None = None
        #: Whether a reply is nearly as long as allowed, and costs its reservation.
        self.dear = False
        #: When each prompt was asked, in seconds since 1970.
        self.asked: dict[str, list[float]] = defaultdict(list)

    def __call__(self, request: VendorRequest) -> Say | Reject:
        if request.path == "/v1/models":
            names = [{"id": name} for name in (STEADY, SHAKY)]
            return Reject(status=200, body=json.dumps({"object": "list", "data": names}))
        # The same prompt may be asked for as a stream, and then in one piece.
        prompt = {
            key: request.body[key] for key in request.body.keys() - {"stream", "stream_options"}
        }
        words = json.dumps(prompt, sort_keys=True)
        mark = f"mark-{hashlib.sha256(words.encode()).hexdigest()[:16]}"
        self.asked[mark].append(time.time())
        say = replace(_marked(good_reply(request), mark), wait=self.wait)
        if self.dear:
            most = request.body.get("max_completion_tokens") or request.body.get("max_tokens") or 0
            say = replace(say, counts=Counts(output=int(most) * 9 // 10))
        spoilt = self.spoilt if request.body.get("model") == SHAKY else None
        return spoilt(say) if spoilt else say

    @property
    def calls(self) -> int:
        return sum(map(len, self.asked.values()))


def _marked(say: Say, mark: str) -> Say:
    if say.text[:1] != "{":
        return replace(say, text=f"{say.text}\n\n{mark}")
    body = json.loads(say.text)
    if "implementation" in body:
        body["implementation"] = mark
    elif "reasons" in body:
        body["reasons"] = [mark for _ in body["reasons"]]
    return replace(say, text=json.dumps(body))
