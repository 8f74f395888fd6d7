"""The check of quotes, and the passages of sources."""

import itertools
import re
import unicodedata
from collections.abc import Iterator

import pytest

from core.debate.evidence import CitationStatus, Mark, Source, SourceKind, SourceReference
from core.debate.people import Person
from core.debate.turn import Act, Turn
from core.evidence.citations import check, check_citations, citations_in, render_citations
from core.evidence.passages import PASSAGE_CHARACTERS, passages_of
from core.evidence.words import words_in
from core.rules.sources import MOST_CHARACTERS

LOAD = """# Load test, March

The queue took 2,000 jobs/s for 30 minutes with a p99 latency of 45 ms.
At 2,500 jobs/s the brokers did not keep up and the backlog grew to 1.2 million messages.

## Cost

The managed offer costs $1,840 per month, support included; our own cluster costs $960.
Two engineers would need about 12 days for the migration.
No customer data may leave the EU.

The team has never run Kafka in production, but three people have used RabbitMQ before.
Backups are taken every night at 02:00 and are kept for 35 days.
"""
POLICY = """Richtlinie für Anbieter

Personenbezogene Daten müssen in der EU gespeichert werden. Der Anbieter darf die Daten nicht
weitergeben. Die Verfügbarkeit muss mindestens 99,9 % im Monat betragen.
Eine Kündigung ist mit einer Frist von 3 Monaten möglich, frühestens nach 12 Monaten.

Alle Zugriffe werden protokolliert und die Protokolle 90 Tage lang aufbewahrt. Ver-
schlüsselte Sicherungen liegen in zwei Rechenzentren. Die Haftung ist auf 250.000 € begrenzt.
"""


def a_source(number: int, text: str, marks: tuple[Mark, ...] = ()) -> Source:
    reference = SourceReference(
        kind=SourceKind.FILE,
        title=f"file-{number}",
        address=f"https://files.test/{number}",
        fetch="",
        by=Person(id="U1", name="Ann"),
    )
    turn = Turn(act=Act.READING, round=0, agent="engine", target=str(number))
    return Source(turn=turn, reference=reference, text=text, marks=marks)


SOURCES = (a_source(1, LOAD), a_source(2, POLICY))


def sentences() -> Iterator[tuple[str, str]]:
    """All sentences of the sources on one line each, with the id of the source."""
    for source in SOURCES:
        joined = re.sub(r"-\n(?=\w)", "", source.text)
        for part in re.split(r"(?<=[.;])\s+|\n\n|\n(?=Eine|Two|At|No|Backups)", joined):
            words = " ".join(part.split()).lstrip("# ")
            if len(words.split()) > 5:
                yield source.id, words


CHANGES = [
    (r"\bnot\b ?", ""),
    (r"\bnever\b", "often"),
    (r"\bnicht\b ?", ""),
    (r"\bNo\b", "All"),
    (r"\bmay leave\b", "may not leave"),
    (r"\bmuss\b", "kann"),
    (r"\bmindestens\b", "höchstens"),
    (r"\bRabbitMQ\b", "Kafka"),
    (r"\bbefore\b", "after"),
    (r"\bmanaged\b", "unmanaged"),
    (r"\bms\b", "s"),
    (r"\bdays\b", "weeks"),
    (r"\$", "€"),
    (r"€", "$"),
    (r" ?%", ""),
    (r"\bmillion\b", "billion"),
    (r"\bp99\b", "p50"),
    (r"\bthree\b", "two"),
]


