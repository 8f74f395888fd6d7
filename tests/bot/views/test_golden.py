"""What people see, whole and as it was looked at; and what must hold whatever the wording.

Look at a changed file in `tests/golden/views` before you accept it with
`pytest --inline-snapshot=fix`. Threads of whole debates: `tests/bot/test_golden_debates.py`.
"""

import json
import re

import pytest
from inline_snapshot import external_file

from bot.listeners.answers import end_answer, status_answer
from bot.views.board import board
from bot.views.decision import decision_buttons
from bot.views.group_post import group_post, turn_posts
from bot.views.lists import DebateRow, home
from bot.views.message import MOST_PAGES, PAGE_LIMIT, MessageView, mrkdwn_pages
from bot.views.progress import progress
from bot.views.verdict import headline, shortcomings, verdict_posts
from bot.views.vote import option_labels, vote_post
from core.debate.contributions import Contribution, Failure, Note, NoteOutcome, Summary, SummaryKind
from core.debate.debate_events import DebateConcluded
from core.debate.log import fold
from core.debate.message_events import NoteAdded
from core.debate.people import Person, Stop
from core.debate.people_events import DecisionRecorded, StopRequested
from core.debate.state import Debate
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import (
    BallotAbstained,
    ContributionMade,
    SummaryMade,
    TurnFailed,
    VerdictReached,
    VoteTallied,
)
from core.debate.verdict import Decision, DecisionKind, Verdict, VerdictSource
from core.debate.vote import Abstention, Option, Score, Tally
from core.rules.history.material import stage_turn
from core.testing import a_setup, log_of
from tests.bot.plays import SAM, a_debate, a_verdict, play
from tests.core.rules.formats.debates import (
    failed,
    of_all,
    speeches,
    voted,
)
from tests.core.transcript.splits import split_log

FOLDER = "../../golden/views"
NOTE = Note(id="C1:1700000000.000100", author=SAM, text="No one runs it:\n```\n$ kafka\n```")


def payloads_text(*messages: MessageView) -> str:
    return json.dumps([message.payload for message in messages], ensure_ascii=False)


def judged(reached: Verdict, provider: str = "scripted") -> Debate:
    """A debate of two drafts that ended with this verdict."""
    drafts = speeches("r1/proposal/architect", "r1/proposal/security")
    setup = a_setup(provider=provider)
    return a_debate(*drafts, VerdictReached(verdict=reached), DebateConcluded(), setup=setup)


def test_a_close_vote_with_edited_options_and_a_verdict_that_lacks_something():
    events = [*(recorded.event for recorded in split_log()), NoteAdded(note=NOTE)]
    debate = fold(log_of(events))
    tally = debate.tally
    assert tally
    assert debate.verdict
    lacking: dict[str, object] = {
        "partial": True,
        "source": VerdictSource.FALLBACK_JUDGE,
        "warnings": ("Stopped by Dana before all turns were taken.",),
        "unmet_requirements": ("Fan-out to many consumers",),
        "notes": (NoteOutcome(note=NOTE.id, used=True, explanation="It tipped the scales."),),
    }
    reached = debate.verdict.model_copy(update=lacking)
    debate = debate.replace(verdict=reached)
    views = (
        board(debate),
        vote_post(debate, tally),
        *verdict_posts(debate, reached),
        headline(debate, reached),
    )
    assert json.loads(payloads_text(*views)) == external_file(f"{FOLDER}/split.json")


@pytest.mark.parametrize(
    ("solution", "why"),
    [
        ("**Choose X.**\n\nIt is whole.", "It is whole."),
        ("**Choose X.**", "*Choose X.*"),
        ("Choose X, for once.\n\nIt is whole.", "Choose X, for once.\n\nIt is whole."),
    ],
)
def test_the_reasons_do_not_begin_with_the_decision_again(solution: str, why: str):
    text = verdict_posts(a_debate(), a_verdict(decision="Choose X.", solution=solution))[0].text
    assert f"*Reasoning and solution*\n{why}" in text
    assert "*Decision*\nChoose X." in text
    assert "*Requirements that are not met*\n• Fan-out to many consumers" in text


