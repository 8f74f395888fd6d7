"""Plays written examples in the running bot, and answers the agents' questions."""

import asyncio
import secrets
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from bot.app import Moot
from bot.slack.evidence import file_references
from bot.slack.ids import board_key, card_key
from bot.slack.payloads import SharedFile
from core.clock import SystemClock
from core.debate.evidence import SourceReference
from core.debate.log import fold
from core.debate.people import Person, Place
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.llm.providers.example import (
    WORDS_PER_SECOND,
    ExampleProvider,
    example_settings,
    examples,
)
from core.opening import DebateRequest, open_debate
from core.ports import Clock, ModelProvider
from core.request import ModelReply, ModelRequest
from core.rules.schedule import open_questions
from slack_on_loopback import GuideButton, GuideLine, Workspace

#: Seconds that agents of an example wait for answers if the player was stopped.
_WAIT_SECONDS = 900.0
#: Seconds before each answer, so that people can read the question.
READING_SECONDS = 2.0
#: Seconds between checks for posts.
_POLL_INTERVAL = 0.1
#: Seconds between checks whether the example is paused.
_TICK_SECONDS = 0.1


def example_provider(
    *, speed: float = 0.0, read: Callable[[float], Awaitable[None]] | None = None
) -> ModelProvider:
    """The provider that plays the written examples.

    Args:
        speed: 1 plays an example in about a minute, 2 is twice as fast; 0: without pauses.
        read: Waits for a number of seconds; None: sleeps.
    """
    return ExampleProvider(SystemClock(), WORDS_PER_SECOND * speed, read)


#: Returns the examples by name.
written_examples = examples


class Playback:
    """The pace of an example: pauses for reading, which people can extend or skip."""

    def __init__(self) -> None:
        self.is_paused = False
        self._skip = asyncio.Event()

    def press(self, name: str) -> None:
        match name:
            case "pause":
                self.is_paused = True
            case "go-on":
                self.is_paused = False
            case "step":
                self._skip.set()
            case _:
                pass

    async def read(self, seconds: float) -> None:
        """Wait for seconds of reading, and while the example is paused."""
        remaining = seconds
        while remaining > 0 or self.is_paused:
            tick = min(remaining, _TICK_SECONDS) if remaining > 0 else _TICK_SECONDS
            try:
                async with asyncio.timeout(tick):
                    await self._skip.wait()
            except TimeoutError:
                remaining -= 0 if self.is_paused else tick
            else:
                break
        self._skip.clear()


@dataclass(frozen=True, kw_only=True)
class ExamplePlayer:
    workspace: Workspace
    moot: Moot
    #: The channel's name.
    channel: str
    #: Seconds before each answer, and the function that waits.
    patience: float = READING_SECONDS
    read: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def begin(self, name: str) -> str:
        """Start the example unless it was started before; return the debate's id."""
        example, origin = examples()[name], f"example/{name}"
        references = list[SourceReference]()
        for source in example.sources:
            message = await self.workspace.share_file(
                source["by"], self.channel, source["name"], source["text"].encode()
            )
            file = SharedFile.model_validate(message["files"][0])
            references += file_references([file], self._person(source["by"]))
        channel = self.workspace.channel(self.channel).id
        request = DebateRequest(
            question=example.question,
            asked_by=self._person(example.asked_by),
            place=Place(surface="slack", workspace=self.workspace.state.team_id, channel=channel),
            references=references,
        )
        settings = example_settings(name, _WAIT_SECONDS)
        setup = open_debate(request, settings, delimiter=secrets.token_hex(8))
        # As in debates of a team.
        setup = setup.model_copy(update={"quiet": True})
        started = await self.moot.context.acts.start.begin(setup, origin=origin)
        return started.debate_id

    async def answer(self, name: str, debate_id: str) -> None:
        """Answer the agents' questions that nobody else has answered."""
        thread, card = "", ""
        while not (thread and card):
            debate = await self._debate(debate_id)
            if debate.status is not Status.RUNNING or debate.contributions:
                return
            thread = await self._post_ts(board_key(debate_id))
            turn_key = next(iter(debate.clarifications), "")
            card = await self._post_ts(card_key(debate_id, turn_key)) if turn_key else ""
            await asyncio.sleep(_POLL_INTERVAL)
        answers = {answer["question"]: answer for answer in examples()[name].answers}
        for question in open_questions(await self._debate(debate_id)):
            await self.read(self.patience)
            still_open = open_questions(await self._debate(debate_id))
            answer = answers.get(question.question)
            if answer and question in still_open:
                text = f"{question.number}: {answer['answer']}"
                await self.workspace.say(answer["by"], self.channel, text, thread)

    def _person(self, name: str) -> Person:
        user = self.workspace.user(name)
        return Person(id=user.id, name=user.real_name)

    async def _debate(self, debate_id: str) -> Debate:
        return fold(await self.moot.store.events(debate_id))

    async def _post_ts(self, key: str) -> str:
        row = await self.moot.context.posts.row_by_key(key)
        return row.ts if row and row.ts else ""