def fakes() -> Iterator[tuple[str, str]]:
    pairs = list(sentences())
    for source, words in pairs:
        for pattern, other in CHANGES:
            changed = re.sub(pattern, other, words, count=1, flags=re.IGNORECASE)
            if changed.lower() != words.lower():
                yield source, changed
        for match in re.finditer(r"(?<![A-Za-z])\d+(?:[.,:]\d+)*", words):
            digits = match[0]
            for wrong in (digits + "0", str(int(digits[0]) % 9 + 1) + digits[1:], "-" + digits):
                yield source, words[: match.start()] + wrong + words[match.end() :]
        for other in {"e1", "e2", "e9"} - {source}:
            yield other, words
        halves = words.split()
        middle = len(halves) // 2
        yield source, " ".join(halves[middle:] + halves[:middle])
        yield source, " ".join([*halves[:middle], "probably", *halves[middle:]])
    for (source, first), (_, two) in itertools.pairwise(pairs):
        yield source, " ".join(first.split()[:4] + two.split()[-4:])
    yield "e1", "The vendor guarantees that no message is ever lost."


def true_quotes() -> Iterator[tuple[str, str]]:
    for source, words in sentences():
        yield source, words
        yield source, words.upper() if "ß" not in words else words
        yield source, words.rstrip(".;")
        yield source, words.replace("'", "’").replace(" ", "  ", 2)
        yield source, words.replace(" ", "\n", 3)
        yield source, "**" + words + "**"
        parts = words.split()
        yield source, " ".join(parts[1:-1])
        yield source, " ".join(parts[:3]) + " … " + " ".join(parts[-3:])
        yield source, " ".join(parts[:3]) + " [...] " + " ".join(parts[-3:])
        yield source, re.sub(r"(?<=[a-z]{3})[,;]", "", words)
        if " the " in words and len(parts) > 6:
            yield source, words.replace(" the ", " ", 1)


def test_every_fake_quote_is_caught() -> None:
    tried = list(dict.fromkeys(fakes()))
    passed = [pair for pair in tried if check(*pair, SOURCES).status is CitationStatus.VERIFIED]
    assert len(tried) >= 100
    assert passed == []


def test_true_quotes_pass() -> None:
    tried = list(dict.fromkeys(true_quotes()))
    alarms = [pair for pair in tried if check(*pair, SOURCES).status is not CitationStatus.VERIFIED]
    assert len(tried) >= 100
    assert len(alarms) / len(tried) <= 0.02, alarms


def test_a_misspelt_long_word_is_a_near_match() -> None:
    words = "Backups are taken every night at 02:00 and are kept for 35 dayz"
    assert check("e1", words, SOURCES).status is CitationStatus.UNVERIFIED
    words = "The team has never run Kafka in producton, but three people"
    assert check("e1", words, SOURCES).status is CitationStatus.VERIFIED


@pytest.mark.parametrize(
    ("text", "source", "words"),
    [
        ('So [e3: "only 20"].', "e3", "only 20"),
        ("So [E3: “only 20”].", "e3", "only 20"),
        ("So [e3: «20»]", "e3", "20"),
        ('[e3, page 2: "only 20"]', "e3", "only 20"),
        ("[e3: only 20]", "e3", "only 20"),
        ("[e3]", "e3", ""),
        ('[e3: "he said "no" twice"]', "e3", 'he said "no" twice'),
        ("[e3: \"it's ['a'] list\"]", "e3", "it's ['a'] list"),
    ],
)
def test_citations_are_read_as_models_write_them(text: str, source: str, words: str) -> None:
    (citation,) = citations_in(text)
    assert (citation.source, citation.words) == (source, words)


@pytest.mark.parametrize(
    "text",
    [
        "See [the docs](https://e1.test), [x], [experiment 3], list[e], and `e1`.",
        "Risks: [R1] vendor lock-in, [r2] cost; see [r1](https://r1.test).",
        'Requirement [r1: "at most 3 s"] is met.',
        'It says [e1, page 3 of [e2, page 4: "free"',
    ],
)
def test_other_text_in_brackets_is_no_citation(text: str) -> None:
    assert check_citations(text, SOURCES) == (text, ())


