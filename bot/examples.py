"""Plays written examples in the running bot, and answers their agents as people would."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from bot.app import Moot
from bot.slack.evidence import file_references
from bot.slack.ids import board_key, card_key
from bot.slack.payloads import SharedFile
from core.clock import SystemClock
from core.debate.evidence import SourceReference
from core.debate.log import fold
from core.debate.people import Person, Place
from core.debate.state import Debate, Status
from core.llm.providers.example import (
    WORDS_PER_SECOND,
    Example,
    ExampleProvider,
    example_settings,
    examples,
)
from core.opening import DebateRequest, open_debate
from core.ports import ModelProvider
from core.rules.schedule import open_questions
from slack_on_loopback import Workspace

#: Seconds that agents of an example wait, should whoever plays it be gone.
_WAIT_SECONDS = 900.0
#: Seconds after which a question is answered, and the next one: time to read it.
READING_SECONDS = 2.0
_GLANCE_SECONDS = 0.1
#: Seconds between two looks at a pause.
_TICK_SECONDS = 0.1


def example_provider(
    *, speed: float = 0.0, read: Callable[[float], Awaitable[None]] | None = None
) -> ModelProvider:
    """The provider that plays the written examples.

    Args:
        speed: 1 for an example that is over within a minute, 2 for twice as fast; 0: all at once.
        read: Waits for seconds of reading; None: the clock does.
    """
    return ExampleProvider(SystemClock(), WORDS_PER_SECOND * speed, read)


def written_examples() -> Mapping[str, Example]:
    return examples()


class Playback:
    """Time to read what an example has shown, as far as nobody pauses or skips it."""

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
        """Wait so many seconds, and while it is paused."""
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
    #: Its name.
    channel: str
    #: Seconds until a question is answered, and what waits for them.
    patience: float = READING_SECONDS
    read: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def begin(self, name: str) -> str:
        """Start the example, unless it was started before; return the debate's id."""
        example, origin = examples()[name], f"example/{name}"
        references = list[SourceReference]()
        for source in example.sources:
            message = await self.workspace.share_file(
                source.by, self.channel, source.name, source.text.encode()
            )
            shared = SharedFile.model_validate(message["files"][0])
            references += file_references([shared], self._person(source.by))
        channel = self.workspace.channel(self.channel).id
        request = DebateRequest(
            question=example.question,
            asked_by=self._person(example.asked_by),
            place=Place(surface="slack", workspace=self.workspace.state.team_id, channel=channel),
            references=references,
        )
        settings = example_settings(name, _WAIT_SECONDS)
        setup = open_debate(request, settings, delimiter=secrets.token_hex(8))
        # As a team's own debates are shown.
        setup = setup.model_copy(update={"quiet": True})
        started = await self.moot.context.acts.start.begin(setup, origin=origin)
        return started.debate_id

    async def answer(self, name: str, debate_id: str) -> None:
        """Answer the agents' questions, unless somebody else has."""
        thread, card = "", ""
        while not (thread and card):
            debate = await self._debate(debate_id)
            if debate.status is not Status.RUNNING or debate.contributions:
                return
            thread = await self._address_of(board_key(debate_id))
            turn_key = next(iter(debate.clarifications), "")
            card = await self._address_of(card_key(debate_id, turn_key)) if turn_key else ""
            await asyncio.sleep(_GLANCE_SECONDS)
        answers = {answer.question: answer for answer in examples()[name].answers}
        for question in open_questions(await self._debate(debate_id)):
            await self.read(self.patience)
            still_open = open_questions(await self._debate(debate_id))
            answer = answers.get(question.question)
            if answer and question in still_open:
                text = f"{question.number}: {answer.answer}"
                await self.workspace.say(answer.by, self.channel, text, thread)

    def _person(self, name: str) -> Person:
        user = self.workspace.user(name)
        return Person(id=user.id, name=user.real_name)

    async def _debate(self, debate_id: str) -> Debate:
        return fold(await self.moot.store.events(debate_id))

    async def _address_of(self, key: str) -> str:
        row = await self.moot.posts.row_by_key(key)
        return row.ts if row and row.ts else ""