def test_no_view_makes_up_a_confidence_that_nobody_gave():
    reached = a_verdict(confidence=None)
    debate = judged(reached)
    posts = [*verdict_posts(debate, reached), headline(debate, reached), board(debate)]
    texts = [*map(payloads_text, posts), status_answer(debate)]
    for text in texts:
        assert "None" not in text
        assert not re.search(r"onfidence\S* \d", text)
    assert "*Confidence*\\nnot given" in texts[0]
    assert "*Confidence*: not given" in texts[-1]


def test_a_debate_without_a_model_is_never_called_decided():
    reached = a_verdict(confidence=None, decision="Not decided: no model was asked.")
    ended = judged(reached, "offline")
    text, page = payloads_text(board(ended)), str(home([DebateRow(ended)]))
    assert "Debate ended: not decided" in text
    assert "The team's decision" not in text
    assert decision_buttons(ended) == []
    assert "Ended, not decided" in page
    assert "Waiting for your team" not in page
    assert "*Revisit*" not in end_answer(ended)


@pytest.mark.parametrize("kind", [DecisionKind.ACCEPT, DecisionKind.REVISIT])
def test_a_decision_accepted_with_an_older_version_keeps_its_buttons(kind: DecisionKind):
    reached = a_verdict(confidence=None, decision="Not decided: no model was asked.")
    event = DecisionRecorded(decision=Decision(kind=kind, by=Person(id="U1"), origin="V1"))
    debate = a_debate(VerdictReached(verdict=reached), DebateConcluded(), event)
    [buttons] = decision_buttons(debate)
    assert "Reject" in str(buttons)
    assert "*Revisit*" in end_answer(debate)


def test_a_debate_of_an_older_version_says_nothing_of_options():
    scores = tuple(
        Score(position=agent, points=points, first_places=1, mean_confidence=0.8)
        for agent, points in (("architect", 4), ("security", 3))
    )
    tally = Tally(scores=scores, winners=("architect",), controversial=True, voters=("architect",))
    older = judged(a_verdict()).replace(tally=tally)
    assert older.verdict
    view = vote_post(older, tally)
    assert "Architect's text was ranked best (points: Architect 4, Security 3)." in view.text
    assert "ption" not in payloads_text(view, board(older), headline(older, older.verdict))


def test_a_vote_without_ballots_says_why_each_is_missing_and_counts_none_from_before():
    useless = Abstention(turn=Turn(act=Act.BALLOT, round=1, agent="security"), reason="No.")
    agents = ("security", "architect", "simplicity")
    tally = Tally(scores=(), winners=(), controversial=False, voters=(), abstained=agents)
    debate = a_debate(
        *speeches(*of_all("r1/proposal/*")),
        *(voted(0, agent, o1=1.0) for agent in agents),
        BallotAbstained(abstention=useless),
        *failed("r1/ballot/architect", "r1/ballot/simplicity"),
        VoteTallied(tally=tally),
    )
    view = vote_post(debate, tally)
    assert "No ballot could be counted." in view.text
    assert "Without a ballot: Architect (down); Simplicity (down); Security (No)." in view.text
    assert ": ranked" not in payloads_text(view)


def test_verdicts_by_rules_are_labelled_once_in_every_post():
    debate = fold(play(a_setup(provider="offline", rounds=1)))
    contribution = next(iter(debate.contributions.values()))
    text = "**Use PostgreSQL.**\n\n_Offline engine: by rules._"
    (post,) = turn_posts(debate, contribution.model_copy(update={"text": text}))
    for messages in ([board(debate)], [post], verdict_posts(debate, a_verdict())):
        assert "No AI model was asked." in payloads_text(*messages)
        assert "Written by AI" not in payloads_text(*messages)
    assert json.dumps(post.blocks).count("Offline engine") == 1
    assert post.text.count("Offline engine") == 1


def test_progress_counts_what_is_done_up_to_the_verdict():
    log = play(a_setup(rounds=1))
    assert "just begun" in board(fold(log[:1])).text
    assert "16% done" in board(fold(log[:4])).text
    before_the_verdict = next(n for n, e in enumerate(log) if isinstance(e.event, VerdictReached))
    assert "The judge writes the decision" in board(fold(log[:before_the_verdict])).text


