"""A request as pieces of text."""

from dataclasses import replace

from core.llm.prices import size_of
from core.llm.prompt_text import Piece, pieces, prompt_size, prompt_text
from core.models import Act
from core.request import ModelRequest, Part, PartKind


def a_request(shared: str) -> ModelRequest:
    """One part per letter; `|` ends a shared beginning."""
    return ModelRequest(
        model="any",
        act=Act.PROPOSAL,
        role="architect",
        system="You debate.",
        parts=[
            Part(kind=PartKind.TASK, label="", text=f"part {number}", ends_shared=letter == "|")
            for number, letter in enumerate(shared)
        ],
        delimiter="k7f3q9",
    )


def test_the_prompt_is_cut_where_a_shared_beginning_ends() -> None:
    assert pieces(a_request(".||..")) == [
        Piece("part 0\n\npart 1\n\n", breakpoint=True),
        Piece("part 2\n\n", breakpoint=True),
        Piece("part 3\n\npart 4\n\n"),
    ]


def test_a_prompt_may_be_shared_to_its_end() -> None:
    assert pieces(a_request(".|")) == [Piece("part 0\n\npart 1\n\n", breakpoint=True)]


def test_only_the_last_four_are_marked_and_the_cuts_stay() -> None:
    marked = [piece.breakpoint for piece in pieces(a_request("||||||."))]

    assert marked == [False, False, True, True, True, True, False]


def test_all_text_is_what_the_vendor_is_sent() -> None:
    assert prompt_text(a_request("|.")) == "You debate.\n\npart 0\n\npart 1\n\n"


def test_the_size_of_a_prompt_is_that_of_its_text() -> None:
    request = a_request("|..")
    parts = (Part(kind=PartKind.NOTES, label="東京", text="東京 – café"), *request.parts)
    whole = replace(request, parts=parts)

    assert prompt_size(whole) == size_of(prompt_text(whole)) == len(prompt_text(whole)) + 4
