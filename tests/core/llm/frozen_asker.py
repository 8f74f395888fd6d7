"""Asks a model, and stands still right after it was allowed to.

`python frozen_asker.py ADDRESS FILE`: of a vendor's server; once the file is there, somebody else
asks in its place. Says what came of it.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from core.clock import SystemClock
from core.errors import RunLost
from core.llm.call import ModelCalls
from core.llm.providers.ollama import OllamaProvider
from core.models import Act, Agent
from core.request import ModelRequest, Part, PartKind

ANN = Agent(id="ann", name="Ann", role="architect", provider="ollama", model="llama-4:8b")
QUESTION = Part(kind=PartKind.QUESTION, label="Question", text="Oak or ash?", ends_shared=True)
REQUEST = ModelRequest(
    model="",
    act=Act.PROPOSAL,
    role="architect",
    system="You debate.",
    parts=(QUESTION,),
    delimiter="k7f3q9",
)


async def main(url: str, taken_over: Path) -> None:
    """Ask."""
    proofs = 0

    async def prove() -> None:
        nonlocal proofs
        proofs += 1
        if taken_over.exists():  # noqa: ASYNC240 - nothing else waits
            raise RunLost("Another run holds the debate.")
        if proofs == 1:
            os.kill(os.getpid(), signal.SIGSTOP)

    calls = ModelCalls({"ollama": OllamaProvider(url)}, SystemClock()).under((), prove=prove)
    try:
        answer = await calls.ask(REQUEST, ANN)
        print(answer.value)  # noqa: T201 - for the parent
    except RunLost:
        print("not asked")  # noqa: T201 - for the parent
    await calls.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