def test_no_ballot_is_to_come_once_a_debate_is_stopped():
    drafts = speeches("r1/proposal/architect", "r1/proposal/security")
    stopped = progress(a_debate(*drafts, StopRequested(stop=Stop(by=SAM))))
    assert (stopped.done, stopped.total) == (2, 3)


def round_turn(number: int) -> Turn:
    return Turn(act=Act.SUMMARY, round=number, agent=SUMMARIZER)


@pytest.mark.parametrize(
    ("format_name", "newest", "other", "heading"),
    [
        ("critique", round_turn(2), round_turn(1), "up to round 2"),
        ("council", stage_turn(Act.FORMULATE), stage_turn(Act.GATHER), "after positions"),
    ],
)
def test_the_newest_summary_for_all_is_on_the_board(
    format_name: str, newest: Turn, other: Turn, heading: str
):
    kinds = (SummaryKind.ROUND, SummaryKind.ROUND, SummaryKind.PERSPECTIVE)
    summaries = [
        Summary(
            turn=turn,
            kind=kind,
            text=f"In short: {turn.key}.",
            before_chars=900,
            after_chars=90,
            method="rounds",
        )
        for turn, kind in zip((other, newest, round_turn(3)), kinds, strict=True)
    ]
    setup = a_setup().model_copy(update={"format": format_name})
    debate = a_debate(*(SummaryMade(summary=summary) for summary in summaries), setup=setup)
    text = board(debate).text
    assert f"*Summary {heading}*\nIn short: {newest.key}." in text
    assert text.count("In short") == 1


LONG = "Export only what changed since the last run"
PAGE = "x" * (PAGE_LIMIT - 10)
SUMMARY_TURN = Turn(act=Act.SUMMARY, round=1, agent=SUMMARIZER)


def test_the_board_says_what_is_read_in_the_place_of_a_summary_that_failed() -> None:
    failed = TurnFailed(failure=Failure(turn=SUMMARY_TURN, reason="Groq failed (500)."))

    assert "Groq failed (500). The full text is used." in board(a_debate(failed)).text


def test_letters_are_explained_below_posts_and_the_boards_summary() -> None:
    text = "**Still PostgreSQL.** Position B forgets backups, and C's answer overlooks it."
    contribution = Contribution(turn=Turn(act=Act.DEBATE, round=1, agent="architect"), text=text)
    summary = Summary(
        turn=SUMMARY_TURN,
        kind=SummaryKind.ROUND,
        text=text,
        before_chars=900,
        after_chars=len(text),
        method="rounds",
    )
    events = [ContributionMade(contribution=contribution), SummaryMade(summary=summary)]
    debate = a_debate(*events, setup=a_setup().model_copy(update={"format": "council"}))

    views = (
        group_post(debate, [contribution]),
        turn_posts(debate, contribution)[-1],
        board(debate),
    )
    for view in views:
        assert "B is Security, C is Simplicity." in str(view.blocks)


def test_options_that_differ_late_have_labels_that_differ() -> None:
    begin = "Keep every job of the payment service in one queue that all teams of the house share, "
    ends = (f"{begin}run by the platform team with {name}" for name in ("Kafka", "PostgreSQL"))
    items = [Option(id=f"o{number}", name=name) for number, name in enumerate(ends)]

    assert list(option_labels(items).values()) == [
        "…platform team with Kafka",
        "…platform team with PostgreSQL",
    ]


def test_text_of_too_many_posts_says_how_many_it_lacks() -> None:
    assert mrkdwn_pages("\n\n".join([PAGE] * MOST_PAGES)) == [PAGE] * MOST_PAGES
    *texts, last = mrkdwn_pages("\n\n".join([PAGE] * (MOST_PAGES + 2)))
    assert texts == [PAGE] * (MOST_PAGES - 1)
    assert "3 more posts are left out" in last


def test_a_banner_of_warnings_has_no_more_lines_than_it_has_room_for() -> None:
    warnings = tuple(f"{number:02} {'x' * 100}" for number in range(90))
    _, *lines, last = shortcomings(a_debate(), a_verdict(warnings=warnings)).split("\n")

    assert last == f"… and {90 - len(lines)} more"
    assert len("\n".join(lines)) < 1200
