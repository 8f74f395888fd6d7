"""`/debate …`: recorded first, answered within Slack's three seconds, for its typist only.

Source: https://docs.slack.dev/interactivity/implementing-slash-commands
"""

import asyncio
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from bot.listeners import answers
from bot.listeners.channel_settings import open_settings
from bot.listeners.context import ListenerContext, person, place
from bot.listeners.decide import form_for_outcome
from bot.listeners.doctor_report import ADMINS_ONLY, LOOKING, NOBODY, report_findings
from bot.listeners.interactions import open_form
from bot.listeners.linked import start_with_links
from bot.listeners.share import share_page, withdraw_page
from bot.listeners.start import FormOpening, open_start_form
from bot.listeners.token import on_tokens
from bot.listeners.typed import (
    Doctor,
    Export,
    Help,
    ListDebates,
    ListTokens,
    MakeToken,
    OpenForm,
    OpenSettings,
    PageOf,
    RetryLandings,
    RevokeTokens,
    SayOutcome,
    Search,
    Show,
    StopDebate,
    Thanks,
    Typed,
    TypedQuestion,
    Unclear,
    UnknownOption,
    understood,
)
from bot.log import logger
from bot.presenter.event_posts import exported_files
from bot.presenter.example_mark import marked
from bot.slack.ids import board_key
from bot.slack.payloads import Command
from bot.store.posts import PostState
from bot.views.message import MessageView
from core.errors import BadInput, LogBroken, StoreError
from core.events import fold
from core.models import Debate
from core.opening import DebateRequest
from core.use_cases.recall import asks_what_was_decided

_log = logger(__name__)

#: Commands that change nothing, so that one which Slack delivers twice may be answered twice: that
#: it was seen is not written down before the answer.
_ONLY_READS = Help | Thanks | Unclear | UnknownOption | ListDebates | ListTokens | Search | Show


def register(app: AsyncApp, context: ListenerContext) -> None:
    """Listen to the command."""

    @app.command("/debate")
    async def debate(
        ack: AsyncAck, body: dict[str, Any], client: AsyncWebClient, respond: AsyncRespond
    ) -> None:
        command = Command.model_validate(body)
        typed = understood(command.words)
        answer, is_done = await answer_in_time(context, command, typed, client)
        await ack(**(answer.payload if answer else {}))
        if is_done and answer and context.examine and isinstance(typed, Doctor):
            channel = "" if command.is_direct else command.channel_id
            await report_findings(context.examine, channel, respond)


async def answer_in_time(
    context: ListenerContext, command: Command, typed: Typed, client: AsyncWebClient
) -> tuple[MessageView | None, bool]:
    """Do what was typed; return the answer, and whether it was done.

    There is no answer when a form opened, or when Slack delivers again what was answered before and
    changes something.
    """
    try:
        async with asyncio.timeout(context.timeouts.answer):
            match typed:
                case OpenSettings():
                    await open_settings(context, command, client)
                    return None, True
                case OpenForm(playbook=playbook):
                    opening = FormOpening(
                        trigger_id=command.trigger_id,
                        team=command.team_id,
                        by=person(command),
                        channel="" if command.is_direct else command.channel_id,
                        playbook=playbook,
                    )
                    await open_start_form(context, client, opening)
                    return None, True
                case SayOutcome(debate_id=debate_id):
                    debate = await context.debate(debate_id, command)
                    shown = form_for_outcome(context, debate, debate.outcome)
                    await open_form(client, command.trigger_id, shown)
                    return None, True
                case _:
                    answer = await answer_to(context, command, typed)
                    if isinstance(typed, _ONLY_READS):
                        return answer, True
                    repeated = await context.is_repeated("trigger", command.trigger_id)
                    return None if repeated else answer, True
    except BadInput as refusal:
        return answers.words(str(refusal)), False
    except StoreError as error:
        _log.warning("command not recorded", reason=str(error))
        why = answers.not_stored(error)
        is_broken = isinstance(error, LogBroken)  # of the debate that was named: none was to start
        return answers.words(why if is_broken else answers.not_started(why, command.words)), False
    except TimeoutError:
        return answers.words(answers.TOO_SLOW), False


