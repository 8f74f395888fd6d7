"""Faults that lost, doubled or kept something: words, posts, calls, money, time."""

import asyncio
import io
import re
import signal
import sqlite3
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from decimal import Decimal

import psycopg

from bot.building import database_url
from bot.slack.ids import ActionId
from tests.drill.machine import ROOT, Machine
from tests.outside.stand import (
    CHANNEL,
    ELSEWHERE,
    QUESTION,
    Fault,
    Ground,
    Seen,
    Stand,
    a_stand,
    a_workspace,
    settings_with,
)
from tests.security.test_deletion import holding
from tests.vendor_replies import good_reply
from tests.vendors.script import Asked, Counts, Say

#: Seconds between Slack's deliveries of an event that nobody heard: its own 0, 60 and 300.
_DELIVERIES = (0.0, 4.0, 8.0)
_MENTIONED = "Rust or Go for the importer?"
#: Words that are purged: of a question, of a note, of models.
_CANARIES = ("wombatcanary", "quokkacanary", "bilbycanary")
_CAP = Decimal("0.06")


async def down(ground: Ground) -> Seen:
    """Write while the bot is down: for a moment, past a second delivery, past the last one."""
    written: list[str] = []
    config = a_workspace(redelivery_delays=_DELIVERIES)
    async with a_stand(ground.folder, wait=6.0, config=config) as stand:
        board = await stand.ask()
        for seconds in (0.0, 5.0, sum(_DELIVERIES) + 1):
            await stand.machine.stop()
            written.append(f"Nobody listens for {seconds:g} s.")
            await stand.workspace.say("alex", CHANNEL, written[-1], board)
            if len(written) > 2:
                await stand.workspace.say("sam", CHANNEL, f"@Moot {_MENTIONED}")
            await asyncio.sleep(seconds)
            await stand.machine.start()
        stand.models.wait = 0.3
        await stand.decided(2)
        found = await stand.at_rest()
        debates = await stand.debates()
    read = [note.text for debate in debates for note in debate.notes]
    asked = [debate.setup.question for debate in debates]
    return Seen(
        now=f"{len(set(read) & set(written))} of {len(written)} notes read, "
        f"{len(read) - len(set(read))} twice; a mention led to {asked.count(_MENTIONED)} debate",
        mended=sorted(read) == sorted(written)
        and sorted(asked) == sorted((QUESTION, _MENTIONED))
        and not found.faults,
    )


async def restored(ground: Ground) -> Seen:
    """Restore a backup that was made in the middle of debates after all have ended."""
    asked = (("dana", CHANNEL), ("alex", CHANNEL), ("sam", ELSEWHERE), ("priya", ELSEWHERE))

    def with_two_rounds(machine: Machine) -> None:
        settings_with(machine, debate="{rounds: 2, when: always, clarifications: {enabled: false}}")

    async with a_stand(ground.folder, wait=5.0, prepare=with_two_rounds) as stand:
        boards = [
            await stand.ask(f"Choice {number}: queue or table?", *whose)
            for number, whose in enumerate(asked)
        ]
        await stand.until(lambda: all(len(thread) > 1 for thread in _threads(stand)))
        backup = str(ground.folder / "backup.db")
        said = await stand.machine.moot("backup", backup)
        assert said.code == 0, said.text
        stand.models.wait = 0.3
        await stand.decided(len(asked))
        await stand.at_rest()
        before = sum(map(len, _threads(stand)))
        await stand.machine.stop()
        said = await stand.machine.moot("restore", backup)
        assert said.code == 0, said.text
        stand.models.asked.clear()  # what was recorded since the backup is not known any more
        await stand.machine.start()
        await stand.until(
            lambda: all("Debate held" in str(thread[0]) for thread in _threads(stand))
        )
        await asyncio.sleep(2)
        posted = sum(map(len, _threads(stand))) - before
        for (user, channel), board in zip(asked, boards, strict=True):
            await stand.workspace.click(user, channel, board, ActionId.RESUME.value)
        after = await stand.at_rest()
    return Seen(
        now=f"{posted} posts before somebody resumed them, {after.doubled} doubled afterwards "
        f"in {len(boards)} threads",
        mended=not posted and not after.doubled and not after.lost and not after.unfinished,
    )


def _threads(stand: Stand) -> Sequence[Sequence[object]]:
    return [
        stand.workspace.thread(channel, board)
        for channel in (CHANNEL, ELSEWHERE)
        for board in stand.boards(channel)
    ]


