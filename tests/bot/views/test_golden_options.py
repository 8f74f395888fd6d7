"""What people see of options, whole and as it was looked at; and of debates without any."""

import json

from inline_snapshot import external_file

from bot.views import notices
from bot.views.board import board
from bot.views.message import MessageView
from bot.views.options import ending_text, who_stands_where
from bot.views.verdict import headline, verdict
from bot.views.vote import vote
from core.debate.contributions import Contribution
from core.debate.debate_events import DebateConcluded
from core.debate.log import Event, fold
from core.debate.people_events import OptionEdited
from core.debate.rules import When
from core.debate.setup import Forecast
from core.debate.state import Debate
from core.debate.turn import JUDGE, SUMMARIZER, Act, Turn
from core.debate.turn_events import (
    BallotCast,
    ContributionMade,
    CrossChecked,
    GatePassed,
    OptionsMerged,
    VerdictReached,
    VoteTallied,
)
from core.debate.verdict import CrossCheck, Judgement, Requirement, RequirementStatus, VerdictSource
from core.debate.vote import Ballot, Option, OptionChange, OptionEdit, Options, QuestionKind
from core.rules import gate
from core.rules.ending import rounds_words
from core.rules.options import option_of, options_of
from core.rules.voting import count
from core.testing import a_setup, on_own_models
from tests.bot.plays import CALL, DANA, SAM, TEXTS, a_debate, a_verdict
from tests.core.transcript.splits import split_log

FOLDER = "../../golden/views"
AGENTS = ("architect", "security", "simplicity")
SETUP = on_own_models(a_setup(rounds=3)).model_copy(
    update={
        "when": When.SPLIT,
        "forecast": Forecast(
            cost="0.88",  # pyright: ignore[reportArgumentType] - read as a decimal
            cost_if_agreed="0.22",  # pyright: ignore[reportArgumentType]
            seconds=60,
            calls=20,
            input_tokens=1,
            output_tokens=1,
        ),
    }
)


def payloads(*messages: MessageView) -> list[object]:
    return json.loads(json.dumps([message.payload for message in messages]))


def speech(act: Act, number: int, agent: str, **stance: float) -> ContributionMade:
    turn = Turn(act=act, round=number, agent=agent)
    contribution = Contribution(turn=turn, text=TEXTS[act], call=CALL, stance=stance)
    return ContributionMade(contribution=contribution)


def ballot(number: int, agent: str, moved_by: str | None = None, **shares: float) -> BallotCast:
    turn = Turn(act=Act.BALLOT, round=number, agent=agent)
    return BallotCast(
        ballot=Ballot(
            turn=turn,
            ranking=AGENTS,
            probabilities=shares,
            confidence=None,
            moved_by=moved_by,
            call=CALL,
        )
    )


def edit(change: OptionChange, origin: str, **fields: str) -> OptionEdited:
    return OptionEdited(edit=OptionEdit(change=change, by=SAM, origin=origin, **fields))


DRAFTED: list[Event] = [
    *(speech(Act.PROPOSAL, 1, agent) for agent in AGENTS),
    OptionsMerged(
        options=Options(
            turn=Turn(act=Act.OPTIONS, round=0, agent=SUMMARIZER),
            question_kind=QuestionKind.CHOICE,
            items=(
                Option(id="o1", name="PostgreSQL"),
                Option(id="o2", name="Kafka"),
                Option(id="o3", name="Do both"),
            ),
            stances={"architect": "o1", "security": "o2", "simplicity": "o1"},
        )
    ),
]


def weighed(number: int, *events: Event) -> list[Event]:
    """These events, and what the gate finds after that round."""
    result = gate.weigh(a_debate(*events, setup=SETUP), number)
    assert result
    return [*events, GatePassed(gate=result)]


SPLIT = weighed(
    0,
    *DRAFTED,
    ballot(0, "architect", o1=0.8, o2=0.2),
    ballot(0, "security", o1=0.25, o2=0.7, o3=0.05),
    ballot(0, "simplicity", o1=0.7, o2=0.1, o3=0.2),
)
AGREED = weighed(0, *DRAFTED, *(ballot(0, agent, o1=0.9, o2=0.1) for agent in AGENTS))
MOVED_BY = "r1/critique/architect/security"
DEBATED: list[Event] = [
    *SPLIT,
    ContributionMade(
        contribution=Contribution(
            turn=Turn(act=Act.CRITIQUE, round=1, agent="architect", target="security"),
            text=TEXTS[Act.CRITIQUE],
            call=CALL,
        )
    ),
    *weighed(
        1,
        *SPLIT,
        speech(Act.REFINEMENT, 1, "architect", o1=0.8, o2=0.2),
        speech(Act.REFINEMENT, 1, "security", o1=0.5, o2=0.45, o3=0.05),
        speech(Act.REFINEMENT, 1, "simplicity", o1=0.7, o2=0.1, o3=0.2),
    )[len(SPLIT) :],
]


