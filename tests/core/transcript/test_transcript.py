"""A debate as text: report, decision, decision record, JSON, and explanations of turns."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from bot.mcp.results import verdict as verdict_for_programs
from bot.slack.mrkdwn import literal
from bot.views.verdict import headline
from core.debate.contributions import (
    Answer,
    Clarification,
    Clarifications,
    Contribution,
    Failure,
    Note,
    NoteOutcome,
    Summary,
    SummaryKind,
)
from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.log import Event, RecordedEvent, event_from_json, fold
from core.debate.message_events import ClarificationAnswered, NoteAdded
from core.debate.people import Person
from core.debate.rules import Ending, Termination
from core.debate.state import Debate
from core.debate.turn import ENGINE, SUMMARIZER, Act, Turn
from core.debate.turn_events import (
    BallotAbstained,
    BallotCast,
    ClarificationsOpened,
    ContributionMade,
    SummaryMade,
    TurnFailed,
    VerdictReached,
    VoteTallied,
)
from core.debate.verdict import Overrule, Verdict, VerdictSource
from core.debate.vote import Abstention, Ballot, Tally
from core.debate.vote import Score as Points
from core.rules.ending import rounds_words
from core.rules.schedule import rounds_held
from core.rules.sealing import readable_log
from core.testing import ManualClock, a_setup, log_of
from core.transcript.cited import decision_line
from core.transcript.decision import adr, decision_text
from core.transcript.explain import explanation
from core.transcript.markdown import shown_as_is
from core.transcript.record import outcome, record_json
from core.transcript.report import report
from core.transcript.vote import headline_option, option_rows, vote_words
from core.transcript.words import letters_words, model_count_words
from core.usage import Call, Usage
from tests.core.test_older_logs import LOGS, log, record
from tests.core.transcript.splits import split_log

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "transcript"
DANA = Person(id="U1", name="Dana")
START = ManualClock().now()


def a_call(cost: str = "0.0125", source: str = "built-in") -> Call:
    usage = Usage(
        input_tokens=1200, output_tokens=80, cached_tokens=400, cost=Decimal(cost), attempts=1
    )
    return Call(
        provider="openai", model="gpt-x", usage=usage, latency_ms=1500, prompt_source=source
    )


def speech(act: Act, agent: str, text: str, about: str = "", **more: Any) -> ContributionMade:
    turn = Turn(act=act, round=1, agent=agent, target=about or None)
    said = Contribution(turn=turn, text=text, call=a_call(), **more)
    return ContributionMade(contribution=said)


def a_log() -> Sequence[RecordedEvent]:
    """One round of two agents with everything that can be in a report."""
    both = ("architect", "security")
    setup = a_setup(agents=both, rounds=1).model_copy(
        update={"context": "We run PostgreSQL 16.", "warnings": ("A warning of the setup.",)}
    )
    card = Clarifications(
        turn=Turn(act=Act.CLARIFICATION, round=0, agent=ENGINE, target="1"),
        items=tuple(
            Clarification(number=number, question=question, assumption=assumption, asked_by=by)
            for number, question, assumption, by in (
                (1, "How many jobs?", "Few.", both[:1]),
                (2, "Who runs it?", "The team.", both),
            )
        ),
        until=START + timedelta(minutes=15),
    )
    events: list[Event] = [
        DebateStarted(setup=setup),
        ClarificationsOpened(clarifications=card),
        ClarificationAnswered(answer=Answer(number=1, text="```10``` a day", by=DANA)),
        BallotCast(ballot=a_ballot(0, "architect", "security", "architect")),
        speech(Act.PROPOSAL, "security", "# Kafka\n\nIt is *fast*."),
        speech(Act.PROPOSAL, "architect", "PostgreSQL."),
        speech(Act.CRITIQUE, "architect", "Too large.", about="security"),
        speech(Act.REFINEMENT, "security", "PostgreSQL too.", warnings=("No critique arrived.",)),
        *the_end(),
    ]
    return log_of(events)


def the_end() -> list[Event]:
    refused = Turn(act=Act.REFINEMENT, round=1, agent="architect")
    last = Turn(act=Act.BALLOT, round=1, agent="security")
    round_summary = Summary(
        turn=Turn(act=Act.SUMMARY, round=1, agent=SUMMARIZER),
        kind=SummaryKind.ROUND,
        text="Both say PostgreSQL.",
        before_chars=1000,
        after_chars=150,
        method="rounds",
        call=a_call(),
    )
    tally = Tally(
        scores=(
            Points(position="security", points=2, first_places=1, mean_confidence=0.8),
            Points(position="architect", points=1, first_places=0, mean_confidence=0.5),
        ),
        winners=("security",),
        controversial=True,
        voters=("architect",),
        abstained=("security",),
    )
    return [
        TurnFailed(failure=Failure(turn=refused, reason="The provider | does not answer.")),
        NoteAdded(note=Note(id="n1", author=DANA, text="Mind the budget.")),
        SummaryMade(summary=round_summary),
        BallotCast(ballot=a_ballot(1, "architect", "architect", "security")),
        BallotAbstained(abstention=Abstention(turn=last, reason="It could not be read.")),
        VoteTallied(tally=tally),
        VerdictReached(verdict=a_verdict()),
        DebateConcluded(),
    ]


def a_ballot(number: int, voter: str, *ranking: str) -> Ballot:
    return Ballot(
        turn=Turn(act=Act.BALLOT, round=number, agent=voter),
        ranking=ranking,
        reasons={position: f"{position} is clear" for position in ranking},
        confidence=0.8,
        moved_by="r1/critique/architect/security" if number else None,
        call=a_call(source="prompts/ballot.md"),
    )


def a_verdict() -> Verdict:
    return Verdict(
        decision="Use PostgreSQL.",
        solution="It is there.\n\n## Why\n\nBecause.",
        implementation="1. Create the table.",
        tradeoffs=("Throughput for simplicity",),
        recommendations=("Watch the queue",),
        unmet_requirements=("It must be free",),
        open_questions=("How long may a job take?",),
        dissent="Kafka would carry more.",
        overturned_by=("More than 50,000 jobs per second",),
        notes=(NoteOutcome(note="n1", used=True, explanation="Security took it up."),),
        confidence=40,
        warnings=("Turns that failed and are missing: 1.",),
        call=a_call(),
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("report.md", report(fold(a_log()))),
        ("explain.txt", explanation(a_log())),
        ("split_report.md", report(fold(split_log()))),
    ],
)
def test_a_transcript_equals_its_approved_text(name: str, text: str) -> None:
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


def with_changes(*changes: Event) -> Debate:
    """The split debate with these events in place of those with the same keys."""
    by_key = {event.key: event for event in changes}
    return fold(log_of([by_key.get(entry.event.key, entry.event) for entry in split_log()]))


def test_weights_of_agents_are_shown() -> None:
    tally = fold(split_log()).tally
    assert tally
    first, *others = tally.options
    options = (first.model_copy(update={"first_choices": 2.0}), *others)
    weighed = with_changes(VoteTallied(tally=tally.model_copy(update={"options": options})))
    words = "1 of 2 agents with a ballot that counts, 2 by their weights, mean probability 55%"
    assert words in vote_words(weighed)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_texts_of_older_debates_do_not_mention_options(path: Path) -> None:
    debate = fold(log(record(path)))
    texts = [report(debate), adr(debate), decision_text(debate)]
    assert headline_option(debate) == ""
    for text in texts:
        assert not any(word in text for word in ("Option", "option", "skipped"))
    if debate.verdict:
        assert not any("None" in text or "no round" in text for text in texts)
        rounds = [contribution.turn.round for contribution in debate.contributions.values()]
        assert rounds_held(debate) == max(rounds)
        assert "Confidence: 72 of 100, by the judge's own estimate." in texts[2]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Asked again {}, the judge chose Kafka, hosted instead"),
        ({"option": "t1"}, "Asked again {}, the judge chose the same."),
        # The vote's option stands, though the judge chose Kafka both times.
        (
            {"overrule": Overrule(vote="o1", judge="o2")},
            "Asked again {}, the judge chose the same.",
        ),
        ({"overrule": Overrule(vote="o2", judge="o1")}, "Asked again {}, the judge chose Kafka, "),
        ({"source": VerdictSource.WINNER}, "Asked {}, the judge chose Kafka, hosted (“It keeps"),
    ],
)
def test_the_choice_in_the_opposite_order_is_compared_with_the_judges_own(
    changes: dict[str, object], words: str
) -> None:
    reached = fold(split_log()).verdict
    assert reached
    debate = with_changes(VerdictReached(verdict=reached.model_copy(update=changes)))
    assert words.format("with the positions in the opposite order") in decision_text(debate)
    assert debate.verdict
    text, is_other = headline(debate, debate.verdict).text, words.endswith(("instead", "Kafka, "))
    assert ("check this verdict before you follow it" in text) is is_other
    assert "It keeps jobs" not in text, "the judge's reason would take the room of others"


def test_a_sealed_debate_says_nothing_that_the_full_log_contradicts() -> None:
    start, *entries = split_log()
    assert isinstance(start.event, DebateStarted)
    setup = start.event.setup.model_copy(update={"sealed": True})
    log = readable_log([replace(start, event=DebateStarted(setup=setup)), *entries])
    debate, full = fold(log), fold(split_log())

    assert debate.usage == full.usage
    # The judge's model would tell whose option won the vote.
    assert [call.usage for call in debate.calls] == [call.usage for call in full.calls]
    assert rounds_words(debate) == "3 rounds"
    texts = [report(debate), adr(debate), decision_text(debate), explanation(log)]
    for false in (
        "No answer",
        "answers were given",
        "no vote",
        "Cancelled",
        "Without a ballot",
        "go on",
    ):
        assert not [text for text in texts if false in text]
    assert "- Dana\n- Alex\n" in texts[0], "who has voted is seen, not what"


def test_a_tie_of_the_agents_with_the_teams_choice_is_no_difference() -> None:
    tally = fold(split_log()).tally
    assert tally
    level = tuple(
        score.model_copy(update={"first_choices": 1.0, "mean_probability": 0.5})
        for score in tally.options
    )
    tied = with_changes(VoteTallied(tally=tally.model_copy(update={"options": level})))
    gap = (
        "The team is for Kafka, hosted, the agents are level between PostgreSQL and Kafka, hosted."
    )
    assert gap in report(tied)


def test_the_headline_is_the_option_of_the_verdict_or_the_vote() -> None:
    running = [entry for entry in split_log() if not isinstance(entry.event, VerdictReached)]
    assert headline_option(fold(split_log())) == "PostgreSQL"
    assert headline_option(fold(running)) == "PostgreSQL"
    assert headline_option(fold(split_log()[:3])) == ""


def test_options_are_listed_in_the_order_of_the_vote() -> None:
    tally = fold(split_log()).tally
    assert tally
    turned = with_changes(
        VoteTallied(tally=tally.model_copy(update={"options": tally.options[::-1]}))
    )
    assert [*option_rows(fold(split_log()))[1]] == ["o1", "t1"]
    assert [*option_rows(turned)[1]] == ["t1", "o1"]


def test_the_key_to_letters_is_shown_only_if_a_text_uses_letters() -> None:
    setup = a_setup().model_copy(update={"format": "council"})
    debate = fold(log_of([DebateStarted(setup=setup)]))
    key = "A is Architect, B is Security, C is Simplicity."
    for act, text, words in (
        (Act.DEBATE, "So it is:\nPosition B is wrong.", key),
        (Act.DEBATE, "As C's answer says.", key),
        (Act.DEBATE, "A plan B has no letters.", ""),
        (Act.GATHER, "Position B is wrong.", ""),
    ):
        turn = Turn(act=act, round=1, agent="architect")
        assert letters_words(debate, [Contribution(turn=turn, text=text)]) == words


def keys_in(value: Any) -> set[str]:
    """The keys of objects that are not named by ids of the debate."""
    if isinstance(value, list):
        return set[str]().union(*map(keys_in, cast("list[Any]", value)))
    if not isinstance(value, dict):
        return set()
    by_id = {"merged_options", "held", "stances", "agents"}
    inner = cast("dict[str, Any]", value)
    below = (keys_in(item) for key, item in inner.items() if key not in by_id)
    return set(inner).union(*below)


def test_every_key_of_the_records_own_parts_is_explained() -> None:
    text = (ROOT / "docs" / "record.md").read_text(encoding="utf-8")
    record = json.loads(record_json(split_log()))
    keys = keys_in({"outcome": record["outcome"], "totals": record["totals"]})

    outer = text.partition("\n## ")[0]
    assert re.findall(r"(?m)^\| `(\w+)` \|", outer) == list(record)
    assert [key for key in sorted(keys) if f"`{key}`" not in text] == []
    assert f"| the format's version: {record['moot']} |" in text
    events = [event_from_json(json.dumps(entry["event"])) for entry in record["events"]]
    assert events == [entry.event for entry in split_log()]


def test_shares_in_the_json_have_four_places() -> None:
    cast_ballots = [entry.event for entry in split_log() if isinstance(entry.event, BallotCast)]
    thirds = {"probabilities": {"o1": 1 / 3, "o2": 2 / 3}}
    changed = with_changes(
        *(BallotCast(ballot=e.ballot.model_copy(update=thirds)) for e in cast_ballots)
    )
    held = outcome(changed)["held"].values()
    assert {share for stance in held for share in stance.values()} == {0.3333, 0.6667}


def test_a_debate_of_one_round_has_one_and_not_at_most_one() -> None:
    settling = {"termination": Termination(ending=Ending.CONVERGED)}
    setups = [a_setup(rounds=number).model_copy(update=settling) for number in (1, 3)]
    words = [rounds_words(fold(log_of([DebateStarted(setup=setup)]))) for setup in setups]
    assert words == ["1 round", "at most 3 rounds"]


def test_a_tie_is_called_a_tie() -> None:
    agents = ("architect", "security")
    scores = tuple(
        Points(position=agent, points=1, first_places=0, mean_confidence=0.5) for agent in agents
    )
    tally = Tally(scores=scores, winners=agents, controversial=True, voters=("architect",))
    debate = fold(log_of([DebateStarted(setup=a_setup()), VoteTallied(tally=tally)]))
    for text in (report(debate), adr(debate)):
        assert "Whose text is best is a tie that no rule breaks: Architect and Security." in text


def test_points_of_view_are_counted_where_several_agents_share_one_model() -> None:
    agents = a_setup().agents
    assert model_count_words(agents) == "3 points of view, 1 model."
    assert not model_count_words(agents[:1])


@pytest.mark.parametrize(
    ("decision", "line"),
    [
        ("Use **PostgreSQL** as the *job queue*.", "Use PostgreSQL as the job queue."),
        ("# Use PostgreSQL\n\nNot `Kafka`.", "Use PostgreSQL Not Kafka."),
        ("Set a < b and 2 * 3 * 4.", "Set a < b and 2 * 3 * 4."),
    ],
)
def test_a_decision_is_one_line_without_formatting_everywhere(decision: str, line: str) -> None:
    verdict = Verdict(decision=decision, solution="So.", confidence=None)
    debate = fold(a_log()).replace(verdict=verdict)
    shown = shown_as_is(line)
    assert decision_line(verdict) == line
    assert f"**{shown}**" in report(debate)
    assert f"**{shown}**" in adr(debate)
    assert f"# {shown.rstrip('.')}\n" in adr(debate)
    assert shown in decision_text(debate).splitlines()
    assert verdict_for_programs(debate, "").decision == line
    assert f"*{literal(line)}*" in headline(debate, verdict).text
