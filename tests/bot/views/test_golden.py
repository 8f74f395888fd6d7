"""What people see, whole and as it was looked at: a changed view shows as a changed file.

Look at the difference before you accept it with `pytest --inline-snapshot=fix`.
"""

import json
import re

import pytest
from inline_snapshot import external_file

from bot.listeners import answers
from bot.listeners.answers import status_answer as summed_up
from bot.views import notices
from bot.views.board import board
from bot.views.decision import decision_buttons
from bot.views.group_post import turn
from bot.views.lists import DebateRow, home
from bot.views.message import MessageView
from bot.views.verdict import headline, verdict
from bot.views.vote import vote
from bot.views.words import turn_noun
from core.debate.contributions import Contribution, Failure, Note, NoteOutcome, Summary, SummaryKind
from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.follow_up import Decision, DecisionKind
from core.debate.gate import Guidance, NextStep
from core.debate.log import Event, fold
from core.debate.message_events import NoteAdded
from core.debate.people import Person, Stop
from core.debate.people_events import DecisionRecorded
from core.debate.state import Debate
from core.debate.turn import ENGINE, FACILITATOR, SUMMARIZER, Act, Turn
from core.debate.turn_events import (
    BallotAbstained,
    BallotCast,
    ContributionMade,
    SummaryMade,
    TurnFailed,
    VerdictReached,
    VoteTallied,
)
from core.debate.verdict import VerdictSource
from core.debate.vote import Abstention, Ballot, Score, Tally
from core.rules.history.material import stage_turn
from core.testing import a_setup, log_of
from core.usage import Usage
from tests.bot.plays import CALL, TEXTS, a_debate, a_verdict, play

FOLDER = "../../golden/views"
NOTE = Note(id="C1:1700000000.000100", author=Person(id="U2", name="Sam"), text="No Kafka people.")


def speech(act: Act, agent: str, target: str | None = None) -> ContributionMade:
    spoken = Turn(act=act, round=1, agent=agent, target=target)
    return ContributionMade(contribution=Contribution(turn=spoken, text=TEXTS[act], call=CALL))


def failed(act: Act, agent: str, target: str | None = None) -> TurnFailed:
    lost = Turn(act=act, round=1, agent=agent, target=target)
    return TurnFailed(failure=Failure(turn=lost, reason="The provider does not answer."))


def ranked(voter: str, *ranking: str) -> BallotCast:
    cast = Turn(act=Act.BALLOT, round=2, agent=voter)
    return BallotCast(ballot=Ballot(turn=cast, ranking=ranking, confidence=0.8))


def tallied(first: float, second: float, *winners: str) -> VoteTallied:
    scores = (
        Score(position="architect", points=first, first_places=2, mean_confidence=0.8),
        Score(position="simplicity", points=second, first_places=1, mean_confidence=0.65),
        Score(position="security", points=0, first_places=0, mean_confidence=0),
    )
    close = first - second <= 1
    voters = ("architect", "security")
    lost = ("simplicity",)
    tally = Tally(
        scores=scores, winners=winners, controversial=close, voters=voters, abstained=lost
    )
    return VoteTallied(tally=tally)


GUIDANCE = Guidance(
    turn=Turn(act=Act.FACILITATION, round=1, agent=FACILITATOR),
    next_step=NextStep.GO_ON,
    focus="What happens when a worker dies?",
)
DRAFTS: list[Event] = [speech(Act.PROPOSAL, "architect"), speech(Act.PROPOSAL, "security")]
MIDDLE: list[Event] = [
    *DRAFTS,
    failed(Act.PROPOSAL, "simplicity"),
    speech(Act.CRITIQUE, "architect", "security"),
    NoteAdded(note=NOTE),
]
VOTED: list[Event] = [
    *MIDDLE,
    ranked("architect", "architect", "simplicity", "security"),
    ranked("security", "architect", "simplicity", "security"),
    BallotAbstained(
        abstention=Abstention(turn=Turn(act=Act.BALLOT, round=2, agent="simplicity"), reason="No.")
    ),
    tallied(4, 2, "architect"),
]
DEGRADED = a_verdict(
    partial=True,
    source=VerdictSource.FALLBACK_JUDGE,
    warnings=("Stopped by Dana before all turns were taken.",),
    notes=(NoteOutcome(note=NOTE.id, used=True, explanation="It tipped the scales."),),
)


