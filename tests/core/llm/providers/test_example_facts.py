"""The written examples keep Moot's own rule: never invent facts about the team.

A figure in a text of an agent or of the judge stands in what people gave (the question, files,
answers), is reckoned from that, belongs to what somebody proposes, or is said to be assumed.
"""

import re
from collections.abc import Iterator, Mapping
from typing import cast

import pytest

from core.evidence.citations import rendered
from core.llm.providers.example import Example, examples

NAMES = list(examples())

#: Figures that follow from others: as they are shown, their value, and how it is reckoned. Times of
#: day are minutes.
RECKONED: Mapping[str, tuple[tuple[str, float, float], ...]] = {
    "nightly-export": (
        ("75 minutes", 75, 5 * 60 / 4),
        ("2:45", 165, 90 + 75),
        ("3 hours to spare", 3, (360 - 165) // 60),
        ("15 minutes", 15, 0.04 * 5 * 60 + 3),  # and something for the merge
        ("1:45", 105, 90 + 15),
        ("3:15", 195, -120 + 5 * 60 + 15),  # begun at 22:00
        ("96 %", 96, 100 - 4),
        ("2:00", 120, 90 + 30),
        ("49 minutes", 49, 9 + 40),
        ("2:20", 140, 90 + 49),
        ("2 million", 2_000_000, 2_031_114),
        ("six days", 6, 7 - 1),  # from Sunday to Sunday
    ),
    "vier-tage-woche": (("sieben", 7, 9 - 2), ("acht", 8, 9 - 1)),
    "monitoring-contract": (
        ("32,400", 32_400, 3 * (54_000 - 43_200)),
        ("10,800", 10_800, 54_000 - 43_200),
        ("36", 36, 3 * 12),
        ("37,800", 37_800, 54_000 / 200 * 140),
        ("about 3,000", 3_000, 0.08 * 37_800),
        ("12,000", 12_000, 0.1 * 12 * 10_000),  # half a day of five
        ("20,000", 20_000, 2 * 10_000),
        ("21,000", 21_000, 9_000 + 12_000),
        ("41,000", 41_000, 9_000 + 12_000 + 20_000),
        ("14 months", 14, 20_000 / (37_800 - 21_000) * 12),
    ),
}
#: Figures that somebody assumes, and others take up.
ASSUMED: Mapping[str, tuple[str, ...]] = {
    "nightly-export": ("40",),
    "vier-tage-woche": (),
    "monitoring-contract": ("9,000", "10,000"),
}
#: Words of what is proposed, or of what it shall not exceed: they say nothing of the team.
PROPOSED: Mapping[str, tuple[str, ...]] = {
    "nightly-export": (
        *("four workers", "Four workers", "Four ranges", "two workers", "four times"),
        *("week 1", "week 2", "1 week", "2 weeks", "for two weeks", "22:00", "Two comparisons"),
        *("2 of the 3 weeks", "2 to check"),
    ),
    "vier-tage-woche": (
        *("drei Monate", "Drei Monate", "drei Monaten", "vier Wochen", "zwei Wochen"),
        *("unter zwei Minuten", "drei zugleich", "höchstens zwei frei", "zwei haben frei"),
        *("mehr als zwei", "Zwei sind krank"),
    ),
    "monitoring-contract": (
        *("three machines", "two of us", "two months", "Two build", "two know", "two who know"),
        *("two years", "10 months"),
    ),
}
#: Who debates.
_ALL = ("All three", "Alle drei")
_ENGLISH = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_GERMAN = ["zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"]
_NUMBERS = {
    word: str(number) for words in (_ENGLISH, _GERMAN) for number, word in enumerate(words, start=2)
}
_FIGURE = re.compile(rf"\b(?:\d+(?:[.,:]\d+)*|{'|'.join(_NUMBERS)})\b", re.IGNORECASE)
_IS_ASSUMED = re.compile(
    r"\b(?:guess|assum|expect|suppos|if a month|nehme an|vermut)", re.IGNORECASE
)
#: How somebody begins who tells what the team did or is, from their own memory.
_FROM_MEMORY = re.compile(
    r"\b(?:nobody here|when we|we (?:have \\w+ed|have run|had|ran|used|tried|saw)"
    r"|(?:last|in) (?:spring|summer|autumn|winter|month)|last year|the team (?:has|had|wants)"
    r"|bei uns|letzten (?:Monat|Winter|Sommer|Herbst)|haben das gesagt|nach dem \w*bericht)\b",
    re.IGNORECASE,
)


def strings(value: object) -> Iterator[str]:
    """Every text in what was read from YAML."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in cast("Mapping[str, object]", value).values():
            yield from strings(one)
    elif isinstance(value, list):
        for one in cast("list[object]", value):
            yield from strings(one)


def texts_of(written: Example) -> Iterator[str]:
    """Everything that agents and judge say, without what they quote."""
    said = [
        text
        for agent in written.agents.values()
        for text in (
            *(agent.proposal, *agent.criticised_by.values(), agent.refinement),
            *(*agent.before.reasons.values(), *agent.after.reasons.values()),
        )
    ]
    said += [written.summary, written.cross_check["reason"], *strings(written.verdict)]
    for text in said:
        unquoted = rendered(text, lambda found, _is_verified: f"[{found.source}]")
        yield re.sub(r"^\d\. ", "", unquoted, flags=re.MULTILINE)  # a step's number


def given_by_people(written: Example) -> str:
    return "\n".join(
        (
            written.question,
            *(source.text for source in written.sources),
            *(answer.answer for answer in written.answers),
        )
    )


def figures(text: str) -> set[str]:
    found = (one[0].casefold() for one in _FIGURE.finditer(text))
    return {_NUMBERS.get(one, one) for one in found}


def unfounded(name: str, sentence: str) -> set[str]:
    """Figures of a sentence that nobody gave, reckoned, proposed or assumed."""
    if _IS_ASSUMED.search(sentence):
        return set()
    reckoned = (shown for shown, _, _ in RECKONED[name])
    for words in (*_ALL, *PROPOSED[name], *reckoned, *ASSUMED[name]):
        sentence = re.sub(rf"(?<![\d.,:]){re.escape(words)}(?![\d:]|[.,]\d)", "", sentence)
    return figures(sentence) - figures(given_by_people(examples()[name]))


def sentences(name: str) -> list[str]:
    return [
        sentence
        for text in texts_of(examples()[name])
        for sentence in re.split(r"(?<=[.!?])\s+|\n", text)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_is_given_reckoned_proposed_or_assumed(name: str):
    invented = {
        sentence: found for sentence in sentences(name) if (found := unfounded(name, sentence))
    }
    assert not invented


def test_what_an_agent_made_up_is_found():
    assert unfounded("nightly-export", "Reading took 17 minutes last time.") == {"17"}
    assert unfounded("vier-tage-woche", "An 23 Tagen war das Telefon besetzt.") == {"23"}
    assert unfounded("monitoring-contract", "We have run it for five years.") == {"5"}
    assert _FROM_MEMORY.search("Nobody here has run Rust in production.")
