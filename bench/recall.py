"""Whether decisions are found that people ask for in other words: recall and precision.

    python -m bench.recall

The pairs of `tests/fixtures/paraphrases.toml` (English and German, near misses among them) are
looked up among all their decisions, first with the full-text search of `/debate search`, then as
`moot ask` looks them up. One hand wrote pairs and synonyms: take the figures as the best case.
"""

import asyncio
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

import bot.store.tables
import core.store.tables
from bot.building import database_url
from bot.store.posts import Channel
from bot.store.search import DebateWords
from core.evidence.likeness import ANSWERS_FROM, likeness
from core.figures import percent
from core.store.database import Database

PAIRS = Path(__file__).parents[1] / "tests" / "fixtures" / "paraphrases.toml"
#: Decisions that an answer names.
MOST = 3
#: Places of the decisions that an answer names, the best first.
Found = Sequence[int]


class Pair(BaseModel):
    """A question, and the decision it means or only shares words with."""

    asked: str
    decided: str
    same: bool
    #: Decisions on the same matter are as right as the pair's own; empty: there are none.
    matter: str = ""


@dataclass(frozen=True)
class Figures:
    """How a way to look decisions up did."""

    #: Questions whose decision is among those named, and named first; and how many have one.
    found: int
    first: int
    asked: int
    #: Questions answered with another decision first, and questions without a decision answered.
    wrong: int
    misled: int
    near_misses: int

    @property
    def precision(self) -> float | None:
        """Share of the answers whose first decision is right; None: there were no answers."""
        answers = self.first + self.wrong + self.misled
        return self.first / answers if answers else None


def read_pairs() -> Sequence[Pair]:
    """All pairs of the fixture."""
    written = tomllib.loads(PAIRS.read_text(encoding="utf-8"))
    return [Pair.model_validate(one) for one in written["pair"]]


def measured(pairs: Sequence[Pair], answers: Sequence[Found]) -> Figures:
    """Count what was found."""

    def is_right(at: int, other: int) -> bool:
        matter = pairs[at].matter
        return at == other or bool(matter and matter == pairs[other].matter)

    real = [at for at, one in enumerate(pairs) if one.same]
    near = [at for at, one in enumerate(pairs) if not one.same]
    first = sum(bool(answers[at]) and is_right(at, answers[at][0]) for at in real)
    return Figures(
        found=sum(any(is_right(at, one) for one in answers[at]) for at in real),
        first=first,
        asked=len(real),
        wrong=sum(bool(answers[at]) for at in real) - first,
        misled=sum(bool(answers[at]) for at in near),
        near_misses=len(near),
    )


def by_likeness(pairs: Sequence[Pair]) -> Sequence[Found]:
    """What `moot ask` finds for each question."""
    decided = [one.decided for one in pairs]

    def look_up(asked: str) -> Found:
        fits = likeness(asked, decided)
        best = sorted(range(len(decided)), key=lambda at: -fits[at])[:MOST]
        return [at for at in best if fits[at] >= ANSWERS_FROM]

    return [look_up(one.asked) for one in pairs]


async def by_full_text(pairs: Sequence[Pair]) -> Sequence[Found]:
    """What `/debate search` finds for each question."""
    place = Channel("T1", "C1")
    with TemporaryDirectory(prefix="moot-recall-") as folder:
        database = await Database.open(database_url(f"{folder}/moot.db"))
        await core.store.tables.prepare(database)
        await bot.store.tables.prepare(database)
        words = DebateWords(database)
        for at, one in enumerate(pairs):
            await words.put(str(at), place, one.decided)
        found = [await words.find("T1", ["C1"], one.asked, MOST) for one in pairs]
        await database.close()
    return [[int(hit.debate_id) for hit in hits] for hits in found]


async def main() -> None:
    """Print both ways."""
    pairs = read_pairs()
    table = Table("", "found", "found first", "another first", "near misses answered", "precision")
    ways = (("full text", await by_full_text(pairs)), ("moot ask", by_likeness(pairs)))
    for name, answers in ways:
        one = measured(pairs, answers)
        table.add_row(
            name,
            f"{one.found} of {one.asked}",
            f"{one.first} of {one.asked}",
            str(one.wrong),
            f"{one.misled} of {one.near_misses}",
            "no answers" if one.precision is None else percent(one.precision),
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    asyncio.run(main())
