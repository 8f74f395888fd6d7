"""`/debate …`: recorded first, answered within Slack's three seconds, for its typist only.

Source: https://docs.slack.dev/interactivity/implementing-slash-commands
"""

import asyncio
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from bot.listeners import answers
from bot.listeners.channel_settings import open_settings
from bot.listeners.doctoring import LOOKING, NOBODY, report_findings
from bot.listeners.finding import list_debates, search_debates
from bot.listeners.gate import debate_for
from bot.listeners.reception import Reception, person, place
from bot.listeners.starting import Opening, open_start_form
from bot.listeners.typed import (
    Doctor,
    Help,
    ListDebates,
    OpenForm,
    OpenSettings,
    Question,
    Search,
    Show,
    StopDebate,
    Typed,
    Unclear,
    understood,
)
from bot.log import logger
from bot.slack.payloads import Command
from bot.views.message import Message
from core.errors import BadInput, StoreError
from core.opening import Wish

_log = logger(__name__)

#: Seconds after which the answer goes out whatever has been done: Slack waits for three.
ANSWER_WITHIN = 2.5


def register(app: AsyncApp, reception: Reception) -> None:
    """Listen to the command."""

    @app.command("/debate")
    async def debate(
        ack: AsyncAck, body: dict[str, Any], client: AsyncWebClient, respond: AsyncRespond
    ) -> None:
        command = Command.model_validate(body)
        answer = await answer_in_time(reception, command, client)
        await ack(**(answer.payload if answer else {}))
        if answer and isinstance(understood(command.words), Doctor):
            channel = "" if command.is_direct else command.channel_id
            await report_findings(reception.examine, channel, respond)


async def answer_in_time(
    reception: Reception, command: Command, client: AsyncWebClient
) -> Message | None:
    """Do what was typed and return the answer; words for what went wrong included.

    None when a form opened, or when this very command was answered before.
    """
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            typed = understood(command.words)
            if isinstance(typed, OpenForm | OpenSettings):
                return await _open(reception, command, client, typed)
            answer = await answer_to(reception, command, typed)
            repeated = await reception.is_repeated("trigger", command.trigger_id)
            return None if repeated else answer
    except BadInput as refusal:
        return answers.words(str(refusal))
    except StoreError as error:
        _log.warning("command not recorded", reason=str(error))
        return answers.words(answers.not_started(answers.STORE_DOWN, command.words))
    except TimeoutError:
        return answers.words(answers.TOO_SLOW)


async def _open(
    reception: Reception, command: Command, client: AsyncWebClient, typed: OpenForm | OpenSettings
) -> None:
    """Open what was asked for."""
    if isinstance(typed, OpenSettings):
        await open_settings(reception, command, client)
        return
    opening = Opening(
        trigger_id=command.trigger_id,
        team=command.team_id,
        by=person(command.user_id, command.user_name),
        channel="" if command.is_direct else command.channel_id,
    )
    await open_start_form(reception, client, opening)


async def answer_to(reception: Reception, command: Command, typed: Typed) -> Message:
    """Do what was typed, forms apart, and return the answer.

    Raises:
        BadInput: It cannot be done; says why.
        StoreError: The database does not answer.
    """
    match typed:
        case Help() | OpenForm() | OpenSettings():
            return answers.help_text()
        case Doctor():
            return answers.words(LOOKING if reception.examine else NOBODY)
        case Unclear():
            return answers.words(answers.unclear(typed))
        case StopDebate(debate_id=debate_id):
            return answers.words(await _stop(reception, command, debate_id))
        case Question(text=text):
            return answers.words(await _start(reception, command, text))
        case ListDebates() | Search() | Show():
            return await _found(reception, command, typed)


async def _found(
    reception: Reception, command: Command, typed: ListDebates | Search | Show
) -> Message:
    """Return what was looked for, as far as this person may see it."""
    match typed:
        case ListDebates():
            return await list_debates(reception, command)
        case Search(words=wanted):
            return await search_debates(reception, command, wanted)
        case Show(debate_id=debate_id):
            return answers.words(await _show(reception, command, debate_id))


async def _start(reception: Reception, command: Command, question: str) -> str:
    if command.is_direct:
        return answers.IN_DIRECT_MESSAGE
    wish = Wish(
        question=question,
        asked_by=person(command.user_id, command.user_name),
        place=place(command.team_id, command.channel_id),
    )
    if reason := answers.not_here(
        await reception.access.of(command.team_id).standing(command.channel_id)
    ):
        return reason
    try:
        begun = await reception.starting.start(wish, origin=command.trigger_id)
    except BadInput as refusal:
        return answers.not_started(str(refusal), question)
    return answers.started(begun.debate_id, begun.setup.warnings)


async def _show(reception: Reception, command: Command, debate_id: str) -> str:
    debate = await debate_for(reception, debate_id, user=command.user_id, team=command.team_id)
    return answers.shown(debate)


async def _stop(reception: Reception, command: Command, debate_id: str) -> str:
    by = person(command.user_id, command.user_name)
    debate = await debate_for(reception, debate_id, user=command.user_id, team=command.team_id)
    await reception.steering.stop(debate, by)
    return answers.stopped(debate_id)
