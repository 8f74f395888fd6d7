"""Debates with long positions and short summaries, for tests of what stands in for what."""

from core.models import Act, ContextMethod, Debate, Summarization, Termination
from core.request import ModelRequest, PartKind
from core.testing import ScriptedProvider, a_setup, plausible_reply
from tests.core.bench import Bench

LONG = "We must keep 2000 jobs per second. " * 20


def script(request: ModelRequest) -> str:
    """Long positions, short summaries."""
    if request.act is Act.SUMMARY:
        return "In short: 2000 jobs."
    if request.act in {Act.PROPOSAL, Act.REFINEMENT, Act.STATEMENT, Act.CRITIQUE}:
        return f"**{request.role}** {LONG}"
    return plausible_reply(request)


async def held(
    method: ContextMethod,
    *,
    rounds: int = 4,
    form: str = "critique",
    provider: ScriptedProvider | None = None,
    judge: Summarization | None = None,
    **rules: object,
) -> tuple[Bench, Debate]:
    summarization = Summarization(method=method, threshold=1000).model_copy(update=rules)
    setup = a_setup(rounds=rounds)
    setup = setup.model_copy(
        update={
            "judge": setup.judge.model_copy(update={"summarization": judge}),
            "format": form,
            "summarization": summarization,
            "termination": Termination.model_construct(threshold=2),
        }
    )
    bench = Bench(provider or ScriptedProvider(script))
    return bench, await bench.run(setup)


def parts_of(request: ModelRequest, kind: PartKind) -> list[str]:
    return [part.label for part in request.parts if part.kind is kind]


def summed_up(request: ModelRequest) -> str:
    return next(part.text for part in request.parts if part.label == "To be summed up")
