"""A request as pieces of text."""

from core.llm.prompt_text import Piece, pieces
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


def test_only_the_last_four_are_marked_and_the_cuts_stay() -> None:
    marked = [piece.breakpoint for piece in pieces(a_request("||||||."))]

    assert marked == [False, False, True, True, True, True, False]