async def purged(ground: Ground) -> Seen:
    """Purge a workspace; look for its words in every byte of the files, or in every table."""

    def script(asked: Asked) -> Say:
        say = good_reply(asked)
        return replace(say, text=say.text.replace("PostgreSQL", f"PostgreSQL {_CANARIES[2]}"))

    left: dict[str, object] = {}
    for name in ("SQLite", "PostgreSQL"):
        async with a_stand(
            ground.folder / name,
            script=script,
            database="" if name == "SQLite" else database_url(ground.postgres.fresh_database()),
        ) as stand:
            board = await stand.ask(f"Kafka or a {_CANARIES[0]} queue?")
            await stand.workspace.say("alex", CHANNEL, f"Mind the {_CANARIES[1]}.", board)
            await stand.decided()
            await stand.at_rest()
            await stand.machine.stop()
            there = {word for words in _words_left(stand).values() for word in words}
            assert there == set(_CANARIES), there
            team = stand.workspace.state.team_id
            said = await stand.machine.moot("purge", "--workspace", team, "--yes")
            assert said.code == 0, said.text
            left[name] = _words_left(stand)
            logged = [word for word in _CANARIES if word in stand.machine.log]
            assert not logged, logged
    return Seen(
        now=f"left in files of SQLite: {left['SQLite'] or 'nothing'}, "
        f"in tables of PostgreSQL: {left['PostgreSQL'] or 'nothing'}",
        mended=not any(left.values()),
    )