def tally_of(debate: Debate) -> Tally:
    assert debate.tally
    return debate.tally


def payloads(*messages: MessageView) -> list[object]:
    """As they travel: JSON."""
    return json.loads(payloads_text(*messages))


def payloads_text(*messages: MessageView) -> str:
    return json.dumps([message.payload for message in messages], ensure_ascii=False)


def test_the_board_at_the_start():
    assert payloads(board(a_debate())) == external_file(f"{FOLDER}/board_start.json")


def test_the_board_in_the_middle():
    remarks = ["It is not pinned."]
    message = board(a_debate(*MIDDLE), remarks=remarks)
    assert payloads(message) == external_file(f"{FOLDER}/board_middle.json")


def test_the_board_at_the_end():
    debate = fold(play(a_setup(rounds=1)))
    message = board(debate, links={"Report": "https://f.example/r"})
    assert payloads(message) == external_file(f"{FOLDER}/board_end.json")


def test_a_critique():
    debate, event = a_debate(*MIDDLE), speech(Act.CRITIQUE, "architect", "security")
    shot = payloads(*turn(debate, event.contribution))
    assert shot == external_file(f"{FOLDER}/critique.json")


def test_the_vote():
    debate = a_debate(*VOTED)
    assert payloads(vote(debate, tally_of(debate))) == external_file(f"{FOLDER}/vote.json")


def test_a_verdict_on_a_stopped_debate():
    debate = a_debate(*VOTED, VerdictReached(verdict=DEGRADED))
    messages = verdict(debate, DEGRADED)
    shot = payloads(*messages, headline(debate, DEGRADED))
    assert shot == external_file(f"{FOLDER}/verdict_degraded.json")


def test_notices():
    debate, failure = a_debate(*MIDDLE), failed(Act.CRITIQUE, "security", "architect").failure
    messages = [
        notices.problem("There is no debate `dxyz`.", "/debate list"),
        notices.usage({"/debate <question>": "start a debate", "/debate help": "show this"}),
        notices.turn_failure_line(debate, failure),
        notices.stop_line(Stop(by=Person(id="U1"))),
        notices.vote_call_line(Person(id="U1")),
        notices.pause_line(Person(id="U1")),
        notices.resume_line(Person(id="U1")),
        notices.guidance(debate, GUIDANCE),
        notices.out_of_time(),
        notices.failure_line(debate, "No agent could take a position."),
    ]
    assert payloads(*messages) == external_file(f"{FOLDER}/notices.json")


# --- what must hold whatever the wording ----------------------------------------------------------


def test_what_a_verdict_lacks_stands_above_its_answer():
    debate = a_debate(*VOTED, VerdictReached(verdict=DEGRADED))
    for message in (verdict(debate, DEGRADED)[0], headline(debate, DEGRADED)):
        warned, answer = (
            message.text.index("Stopped by Dana"),
            message.text.index("as the job queue"),
        )
        assert message.text.index("*Partial result*") < warned < answer


@pytest.mark.parametrize(
    ("solution", "why"),
    [
        ("**Choose X.**\n\nIt is whole.", "*Reasoning and solution*\nIt is whole."),
        ("Choose X\n\nIt is whole.", "*Reasoning and solution*\nIt is whole."),
        ("**Choose X.**", "*Reasoning and solution*\n*Choose X.*"),
        (
            "Choose X, for once.\n\nIt is whole.",
            "*Reasoning and solution*\nChoose X, for once.\n\nIt is whole.",
        ),
    ],
)
def test_the_reasons_do_not_begin_with_the_decision_again(solution: str, why: str):
    reached = a_verdict(decision="Choose X.", solution=solution)
    assert why in verdict(a_debate(), reached)[0].text
    assert "*Decision*\nChoose X." in verdict(a_debate(), reached)[0].text


def test_questions_put_to_people_are_nobodys_proposal():
    for act in (Act.QUESTIONS, Act.CLARIFICATION):
        turn = Turn(act=act, round=0, agent=ENGINE, target="1")
        assert turn_noun(a_debate(), turn) in {"questions", "list of questions"}


@pytest.mark.parametrize(
    ("percent", "words"),
    [(0, "very low"), (30, "very low"), (50, "low"), (72, "fair"), (100, "high")],
)
def test_confidence_is_said_in_words_too(percent: int, words: str):
    text = verdict(a_debate(), a_verdict(confidence=percent))[-1]
    assert f"*Confidence*\\n{words} ({percent} of 100)" in payloads_text(text)


