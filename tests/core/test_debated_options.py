"""Whole debates on options, from drafts to the verdict, with scripted models."""

import json
from collections.abc import Callable, Mapping

import pytest

from core.debate.rules import When
from core.debate.setup import Setup
from core.debate.state import Status
from core.debate.turn import Act
from core.debate.vote import GateReason, QuestionKind
from core.request import ModelRequest, PartKind
from core.rules.gate import closing_gate
from core.rules.schedule import rounds_held
from core.settings import Settings
from core.testing import (
    ScriptedProvider,
    a_setup,
    a_verdict_reply,
    on_own_models,
    options_in,
    plausible_reply,
)
from tests.core.bench import Bench

#: Percentage of the first option by role, before and after the debate.
Minds = Mapping[str, tuple[int, int]]


def a_script(
    minds: Minds, *, kind: QuestionKind = QuestionKind.CHOICE, check: str = "o1", judge: str = "o1"
) -> Callable[[ModelRequest], str]:
    """Replies with drafts for Kafka (o1) and PostgreSQL (o2), and these stances and ballots."""

    def shares(request: ModelRequest, first_share: int) -> list[int]:
        further_options = len(options_in(request)) - 2
        return [first_share, 100 - first_share, *[0] * further_options]

    def script(request: ModelRequest) -> str:
        first, last = minds.get(request.role, (50, 50))
        match request.act:
            case Act.OPTIONS:
                texts = [part.text for part in request.parts if part.kind is PartKind.CANDIDATE]
                stands_for = [1 if "Kafka" in text else 2 for text in texts]
                options = ["Kafka", "PostgreSQL"]
                return json.dumps({"options": options, "stands_for": stands_for, "kind": kind})
            case Act.BALLOT:
                labels = [p.label for p in request.parts if p.kind is PartKind.CANDIDATE]
                movers = [p.label for p in request.parts if p.kind is PartKind.CRITIQUE]
                is_last = "Before the debate" in request.parts[-1].text
                ballot = {
                    "reasons": [f"{label}: clear" for label in labels],
                    "ranking": labels,
                    "probabilities": shares(request, last if is_last else first),
                    "moved_by": movers[0] if movers else "none",
                }
                return json.dumps(ballot)
            case Act.PROPOSAL:
                return f"**{'Kafka' if first > 50 else 'PostgreSQL'}.** Because."
            case Act.REFINEMENT | Act.ADJUST | Act.STATEMENT if options_in(request):
                o1, o2, *_ = shares(request, last)
                return f"**So.** Because.\n\nStance: o1 {o1} %, o2 {o2} %"
            case Act.CROSS_CHECK:
                return json.dumps({"reason": "It is simpler.", "option": check})
            case Act.SYNTHESIS:
                return json.dumps(a_verdict_reply(option=judge))
            case _:
                return plausible_reply(request)

    return script


def a_gated_setup(form: str = "critique", rounds: int = 3) -> Setup:
    """The setup of a debate with default rules."""
    changes = {"format": form, "when": When.SPLIT, "termination": Settings().termination}
    return on_own_models(a_setup(rounds=rounds)).model_copy(update=changes)


AGREED: Minds = {"architect": (90, 90), "security": (85, 85), "simplicity": (75, 75)}
SPLIT: Minds = {"architect": (90, 85), "security": (20, 80), "simplicity": (30, 75)}
STUCK: Minds = {"architect": (90, 90), "security": (20, 20), "simplicity": (70, 70)}


@pytest.mark.parametrize("form", ["critique", "council", "panel"])
async def test_if_all_agree_at_once_no_round_is_held(form: str) -> None:
    bench = Bench(ScriptedProvider(a_script(AGREED)))
    debate = await bench.run(a_gated_setup(form))

    assert debate.status is Status.CONCLUDED
    ended = closing_gate(debate)
    assert ended
    assert (ended.reason, ended.turn.round) == (GateReason.AGREED, 0)
    assert rounds_held(debate) == 0
    drafts = {"critique": "proposal", "council": "gather", "panel": "statement"}[form]
    acts = [request.act.value for request in bench.provider.requests]
    acts.remove("summary")  # of the first answers, for the board
    assert acts == [drafts] * 3 + ["options"] + ["ballot"] * 3 + ["synthesis"]
    assert debate.tally
    firsts = [(option.option, option.first_choices) for option in debate.tally.options]
    assert firsts == [("o1", 3), ("o2", 0), ("o3", 0)]
    assert debate.verdict
    assert debate.verdict.option == "o1"
    assert debate.verdict.confidence
    synthesis = bench.provider.requests_of(Act.SYNTHESIS)[0]
    assert "the debate was skipped" in synthesis.parts[-1].text
