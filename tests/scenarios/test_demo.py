"""What `moot demo` shows: the real bot in the local Slack, as a newcomer meets it."""

import asyncio
from collections.abc import AsyncGenerator
from io import StringIO
from pathlib import Path

import pytest
from aiohttp import ClientSession
from rich.console import Console

from bot.building import build_calls
from bot.demo import CHANNEL, USER, Demo, Stage, print_decision
from bot.examples import Playback, example_provider, written_examples
from bot.settings import BotSettings
from bot.terminal.options import DemoOptions
from bot.views.message import EXAMPLE_NOTE
from core.settings import Settings
from slack_on_loopback import GuideLine, Workspace
from tests.seen import seen_in

QUICK = DemoOptions(port=0, fast=True)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    environment = BotSettings(moot_database=str(tmp_path / "another.db"))
    settings = Settings(rounds=1)
    calls = build_calls(environment, settings)
    demo = Demo(settings=settings, calls=calls, options=QUICK, environment=environment)
    async with demo.stage() as stage:
        yield stage


@pytest.fixture
async def playing(tmp_path: Path) -> AsyncGenerator[Stage]:
    """The demonstration with its examples, without pauses."""
    environment = BotSettings(moot_database=str(tmp_path / "another.db"))
    settings = Settings(rounds=1)
    calls = build_calls(environment, settings, extra_providers=[example_provider()])
    demo = Demo(settings=settings, calls=calls, options=QUICK, environment=environment)
    async with demo.stage() as stage:
        yield stage


async def test_doctor_looks_at_the_demonstration_itself(stage: Stage):
    await stage.workspace.command(USER, CHANNEL, "/debate", "doctor")

    def report() -> str:
        return "\n".join(
            str(message["text"]) for message in stage.workspace.ephemeral(USER, CHANNEL)
        )

    await stage.workspace.wait_for(lambda: "lines with ✗" in report(), timeout=300)
    assert "accepted by Riverside" in report()
    assert "database moot.db" in report()
    assert "✗ models: none is set up" in report()
    assert report().count("✗") == 2  # that one, and in the last line
    assert "running bot" not in report()


async def invited(workspace: Workspace, *, another: bool) -> list[str]:
    """The buttons at an example's end, once they stand there."""

    def labels() -> list[str]:
        line = workspace.runtime.guide.line
        return [button.label for button in line.buttons] if line else []

    label = "Watch another"
    return await workspace.wait_for(
        lambda: labels() if labels() and (label in labels()) is another else None, 60
    )


async def test_an_example_is_played_from_when_the_page_is_open(playing: Stage):
    workspace = playing.workspace
    play = asyncio.create_task(playing.play_examples(0.0, Playback()))
    await asyncio.sleep(0.3)
    assert not await playing.has_debates(), "it began before anybody could see it"
    live = f"ws://{workspace.url.split('//')[1]}page/ws?user={workspace.user(USER).id}"
    async with ClientSession() as session, session.ws_connect(live):
        for _ in list(written_examples())[1:]:
            await invited(workspace, another=True)
            pressed = {"user": workspace.user(USER).id, "name": "another"}
            ending = workspace.runtime.guide.line
            async with session.post(f"{workspace.url}page/api/guide", json=pressed) as answer:
                assert (await answer.json())["ok"]
            await workspace.wait_for(lambda at=ending: workspace.runtime.guide.line is not at, 300)
        await asyncio.wait_for(play, 300)
        labels = await invited(workspace, another=False)
    assert labels == ["Ask your own", "Go to Accept"]
    line = workspace.runtime.guide.line
    assert line
    assert line.text.startswith("Moot demo: a team asks in Slack, AI agents argue")
    # The page shows the verdict's beginning beside the thread.
    assert line.message == (line.buttons[-1].shows or ("", ""))[1] != ""
    roots = [message for message in workspace.messages(CHANNEL) if message.get("reply_count")]
    assert len(roots) == len(written_examples())
    for root in roots:
        for post in workspace.thread(CHANNEL, root["ts"]):
            if post.get("bot_id"):
                assert EXAMPLE_NOTE in str(post["text"]), post["text"]
    texts = [message["text"] for root in roots for message in workspace.thread(CHANNEL, root["ts"])]
    # A quote that stands in the file somebody brought, and one that does not.
    text = "\n".join(
        line
        for root in roots
        for line in seen_in(workspace.thread(CHANNEL, root["ts"]), opened=True)
    )
    assert "“2,031,114 single reads” (<" in text
    assert "~“processor 22 % busy”~ (not found in e1)" in text
    for example in written_examples().values():
        assert any(example.verdict["decision"].strip() in text for text in texts)
        for item in example.answers:
            assert any(item["answer"].split(".")[0] in text for text in texts)