def test_no_view_makes_up_a_confidence_that_nobody_gave():
    reached = a_verdict(confidence=None)
    debate = a_debate(*VOTED, VerdictReached(verdict=reached), DebateConcluded())
    posts = [*verdict(debate, reached), headline(debate, reached), board(debate)]
    for post in posts:
        assert "None" not in payloads_text(post)
        assert not re.search(r"onfidence\S* \d", payloads_text(post))
    assert "*Confidence*\\nnot given" in payloads_text(posts[0])
    assert "None" not in summed_up(debate)
    assert "*Confidence*: not given" in summed_up(debate)


def test_a_board_does_not_call_decided_or_kept_what_no_model_looked_at():
    reached = a_verdict(confidence=None, decision="Not decided: no model was asked.")
    setup = a_setup(provider="offline")
    ended = a_debate(*VOTED, VerdictReached(verdict=reached), DebateConcluded(), setup=setup)
    text = payloads_text(board(ended))
    assert "Debate ended: not decided" in text
    assert "hold in" not in text
    assert "The team's decision" not in text
    assert decision_buttons(ended) == []
    page = str(home([DebateRow(ended)]))
    assert "Ended, not decided" in page
    assert "Waiting for your team" not in page
    assert "*Revisit*" not in answers.end_answer(ended)
    assert "*Debate it on*" in answers.end_answer(ended)


@pytest.mark.parametrize("kind", [DecisionKind.ACCEPT, DecisionKind.REVISIT])
def test_what_was_accepted_with_an_older_version_keeps_its_buttons(kind: DecisionKind):
    reached = a_verdict(confidence=None, decision="Not decided: no model was asked.")
    event = DecisionRecorded(decision=Decision(kind=kind, by=Person(id="U1"), origin="V1"))
    debate = a_debate(VerdictReached(verdict=reached), DebateConcluded(), event)
    [buttons] = decision_buttons(debate)
    assert "Reject" in str(buttons)
    assert "*Revisit*" in answers.end_answer(debate)


def test_those_who_abstain_say_why():
    why = Abstention(
        turn=Turn(act=Act.BALLOT, round=1, agent="simplicity"), reason="No list.", declared=True
    )
    silent = tallied(0, 0).tally.model_copy(update={"voters": (), "winners": ()})
    debate = a_debate(*DRAFTS, BallotAbstained(abstention=why), VoteTallied(tally=silent))
    text = vote(debate, tally_of(debate)).text
    assert "No ballot could be counted." in text
    assert "Without a ballot: Simplicity (No list)." in text


def test_that_the_best_two_texts_are_close_is_told():
    debate = a_debate(*DRAFTS, tallied(3.5, 2.5, "architect"))
    assert "the top two are within one point" in vote(debate, tally_of(debate)).text


def a_vote_without_final_ballots() -> Debate:
    """Everybody voted before the debate; in the end one ballot is no use and two never came."""
    blind = [
        BallotCast(ballot=cast.ballot.model_copy(update={"turn": before}))
        for cast in (ranked("security", "simplicity"), ranked("architect", "simplicity"))
        for before in (Turn(act=Act.BALLOT, round=0, agent=cast.ballot.voter),)
    ]
    useless = Abstention(turn=Turn(act=Act.BALLOT, round=1, agent="security"), reason="No.")
    lost = ("security", "architect", "simplicity")
    tally = Tally(scores=(), winners=(), controversial=False, voters=(), abstained=lost)
    return a_debate(
        *DRAFTS,
        *blind,
        BallotAbstained(abstention=useless),
        failed(Act.BALLOT, "architect"),
        failed(Act.BALLOT, "simplicity"),
        VoteTallied(tally=tally),
    )


def test_ballots_from_before_the_debate_never_pass_for_the_vote():
    debate = a_vote_without_final_ballots()
    assert ": ranked" not in payloads_text(vote(debate, tally_of(debate)))


def test_why_each_ballot_is_missing_is_told():
    debate = a_vote_without_final_ballots()
    words = vote(debate, tally_of(debate)).text
    why = "The provider does not answer"
    expected = f"Architect ({why}); Simplicity ({why}); Security (No)."
    assert f"Without a ballot: {expected}" in words


