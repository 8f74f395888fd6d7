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

#: Seconds that agents of an example wait, should whoever plays it be gone.
_WAIT_SECONDS = 900.0
#: Seconds after which a question is answered, and the next one: time to read it.
READING_SECONDS = 2.0
_GLANCE_SECONDS = 0.1


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


@dataclass(frozen=True, kw_only=True)
class ExamplePlayer:
    moot: Moot
    place: Place
    #: The person of the workspace who has this name.
    person: Callable[[str], Person]
    #: Writes a reply as somebody: their name, the thread, the words.
    reply: Callable[[str, str, str], Awaitable[object]]
    #: Shares a file as somebody: their name, the file's, its content. What Slack says of the file.
    share: Callable[[str, str, bytes], Awaitable[SharedFile]]
    #: Seconds until a question is answered, and what waits for them.
    patience: float = READING_SECONDS
    read: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def begin(self, name: str) -> str:
        """Start the example, unless it was started before; return the debate's id."""
        example, origin = examples()[name], f"example/{name}"
        # If it was started before, its files are shared already.
        brought = example.sources if await self.moot.store.id_of_origin(origin) is None else ()
        references = list[SourceReference]()
        for source in brought:
            shared = await self.share(source.by, source.name, source.text.encode())
            references += file_references([shared], self.person(source.by))
        request = DebateRequest(
            question=example.question,
            asked_by=self.person(example.asked_by),
            place=self.place,
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
                await self.reply(answer.by, thread, text)

    async def _debate(self, debate_id: str) -> Debate:
        return fold(await self.moot.store.events(debate_id))

    async def _address_of(self, key: str) -> str:
        row = await self.moot.posts.row_by_key(key)
        return row.ts if row and row.ts else ""
