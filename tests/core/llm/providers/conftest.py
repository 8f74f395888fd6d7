"""For the tests of single providers: a scripted vendor and a request."""

from collections.abc import AsyncIterator

import pytest

from core.debate.turn import Act
from core.request import Effort, ModelRequest, Part, PartKind
from tests.vendors.server import Vendor


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    async with Vendor() as running:
        yield running


@pytest.fixture
def request_() -> ModelRequest:
    """One with three shared beginnings and a task."""
    return ModelRequest(
        model="gpt-6.1-terra",
        act=Act.CRITIQUE,
        role="architect",
        system="You debate.",
        parts=(
            Part(kind=PartKind.QUESTION, label="Question", text="A or B?", ends_shared=True),
            Part(kind=PartKind.SUMMARY, label="Round 1", text="Both.", ends_shared=True),
            Part(kind=PartKind.POSITION, label="Position", text="A.", ends_shared=True),
            Part(kind=PartKind.TASK, label="Task", text="Criticise it."),
        ),
        delimiter="k7f3q9",
        max_output_tokens=1000,
        temperature=0.4,
        effort=Effort.LOW,
        cache_key="d1234567",
    )
