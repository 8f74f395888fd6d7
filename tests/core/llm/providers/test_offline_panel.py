"""The offline engine at the panel: what a facilitator sees in the round, what a member replies."""

from core.models import Act
from core.request import Part, PartKind
from tests.core.llm.providers.test_offline import fill, part, say

CHOICE = "Kafka or PostgreSQL?"
KAFKA = "**Use Kafka.** It keeps every message for replay after a mistake."
POSTGRES = "**Use PostgreSQL.** It is one machine less to look after."
BESIDE = (
    "Nobody has looked at the costs of either.",
    "We should ask whoever is on call at night.",
    "Two vendors offer both as a service.",
)


def heard(*texts: str) -> list[Part]:
    return [part(PartKind.OTHER, text, f"Member {n}") for n, text in enumerate(texts, start=1)]


def decided(*texts: str, question: str = CHOICE) -> tuple[str, str]:
    answer = fill(Act.FACILITATION, *heard(*texts), question=question)
    return answer["decision"], answer["focus"]


def test_who_agrees_with_nothing_left_open_votes() -> None:
    decision, focus = decided(KAFKA, f"{KAFKA} Replay saved us once.")
    assert decision == "vote"
    assert "same option" in focus


def test_a_facilitator_says_what_stays_open_although_all_speak_of_it() -> None:
    said = "**Use Kafka.** It must keep every job, and it does."
    decision, focus = decided(said, said, question=f"{CHOICE} It must keep every job.")
    assert decision == "vote"
    assert "whether it meets “must keep every job” is open" in focus


def test_agreement_is_no_reason_to_vote_while_a_requirement_is_open() -> None:
    question = f"{CHOICE} It must handle 2,000 jobs per second."
    assert decided(KAFKA, KAFKA, question=question)[0] == "go_on"


def test_what_only_repeats_earlier_words_ends_the_talk() -> None:
    decision, focus = decided(KAFKA, POSTGRES, *BESIDE, KAFKA)
    assert decision == "vote"
    assert "repeat" in focus


def test_two_sides_are_asked_what_would_change_their_minds() -> None:
    decision, focus = decided(KAFKA, POSTGRES, *BESIDE)
    assert decision == "go_on"
    assert focus == "Kafka or PostgreSQL: what would each side have to see to change its mind?"


def test_with_one_side_only_the_next_open_point_is_asked_for() -> None:
    decision, focus = decided(KAFKA, *BESIDE, "Where it runs is not the question.")
    assert decision == "go_on"
    assert focus.endswith("?")
    assert "each side" not in focus


def statement(own: str, *texts: str) -> str:
    mine = part(PartKind.OWN, own, "Your position")
    return say(Act.STATEMENT, mine, *heard(*texts), question=CHOICE)


def test_a_member_answers_whoever_takes_another_option() -> None:
    said = statement(KAFKA, f"{KAFKA} I agree.", POSTGRES)
    assert said.startswith("**Choose Kafka.**")
    assert "Member 2 said" in said


def test_a_member_says_where_it_agrees_when_nobody_takes_another_option() -> None:
    said = statement(KAFKA, f"{KAFKA} Replay saved us once.")
    assert "I agree with Member 1" in said
