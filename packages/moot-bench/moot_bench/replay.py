"""Answers with what models are recorded to have said: statistics and gate without a key.

A record is what a model held of a question of yes or no, before it read the others' answers
("first") and after ("second").
"""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal

from core.debate.turn import Act
from core.errors import RequestRejected
from core.request import ModelReply, ModelRequest, PartKind
from core.usage import Usage

from moot_bench.recorded import FIRST, REPLAY, SECOND

#: By these words a voter sees that it is shown second answers.
_HEADS = {FIRST: "First answer, as recorded.", SECOND: "Second answer, as recorded."}


class ReplayProvider:
    """A `ModelProvider` over recorded answers. It costs nothing."""

    name = REPLAY

    def __init__(self, recorded: Mapping[tuple[str, str], Mapping[str, float]]) -> None:
        """Take the answers: by the question as it is asked and the model, shares by phase."""
        self._recorded = recorded

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Say what was recorded, in the form that is asked for.

        Raises:
            RequestRejected: The model's answer to this question was not recorded.
        """
        match request.act:
            case Act.PROPOSAL:
                text = self._said(request, FIRST)
            case Act.REFINEMENT:
                text = self._said(request, SECOND)
            case Act.BALLOT:
                parts = [part for part in request.parts if part.kind is PartKind.CANDIDATE]
                is_late = any(_HEADS[SECOND] in part.text for part in parts)
                yes = round(self._share(request, SECOND if is_late else FIRST) * 100, 1)
                labels = [part.label for part in parts]
                ballot = {
                    "reasons": [f"{label}: as recorded." for label in labels],
                    "ranking": labels,
                    "probabilities": [yes, round(100 - yes, 1)],
                    "moved_by": "none",
                }
                text = json.dumps(ballot)
            case _:
                text = "Nothing else was recorded."
        on_first_token()
        usage = Usage(cost=Decimal(0), attempts=1)
        return ModelReply(text=text, usage=usage, model=request.model)

    async def close(self) -> None:
        """Nothing is held open."""

    def _said(self, request: ModelRequest, phase: str) -> str:
        yes = round(self._share(request, phase) * 100, 1)
        stance = f"Stance: o1 {yes} %, o2 {round(100 - yes, 1)} %"
        return f"**{'Yes' if yes > 50 else 'No'}.** {_HEADS[phase]}\n\n{stance}"  # noqa: PLR2004 - half

    def _share(self, request: ModelRequest, phase: str) -> float:
        question = next(part.text for part in request.parts if part.kind is PartKind.QUESTION)
        shares = self._recorded.get((question, request.model), {})
        if phase not in shares:
            raise RequestRejected(f"No {phase} answer of {request.model} was recorded.")
        return shares[phase]
