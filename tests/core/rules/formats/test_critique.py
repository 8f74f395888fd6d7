"""Format `critique`: which turns are ready when, what each of them sees, what it may take over."""

from collections.abc import Sequence
from dataclasses import replace

from core.events import Event
from core.models import Debate
from core.request import Part, PartKind, numbered
from core.rules.formats import critique
from tests.core.rules.formats.told import (
    AGENTS,
    a_format_setup,
    failed,
    keys,
    of_all,
    refused,
    said,
    told,
    turn,
)

PROPOSED = of_all("r1/proposal/*")
CRITIQUED = [f"r1/critique/{c}/{t}" for c in AGENTS for t in AGENTS if c != t]
REFINED = of_all("r1/refinement/*")


def a_debate(*events: Event) -> Debate:
    return told(a_format_setup("critique"), *events)


def ready(*events: Event, rounds: int = 3) -> Sequence[str]:
    return keys(critique.FORMAT.ready(a_debate(*events), rounds))


def test_at_first_everybody_proposes_and_nothing_else() -> None:
    assert ready() == PROPOSED


def test_a_critique_waits_only_for_its_critics_and_its_targets_proposal() -> None:
    assert ready(*said("r1/proposal/architect", "r1/proposal/security")) == [
        "r1/proposal/simplicity",
        "r1/critique/architect/security",
        "r1/critique/security/architect",
    ]


def test_a_refinement_waits_for_every_critique_of_its_proposal_and_for_no_other() -> None:
    of_architect = ["r1/critique/security/architect", "r1/critique/simplicity/architect"]

    assert "r1/refinement/architect" not in ready(*said(*PROPOSED, of_architect[0]))
    assert ready(*said(*PROPOSED, *of_architect)) == [
        *(key for key in CRITIQUED if key not in of_architect),
        "r1/refinement/architect",
    ]


def test_a_critique_that_failed_is_waited_for_no_more() -> None:
    happened = [*said(*PROPOSED, *CRITIQUED[1:]), *failed(CRITIQUED[0])]

    assert ready(*happened) == REFINED


def test_who_lost_its_proposal_neither_speaks_nor_is_criticised_nor_waited_for() -> None:
    happened = [*failed("r1/proposal/simplicity"), *said(*PROPOSED[:2])]
    between = ["r1/critique/architect/security", "r1/critique/security/architect"]

    assert ready(*happened) == between
    assert ready(*happened, *said(*between)) == REFINED[:2]


def test_who_is_refused_speaks_no_more_but_its_proposal_is_still_criticised() -> None:
    happened = [*said(*PROPOSED), *refused("r1/critique/architect/security")]
    others = [key for key in CRITIQUED if not key.startswith("r1/critique/architect")]

    assert ready(*happened) == others
    assert ready(*happened, *said(*others)) == REFINED[1:]


def test_the_next_proposal_waits_only_for_the_agents_own_refinement() -> None:
    happened = said(*PROPOSED, *CRITIQUED, REFINED[1])

    assert ready(*happened) == [REFINED[0], REFINED[2], "r2/proposal/security"]
    assert ready(*happened, *failed(REFINED[0])) == [
        REFINED[2],
        "r2/proposal/architect",
        "r2/proposal/security",
    ]


def test_who_was_refused_its_refinement_proposes_no_more() -> None:
    happened = [*said(*PROPOSED, *CRITIQUED, *REFINED[:2]), *refused(REFINED[2])]

    assert ready(*happened) == ["r2/proposal/architect", "r2/proposal/security"]


def test_no_turn_belongs_to_a_round_beyond_the_last() -> None:
    happened = said(*PROPOSED, *CRITIQUED, *REFINED)

    assert ready(*happened, rounds=1) == []
    assert ready(*happened, rounds=2) == of_all("r2/proposal/*")


def test_the_plan_of_a_round_names_every_pair_of_agents_that_are_left() -> None:
    assert keys(critique.FORMAT.planned(a_debate(), 2)) == [
        key.replace("r1", "r2") for key in (*PROPOSED, *CRITIQUED, *REFINED)
    ]
    assert keys(critique.FORMAT.planned(a_debate(*failed("r1/proposal/security")), 1)) == [
        "r1/proposal/architect",
        "r1/proposal/simplicity",
        "r1/critique/architect/simplicity",
        "r1/critique/simplicity/architect",
        "r1/refinement/architect",
        "r1/refinement/simplicity",
    ]


def test_only_a_lost_proposal_or_a_refused_key_takes_an_agent_out() -> None:
    critiques_lost = failed("r1/critique/architect/security", "r1/refinement/architect")

    assert critique.FORMAT.alive(a_debate(*critiques_lost)) == AGENTS
    assert critique.FORMAT.alive(a_debate(*failed("r1/proposal/architect"))) == AGENTS[1:]
    assert (
        critique.FORMAT.alive(a_debate(*refused("r1/critique/simplicity/security"))) == AGENTS[:2]
    )


def test_a_position_is_the_newest_proposal_or_refinement_in_roster_order() -> None:
    debate = a_debate(*said(*reversed(PROPOSED), *CRITIQUED, REFINED[1], "r2/proposal/security"))
    texts = [(agent, made.text) for agent, made in critique.FORMAT.positions(debate).items()]

    assert texts == [
        ("architect", "r1/proposal/architect"),
        ("security", "r2/proposal/security"),
        ("simplicity", "r1/proposal/simplicity"),
    ]


