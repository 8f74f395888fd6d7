"""Logs that cannot be read: each debate is told of by name, and no other one is held up by them."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import pytest_asyncio

from bot.testing import BotSpec, Team, quick_workspace, running_bot
from core.debate.state import Status
from core.store.debates import SqlDebateStore
from slack_on_loopback import run_workspace
from tests.command_line import moot
from tests.locked import change

#: One bot for all tests; each damage is another debate.
pytestmark = pytest.mark.asyncio(loop_scope="module")
#: What happens to disks, and to hands in a database; each statement is about the debate `:id`.
DAMAGE = {
    "half an event": (
        "UPDATE events SET body = substr(body, 1, 9) WHERE debate_id = :id AND seq = 3"
    ),
    "an event of a newer Moot": (
        """UPDATE events SET body = '{"kind": "newer"}' WHERE debate_id = :id AND seq = 4"""
    ),
    "no beginning": "DELETE FROM events WHERE debate_id = :id AND seq = 1",
    "nothing": "DELETE FROM events WHERE debate_id = :id",
    "another order": "UPDATE events SET seq = 1000 - seq WHERE debate_id = :id",
    "no moment": "UPDATE events SET at = 'yesterday' WHERE debate_id = :id AND seq = 2",
}
#: The log can be read, but something in it or beside it is wrong.
BESIDE = {
    "a format nobody knows": (
        "UPDATE events SET body = replace(body, '\"critique\"', '\"poll\"') "
        "WHERE debate_id = :id AND seq = 1"
    ),
    "begun at no moment": "UPDATE debates SET started_at = 'x' WHERE id = :id",
    "posts without form": (
        "UPDATE queue SET payload = '{', state = 'waiting' WHERE debate_id = :id"
    ),
    "posts in no state": "UPDATE queue SET state = 'odd' WHERE debate_id = :id",
}


@dataclass(frozen=True)
class Scene:
    """A bot that found damaged logs when it started."""

    team: Team
    database: Path
    #: By damage: the debate's id and its board.
    damaged: Mapping[str, tuple[str, str]]

    async def change(self, statement: str, debate_id: str = "") -> None:
        """Change the database as nobody should."""
        assert await change(self.database, statement, {"id": debate_id})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Scene]:
    database, spec = tmp_path_factory.mktemp("data") / "moot.db", BotSpec(rounds=1)
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=database, spec=spec) as team:
            questions = [f"Kafka or {name} for wombats?" for name in DAMAGE]
            questions += [f"Lead or {name}?" for name in BESIDE]
            boards, ids = list[str](), list[str]()
            # One after another: a machine with ten debates in hand may answer no eleventh in time.
            for question in questions:
                boards.append(await team.debate(question))
                ids.append((await team.wait_for_end(boards[-1])).id)
        statements = DAMAGE | BESIDE
        damaged = dict(zip(statements, zip(ids, boards, strict=True), strict=True))
        for name, statement in statements.items():
            await Scene(team, database, damaged).change(statement, damaged[name][0])
        async with running_bot(workspace, database=database, spec=spec) as team:
            yield Scene(team, database, damaged)


async def test_other_debates_are_held_and_found(scene: Scene) -> None:
    """The damaged ones have ended: others look through them for earlier decisions."""
    team = scene.team
    debate = await team.wait_for_end(await team.debate("Tabs or spaces for wombats?", user="alex"))
    await team.type("list")
    await team.type("search wombats")
    await team.workspace.open_home(team.user)
    await team.workspace.wait_for(lambda: "Tabs or" in str(team.workspace.home(team.user)))

    assert debate.status is Status.CONCLUDED
    assert not debate.evidence
    for text in (*team.ephemeral_texts()[-2:], str(team.workspace.home(team.user))):
        assert "Tabs or spaces" in text
        assert "Kafka or" not in text
    assert (await team.moot.health.report()).healthy


@pytest.mark.parametrize("damage", DAMAGE)
async def test_who_asks_for_it_is_told_that_it_cannot_be_read(scene: Scene, damage: str) -> None:
    team, (debate_id, board) = scene.team, scene.damaged[damage]
    for words in (f"show {debate_id}", f"stop {debate_id}"):
        await team.type(words)
        assert "log cannot be read: it is damaged" in team.ephemeral_texts()[-1]
    before = len(team.ephemeral_texts("alex"))
    await team.say("We are two people.", board, user="alex")
    await team.workspace.wait_for(lambda: team.ephemeral_texts("alex")[before:])
    assert "log cannot be read: it is damaged" in team.ephemeral_texts("alex")[-1]


async def test_a_mention_about_it_is_answered_once_and_acknowledged(scene: Scene) -> None:
    team, (debate_id, board) = scene.team, scene.damaged["half an event"]
    before = len(team.ephemeral_texts("alex"))
    await team.say("@Moot what did the judge weigh?", board, user="alex")
    await team.workspace.wait_for(lambda: len(team.ephemeral_texts("alex")) == before + 1)
    await team.say(f"@Moot show {debate_id}", user="alex")
    await team.workspace.wait_for(lambda: len(team.ephemeral_texts("alex")) == before + 2)
    await team.wait_until_sent()
    assert len(team.ephemeral_texts("alex")) == before + 2
    for text in team.ephemeral_texts("alex")[before:]:
        assert "log cannot be read: it is damaged" in text


async def test_whoever_may_not_see_it_does_not_learn_that_it_is_there(scene: Scene) -> None:
    team, (debate_id, _) = scene.team, scene.damaged["half an event"]
    work = team.workspace
    await work.channel_action("priya", "create", name="elsewhere")
    await work.channel_action("priya", "invite", channel="elsewhere", member=work.app.bot_user)
    await work.channel_action("priya", "leave", channel=team.channel)
    outside = replace(team, channel="elsewhere", user="priya")
    await outside.type(f"show {debate_id}")
    assert f"There is no debate `{debate_id}`" in outside.ephemeral_texts()[-1]


async def test_it_is_taken_up_once_and_not_tried_for_ever(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    team, (debate_id, _) = scene.team, scene.damaged["half an event"]
    assert isinstance(team.moot.store, SqlDebateStore)
    # Now it is looked for every few seconds.
    await scene.change("UPDATE debates SET published_seq = 0 WHERE id = :id", debate_id)
    for _ in range(3):
        team.moot.context.acts.answer.facts.wake(debate_id)
        await team.wait_for_end(await team.debate("Rust or Go for wombats?", user="alex"))
    assert "".join(capfd.readouterr()).count("given up until the next start") == 1


async def test_an_export_leaves_it_out_and_says_so(scene: Scene) -> None:
    good = await scene.team.wait_for_end(await scene.team.debate("Oak or ash?", user="sam"))
    folder = scene.database.parent
    env = {"MOOT_DATABASE": str(scene.database)}
    words = ("export", "--channel", good.setup.place.channel, "--output", "all")
    ended = await asyncio.to_thread(moot, *words, folder=folder, env=env)
    assert ended.returncode == 0, ended.stderr
    for name in (*DAMAGE, "a format nobody knows"):
        assert f"Left out {scene.damaged[name][0]}: " in ended.stderr
    assert good.id in {path.stem for path in (folder / "all").iterdir()}