def voted(number: int, *events: Event) -> list[Event]:
    """These events, and the count of the ballots of that round."""
    debate = a_debate(*events, setup=SETUP)
    ballots = [item for item in debate.ballots.values() if item.turn.round == number]
    positions = {agent: option_of(debate, agent) for agent in AGENTS}
    tally = count(positions, ballots, options=options_of(debate))
    return [*events, VoteTallied(tally=tally, edition=debate.edition)]


VERDICT = a_verdict(
    option="o1",
    reasons=("The team runs it already.", "It keeps every job.", "Leases answer retries."),
    requirements=(
        Requirement(
            text="It must keep every job.", words="keeps every job", status=RequirementStatus.MET
        ),
    ),
    unmet_requirements=(),
    criteria=(
        Judgement(option="o1", criterion="Cost", words="none new"),
        Judgement(option="o2", criterion="Cost", words="a cluster"),
        Judgement(option="o2", criterion="Fan-out", words="built in"),
    ),
    confidence=61,
    rests_on=("2 of 3 agents put it first", "one major requirement | of <!here> is unknown"),
    judge_confidence=88,
)
FINAL = voted(
    1,
    *DEBATED,
    ballot(1, "architect", o1=0.5, o2=0.5),
    ballot(1, "security", MOVED_BY, o1=0.6, o2=0.4),
    ballot(1, "simplicity", o1=0.45, o2=0.55),
)


def closed(*events: Event, edition: int = 1) -> Debate:
    reached = VerdictReached(verdict=VERDICT, edition=edition)
    return a_debate(*events, reached, DebateConcluded(edition=edition), setup=SETUP)


def test_a_split_on_the_board_with_who_stands_where_and_about_what():
    debate = a_debate(*SPLIT, setup=SETUP)
    views = payloads(board(debate))
    assert views == external_file(f"{FOLDER}/board_split.json")


def test_what_was_skipped_on_board_and_verdict():
    debate = closed(*voted(0, *AGREED))
    views = payloads(board(debate), headline(debate, VERDICT))
    assert views == external_file(f"{FOLDER}/skipped.json")


def test_a_close_vote_by_option_and_who_moved():
    debate = a_debate(*FINAL, setup=SETUP)
    assert debate.tally
    assert payloads(vote(debate, debate.tally)) == external_file(f"{FOLDER}/vote_options.json")


def test_the_whole_verdict_where_the_judge_was_swayed_by_the_order():
    turn = Turn(act=Act.CROSS_CHECK, round=1, agent=JUDGE)
    check = CrossCheck(turn=turn, option="o2", reason="It scales.", call=CALL)
    debate = closed(*FINAL, CrossChecked(check=check))
    posts = [*verdict(debate, VERDICT), headline(debate, VERDICT)]
    assert payloads(*posts) == external_file(f"{FOLDER}/verdict_options.json")


def test_lines_about_options():
    edits = [
        edit(OptionChange.RENAME, "V1/o2", option="o2", name="Kafka, managed"),
        edit(OptionChange.MERGE, "V1/merge", option="o3", into="o2"),
        edit(OptionChange.ADD, "V1/add", name="*Redis* <!here>"),
    ]
    debate = a_debate(*DEBATED, *edits, setup=SETUP)
    lines = [
        *(notices.option_change_line(debate, item.edit) for item in edits),
        *(notices.rounds_end_line(debate, item) for item in debate.gates.values()),
        notices.debate_request_line(DANA, had_verdict=True),
    ]
    assert payloads(*lines) == external_file(f"{FOLDER}/option_lines.json")


def test_nobody_claims_rounds_that_were_not_held():
    skipped, ended = closed(*voted(0, *AGREED)), closed(*FINAL)
    assert rounds_words(skipped) == "only first answers were given"
    assert "all 3 rounds" not in ending_text(skipped)
    assert ending_text(ended).endswith("1 of 3 rounds was held.")


def test_a_debate_of_an_older_version_says_nothing_of_options():
    texts = [speech(Act.PROPOSAL, 1, agent) for agent in AGENTS]
    older = a_debate(*texts, VerdictReached(verdict=a_verdict()), DebateConcluded())
    assert older.verdict
    assert older.verdict.source is VerdictSource.JUDGE
    words = json.dumps(payloads(board(older), headline(older, older.verdict)))
    assert "ption" not in words
    assert not who_stands_where(older)


def test_an_agent_without_a_counted_ballot_stands_where_it_stood_before_the_vote():
    text = who_stands_where(fold(split_log()))

    assert "Simplicity 85% (before the vote)" in text
    assert text.count("before the vote") == 1
