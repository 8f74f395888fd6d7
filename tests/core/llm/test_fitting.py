"""Prompts that are too long: which parts are shortened, with marks."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from core.capabilities import Capability, capability
from core.debate.turn import Act
from core.llm.prices import ESTIMATE_SLACK, estimate_tokens, output_reserve
from core.llm.prompt_text import prompt_text
from core.llm.sizes import fit_request, sent_parts
from core.request import ModelRequest, Part, PartKind

SMALL = capability("nobody", "nothing", [{"context_tokens": 8000, "output_tokens": 1000}])


def a_part(text: str, trim_priority: int = 0, kind: PartKind = PartKind.OTHER) -> Part:
    return Part(kind=kind, label="Part", text=text, trim_priority=trim_priority)


def a_request(*parts: Part) -> ModelRequest:
    task = Part(kind=PartKind.TASK, label="Task", text="Propose.")
    return ModelRequest(
        model="nothing",
        act=Act.PROPOSAL,
        role="architect",
        system="You debate.",
        parts=(*parts, task),
        delimiter="k7f3q9",
        max_output_tokens=1000,
    )


def room(limits: Capability, request: ModelRequest) -> int:
    return limits.context_tokens - output_reserve(limits, request)


def tokens(request: ModelRequest) -> int:
    return estimate_tokens(prompt_text(request))


def test_parts_of_the_highest_priority_are_shortened_first_with_a_mark() -> None:
    request = a_request(
        a_part("q" * 7000, kind=PartKind.QUESTION),
        a_part("o" * 9000, trim_priority=1),
        a_part("h" * 9000, trim_priority=3),
    )

    question, other, history, _ = fit_request(request, SMALL, tokens).parts

    assert question.text == "q" * 7000
    assert other.text == "o" * 9000
    assert history.text.startswith("hhh")
    assert "characters left out to fit the model's context]" in history.text


def test_the_oldest_history_is_cut_first() -> None:
    rounds = [a_part(f"{name} " * 2500, 4) for name in ("one", "two", "three")]
    request = a_request(*rounds)

    short = fit_request(request, SMALL, tokens)

    first, second, third, _ = short.parts
    assert first.text == "[… 10,000 characters left out to fit the model's context]"
    assert second.text.startswith("[… ")
    assert second.text.endswith("two ")
    assert third == rounds[2]
    assert [part.chars for part in sent_parts(request, short)] == [
        0,
        len(second.text.partition("\n")[2]),
        len(third.text),
    ]


@given(st.lists(st.tuples(st.integers(0, 12_000), st.integers(1, 3)), max_size=6), st.booleans())
def test_the_result_fits(sizes: list[tuple[int, int]], dense: bool) -> None:  # noqa: FBT001 - drawn
    letter = "東" if dense else "x"
    request = a_request(*(a_part(letter * size, priority) for size, priority in sizes))
    result = fit_request(request, SMALL, tokens)

    assert estimate_tokens(prompt_text(result)) * ESTIMATE_SLACK <= room(SMALL, request)
    assert [part.trim_priority for part in result.parts] == [
        part.trim_priority for part in request.parts
    ]
    assert replace(result, parts=()) == replace(request, parts=())
