"""Sources are cut at headings and paragraphs, and the passages that fit are found."""

from core.debate.evidence import Mark, Source, SourceKind, SourceReference
from core.debate.people import Person
from core.debate.turn import Act, Turn
from core.evidence.passages import passages_of


def a_source(text: str, marks: tuple[Mark, ...] = (), number: int = 1) -> Source:
    reference = SourceReference(
        kind=SourceKind.FILE, title="load.md", address="https://f.test", fetch="", by=Person(id="U")
    )
    turn = Turn(act=Act.READING, round=0, agent="engine", target=str(number))
    return Source(turn=turn, reference=reference, text=text, marks=marks)


def cut(text: str, *marks: Mark) -> list[tuple[str, str, str]]:
    passages = passages_of(a_source(text, marks))
    return [(passage.heading, passage.place, passage.text) for passage in passages]


def test_nothing_is_lost_whatever_the_text() -> None:
    text = "\n".join(f"{n} " + "x" * (n % 90) for n in range(500)) + "\n\n" + "y" * 5000
    whole = "".join(passage.text for passage in passages_of(a_source(text)))
    assert "".join(whole.split()) == "".join(text.split())


def test_a_long_hunk_of_many_headings_and_many_hunks_are_cut_in_good_time() -> None:
    body = "# h\n-gone\nx\n" * 20_000
    passages = passages_of(a_source(f"head\n{body}", (Mark(line=1, label="a", hunk_at=5),)))
    # Of each three lines one is gone from the file.
    assert [passage.place for passage in passages[1:3]] == ["a:6", "a:8"]
    assert passages[-1].place == f"a:{5 + 2 * 20_000 - 1}"
    marks = tuple(Mark(line=line, label=f"f{line}", hunk_at=1) for line in range(1, 20_001))
    many = passages_of(a_source("x\n" * 20_000, marks))
    assert many[-1].place == "f20000:1"