def test_entries_of_a_record_are_cited_in_lower_case() -> None:
    entry = a_source(1, LOAD).model_copy(update={"label": "r1"})
    text = 'It is [r1: "latency of 45 ms"], [r1: "free"]; risk [R1] stays, see [e1: "45 ms"].'
    text_shown, citations = check_citations(text, [entry, *SOURCES])
    assert text_shown == (
        'It is [r1: "latency of 45 ms"], ~~[r1: "free"]~~ (not found in r1); risk [R1] stays, '
        'see [e1: "45 ms"].'
    )
    assert [citation.source for citation in citations] == ["r1", "r1", "e1"]
    assert check_citations(text_shown, [entry, *SOURCES]) == (text_shown, citations)
    output = render_citations(text_shown, lambda found, _: f"<{found.source}>", of_record=True)
    assert output == "It is <r1>, <r1>; risk [R1] stays, see <e1>."


def test_an_unverified_citation_is_struck_out_once() -> None:
    text = 'Fast: [e1: "latency of 45 ms"], [e1: "latency of 4 ms"] and [e7: "cheap"].'
    text_shown, citations = check_citations(text, SOURCES)
    assert text_shown == (
        'Fast: [e1: "latency of 45 ms"], ~~[e1: "latency of 4 ms"]~~ (not found in e1)'
        ' and ~~[e7: "cheap"]~~ (not found in e7).'
    )
    assert [citation.status.value for citation in citations] == [
        "verified",
        "unverified",
        "unverified",
    ]
    assert check_citations(text_shown, SOURCES) == (text_shown, citations)


@pytest.mark.parametrize(
    "quote",
    [
        "pay  1,000\n$ a day",
        "for a well-\nknown",
        "the effi-\ncient team",
        'th"e efficient',
        'we pay", "efficient team',
    ],
)
def test_a_quote_over_several_lines_stays_verified_when_it_is_checked_again(quote: str) -> None:
    sources = [a_source(1, "We pay 1,000 $ a day for a well-known office and the efficient team.")]
    text, citations = check_citations(f'So [e1: "{quote}"].', sources)

    assert citations[0].status is CitationStatus.VERIFIED
    assert check_citations(text, sources) == (text, citations)


def test_an_unclosed_citation_does_not_contain_the_next_one() -> None:
    text_shown, citations = check_citations("It says [e1, page 3 of [e9].", SOURCES)
    assert text_shown == "It says [e1, page 3 of ~~[e9]~~ (not found in e9)."
    assert check_citations(text_shown, SOURCES) == (text_shown, citations)


def test_the_fault_of_a_quote_names_its_real_source() -> None:
    assert check("e2", "latency of 45 ms", SOURCES).fault == "e2 does not say so; e1 does"


def test_a_verified_quote_has_its_line_or_page() -> None:
    citation = check("e1", "Two engineers would need about 12 days", SOURCES)
    assert (citation.place, citation.address) == ("line 9", "https://files.test/1")
    marks = (Mark(line=1, label="page 1"), Mark(line=6, label="page 2", address="https://p.test/2"))
    paged = check("e1", "Two engineers would need", [a_source(1, LOAD, marks)])
    assert (paged.place, paged.address) == ("page 2", "https://p.test/2")
    assert check("e1", "The queue took", [a_source(1, LOAD, marks)]).place == "page 1"


LOG = """01:30:12 orders in the table: 2,031,114
01:30:13 reading order by order: 2,031,114 single reads
06:31:44 written: 2,031,114 orders
"""
BOTH = "orders in the table … single reads"


@pytest.mark.parametrize(
    ("words", "marks", "place"),
    [
        ("orders in the table: 2,031,114 … written: 2,031,114", (), "lines 1–3"),
        ("single reads 06:31:44 written", (), "lines 2–3"),
        ("order by order … single reads", (), "line 2"),
        (BOTH, ((1, "page 8", ""), (2, "page 9", "")), "pages 8–9"),
        (BOTH, ((1, "A", "row"),), "A, rows 1–2"),
        (BOTH, ((1, "A", "row"), (2, "B", "row")), "A, row 1 – B, row 1"),
        (BOTH, ((1, "Costs 2023", ""), (2, "Costs 2024", "")), "Costs 2023 – Costs 2024"),
    ],
)
def test_the_place_of_a_quote_covers_all_its_words(
    words: str, marks: tuple[tuple[int, str, str], ...], place: str
) -> None:
    marked = tuple(Mark(line=line, label=label, counts=counts) for line, label, counts in marks)
    citation = check("e1", words, [a_source(1, LOG, marked)])
    assert (citation.status, citation.place) == (CitationStatus.VERIFIED, place)


