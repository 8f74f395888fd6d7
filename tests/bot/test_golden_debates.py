"""Debates that version 0.x held, as their logs tell them: what people read, what models were asked.

The logs are never made again (`tests/golden/debates/README.md`). What is made from them may
change: look at the difference before you accept it with `pytest --inline-snapshot=fix`.
"""

import re
from collections.abc import Sequence

import pytest
from inline_snapshot import external_file

from core.debate.log import fold
from core.debate.turn import JUDGE, Act, Turn
from core.request import ModelRequest
from core.rules.schedule import ready
from core.transcript.decision import adr, decision_text
from core.transcript.report import report
from tests.bot.golden_debates import (
    NAMES,
    as_made_now,
    prompts_text,
    short_record,
    stored_log,
    stored_replies,
    take_again,
    thread,
    without_calls,
)

GOLDEN = "../golden/debates"


@pytest.mark.parametrize("name", NAMES)
async def test_an_old_log_equals_its_approved_texts(name: str) -> None:
    log, folder = stored_log(name), f"{GOLDEN}/{name}"
    debate = fold(log)

    assert short_record(log) == external_file(f"{folder}/record.json", format=".txt")
    assert report(debate) == external_file(f"{folder}/report.md", format=".txt")
    assert adr(debate) == external_file(f"{folder}/adr.md", format=".txt")
    assert decision_text(debate) + "\n" == external_file(f"{folder}/decision.md", format=".txt")
    assert await thread(log) == external_file(f"{folder}/thread.md", format=".txt")


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_verdict_is_not_asked_for_again(name: str) -> None:
    log = stored_log(name)
    for place, record in enumerate(log):
        if record.event.kind != "verdict_reached":
            continue
        debate = fold(log[: place + 1])
        assert debate.is_done(Turn(act=Act.SYNTHESIS, round=1, agent=JUDGE))
        assert Act.SYNTHESIS not in {turn.act for turn in ready(debate)}


@pytest.mark.parametrize("name", NAMES)
async def test_turns_ask_and_come_to_what_they_did(name: str) -> None:
    log = stored_log(name)
    outcomes = {recorded.event.key: recorded.event for recorded in log}
    requests: dict[str, Sequence[ModelRequest]] = {}
    for key, replies in stored_replies(name).items():
        before = fold(log[: replies.after])
        requests[key], outcome = await take_again(before, replies)
        if outcome:
            stored = as_made_now(outcomes[outcome.key], outcome)
            assert without_calls(outcome) == without_calls(stored)
        else:
            assert outcomes[key].kind == "turn_failed"

    assert requests, "models were asked"
    prompts = prompts_text(requests)
    assert prompts == external_file(f"{GOLDEN}/{name}/prompts.md", format=".txt")


@pytest.mark.parametrize("name", NAMES)
def test_a_report_is_short_and_repeats_no_sentence(name: str) -> None:
    debate = fold(stored_log(name))
    text = report(debate)
    # What people and the judge wrote may hold a sentence twice: it stands as they wrote it.
    setup_text = debate.setup.model_dump_json() + "".join(
        part.model_dump_json() for part in (debate.verdict, *debate.clarifications.values()) if part
    )
    # A line that names where the same was said first may stand in several rounds.
    lines = [
        line for line in text.splitlines() if not line.startswith("|") and ":** As " not in line
    ]
    sentences = [s.strip("*-_> ") for line in lines for s in re.split(r"(?<=[.!?])\*? ", line)]
    sentences_shown = [
        s for s in sentences if len(s.split()) >= 6 and s.strip("“”*") not in setup_text
    ]
    assert [s for s in set(sentences_shown) if sentences_shown.count(s) > 1] == []
    assert len(text.split()) <= 2500
