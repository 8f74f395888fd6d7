"""Who stood in for whom, said once wherever people look."""

from bot.views.board import board
from core.events import ContributionMade, DebateStarted, Event, fold
from core.models import Act, Call, Contribution, Turn, Usage
from core.testing import a_setup, recorded
from core.transcript.report import report

WHY = "Anthropic refuses the API key or wants payment (401). Check the key."
CLAUDE = "anthropic/claude-sonnet-5-5"


def said(agent: str, *, by_fallback: bool) -> ContributionMade:
    call = Call(provider="openai", model="gpt-6-luna", usage=Usage(attempts=1))
    if by_fallback:
        call = call.model_copy(update={"stands_in_for": CLAUDE, "stands_in_why": WHY})
    turn = Turn(act=Act.PROPOSAL, round=1, agent=agent)
    return ContributionMade(contribution=Contribution(turn=turn, text="PostgreSQL.", call=call))


def a_log(*, by_fallback: bool) -> list[Event]:
    made = [said(agent, by_fallback=by_fallback) for agent in ("architect", "security")]
    return [DebateStarted(setup=a_setup()), *made]


def test_board_and_report_tell_it_once() -> None:
    debate = fold(recorded(a_log(by_fallback=True)))

    assert str(board(debate).payload["blocks"]).count("stands in for") == 1
    assert report(debate).count("stands in for") == 1