@pytest.mark.parametrize(
    "words",
    [
        "single reads … orders in the table",  # the other way round
        "orders in the table … deleted",  # a piece that is nowhere
        "reading order by order … by order: 2,031,114 single",  # a piece within the one before it
    ],
)
def test_the_pieces_of_a_quote_with_ellipses_must_be_in_order(words: str) -> None:
    assert check("e1", words, [a_source(1, LOG)]).status is CitationStatus.UNVERIFIED


@pytest.mark.parametrize("words", ["", "a", "…", "!!", "5"])
def test_a_quote_that_is_too_short_is_not_verified(words: str) -> None:
    assert check("e1", words, SOURCES).status is CitationStatus.UNVERIFIED


def test_quotes_work_in_languages_without_spaces() -> None:
    source = a_source(1, "キューは毎秒2000件を処理した。")
    assert check("e1", "毎秒2000件", [source]).status is CitationStatus.VERIFIED
    assert check("e1", "毎秒3000件", [source]).status is CitationStatus.UNVERIFIED


@pytest.mark.parametrize(
    ("source", "quote"),
    [
        ("retry if status != 200 twice", "status = 200 twice"),
        ("the bond is rated AA+ today", "rated AA"),
        ("it is written in C# by two", "written in C++"),
        ("we lost ~30 jobs a week", "30 jobs a week"),
        ("a change of −5 jobs a week", "5 jobs a week"),
        ("latency > 30 ms was rare", "30 ms was rare"),
        ("latency ≤ 30 ms was rare", "latency ≥ 30 ms was rare"),
        ("set when !enabled by us", "set when enabled by us"),
        ("where x ∉ allowed hosts", "where x ∈ allowed hosts"),
        ("data flows A → B at night", "data flows A ← B at night"),
        ("it costs 30 % of the rest", "it costs 30"),
        ("the sum is a - b here", "the sum is a + b here"),
        ("the sum is a+b here", "the sum is a*b here"),
        ("it costs $30 of the rest", "costs 30 of"),
        ("it took 5 ms of the time", "it took 5"),
        ("use 1/2 of the budget now", "use 1 2 of the budget now"),
        ("we ~~take Kafka now~~ stay with Redis", "take Kafka now"),
        ("we ~~take Kafka for ~30 euros~~ stay", "take Kafka"),
        ("we ~~take Kafka now\nfor the jobs~~ stay", "take Kafka now for the jobs"),
        (f"we ~~take Kafka{' and so on' * 150}~~ stay", "take Kafka"),
        ("in the seventh week of the year we moved", "in the seventy week of the year we moved"),
        ("nine parts: a b c d e f g h i", "a … b … c … d … e … f … g … h … i … i"),
        ("the o\ufffdce was moved", "the oven was moved"),
    ],
)
def test_signs_that_change_the_meaning_must_match(source: str, quote: str) -> None:
    assert check("e1", quote, [a_source(1, source)]).status is CitationStatus.UNVERIFIED


