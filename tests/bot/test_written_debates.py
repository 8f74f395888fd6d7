"""Eight whole debates whose replies a person wrote: every kind of sentence said of them is true.

In one all say yes, at 60 % each; one is in German, splits, and quotes figures of a source; one is a
panel that agrees at once; one is a review of a German text, with figures, whose two voters differ;
in a council one moves to none of the options; in a critique about money the answer alone failed;
in one a file tells its reviewers what to write, and one agent and the judge do; in one all drafts
argue for yes, and all ballots hold no more likely.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest

from bot.slack.ids import ActionId
from bot.views.board import board
from bot.views.verdict import headline
from bot.views.vote import vote
from core.acts.request_for import request_for
from core.debate.log import RecordedEvent, event_from_json, fold
from core.debate.state import Debate
from core.debate.turn import JUDGE, Act, Turn
from core.transcript.adr import adr
from core.transcript.decision import decision_text
from core.transcript.report import report

FOLDER = Path(__file__).parents[1] / "fixtures" / "written"
SAME_WEIGHT = (
    "Move to the new office: 3 of 3 agents, mean probability 60%; "
    "Stay where we are: 0 of 3, mean 40%."
)
ONE_MODEL = (
    'One model speaks for all agents, and all put "Move to the new office" first: debating a '
    "choice with itself seldom helps, so its vote stands."
)
SPLIT = 'First answers differ, most about "Vier-Tage-Woche behalten": 40 points apart.'


@cache
def example(name: str) -> Debate:
    """The debate as its log tells it."""
    stored = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert stored["written"].startswith("By hand")
    log: Sequence[RecordedEvent] = [
        RecordedEvent(
            debate_id=stored["debate_id"],
            seq=row["seq"],
            at=datetime.fromisoformat(row["at"]),
            event=event_from_json(json.dumps(row["event"])),
        )
        for row in stored["events"]
    ]
    return fold(log)


@cache
def surface_text(name: str, surface: str) -> str:
    """What people read of it there."""
    debate = example(name)
    assert debate.verdict
    match surface:
        case "board":
            return board(debate).text
        case "verdict":
            return headline(debate, debate.verdict).text
        case "report":
            return report(debate)
        case "record":
            return adr(debate)
        case _:
            return decision_text(debate)


@pytest.mark.parametrize(
    ("name", "surface", "words"),
    [
        # Agreement at 60 % stays 60 %, is low, and is nowhere unanimity.
        ("yes_no", "terminal", "Confidence: low (60 of 100)."),
        ("yes_no", "terminal", f"Vote: {SAME_WEIGHT}"),
        ("yes_no", "record", SAME_WEIGHT),
        ("yes_no", "board", "*Move to the new office*: 3 of 3 agents, mean probability 60%"),
        ("yes_no", "verdict", "*Move to the new office*: 3 of 3 agents, mean probability 60%"),
        ("yes_no", "verdict", "low (60 of 100)"),
        # What it rests on.
        ("yes_no", "terminal", "mean of 3 ballots from 1 model, whose agreement with itself says"),
        ("yes_no", "terminal", "first answers lay 0 points apart; no source was given"),
        # Why there was no debate, and what nobody answered.
        ("yes_no", "report", ONE_MODEL),
        ("yes_no", "terminal", "Skipped by dana; assumed: Nobody."),
        ("yes_no", "board", "*Summary after proposals*"),
        # Whose models are in the judge's row, the judge's own first.
        ("poisoned", "report", "| Judge and auditor | alpha/alpha-large, gamma/gamma-large |"),
        # The round was begun before the last first ballot had come; all three count.
        *(
            ("poisoned", surface, 'First answers differ, most about "Buy NordVault": 75 points')
            for surface in ("board", "report", "record")
        ),
        # A split: who is first, by how much, and where they were before.
        ("german", "terminal", "Vier-Tage-Woche behalten: 2 of 3 agents, mean probability 57%; "),
        ("german", "terminal", "Zur Fünf-Tage-Woche zurück: 1 of 3, mean 38%"),
        ("german", "verdict", "*Vier-Tage-Woche behalten*: 2 of 3 agents, mean probability 57%"),
        ("german", "terminal", "Confidence: low (57 of 100)."),
        ("german", "terminal", "mean of 3 ballots from 3 models: 57%; first answers lay 40 points"),
        ("german", "report", SPLIT),
        (
            "german",
            "verdict",
            "von 418 auf 412 Teile je Schicht. People voted against the verdict.\n",
        ),
        (
            "german",
            "report",
            "In rounds 1 and 2 some or all agents gave no probabilities that",
        ),
        ("german", "terminal", "How it ended: All 3 rounds were held."),
        # Quotes: each by itself, in its place, found or struck out.
        ("german", "terminal", "sanken auf 9,8 “in der Probezeit 9,8” (e1, line 2)."),
        ("german", "report", "“Zwei von 37 Beschäftigten” (e1, line 4)"),
        ("german", "report", "~~“Kosten steigen um 5 %”~~ (not found in e1)"),
        ("german", "terminal", "The verdict's checked quotes all come from one source: e1."),
        ("german", "board", "*Summary up to round 3*"),
        # In few words the reasons stand whole, and the option is not named twice.
        ("panel", "verdict", "• A firm date moves the laggards; a soft one does not.\n"),
        (
            "panel",
            "verdict",
            "update, and gave the option 65 %. No agent voted against the verdict.\n",
        ),
        # The three reasons come before it.
        ("panel", "terminal", "More than 2 % of daily calls come from the old API on 15 March.\n"),
        ("panel", "report", "| Format | panel, only first answers were given |"),
        ("panel", "record", "- Keep it running: no agent favours it\n"),
        ("panel", "record", "## Recommendations\n\n- Watch the share of calls"),
        ("panel", "report", "| One model alone | alpha/alpha-large | 1 | 1 |"),
        ("panel", "verdict", "*Turn the old mobile API off on 31 March, after two announced"),
        ("panel", "verdict", "*Keep it running*: 0 of 3, mean 18%; 1 more option"),
        ("panel", "verdict", 'All agreed at once on "Turn it off on 31 March"; the debate was'),
        ("panel", "verdict", "first answers gave it 65% to 80%; no source was given"),
        ("panel", "board", "A is Product, B is Operations, C is Customer."),
        ("panel", "report", "Where a voter ranked its own text does not count."),
        ("panel", "record", "Status: proposed (not decided yet)"),
        # Findings leave room for who disagrees and what would overturn the verdict.
        ("review", "verdict", "• *Blocker 1* (e1, line 16): Die Ersparnis beträgt 5.500 €"),
        ("review", "verdict", "*Dissent*: Operations: Was fehlt"),
        ("review", "verdict", "*What would overturn it*: Jena"),
        ("review", "terminal", "the option it stands for. Points: Finance 0, Operations 0."),
        ("review", "terminal", "Only quotes were checked: those with a place were found there."),
        ("review", "report", "### Question 4, asked by Operations\n\nFinding 4.\n"),
        ("review", "report", "1 finding struck out: not about words of the subject."),
        ("review", "verdict", "• … and 4 more findings"),
        (
            "review",
            "verdict",
            ":warning: Level on first choices: Not yet and Ready with changes; Not yet has",
        ),
        ("review", "verdict", "\ne1 is plan.md (the subject)."),
        ("review", "report", "Sources: e1 is plan.md (the subject)."),
        # The runner-up is named, and who puts nothing first; whose words a cause is told in.
        (
            "council",
            "board",
            "*Buy a billing product*: 0 of 3, mean 22%; *None of these / not now*: 1 of 3, mean",
        ),
        ("council", "verdict", "moved by Architect; Finance says: “The second migration was"),
        (
            "council",
            "report",
            "Split into services: 0 of 3, mean 5%; None of these / not now: 1 of 3, mean",
        ),
        (
            "critique",
            "verdict",
            "moved by Finance's critique of Sceptic in round 1; Sceptic says: “An",
        ),
        (
            "critique",
            "report",
            "| One model alone | no usable reply | 0 | 2 | 1,867 | 0 | 126 | – |",
        ),
        # A file that tells reviewers what to write: what is doubted, and what the verdict hangs on.
        (
            "poisoned",
            "verdict",
            "5 hours 40 minutes; the words come from a note that tells reviewers",
        ),
        (
            "poisoned",
            "report",
            'without Finance, "Own copy" would have led.',
        ),
        # Beside doubts there is room for a sentence of the dissent.
        (
            "poisoned",
            "verdict",
            "hide it. Sceptic voted against the verdict.\n*What would overturn it*: A second",
        ),
        (
            "poisoned",
            "report",
            "| A restore must take less than 4 hours | met (an audit doubts it) |",
        ),
        ("poisoned", "report", "found 2 faults; the judge then changed the words of none."),
        ("poisoned", "report", "verified.** (an audit doubts words of this verdict)"),
        (
            "poisoned",
            "verdict",
            ":warning: *An audit doubts words of this verdict*",
        ),
        ("poisoned", "verdict", "\n• … and 1 more doubt\n"),
        ("poisoned", "board", "*Confidence*: low (57 of 100)"),
        # Whose drafts argued for yes, though all held no likelier from the first ballot on.
        (
            "against",
            "report",
            "| No | 60% | Finance, Product, Operations | nobody |\n| Yes | 40% | nobody | Finance",
        ),
        ("against", "report", "| Text of | Its author favours | Points | First places |"),
        ("against", "record", "- Yes: no agent favours it\n- No: Finance, Product, Operations"),
        (
            "against",
            "verdict",
            "*No*: 3 of 3 agents, mean probability 60%; *Yes*: 0 of 3, mean 40%",
        ),
        ("against", "terminal", "Confidence: low (60 of 100)."),
        # The judge's own number is a footnote.
        ("german", "terminal", "the judge's own number, which does not count, was 70 of 100."),
    ],
)
def test_what_is_said_is_so(name: str, surface: str, words: str) -> None:
    assert words in surface_text(name, surface)


def test_a_judge_is_told_that_a_winners_draft_argued_for_another_option() -> None:
    debate = example("against")
    verdict_turn = Turn(act=Act.SYNTHESIS, round=1, agent=JUDGE)
    *quoted, task = (part.text for part in request_for(debate, verdict_turn).parts)
    assert 'the position of Product (whose draft argued for "Yes").' in task
    assert any("o2: No (favoured by Finance, Product, Operations)" in text for text in quoted)


@pytest.mark.parametrize("surface", ["board", "verdict", "report", "record", "terminal"])
def test_what_is_not_so_is_said_nowhere(surface: str) -> None:
    for words in ("100%", "All agreed at once", "high (", "changed their mind:", "moved by"):
        assert words not in surface_text("yes_no", surface)
        assert words not in surface_text("german", surface)
        assert words.startswith("All agreed") or words not in surface_text("panel", surface)
        assert words not in surface_text("review", surface)
    assert "Stance:" not in surface_text("german", surface), (
        "what is for programs is in no sentence"
    )
    assert "verified |" not in surface_text("german", surface), "a reason is never verified"


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.iterdir()))
def test_people_are_invited_to_vote_where_there_is_a_button(name: str) -> None:
    for quiet in (True, False):
        setup = example(name).setup.model_copy(update={"quiet": quiet})
        debate = replace(example(name), setup=setup)
        assert debate.verdict
        assert debate.tally
        posts = [headline(debate, debate.verdict)]
        posts += [] if quiet else [vote(debate, debate.tally)]

        invites = ["Anybody here can vote" in post.text for post in posts]
        assert invites == [ActionId.BALLOT.value in str(post.blocks) for post in posts]
        assert any(invites) is ("Anybody here can vote" in board(debate).text) is True
