"""Format `critique`: which turns are ready when, what each of them sees, what it may take over."""

from collections.abc import Sequence

from core.events import Event
from core.models import Debate
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


def test_only_a_lost_proposal_or_a_refused_key_takes_an_agent_out() -> None:
    critiques_lost = failed("r1/critique/architect/security", "r1/refinement/architect")

    assert critique.FORMAT.alive(a_debate(*critiques_lost)) == AGENTS
    assert critique.FORMAT.alive(a_debate(*failed("r1/proposal/architect"))) == AGENTS[1:]
    assert (
        critique.FORMAT.alive(a_debate(*refused("r1/critique/simplicity/security"))) == AGENTS[:2]
    )


def test_drafts_are_there_when_no_first_proposal_can_come_any_more() -> None:
    two = said(*PROPOSED[:2], "r1/refinement/architect")
    complete = critique.FORMAT.drafts(a_debate(*two, *failed("r1/proposal/simplicity")))

    assert critique.FORMAT.drafts(a_debate(*two)) == {}
    assert [(agent, draft.text) for agent, draft in complete.items()] == [
        ("architect", "r1/proposal/architect"),
        ("security", "r1/proposal/security"),
    ]


def carried(key: str, *events: Event) -> str | None:
    taken = critique.FORMAT.carried_over(a_debate(*events), turn(key))
    return taken and taken.text


def test_the_first_proposal_and_one_after_a_lost_refinement_ask_a_model() -> None:
    happened = [*said(*PROPOSED, *CRITIQUED), *failed("r1/refinement/security")]

    assert carried("r1/proposal/security") is None
    assert carried("r2/proposal/security", *happened) is None
