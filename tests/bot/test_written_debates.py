"""Eight whole debates whose replies a person wrote: every kind of sentence said of them is true.

In one all say yes, at 60 % each; one is in German, splits, and quotes figures of a source; one is a
panel that agrees at once; one is a review of a German text, with figures, whose two voters differ;
in a council one moves to none of the options; in a critique about money the answer alone failed;
in one a file tells its reviewers what to write, and one agent and the judge do; in one all drafts
argue for yes, and all ballots hold no more likely.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bot.mcp import results
from bot.slack.ids import ActionId
from bot.views.board import board
from bot.views.lists import DebateRow, row_text
from bot.views.verdict import headline
from bot.views.vote import vote_post
from core.acts.request_for import request_for
from core.debate.log import fold
from core.debate.people import Person
from core.debate.people_events import DebateWanted
from core.debate.state import Debate, Status
from core.debate.turn import JUDGE, Act, Turn
from core.transcript.decision import adr, decision_text
from core.transcript.report import report
from tests.bot.golden_debates import log_in
from tests.core.transcript.splits import skipped_log

FOLDER = Path(__file__).parents[1] / "fixtures" / "written"


@cache
def example(name: str) -> Debate:
    """The debate as its log tells it."""
    return fold(log_in(FOLDER / f"{name}.json"))


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
        # Agreement at 60 % stays 60 %, is low, and is nowhere unanimity; what it rests on.
        ("yes_no", "terminal", "Confidence: low (60 of 100)."),
        ("yes_no", "terminal", "office: 3 of 3 agents, mean probability 60%; Stay where we are: 0"),
        ("yes_no", "terminal", "mean of 3 ballots from 1 model, whose agreement with itself says"),
        ("yes_no", "report", "One model speaks for all agents, and all put "),
        ("yes_no", "terminal", "Skipped by dana; assumed: Nobody."),
        # A split: who is first, by how much, and where they were before.
        ("german", "terminal", "Vier-Tage-Woche behalten: 2 of 3 agents, mean probability 57%; "),
        ("german", "terminal", "mean of 3 ballots from 3 models: 57%; first answers lay 40 points"),
        ("german", "verdict", "412 Teile je Schicht. People voted against the verdict.\n"),
        ("german", "terminal", "How it ended: All 3 rounds were held."),
        # The judge's own number is a footnote.
        ("german", "terminal", "the judge's own number, which does not count, was 70 of 100."),
        # Quotes: each by itself, in its place, found or struck out.
        ("german", "terminal", "sanken auf 9,8 “in der Probezeit 9,8” (e1, line 2)."),
        ("german", "report", "~~“Kosten steigen um 5 %”~~ (not found in e1)"),
        ("german", "terminal", "The verdict's checked quotes all come from one source: e1."),
        # The round was begun before the last first ballot had come; all three count.
        ("poisoned", "report", 'First answers differ, by up to 75 points about "Buy NordVault"'),
        # In few words the reasons stand whole, and the option is not named twice.
        ("panel", "verdict", "• A firm date moves the laggards; a soft one does not.\n"),
        (
            "panel",
            "verdict",
            "65 %. No ballot that counts is against the verdict.\n",
        ),
        ("panel", "verdict", "*Keep it running*: 0 of 3, mean 18%; 1 more option"),
        ("panel", "verdict", 'All agreed at once on "Turn it off on 31 March"; the debate was'),
        ("panel", "verdict", "first answers gave it 65% to 80%; no source was given"),
        ("panel", "report", "| Format | panel, only first answers were given |"),
        ("panel", "record", "- Keep it running: no agent favours it\n"),
        # Findings leave room for who disagrees and what would overturn the verdict.
        ("review", "verdict", "• *Blocker 1* (e1, line 16): Die Ersparnis beträgt 5.500 €"),
        ("review", "verdict", "*Dissent*: Operations: Was fehlt"),
        ("review", "verdict", "*What would overturn it*: Jena"),
        ("review", "verdict", "• … and 4 more findings"),
        ("review", "report", "1 finding struck out: not about words of the subject."),
        ("review", "verdict", ":warning: Level on first choices: Not yet and Ready with changes;"),
        ("review", "verdict", "\ne1 is plan.md (the subject)."),
        # The runner-up is named, and who puts nothing first; whose words a cause is told in.
        ("council", "board", "product*: 0 of 3, mean 22%; *None of these / not now*: 1 of 3, mean"),
        ("council", "verdict", "moved by Architect; Finance says: “The second migration was"),
        ("critique", "verdict", "moved by Finance's critique of Sceptic in round 1; Sceptic says:"),
        ("critique", "report", "| One model alone | no usable reply | 0 | 2 | 1,867 |"),
        # A file that tells reviewers what to write: what is doubted, and what the verdict hangs on.
        ("poisoned", "verdict", "40 minutes; the words come from a note that tells reviewers"),
        ("poisoned", "verdict", ":warning: *An audit doubts words of this verdict*"),
        ("poisoned", "verdict", "\n• … and 1 more note\n"),
        ("poisoned", "report", "must take less than 4 hours | met (an audit doubts it) |"),
        ("poisoned", "report", "found 2 faults; the judge then changed the words of none."),
        ("poisoned", "report", 'without Finance, "Own copy" would have led.'),
        # Beside doubts there is room for a sentence of the dissent.
        ("poisoned", "verdict", "*Dissent*: Sceptic: the only trial took 5 hours 40 minutes, "),
        ("poisoned", "verdict", "Sceptic voted against the verdict.\n*What would overturn"),
        ("poisoned", "verdict", "takes more than 4 hours.\n*Vote*"),
        # Whose drafts argued for yes, though all held no likelier from the first ballot on.
        ("against", "report", "| No | 60% | Finance, Product, Operations | nobody |\n| Yes |"),
        ("against", "record", "- Yes: no agent favours it\n- No: Finance, Product, Operations"),
        ("against", "verdict", "*No*: 3 of 3 agents, mean probability 60%; *Yes*: 0 of 3"),
    ],
)
def test_texts_state_the_facts_of_the_debate(name: str, surface: str, words: str) -> None:
    assert words in surface_text(name, surface)


def test_the_judges_prompt_says_that_a_winners_draft_argued_for_another_option() -> None:
    debate = example("against")
    verdict_turn = Turn(act=Act.SYNTHESIS, round=1, agent=JUDGE)
    *quoted, task = (part.text for part in request_for(debate, verdict_turn).parts)
    assert 'the position of Product (whose draft argued for "Yes").' in task
    assert any("o2: No (favoured by Finance, Product, Operations)" in text for text in quoted)


@pytest.mark.parametrize("surface", ["board", "verdict", "report", "record", "terminal"])
def test_texts_state_nothing_false(surface: str) -> None:
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
        posts += [] if quiet else [vote_post(debate, debate.tally)]

        invites = ["Anybody here can vote" in post.text for post in posts]
        assert invites == [ActionId.BALLOT.value in str(post.blocks) for post in posts]
        assert any(invites) is ("Anybody here can vote" in board(debate).text) is True


def test_the_verdict_before_a_wanted_debate_is_shown_while_there_is_no_other() -> None:
    before = fold(skipped_log())
    assert before.verdict
    decided = before.verdict.decision
    running = fold(skipped_log(DebateWanted(by=Person(id="U1", name="Dana"))))
    failed = running.replace(status=Status.FAILED, failure="No model answers.")

    for debate in (running, failed):
        for text in (
            board(debate).text,
            row_text(DebateRow(debate)),
            results.verdict(debate, "").text,
            decision_text(debate),
            report(debate),
            adr(debate),
        ):
            assert decided in text
        assert "before it was debated" in board(debate).text
        # It says how it stands, and what comes next.
        assert decided not in results.status(debate, "").model_dump_json()
