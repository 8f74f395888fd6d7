"""The register of a channel's decisions, as Markdown."""

import pytest

from core.events import (
    DebateConcluded,
    DebateStarted,
    DecisionRecorded,
    Event,
    OutcomeGiven,
    VerdictReached,
    fold,
)
from core.models import Debate, Decision, DecisionKind, DecisionOutcome, OutcomeKind, Person
from core.testing import a_setup, recorded
from core.transcript.people import recalled_title
from core.transcript.register import MOST_LISTED, register
from tests.bot.plays import a_verdict

DANA, ALEX = Person(id="U1", name="Dana"), Person(id="U2", name="Alex")


def a_debate(debate_id: str, title: str, *decisions: Decision, outcome: str = "") -> Debate:
    """Return a debate that the team decided on."""
    events: list[Event] = [
        DebateStarted(setup=a_setup()),
        VerdictReached(verdict=a_verdict(decision=title)),
        DebateConcluded(),
        *(DecisionRecorded(decision=one) for one in decisions),
    ]
    if outcome:
        said = DecisionOutcome(
            kind=OutcomeKind.HELD, by=DANA, why=outcome, decision=decisions[0].origin, origin="o"
        )
        events.append(OutcomeGiven(outcome=said))
    return fold(recorded(events, debate_id))


def decided(kind: DecisionKind, by: Person = DANA, newer: str | None = None) -> Decision:
    return Decision(kind=kind, by=by, superseded_by=newer, origin=f"{kind}-{by.id}")


def lines_of(*debates: Debate, links: dict[str, str] | None = None) -> list[str]:
    text = register(debates, links or {})
    return [line for line in text.splitlines() if line.startswith("- ")]


def test_a_decision_is_one_line_with_day_who_and_thread() -> None:
    debate = a_debate("dabc2345", "Use PostgreSQL.", decided(DecisionKind.ACCEPT))
    [line] = lines_of(debate, links={"dabc2345": "https://acme.slack.com/archives/C1/p1"})
    assert line.endswith(
        " **Use PostgreSQL**: accepted by Dana. [Thread](https://acme.slack.com/archives/C1/p1)"
    )
    again = a_debate(
        "dabc2345", "Use PostgreSQL.", *(decided(DecisionKind.ACCEPT, by) for by in (DANA, ALEX))
    )
    [line] = lines_of(again)
    assert line.endswith("**Use PostgreSQL**: accepted by Alex.")


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        (None, "What the agents recommended; your team has not decided yet"),
        (DecisionKind.ACCEPT, "What was decided"),
        (DecisionKind.REJECT, "What the agents recommended; your team rejected it"),
        (DecisionKind.REVISIT, "What the agents recommended; your team will look at it again"),
        (DecisionKind.SUPERSEDE, "What the agents recommended; your team has another decision now"),
    ],
)
def test_only_what_the_team_accepted_is_told_as_decided(
    kind: DecisionKind | None, title: str
) -> None:
    made = [decided(kind)] if kind else []
    assert recalled_title(a_debate("dabc2345", "Use PostgreSQL.", *made)) == title


def test_what_nobody_accepted_is_not_listed() -> None:
    debate = a_debate("dabc2345", "Use PostgreSQL.", decided(DecisionKind.REJECT))
    assert lines_of(debate) == []
    assert "No decision" in register([debate], {})


def test_a_superseded_one_is_struck_and_names_the_newer() -> None:
    newer = a_debate("dnew2345", "Use Redis.", decided(DecisionKind.ACCEPT))
    older = a_debate(
        "dold2345",
        "Use PostgreSQL.",
        decided(DecisionKind.ACCEPT),
        decided(DecisionKind.SUPERSEDE, newer="dnew2345"),
    )
    both = lines_of(older, newer)
    assert [
        one
        for one in both
        if "~~Use PostgreSQL~~: accepted by Dana, superseded by “Use Redis”" in one
    ]
    [alone] = lines_of(older)
    assert "superseded by debate `dnew2345`" in alone


def test_rejected_since_and_how_it_turned_out_are_told() -> None:
    debate = a_debate(
        "dabc2345",
        "Use PostgreSQL.",
        decided(DecisionKind.ACCEPT),
        decided(DecisionKind.REJECT, ALEX),
        outcome="It was fast.",
    )
    [line] = lines_of(debate)
    assert "~~Use PostgreSQL~~: accepted by Dana, rejected (said by Alex), held, says Dana." in line


def test_words_of_people_and_models_do_nothing_in_a_canvas() -> None:
    nasty = "Use ~~it~~ **now** ![](@U0EVERYBODY) <b>x</b> [go](javascript:x)\n\n# Fired\n- gone"
    debate = a_debate(
        "dabc2345", nasty, decided(DecisionKind.ACCEPT, Person(id="U", name="*a*\n- b"))
    )
    [line] = lines_of(debate)
    assert not any(one in line for one in ("~~", "![", "<b", "](javascript"))
    assert line.count("**") == 2


def test_a_long_register_says_that_older_ones_are_left_out() -> None:
    debates = [
        a_debate(f"d{number:07}", f"Use {number}.", decided(DecisionKind.ACCEPT))
        for number in range(MOST_LISTED + 2)
    ]
    lines = lines_of(*debates)
    assert len(lines) == MOST_LISTED + 1
    assert lines[-1] == "- Older ones are not listed: `/debate search` finds them"


def test_nothing_that_somebody_wrote_makes_code_or_a_link_with_what_stands_beside_it() -> None:
    ann = Person(id="U3", name="Ann. [Thread](https://evil.test)")
    debate = a_debate(
        "dabc2345",
        "Use `x.",
        decided(DecisionKind.ACCEPT, ann),
        outcome="`![](@U0123456789) <b> <@U1> [x](javascript:a)",
    )
    [line] = lines_of(debate)
    assert not set(line) & set("`[]<")
    assert "https://evil.test" in line
