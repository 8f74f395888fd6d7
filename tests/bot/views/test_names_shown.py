"""Names of files and options are shown so that people recognize them."""

from bot.slack.mrkdwn.escape import bare
from bot.views.notices import source_line
from bot.views.options import option_labels
from core.debate.evidence import Source, SourceKind, SourceReference
from core.debate.people import Person
from core.debate.turn import Act, Turn
from core.debate.vote import Option

_OPTION = "Drei Monate auf Probe mit versetzten freien Tagen"


def a_file(name: str, address: str = "https://files.slack.test/F1") -> Source:
    reference = SourceReference(
        kind=SourceKind.FILE,
        title=name,
        address=address,
        fetch="F1",
        by=Person(id="U1"),
    )
    turn = Turn(act=Act.READING, round=0, agent="reader", target="1")
    return Source(turn=turn, reference=reference, text="11:02 begun")


def test_a_file_whose_name_reads_as_an_address_keeps_its_name() -> None:
    for address in ("https://files.slack.test/F1", "https://files.slack.test/F1/last-night.log"):
        text = source_line(a_file("last-night.log", address)).text
        assert f"Agents quote last-night.log (<{address}|open>) as `e1`:" in text


def test_options_that_differ_late_have_labels_that_differ() -> None:
    begin = "Keep every job of the payment service in one queue that all teams of the house share, "
    ends = (f"{begin}run by the platform team with {name}" for name in ("Kafka", "PostgreSQL"))
    options = [Option(id=f"o{number}", name=name) for number, name in enumerate(ends)]

    assert list(option_labels(options).values()) == [
        "…platform team with Kafka",
        "…platform team with PostgreSQL",
    ]


def test_a_name_that_is_cut_says_so() -> None:
    assert bare(_OPTION, 40) == "Drei Monate auf Probe mit versetzten fr…"
    assert bare(_OPTION, len(_OPTION)) == _OPTION