def test_before_the_first_round_there_is_no_position() -> None:
    assert critique.FORMAT.positions(a_debate(*said("r1/proposal/security")), 0) == {}


def test_positions_up_to_a_round_include_it_and_nothing_later() -> None:
    debate = a_debate(*said("r1/proposal/security", "r2/refinement/security"))
    upto = {number: critique.FORMAT.positions(debate, number)["security"].text for number in (1, 2)}

    assert upto == {1: "r1/proposal/security", 2: "r2/refinement/security"}


def test_who_has_said_nothing_has_no_position() -> None:
    assert list(critique.FORMAT.positions(a_debate(*said("r1/proposal/security")))) == ["security"]


def test_drafts_are_there_when_no_first_proposal_can_come_any_more() -> None:
    two = said(*PROPOSED[:2], "r1/refinement/architect")
    complete = critique.FORMAT.drafts(a_debate(*two, *failed("r1/proposal/simplicity")))

    assert critique.FORMAT.drafts(a_debate(*two)) == {}
    assert [(agent, draft.text) for agent, draft in complete.items()] == [
        ("architect", "r1/proposal/architect"),
        ("security", "r1/proposal/security"),
    ]


def test_a_proposal_is_made_in_isolation() -> None:
    assert critique.FORMAT.shown(a_debate(*said(*PROPOSED)), turn("r1/proposal/architect")) == []


def test_a_first_critique_sees_its_targets_proposal_and_nothing_else() -> None:
    parts = critique.FORMAT.shown(
        a_debate(*said(*PROPOSED)), turn("r1/critique/architect/security")
    )

    assert parts == [_under_review("r1/proposal/security")]


def test_a_later_critique_sees_what_the_critic_said_of_the_version_before() -> None:
    debate = a_debate(*said(*PROPOSED, *CRITIQUED, *REFINED, "r2/proposal/security"))

    assert critique.FORMAT.shown(debate, turn("r2/critique/architect/security")) == [
        _under_review("r2/proposal/security"),
        Part(
            kind=PartKind.OTHER,
            label="Your critique of its earlier version",
            text="r1/critique/architect/security",
            trim_priority=3,
        ),
    ]


def _under_review(text: str) -> Part:
    return Part(
        kind=PartKind.POSITION,
        label="Proposal under review",
        text=text,
        ends_shared=True,
        trim_priority=1,
    )


def test_a_refinement_sees_its_own_proposal_and_the_critiques_of_it_unnamed() -> None:
    debate = a_debate(*said(*PROPOSED, *reversed(CRITIQUED)))
    label = "Another position in short,"
    others = numbered(PartKind.OTHER, label, PROPOSED[::2], trim_priority=3)

    assert critique.FORMAT.shown(debate, turn("r1/refinement/security")) == [
        replace(others[0], ends_shared=True),  # the third agent reads it first, too
        others[1],
        Part(
            kind=PartKind.OWN, label="Your proposal", text="r1/proposal/security", trim_priority=1
        ),
        Part(
            kind=PartKind.CRITIQUE,
            label="Critique 1 of 2",
            text="r1/critique/architect/security",
            trim_priority=2,
        ),
        Part(
            kind=PartKind.CRITIQUE,
            label="Critique 2 of 2",
            text="r1/critique/simplicity/security",
            trim_priority=2,
        ),
    ]


def test_critiques_come_in_roster_order_and_from_the_round_alone() -> None:
    debate = a_debate(*said(*PROPOSED, *reversed(CRITIQUED), "r2/critique/simplicity/architect"))
    received = [
        [
            part.text
            for part in critique.FORMAT.shown(debate, turn(f"r{number}/refinement/architect"))
            if part.kind is PartKind.CRITIQUE
        ]
        for number in (1, 2)
    ]

    assert received == [
        ["r1/critique/security/architect", "r1/critique/simplicity/architect"],
        ["r2/critique/simplicity/architect"],
    ]


def carried(key: str, *events: Event) -> str | None:
    taken = critique.FORMAT.carried_over(a_debate(*events), turn(key))
    return taken and taken.text


def test_a_later_proposal_is_the_agents_refinement_of_the_round_before() -> None:
    happened = said(*PROPOSED, *CRITIQUED, *REFINED, "r2/refinement/security")

    assert carried("r2/proposal/security", *happened) == "r1/refinement/security"
    assert carried("r3/proposal/security", *happened) == "r2/refinement/security"


def test_the_first_proposal_and_one_after_a_lost_refinement_ask_a_model() -> None:
    happened = [*said(*PROPOSED, *CRITIQUED), *failed("r1/refinement/security")]

    assert carried("r1/proposal/security") is None
    assert carried("r2/proposal/security", *happened) is None


def test_a_refinement_that_nobody_criticised_keeps_the_proposal() -> None:
    happened = said(*PROPOSED, "r1/critique/security/architect")

    assert carried("r1/refinement/security", *happened) == "r1/proposal/security"
    assert carried("r1/refinement/architect", *happened) is None


def test_a_critique_is_never_taken_over() -> None:
    happened = said(*PROPOSED, *CRITIQUED, *REFINED, "r2/proposal/security")

    assert carried("r2/critique/security/architect", *happened) is None