def _words_left(stand: Stand) -> Mapping[str, Sequence[str]]:
    """File or table → the words that stand in it."""
    if not stand.machine.database:
        return holding(stand.machine.disk, _CANARIES)
    found: dict[str, list[str]] = {}
    with psycopg.connect(stand.machine.database.replace("+psycopg", "")) as connection:
        tables = connection.execute(
            "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
        for (table,) in tables:
            statement = f"SELECT t::text FROM {table} t"  # noqa: S608 - our own tables
            rows = str(connection.execute(statement.encode()).fetchall())
            if there := [word for word in _CANARIES if word in rows]:
                found[table] = there
    return found


async def capped(ground: Ground) -> Seen:
    """Three replicas hold debates under one cap of a day; all replies are as dear as may be."""

    def script(asked: Asked) -> Say:
        most = int(asked.body.get("max_completion_tokens") or asked.body.get("max_tokens") or 0)
        return replace(good_reply(asked), wait=1.0, counts=Counts(output=most * 9 // 10))

    def with_cap(machine: Machine) -> None:
        dear = "{input: 1, output: 1}"
        settings_with(
            machine,
            limits=f"{{turn_seconds: 60, day_cost: {_CAP}}}",
            prices=f"{{steady-1: {dear}, shaky-1: {dear}}}",
        )

    database = database_url(ground.postgres.fresh_database())
    async with (
        a_stand(ground.folder, script=script, prepare=with_cap, database=database) as stand,
        AsyncExitStack() as stack,
    ):
        for name in ("second", "third"):
            place, models = ground.folder / name, stand.machine.models
            replica = Machine(place, stand.workspace, models, database=database)
            with_cap(replica)
            stack.push_async_callback(replica.close)
            await replica.start()
        asked = [("dana", CHANNEL), ("alex", CHANNEL), ("sam", ELSEWHERE), ("priya", ELSEWHERE)]
        for number, (user, channel) in enumerate(asked):
            await stand.ask(f"Choice {number}: queue or table?", user, channel)
        debates = await stand.ended()
    spent = sum((debate.usage.cost or Decimal(0) for debate in debates), start=Decimal(0))
    return Seen(
        now=f"${spent:.3f} of {_CAP} in {len(debates)} debates",
        mended=_CAP / 2 < spent <= _CAP and len(debates) == len(asked),
    )


async def thawed(ground: Ground) -> Seen:
    """Freeze one of two replicas until the other has taken over, let it go on; then the other."""
    database, asked = database_url(ground.postgres.fresh_database()), 0
    async with (
        a_stand(ground.folder, wait=1.0, database=database) as stand,
        AsyncExitStack() as stack,
    ):
        place = ground.folder / "other"
        other = Machine(place, stand.workspace, stand.machine.models, database=database)
        stack.push_async_callback(other.close)
        await other.start()
        for frozen in (stand.machine, other):
            for user in ("dana", "alex", "sam"):
                asked += 1
                await stand.ask(f"Choice {asked}: queue or table?", user)
            process = frozen.process
            assert process is not None
            process.send_signal(signal.SIGSTOP)
            await stand.decided(asked)  # by the other one, after 20 s
            process.send_signal(signal.SIGCONT)
            await _logged(frozen, "this process was frozen")
        await asyncio.sleep(2)  # for what it had under way
        found = await stand.at_rest()
    return Seen(
        now=f"{found.recorded_repeats} of {stand.models.calls} calls; {found.doubled} posts "
        f"doubled, {found.lost} lost",
        mended=not found.faults and found.debates == asked,
    )


async def _logged(machine: Machine, words: str) -> None:
    async with asyncio.timeout(60):
        while words not in machine.log:  # noqa: ASYNC110 - a file
            await asyncio.sleep(0.2)


async def set_back(ground: Ground) -> Seen:
    """Debate with a clock that is an hour ahead, put it right while the bot is down, debate."""

    async def an_hour_ahead(machine: Machine) -> None:
        assert await machine.make_clock(), "there is no C compiler for a clock of its own"
        machine.put_clock(3600)

    async with a_stand(ground.folder, prepare=an_hour_ahead) as stand:
        await stand.ask()
        await stand.decided()
        await stand.machine.stop()
        stand.machine.put_clock(0)
        await stand.machine.start()
        began = asyncio.get_running_loop().time()
        await stand.ask("Rust or Go for the importer?")
        await stand.decided(2)
        taken = asyncio.get_running_loop().time() - began
    return Seen(now=f"the next debate there is decided after {taken:.0f} s", mended=taken < 60)


async def damaged(ground: Ground) -> Seen:
    """Cut an event of a debate that is under way, start the bot, debate beside it."""
    async with a_stand(ground.folder, wait=3.0) as stand:
        board = await stand.ask()
        await stand.until(lambda: len(stand.workspace.thread(CHANNEL, board)) > 1)
        await stand.machine.stop()
        (debate,) = await stand.debates()
        with closing(sqlite3.connect(stand.machine.file)) as connection, connection:
            cut = "UPDATE events SET body = substr(body, 1, 9) WHERE debate_id = ? AND seq = 3"
            assert connection.execute(cut, (debate.id,)).rowcount
        stand.models.wait = 0.3
        calls = stand.models.calls
        before = len(stand.machine.log)
        await stand.machine.start()
        await stand.ask("Rust or Go for the importer?", "alex")
        await stand.decided()
        await asyncio.sleep(10)
        lines = [one for one in stand.machine.logged(before) if one.get("debate") == debate.id]
    told = [line for line in lines if "given up until the next start" in line["event"]]
    return Seen(
        now=f"{len(lines)} log lines about it in the next 20 s, {len(told)} of them that it is "
        f"given up; a debate beside it is decided ({stand.models.calls - calls} calls)",
        mended=len(told) == 1 and len(lines) <= 3,
    )


async def upgraded(ground: Ground) -> Seen:
    """Begin debates in the version before the last change of tables; go on with this one."""
    folder = ground.folder / "before"
    versions = ("bot/store/migrations/versions", "core/store/migrations/versions")
    newest = _git("log", "-1", "--diff-filter=A", "--format=%H", "--", *versions).decode().strip()
    packed = _git("archive", f"{newest}^", "bot", "core", "manifest.yaml", "pyproject.toml")
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        tar.extractall(folder, filter="data")

    def older(machine: Machine) -> None:
        machine.variables["PYTHONPATH"] = str(folder)

    async with a_stand(ground.folder, wait=3.0, prepare=older) as stand:
        boards = [await stand.ask(), await stand.ask("Rust or Go for the importer?", "alex")]
        await stand.until(
            lambda: all(len(stand.workspace.thread(CHANNEL, board)) > 1 for board in boards)
        )
        tables = await _migrations(stand)
        code, _ = await stand.machine.stop()
        stand.machine.variables.clear()
        stand.models.wait = 0.3
        await stand.machine.start()
        await stand.decided(len(boards))
        found = await stand.at_rest()
        newer = await _migrations(stand)
    return Seen(
        now=f"tables {tables} → {newer}; {found.debates} debates decided, {found.lost} posts lost, "
        f"{found.doubled} doubled, {found.recorded_repeats} calls again",
        mended=tables != newer and not found.faults and found.debates == 2 and not code,
    )


def _git(*words: str) -> bytes:
    """What git says of this repository's history, which must be there."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout  # noqa: S603, S607


async def _migrations(stand: Stand) -> str:
    """How far the tables have been brought."""
    with closing(sqlite3.connect(stand.machine.file)) as connection:
        names = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master")
            if re.search("version", name) and "autoindex" not in name
        ]
        return ", ".join(
            str(connection.execute(f"SELECT version_num FROM {name}").fetchone()[0])  # noqa: S608
            for name in names
        )


FAULTS = (
    Fault(
        number=4,
        what="what people write while the bot is down for 0, 1, 5 minutes (shortened)",
        before="never read",
        attempt=down,
    ),
    Fault(
        number=5,
        what="a backup made in the middle of debates is restored",
        before="166 doubled posts in 7 threads",
        attempt=restored,
    ),
    Fault(
        number=6,
        what="a purge leaves words behind",
        before="words in the search index",
        attempt=purged,
    ),
    Fault(
        number=7,
        what="replicas pass a cap on the day together",
        before="$0.095 of 0.06",
        attempt=capped,
    ),
    Fault(
        number=12,
        what="a thawed replica asks what is recorded",
        before="2 of 572 calls",
        attempt=thawed,
    ),
    Fault(
        number=12,
        what="a clock set back freezes a channel after a restart",
        before="until it was as late again",
        attempt=set_back,
    ),
    Fault(
        number=12,
        what="a damaged row is tried for ever",
        before="every few seconds",
        attempt=damaged,
    ),
    Fault(
        number=12,
        what="an upgrade while debates run",
        before="never tried",
        attempt=upgraded,
    ),
)
