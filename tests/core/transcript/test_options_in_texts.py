"""Options, gate and computed confidence in report, decision record, decision and JSON."""

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest

from core.debate.debate_events import DebateStarted
from core.debate.log import Event, RecordedEvent, fold
from core.debate.rules import Ending, Termination
from core.debate.state import Debate
from core.debate.turn_events import BallotCast, VerdictReached, VoteTallied
from core.rules.ending import rounds_words
from core.rules.schedule import rounds_held
from core.testing import a_setup, log_of
from core.transcript.adr import adr
from core.transcript.ballots import vote_words
from core.transcript.decision import decision_text
from core.transcript.options import headline_option
from core.transcript.record import outcome, record_json
from core.transcript.report import report
from tests.core.test_older_logs import LOGS, log, record
from tests.core.transcript.splits import (
    skipped_log,
    split_log,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "transcript"
ROOT = Path(__file__).parents[3]


def with_changes(*changes: Event) -> Debate:
    """The split debate with these events in place of those with the same keys, or after all."""
    by_key = {event.key: event for event in changes}
    events = [by_key.pop(entry.event.key, entry.event) for entry in split_log()]
    return fold(log_of([*events, *by_key.values()]))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("split_report.md", report(fold(split_log()))),
        ("split_adr.md", adr(fold(split_log()))),
        ("split_decision.txt", decision_text(fold(split_log())) + "\n"),
        ("skipped_report.md", report(fold(skipped_log()))),
    ],
)
def test_a_text_is_as_it_was_approved(name: str, text: str) -> None:
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


def test_weights_are_told_where_agents_have_them() -> None:
    tally = fold(split_log()).tally
    assert tally
    first, *others = tally.options
    options = (first.model_copy(update={"first_choices": 2.0}), *others)
    weighed = with_changes(VoteTallied(tally=tally.model_copy(update={"options": options})))
    assert (
        "1 of 2 agents with a ballot that counts, 2 by their weights, mean probability 55%"
        in vote_words(weighed)
    )


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_debates_without_options_read_well(path: Path) -> None:
    debate = fold(log(record(path)))
    texts = [report(debate), adr(debate), decision_text(debate)]

    assert headline_option(debate) == ""
    for text in texts:
        assert not any(word in text for word in ("Option", "option", "skipped"))
    if debate.verdict:
        assert not any("None" in text or "no round" in text for text in texts)
        assert rounds_held(debate) == max(
            contribution.turn.round for contribution in debate.contributions.values()
        )
        assert "Confidence: 72 of 100, by the judge's own estimate." in texts[2]


def test_the_headline_is_the_option_decided_for_else_the_one_the_vote_puts_first() -> None:
    running: list[RecordedEvent] = [
        entry for entry in split_log() if not isinstance(entry.event, VerdictReached)
    ]

    assert headline_option(fold(split_log())) == "PostgreSQL"
    assert headline_option(fold(running)) == "PostgreSQL"
    assert headline_option(fold(split_log()[:3])) == ""


def test_whose_first_ballot_is_missing_is_said_beside_who_moved() -> None:
    events = [e.event for e in split_log() if e.event.key != "r0/ballot/architect"]
    text = report(fold(log_of(events)))

    assert "- Security: from Kafka" in text
    assert "- Without a first ballot: Architect." in text


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
    assert f"| the version of this form: {record['moot']} |" in text


def test_shares_in_the_json_have_four_places() -> None:
    cast = [entry.event for entry in split_log() if isinstance(entry.event, BallotCast)]
    thirds = {"o1": 1 / 3, "o2": 2 / 3}
    changed = [
        BallotCast(ballot=event.ballot.model_copy(update={"probabilities": thirds}))
        for event in cast
    ]
    shares = {
        share
        for stance in outcome(with_changes(*changed))["held"].values()
        for share in stance.values()
    }

    assert shares == {0.3333, 0.6667}


def test_a_debate_of_one_round_has_one_and_not_at_most_one() -> None:
    settling = {"termination": Termination(ending=Ending.CONVERGED)}
    setups = [a_setup(rounds=number).model_copy(update=settling) for number in (1, 3)]
    words = [rounds_words(fold(log_of([DebateStarted(setup=setup)]))) for setup in setups]

    assert words == ["1 round", "at most 3 rounds"]
