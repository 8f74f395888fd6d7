"""Cards, forms and lists, whole and as they were looked at: a changed view shows as a changed file.

Look at the difference before you accept it with `pytest --inline-snapshot=fix`.
"""

import json
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from inline_snapshot import external_file

from bot.views.clarifications import answer_form, card
from bot.views.decision import (
    comment_form,
    decision_form,
    decision_line,
    outcome_form,
    outcome_post,
    reminder,
    thanks,
)
from bot.views.lists import (
    MOST_AT_HOME,
    MOST_LISTED,
    DebateRow,
    calibration_blocks,
    channel_list,
    home,
    own_list,
    search_list,
)
from bot.views.message import MessageView
from bot.views.start_form import (
    FormDraft,
    FormOptions,
    FormTarget,
    settings_form,
    start_form,
)
from bot.views.vote import ballot_form, context_form, options_form
from core.calibration import AgentRecord, Case, calibration
from core.debate.contributions import Answer, Clarification, Clarifications
from core.debate.debate_events import (
    ClarificationsClosed,
    DebateConcluded,
    DebateFailed,
    OutcomeAsked,
)
from core.debate.log import Event
from core.debate.message_events import ClarificationAnswered
from core.debate.people_events import DecisionRecorded, OutcomeGiven, PeopleBallotCast
from core.debate.state import Debate
from core.debate.turn_events import (
    ClarificationsOpened,
    VerdictReached,
)
from core.debate.verdict import Decision, DecisionKind, DecisionOutcome, Feedback, OutcomeKind
from core.debate.vote import PeopleBallot
from core.settings import ModelChoice, Settings
from core.use_cases.choices import ChannelChoices, Choices, ModelSet, roster
from tests.bot.plays import DANA, SAM, START, a_debate, a_verdict
from tests.core.rules.formats.debates import options, turn, wording

FOLDER = "../../golden/views"
TODAY = date(2026, 1, 5)
ASKED = Clarifications(
    turn=turn("r0/clarification/architect"),
    items=tuple(
        Clarification(number=number, question=question, assumption=assumption, asked_by=asked_by)
        for number, question, assumption, asked_by in (
            (1, "How many jobs a second?", "About a thousand.", ("architect", "simplicity")),
            (2, "Which data is in a job?", "No personal data.", ("security",)),
            (3, "Who runs it?", "", ("simplicity",)),
        )
    ),
    until=START + timedelta(minutes=15),
)
ANSWERED = ClarificationAnswered(answer=Answer(number=1, text="About 10k, at night.", by=SAM))
CHOICE = ModelChoice(provider="anthropic", model="claude-x")
OFFER = FormOptions(
    agents=roster(Settings()),
    models=[ModelSet(id="anthropic", words="Anthropic: claude-x", agent=CHOICE, judge=CHOICE)],
)
USUAL = Choices(
    format="critique",
    rounds=3,
    agents=("architect", "security", "simplicity"),
    clarify=False,
    wait_minutes=15,
)
ESTIMATE = "Estimated: 2 min to 5 min, 20 to 34 model calls, $0.42 to $1.90."
POSITIONS = [
    wording("r1/proposal/architect", "Use **PostgreSQL**, `SKIP LOCKED`: one system less."),
    wording("r1/proposal/security", "Kafka, with one topic per team & ACLs."),
    wording("r1/proposal/simplicity", "PostgreSQL; buy nothing."),
]
OPTIONS = options("PostgreSQL", "Kafka & ACLs", stances={"security": "o2"})
REACHED = VerdictReached(verdict=a_verdict())


def as_sent(*views: MessageView | Mapping[str, Any]) -> object:
    """As it travels: JSON."""
    payloads = [view.payload if isinstance(view, MessageView) else view for view in views]
    return json.loads(json.dumps(payloads, ensure_ascii=False))


def debate_with_questions(*events: Event) -> Debate:
    return a_debate(ClarificationsOpened(clarifications=ASKED), *events)


def a_decision(kind: DecisionKind = DecisionKind.REVISIT) -> Decision:
    return Decision(
        kind=kind,
        by=DANA,
        why="Traffic <doubles> each year.",
        revisit_on=TODAY + timedelta(days=90) if kind is DecisionKind.REVISIT else None,
        superseded_by="dnewer22" if kind is DecisionKind.SUPERSEDE else None,
        origin="V1",
    )


def judged(*events: Event) -> Debate:
    return a_debate(*POSITIONS, REACHED, *events)


def test_the_card_with_questions_open_partly_answered_and_closed():
    skipped = ClarificationAnswered(answer=Answer(number=2, text="", by=DANA))
    closed = ClarificationsClosed(which=ASKED.turn.key)
    debates = [
        debate_with_questions(),
        debate_with_questions(ANSWERED),
        debate_with_questions(ANSWERED, skipped, closed),
    ]
    shot = as_sent(*(card(debate, ASKED) for debate in debates))
    assert shot == external_file(f"{FOLDER}/card.json")


def test_the_form_to_answer_questions():
    shot = as_sent(answer_form(debate_with_questions(ANSWERED), ASKED.items[1:]))
    assert shot == external_file(f"{FOLDER}/answer_form.json")


def test_the_form_to_start_a_debate():
    draft = FormDraft(question="Kafka or PostgreSQL?", choices=USUAL)
    here = FormTarget(channel="C1", source="https://acme.slack.com/archives/C1/p1")
    forms = [
        start_form(draft, OFFER, here, ESTIMATE),
        start_form(
            FormDraft(), OFFER, FormTarget(), "Write a question: time and cost appear here."
        ),
    ]
    assert as_sent(*forms) == external_file(f"{FOLDER}/start_form.json")