async def answer_to(  # noqa: C901, PLR0911, PLR0912 - one case per thing that can be typed
    context: ListenerContext, command: Command, typed: Typed
) -> MessageView:
    """Do what was typed, forms apart, and return the answer.

    Raises:
        BadInput: It cannot be done; says why.
        StoreError: The database does not answer.
    """
    match typed:
        case Help() | OpenForm() | OpenSettings() | SayOutcome():
            return answers.help_text(context.retention_days)
        case Thanks():
            return answers.words(answers.WELCOME)
        case Unclear():
            return answers.words(answers.unclear(typed))
        case UnknownOption():
            return answers.words(answers.not_started(answers.unknown_option(typed), command.words))
        case Doctor():
            if context.examine is None:
                return answers.words(NOBODY)
            if not await context.access.of(command.team_id).is_admin(command.user_id):
                raise BadInput(ADMINS_ONLY)
            return answers.words(LOOKING)
        case RetryLandings():
            if not await context.access.of(command.team_id).is_admin(command.user_id):
                raise BadInput(ADMINS_ONLY)
            if context.retry_landings is None:
                return answers.words(answers.LANDS_NOWHERE)
            return answers.words(answers.sent_again(await context.retry_landings()))
        case TypedQuestion(text=question, has_flags=False) if asks_what_was_decided(question):
            found = await context.recall.for_person(
                question, person=command.user_id, workspace=command.team_id
            )
            return await context.lists.recalled(found)
        case TypedQuestion():
            return answers.words(await start_debate(context, command, typed))
        case StopDebate(debate_id=debate_id):
            debate = await context.debate(debate_id, command)
            await context.steer.stop(debate, person(command))
            return answers.words(answers.stopped(debate_id))
        case Show(debate_id=debate_id):
            return answers.words(answers.shown(await context.debate(debate_id, command)))
        case Export(debate_id=debate_id):
            return await export_debate(context, await context.debate(debate_id, command))
        case PageOf(debate_id=debate_id, is_off=is_off):
            debate = await context.debate(debate_id, command)
            return await (withdraw_page if is_off else share_page)(context, debate)
        case MakeToken() | ListTokens() | RevokeTokens():
            return await on_tokens(context, command, typed)
        case ListDebates():
            return await context.lists.listed(command)
        case Search(words=wanted):
            return await context.lists.found(command, wanted)


async def export_debate(context: ListenerContext, debate: Debate) -> MessageView:
    """Post a debate's files as it stands into its thread; whoever may see it may have them."""
    log = await context.find.store.events(debate.id)
    files = await asyncio.to_thread(lambda: exported_files(fold(log), log))
    before = await context.posts.row_by_key(files.key)
    again = before is not None and before.state is PostState.SENT
    if before and before.state is PostState.FAILED:
        await context.outbox.replace(marked(debate, files))  # what Slack refused may be allowed now
    else:
        await context.outbox.post([marked(debate, files)])
    board, place_of, thread = (
        await context.posts.row_by_key(board_key(debate.id)),
        debate.setup.place,
        "",
    )
    if board and board.ts:
        thread = await context.access.of(place_of.workspace).link_to(place_of.channel, board.ts)
    return answers.words(answers.exported(debate.id, thread, again=again))


async def start_debate(context: ListenerContext, command: Command, typed: TypedQuestion) -> str:
    """Start a debate in the channel the command was typed in; return what its typist is told."""
    if command.is_direct:
        return answers.IN_DIRECT_MESSAGE
    standing = await context.access.of(command.team_id).standing(command.channel_id)
    if reason := answers.not_here(standing):
        return reason
    request = DebateRequest(
        question=typed.text,
        asked_by=person(command),
        place=place(command.team_id, command.channel_id),
        format=typed.format or None,
        playbook=typed.playbook or None,
        when=typed.when,
    )
    try:
        begun = await start_with_links(context, request, command.text, origin=command.trigger_id)
    except BadInput as refusal:
        return answers.not_started(str(refusal), typed.text)
    return answers.started(begun.debate_id, begun.setup.warnings)