def test_an_unknown_price_is_called_so():
    unknown = CALL.model_copy(update={"usage": Usage(cost=None)})
    contribution = Contribution(
        turn=Turn(act=Act.PROPOSAL, round=1, agent="architect"), text="x", call=unknown
    )
    debate = a_debate(ContributionMade(contribution=contribution))
    assert "n/a (a price is unknown)" in payloads_text(board(debate))
    assert "n/a (a price is unknown)" in payloads_text(*turn(debate, contribution))


def test_what_follows_rules_says_so_everywhere():
    debate = fold(play(a_setup(provider="offline", rounds=1)))
    contribution = next(iter(debate.contributions.values()))
    for messages in ([board(debate)], turn(debate, contribution), verdict(debate, a_verdict())):
        assert "No AI model was asked." in payloads_text(*messages)
        assert "Written by AI" not in payloads_text(*messages)


def test_progress_counts_what_is_done_and_ends_at_all():
    log = play(a_setup(rounds=1))
    assert "just begun" in board(fold(log[:1])).text
    assert "16% done" in board(fold(log[:4])).text
    before_the_verdict = next(n for n, e in enumerate(log) if isinstance(e.event, VerdictReached))
    text = board(fold(log[:before_the_verdict])).text
    assert "The judge writes the decision" in text


def test_work_of_agents_that_are_out_is_not_waited_for():
    text = board(a_debate(*MIDDLE)).text
    assert "22% done" in text
    # Its refinement waits for the options.
    assert "At work: Security (critique of Architect's proposal) · Summarizer" in text


def test_buttons_are_those_that_work_and_those_of_the_team_are_below_the_verdict():
    def buttons(message: MessageView) -> list[str]:
        blocks = message.payload["blocks"]
        return [e["text"]["text"] for b in blocks if b["type"] == "actions" for e in b["elements"]]

    assert buttons(board(a_debate())) == ["Stop", "Pause", "Add context"]
    at_the_end = ["Accept", "Reject", "Revisit", "Supersede"]
    ended = fold(play(a_setup()))
    assert ended.verdict
    assert buttons(board(ended)) == []
    go_on = ["Ask about it", "Debate it on"]
    assert buttons(headline(ended, ended.verdict)) == [*at_the_end, *go_on]


def test_the_newest_summary_of_whole_rounds_is_on_the_board():
    def a_summary(number: int, kind: SummaryKind, text: str) -> SummaryMade:
        spoken = Turn(act=Act.SUMMARY, round=number, agent=SUMMARIZER, target=kind)
        summary = Summary(
            turn=spoken, kind=kind, text=text, before_chars=900, after_chars=90, method="rounds"
        )
        return SummaryMade(summary=summary)

    text = board(
        a_debate(
            *DRAFTS,
            a_summary(2, SummaryKind.ROUND, "Both want leases."),
            a_summary(1, SummaryKind.ROUND, "Both want PostgreSQL."),
            a_summary(3, SummaryKind.PERSPECTIVE, "I want Kafka."),
        )
    ).text
    assert "*Summary up to round 2*\nBoth want leases." in text
    assert "Kafka." not in text.replace("use Kafka", "")


def test_a_councils_board_shows_the_newest_phase_summed_up() -> None:
    turns = [stage_turn(act) for act in (Act.GATHER, Act.FORMULATE)]
    events = [
        SummaryMade(
            summary=Summary(
                turn=turn,
                kind=SummaryKind.ROUND,
                text=f"In short: {turn.target}.",
                before_chars=900,
                after_chars=20,
                method="rounds",
            )
        )
        for turn in turns
    ]
    setup = a_setup().model_copy(update={"format": "council"})
    text = board(fold(log_of([DebateStarted(setup=setup), *events]))).text
    assert "*Summary after positions*\nIn short: formulate." in text


@pytest.mark.parametrize("act", list(Act))
def test_every_act_has_words(act: Act):
    assert turn_noun(a_debate(), Turn(act=act, round=1, agent="architect"))


def test_a_post_of_the_offline_engine_is_marked_once() -> None:
    debate = fold(play(a_setup(provider="offline", rounds=1)))
    contribution = next(iter(debate.contributions.values()))
    marked = contribution.model_copy(
        update={"text": "**Use PostgreSQL.**\n\n_Offline engine: by rules._"}
    )
    (post,) = turn(debate, marked)

    assert json.dumps(post.blocks).count("Offline engine") == 1
    assert post.text.count("Offline engine") == 1
    assert "Use PostgreSQL" in post.text
