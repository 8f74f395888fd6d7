"""After a deletion: finding debates that cite a deleted debate, on both databases."""

from datetime import UTC, datetime

from core.debate.debate_events import DebateStarted
from core.debate.evidence import Source, SourceKind, SourceReference
from core.debate.people import Person
from core.debate.turn import Act, Turn
from core.debate.turn_events import SourceRead
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.tables import prepare
from core.store.upkeep import debates_citing, purge_debates
from core.testing import a_setup

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
GONE = ("dgone222", "dgone333")


def a_source(number: int, text: str) -> SourceRead:
    reference = SourceReference(
        kind=SourceKind.REGISTER, title="Earlier decisions", fetch="queue", by=Person(id="U1")
    )
    turn = Turn(act=Act.READING, round=0, agent="engine", target=str(number))
    return SourceRead(source=Source(turn=turn, reference=reference, text=text, sha256="0"))


async def test_every_debate_that_read_a_deleted_decision_is_named(location: str) -> None:
    texts = {
        "dmany222": [*("A page about nothing." for _ in range(40)), "As in\ndgone222: Kafka."],
        "dmany333": [*("Another of these." for _ in range(20)), "See (ddgone333, 1 May)."],
        "dnone222": ["dgone444 is another one, DGONE333 none, and ddecided is a word."],
    }
    async with await Database.open(location) as database:
        await prepare(database)
        store = SqlDebateStore(database)
        for debate_id, read in texts.items():
            started = DebateStarted(setup=a_setup())
            await store.create(debate_id, started, origin=debate_id, at=NOON)
            for number, text in enumerate(read, 1):
                await store.append(debate_id, a_source(number, text), at=NOON)

        assert await debates_citing(database, GONE) == ["dmany222", "dmany333"]
        assert await debates_citing(database, ()) == []


async def test_debates_of_the_terminal_are_not_those_of_every_workspace(location: str) -> None:
    async with await Database.open(location) as database:
        await prepare(database)
        store = SqlDebateStore(database)
        await store.create("dmany222", DebateStarted(setup=a_setup()), origin="1", at=NOON)

        for workspace, ids in (("", []), (None, ["dmany222"])):
            assert ids == await database.write(
                lambda c, workspace=workspace: purge_debates(c, workspace, None, most=9)
            )