def test_the_form_for_a_channels_settings():
    choices = ChannelChoices(
        choices=Choices(
            rounds=2, clarify=True, wait_minutes=30, debate_cost=Decimal("2.50"), shadow=True
        ),
        stewards=("U2",),
        keep_pinned=True,
    )
    forms = [settings_form("C1", now, USUAL, OFFER) for now in (ChannelChoices(), choices)]
    assert as_sent(*forms) == external_file(f"{FOLDER}/settings_form.json")


def test_the_ballot_before_and_after_it_is_cast():
    ballot = PeopleBallot(by=SAM, options=("o2", "o1"), origin="V1")
    forms = [
        ballot_form(a_debate(*POSITIONS, OPTIONS)),
        ballot_form(a_debate(*POSITIONS, OPTIONS, PeopleBallotCast(ballot=ballot)), SAM.id),
    ]
    assert as_sent(*forms) == external_file(f"{FOLDER}/ballot_form.json")


def test_the_boards_forms():
    context, options = context_form(a_debate()), options_form(a_debate(*POSITIONS, OPTIONS))
    assert as_sent(context) == external_file(f"{FOLDER}/context_form.json")
    assert as_sent(options) == external_file(f"{FOLDER}/options_form.json")


def test_the_forms_to_decide():
    newer = {"dnewer22": "Kafka, PostgreSQL & Redis?", "dnewer23": "Kafka?"}
    forms = [decision_form(judged(), kind, today=TODAY, newer=newer) for kind in DecisionKind]
    assert as_sent(*forms) == external_file(f"{FOLDER}/decision_form.json")


def test_the_lines_about_decisions():
    lines = [decision_line(a_decision(kind)) for kind in DecisionKind]
    shot = as_sent(*lines, reminder(judged(), a_decision()))
    assert shot == external_file(f"{FOLDER}/decided.json")


def test_what_home_says_of_outcomes_where_they_are_few_and_where_there_are_some():
    voice = AgentRecord(model="anthropic/large", role="sec<urity>", is_for=False)
    kinds = (OutcomeKind.HELD, OutcomeKind.PARTLY, OutcomeKind.REVERSED, OutcomeKind.HELD)
    cases = [
        Case(
            debate_id="d1",
            accepted_at=START,
            asked=True,
            replaced=False,
            outcome=kinds[number % 4] if number else None,
            said_at=START,
            confidence=(45, 85)[number % 2],
            was_skipped=number % 3 == 0,
            alone_agrees=(True, False, None)[number % 3],
            voices=(voice,),
        )
        for number in range(20)
    ]
    counted = (cases[:4], cases, cases[:0])
    shot = [[dict(block) for block in calibration_blocks(calibration(cases))] for cases in counted]
    assert shot == external_file(f"{FOLDER}/calibration.json")


def test_how_a_decision_turned_out():
    accepted = DecisionRecorded(decision=a_decision(DecisionKind.ACCEPT))
    origin = accepted.decision.origin
    question, views = OutcomeAsked(decision=origin), list[MessageView | Mapping[str, Any]]()
    early, late = (
        DecisionOutcome(kind=kind, by=SAM, why=why, decision=origin, origin=why or "T1")
        for kind, why in ((OutcomeKind.TOO_EARLY, ""), (OutcomeKind.REVERSED, "It <cost> & cost."))
    )
    for outcomes in ([], [early], [early, late]):
        debate = judged(
            accepted, question, *(OutcomeGiven(outcome=outcome) for outcome in outcomes)
        )
        views += [outcome_post(debate), outcome_form(debate, debate.outcome, again_after=30)]
    assert as_sent(*views) == external_file(f"{FOLDER}/outcome.json")


@pytest.mark.parametrize("helpful", [True, False])
def test_thanks_for_feedback_and_the_form_to_say_why(*, helpful: bool):
    feedback = Feedback(by=SAM, helpful=helpful, comment="Nothing on cost.", origin="T1")
    shot = as_sent(thanks(judged(), feedback), comment_form(judged(), feedback))
    assert shot == external_file(f"{FOLDER}/feedback_{'good' if helpful else 'bad'}.json")


def rows() -> list[DebateRow]:
    accepted = DecisionRecorded(decision=a_decision(DecisionKind.ACCEPT))
    here = "https://acme.slack.com/archives/C1/p1"
    return [
        DebateRow(a_debate(*POSITIONS), here),
        DebateRow(judged(DebateConcluded()), here, "we lost <jobs> in & after March"),
        DebateRow(judged(DebateConcluded(), accepted), here),
        DebateRow(a_debate(DebateFailed(reason="No agent could take a position."))),
    ]


def test_lists():
    shot = as_sent(channel_list(rows()), own_list(rows()), search_list("lost <jobs>", rows()[1:2]))
    assert shot == external_file(f"{FOLDER}/lists.json")
    none = as_sent(channel_list([]), own_list([]), search_list("lost jobs", []))
    assert none == external_file(f"{FOLDER}/lists_empty.json")


def test_lists_say_where_they_may_lack_some():
    row = rows()[0]
    whole, cut = channel_list([row] * (MOST_LISTED - 1)), channel_list([row] * MOST_LISTED)

    assert "There may be more" not in whole.text
    assert f"There may be more than these {MOST_LISTED}: `/debate search WORDS`" in cut.text
    assert f"The {MOST_AT_HOME} newest are here." not in str(home([row]))
    assert f"The {MOST_AT_HOME} newest are here." in str(home([row] * MOST_AT_HOME))


def test_home():
    assert as_sent(home(rows()), home([])) == external_file(f"{FOLDER}/home.json")