@pytest.mark.parametrize(
    ("source", "quote"),
    [
        ("it emits less CO₂ per m² now", "less CO2 per m2 now"),
        ("use ½ of it, or 2 ¾ of that", "use 1/2 of it, or 2 3/4 of that"),
        ("the users' data stay here", "the user's data stay here"),
        ("it takes 5 \u00b5s of time", "it takes 5 \u03bcs of time"),
        ("it takes 5ms of time", "it takes 5 ms of time"),
        ("it costs 30\u202f% of the rest", "costs 30% of the rest"),
        ("status != 200 is an error", "status ≠ 200"),
        ("the sum is a+b here", "the sum is a + b"),
        ("data flows A → B at night", "data flows A -> B at night"),
        ("x >= 30 and y <= 5 hold", "x ≥ 30 and y ≤ 5"),
        ("> latency of 30 ms was rare", "latency of 30 ms was rare"),
        ("<td>300</td><td>400</td>", "300"),
        ("between 10–20 jobs and 30", "20 jobs and 30"),
        ("of 24/7 support", "of 24 / 7 support"),
        ("Great! We take it.", "great we take it"),
        ("we ~~take Kafka~~ stay", "~~take Kafka~~ stay"),
        ("rated AA+ and A", "rated AA+"),
        ("the stateof-the-art queue, a longterm plan", "state-of-the-art queue, a longterm plan"),
        ("The o\ufffdce con\ufffdrms it.", "The office confirms it."),
        ("The o\ufffdce con\ufffdrms it.", "o\ufffdce con\ufffdrms it"),
        ("e\u0301te\u0301 2026 was warm", "été 2026 was warm"),
    ],
)
def test_typography_of_signs_is_ignored(source: str, quote: str) -> None:
    decomposed = a_source(1, unicodedata.normalize("NFC", source))
    assert check("e1", quote, [decomposed]).status is CitationStatus.VERIFIED


NEAR = "The team has never run Kafka in producton, but three people have used it."
EXACT = NEAR.replace("producton", "production")


@pytest.mark.parametrize(
    ("text", "quote", "place"),
    [
        (f"{NEAR}\n{EXACT}", EXACT, "line 2"),
        ("return Total\nnothing\nreturn total\nreturn total;", "return total", "line 3"),
        # Sign by sign 5 stands in -5, which is another number.
        ("it is set to 50\nset to 5 %\nSet to 5", "set to 5", "line 3"),
    ],
)
def test_a_near_match_is_the_closest_one(text: str, quote: str, place: str) -> None:
    citation = check("e1", quote, [a_source(1, text)])
    assert (citation.status, citation.place) == (CitationStatus.VERIFIED, place)


def test_a_hostile_quote_takes_linear_time() -> None:
    """Each took most of a minute in a source of this length."""
    sources = [a_source(1, "x END y " + "x " * 200_000 + "x y")]
    for number in range(4):
        quotes = (f"END {number} " + "x … " * 250, f"END {number} " + "x x x x y " * 100)
        for quote in quotes:
            assert check("e1", quote, sources).status is CitationStatus.UNVERIFIED


def test_the_cache_of_words_is_bounded_by_characters() -> None:
    texts = [f"Report {number} " + "x" * (MOST_CHARACTERS - 100) for number in range(3)]
    first, second, third = map(words_in, texts)
    assert words_in(texts[2]) is third
    assert words_in(texts[1]) is second
    assert words_in(texts[0]) is not first


# --- passages -------------------------------------------------------------------------------------


def test_passages_contain_all_text() -> None:
    text = "\n".join(f"{n} " + "x" * (n % 90) for n in range(500)) + "\n\n" + "y" * 5000
    texts = [passage.text for passage in passages_of(a_source(1, text))]
    assert "".join("".join(texts).split()) == "".join(text.split())
    assert max(map(len, texts)) <= PASSAGE_CHARACTERS


def test_large_diffs_are_split_in_linear_time() -> None:
    body = "# h\n-gone\nx\n" * 20_000
    passages = passages_of(a_source(1, f"head\n{body}", (Mark(line=1, label="a", hunk_at=5),)))
    # Of each three lines one is gone from the file.
    assert [passage.place for passage in passages[1:3]] == ["a:6", "a:8"]
    marks = tuple(Mark(line=line, label=f"f{line}", hunk_at=1) for line in range(1, 20_001))
    many = passages_of(a_source(1, "x\n" * 20_000, marks))
    assert many[-1].place == "f20000:1"