#: Shortest and longest time of an answer in seconds; equal for equal requests.
SHORTEST, LONGEST = 2.0, 3.2
#: Concurrent answers: about one per second in total, which is Slack's limit for posts in a channel.
AT_ONCE = 3


class PacedProvider:
    """Wraps a `ModelProvider`: few concurrent answers, each after some seconds."""

    def __init__(self, provider: ModelProvider, clock: Clock) -> None:
        self.name = provider.name
        self._provider = provider
        self._clock = clock
        self._semaphore = asyncio.Semaphore(AT_ONCE)

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        async with self._semaphore:
            prompt = "\n".join((request.system, *(part.text for part in request.parts)))
            share = (zlib.crc32(prompt.encode()) % 1000) / 1000
            await self._clock.sleep(SHORTEST + (LONGEST - SHORTEST) * share)
            return await self._provider.complete(request, on_first_token)

    async def close(self) -> None:
        await self._provider.close()


#: Name of the button that plays the next example.
ANOTHER = "another"
_DEMO = "Moot demo: a team asks in Slack, AI agents argue, the team decides."
BEGINNING = f"{_DEMO} Watch a written example, or type /debate and a question of your own."
ENDING = f"{_DEMO} Below: the verdict."

_EXAMPLE = "Moot demo, a written example,"
#: The text at the top of the page, by the newest act.
_PHASES = {
    Act.PROPOSAL: f"{_EXAMPLE} 2 of 5: each agent writes its own answer and sees no other.",
    Act.BALLOT: (
        f"{_EXAMPLE} 3 of 5: they vote in secret. Their answers differ, so a debate is worth "
        "holding."
    ),
    Act.CRITIQUE: (
        f"{_EXAMPLE} 3 of 5: they disagree, so each one looks for flaws in the others' answers."
    ),
    Act.REFINEMENT: (
        f"{_EXAMPLE} 4 of 5: each agent answers its critics. Watch who changes their mind. "
        "A quote that does not stand in the file is struck out."
    ),
}
# The first text also introduces the page.
_QUESTIONS = (
    f"{_DEMO} A written example, 1 of 5: the agents ask what they need to know, "
    "and colleagues answer in the thread."
)
_VOTE = f"{_EXAMPLE} 5 of 5: they vote again, and a judge writes the verdict with the dissent."


def _phase_words(debate: Debate) -> str:
    if debate.verdict or debate.tally or debate.status is not Status.RUNNING:
        return _VOTE
    if not debate.contributions:
        return _QUESTIONS
    act = list(debate.contributions.values())[-1].turn.act
    if act is Act.PROPOSAL and debate.ballots:
        act = Act.BALLOT
    return _PHASES.get(act, _VOTE)


def playing_line(
    debate: Debate, thread: tuple[str, str] | None, playback: Playback, message: str
) -> GuideLine:
    """The line at the top of the page while an example is played.

    Args:
        debate: The example.
        thread: Channel and ts of its thread; None if it is not posted yet.
        playback: Its pace.
        message: ts of the verdict's post; empty if it is not posted yet.
    """
    is_paused = playback.is_paused
    toggle = ("Go on", "go-on") if is_paused else ("Pause the example", "pause")
    buttons = [
        GuideButton(label=label, name=name) for label, name in (toggle, ("Next step", "step"))
    ]
    text = f"{'Paused. ' if is_paused else ''}{_phase_words(debate)}"
    return GuideLine(text=text, thread=thread, message=message, buttons=buttons)


def closing_buttons(verdict: tuple[str, str] | None, *, has_more: bool) -> Sequence[GuideButton]:
    buttons = [GuideButton(label="Ask your own", types="/debate ")]
    if has_more:
        buttons.append(GuideButton(label="Watch another", name=ANOTHER))
    if verdict:
        buttons.append(GuideButton(label="Go to Accept", shows=verdict))
    return buttons


def question_line(debate: Debate, models: str, line: GuideLine) -> GuideLine:
    """The line at the top of the page for a debate that a person started."""
    state = "is being debated" if debate.status is Status.RUNNING else "has been debated"
    # Before the verdict is posted, the line links to the board.
    message = line.message or (line.thread[1] if line.thread else "")
    return replace(line, text=f"Moot demo: your question {state}. {models}", message=message)
