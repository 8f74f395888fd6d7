"""An agent's post of a round can be understood by somebody who reads nothing else."""

from bot.slack.mrkdwn.convert import gist
from bot.views.group_post import group_post
from core.events import DebateStarted, fold
from core.models import Act, Contribution, Turn
from core.testing import a_setup, recorded

_DEBATE = fold(recorded([DebateStarted(setup=a_setup())]))
_DRAFT = "**Rewrite it in Rust.**\n\n- It is fast."


def said(
    act: Act,
    text: str,
    *,
    answer: str = "",
    points: tuple[str, ...] = (),
    number: int = 1,
    target: str | None = None,
) -> Contribution:
    turn = Turn(act=act, round=number, agent="architect", target=target)
    return Contribution(turn=turn, text=text, answer=answer, points=points)


def test_a_post_quotes_what_its_author_calls_the_answer_and_the_points() -> None:
    points = ("It is *fast* & small.", "<!channel> It is safe.", "It is fun.", "It is new.")
    made = said(Act.PROPOSAL, "A long essay.", answer="Rewrite it in Rust.", points=points)
    critique = said(Act.CRITIQUE, "Much.", answer="Nobody knows Rust.", target="security")
    shown = group_post(_DEBATE, [made, critique]).text
    assert shown.splitlines()[1:] == [
        "*Rewrite it in Rust.*",
        "• It is fast &amp; small.",
        f"• {gist(points[1], 100)}",
        "• It is fun.",
        ":speech_balloon: _On Security's first draft_: Nobody knows Rust.",
    ]
    assert "<!channel>" not in shown


def test_a_text_without_an_answer_is_shown_by_its_beginning() -> None:
    shown = group_post(_DEBATE, [said(Act.PROPOSAL, "word " * 100)]).text
    assert shown.splitlines()[1].startswith("*word word ")
    assert shown.splitlines()[1].endswith(" word…*")


def test_a_changed_answer_shows_the_first_one() -> None:
    shown = group_post(
        _DEBATE, [said(Act.PROPOSAL, _DRAFT), said(Act.REFINEMENT, "**Keep the language.** Yes.")]
    ).text
    assert "*Keep the language. Yes.*\n_First answer_: Rewrite it in Rust. It is fast." in shown


def test_an_answer_that_stayed_is_shown_once() -> None:
    stayed = [
        said(Act.PROPOSAL, _DRAFT, answer="Rewrite it."),
        said(Act.REFINEMENT, f"{_DRAFT}\n- It is tested.", answer="Rewrite it."),
    ]
    assert "First answer" not in group_post(_DEBATE, stayed).text
    assert "First answer" not in group_post(_DEBATE, stayed[:1]).text


def test_a_critique_of_a_draft_that_is_not_shown_says_so() -> None:
    critique = "1. **Fatal flaw:** nobody knows Rust."
    first = said(Act.CRITIQUE, critique, target="security")
    later = said(Act.CRITIQUE, critique, number=2, target="security")
    assert "_On Security's first draft_: Fatal flaw" in group_post(_DEBATE, [first]).text
    # What round 2 criticises stands in the post of round 1.
    assert "_On Security_: Fatal flaw" in group_post(_DEBATE, [later]).text