async def test_an_example_stands_still_while_it_is_paused_and_takes_single_steps(tmp_path: Path):
    playback = Playback()
    example = example_provider(speed=0.001, read=playback.read)
    environment = BotSettings(moot_database=str(tmp_path / "x.db"))
    calls = build_calls(environment, Settings(), extra_providers=[example])
    demo = Demo(settings=Settings(), calls=calls, options=QUICK, environment=environment)
    async with demo.stage() as stage:
        workspace = stage.workspace
        play = asyncio.create_task(stage.play_examples(0.0, playback))

        def labels() -> list[str]:
            line = workspace.runtime.guide.line
            return [button.label for button in line.buttons] if line else []

        async def press(session: ClientSession, name: str) -> None:
            pressed = {"user": workspace.user(USER).id, "name": name}
            async with session.post(f"{workspace.url}page/api/guide", json=pressed) as answer:
                assert (await answer.json())["ok"]

        live = f"ws://{workspace.url.split('//')[1]}page/ws?user={workspace.user(USER).id}"
        async with ClientSession() as session, session.ws_connect(live):
            await workspace.wait_for(lambda: labels() == ["Pause the example", "Next step"], 300)
            await press(session, "pause")
            await workspace.wait_for(lambda: labels() == ["Go on", "Next step"], 300)
            assert (workspace.runtime.guide.line or GuideLine(text="")).text.startswith("Paused. ")
            await press(session, "step")
            await press(session, "go-on")
            await workspace.wait_for(lambda: labels() == ["Pause the example", "Next step"], 300)
        play.cancel()


async def test_the_top_line_says_what_debates_a_question_of_ones_own(playing: Stage):
    workspace = playing.workspace
    guiding = asyncio.create_task(playing.follow_new_debates("Models: none."))
    debate_id = await playing.begin("Kafka or PostgreSQL for our job queue?")

    def line() -> tuple[str, list[str]]:
        shown = workspace.runtime.guide.line or GuideLine(text="")
        return shown.text, [button.label for button in shown.buttons]

    running = "Moot demo: your question is being debated. Models: none."
    ended = "Moot demo: your question has been debated. Models: none."
    await workspace.wait_for(lambda: line()[0] in {running, ended}, 300)
    await asyncio.wait_for(playing.follow(debate_id, lambda _: None), 300)
    # The debate has ended before its verdict stands in the thread.
    decided = (ended, ["Ask your own", "Go to Accept"])
    await workspace.wait_for(lambda: line() == decided, 300)
    guiding.cancel()


async def test_a_pause_holds_time_and_a_step_ends_a_wait():
    playback = Playback()
    playback.press("pause")
    waiting = asyncio.create_task(playback.read(0.0))
    finished, _ = await asyncio.wait({waiting}, timeout=0.3)
    assert not finished
    playback.press("step")
    await asyncio.wait_for(waiting, 300)
    assert playback.is_paused
    waiting = asyncio.create_task(playback.read(3600))
    playback.press("another")
    playback.press("go-on")
    finished, _ = await asyncio.wait({waiting}, timeout=0.3)
    assert not finished
    playback.press("step")
    await asyncio.wait_for(waiting, 300)


async def test_a_question_of_ones_own_is_debated_and_its_decision_printed_in_colours(
    playing: Stage,
):
    debate_id = await playing.begin("Kafka or PostgreSQL for our job queue?")
    debate = await asyncio.wait_for(playing.follow(debate_id, lambda _: None), 300)
    assert {agent.provider for agent in debate.setup.agents} == {"offline"}
    assert debate.verdict is not None
    terminal, pipe = StringIO(), StringIO()
    print_decision(debate, Console(file=terminal, force_terminal=True, color_system="standard"))
    print_decision(debate, Console(file=pipe))
    assert "\x1b[1;32m→ " in terminal.getvalue()
    assert "\x1b" not in pipe.getvalue()
    assert len(pipe.getvalue().splitlines()) <= 40


async def test_the_decision_fits_the_screen_of_a_small_terminal(playing: Stage):
    name = next(iter(written_examples()))
    player = playing.player(0.0)
    debate_id = await player.begin(name)
    answering = asyncio.create_task(player.answer(name, debate_id))
    debate = await asyncio.wait_for(playing.follow(debate_id, lambda _: None), 300)
    await answering
    for height in (24, 40):
        terminal = StringIO()
        screen = Console(file=terminal, force_terminal=True, width=80, height=height)
        print_decision(debate, screen)
        text = terminal.getvalue()
        assert len(text.splitlines()) < height
        assert "→ Export only what changed since the last good night" in text
        assert "e1: last-night.log" in text
        assert "What would overturn it" in text
