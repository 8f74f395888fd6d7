"""`/debate …`: recorded first, answered within Slack's three seconds, for its typist only.

Source: https://docs.slack.dev/interactivity/implementing-slash-commands
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
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
from bot.listeners.subcommands import Name
from bot.listeners.token import end_tokens, list_tokens, make_token
from bot.listeners.typed import (
    MOST_ORDER_CHARS,
    AskBack,
    OpenForm,
    Order,
    Reading,
    TypedQuestion,
    UnknownOption,
    read,
)
from bot.log import logger
from bot.presenter.post import with_example_mark
from bot.presenter.posts import exported_files
from bot.queue.rows import PostState
from bot.slack.ids import board_key
from bot.slack.payloads import Command
from bot.views.asked_back import asked_already, asked_back
from bot.views.message import MessageView
from bot.views.start_form import FormTarget
from core.debate.log import fold
from core.debate.state import Debate
from core.errors import BadInput, DuplicateQuestion, LogBroken, StoreError
from core.opening import DebateRequest
from core.use_cases.recall import asks_what_was_decided

_log = logger(__name__)

#: Carries a subcommand out; returns the answer. May raise BadInput and StoreError.
Run = Callable[[ListenerContext, Command, Order], Awaitable[MessageView]]


def register(app: AsyncApp, context: ListenerContext) -> None:
    """Listen to the command."""

    @app.command("/debate")
    async def debate(
        ack: AsyncAck, body: dict[str, Any], client: AsyncWebClient, respond: AsyncRespond
    ) -> None:
        command = Command.model_validate(body)
        reading = read(command.words)
        answer, is_done = await answer_in_time(context, command, reading, client)
        await ack(**(answer.payload if answer else {}))
        is_doctor = isinstance(reading, Order) and reading.subcommand.name is Name.DOCTOR
        if is_done and answer and context.operator.examine and is_doctor:
            await report_findings(context.operator.examine, respond)


async def answer_in_time(
    context: ListenerContext, command: Command, reading: Reading, client: AsyncWebClient
) -> tuple[MessageView | None, bool]:
    """Do what was typed; return the answer, and whether it was done.

    There is no answer when a form opened, or when Slack delivers again what was answered before and
    changes something.
    """
    try:
        async with asyncio.timeout(context.timeouts.answer):
            if isinstance(reading, OpenForm):
                await open_form_to_start(context, command, client, reading.playbook)
                return None, True
            if isinstance(reading, Order) and reading.subcommand.opens_form:
                await open_form_of(context, command, client, reading)
                return None, True
            answer = await answer_to(context, command, reading)
            changes = isinstance(reading, TypedQuestion) or (
                isinstance(reading, Order) and not reading.subcommand.only_reads
            )
            is_repeated = changes and await context.is_repeated("trigger", command.trigger_id)
            return None if is_repeated else answer, True
    except BadInput as refusal:
        return answers.words(str(refusal)), False
    except StoreError as error:
        _log.warning("command not recorded", reason=str(error))
        why = answers.storage_failure(error)
        is_broken = isinstance(error, LogBroken)  # of the debate that was named: none was to start
        return answers.words(why if is_broken else answers.start_failure(why, command.words)), False
    except TimeoutError:
        return answers.words(answers.TOO_SLOW), False


async def open_form_to_start(
    context: ListenerContext, command: Command, client: AsyncWebClient, playbook: str
) -> None:
    """Open the form to start a debate.

    Raises:
        BadInput: Slack does not open it any more.
    """
    opening = FormOpening(
        trigger_id=command.trigger_id,
        team=command.team_id,
        by=person(command),
        target=FormTarget(channel="" if command.is_direct else command.channel_id),
        playbook=playbook,
    )
    await open_start_form(context, client, opening)


async def open_form_of(
    context: ListenerContext, command: Command, client: AsyncWebClient, order: Order
) -> None:
    """Open the form of a subcommand that has one.

    Raises:
        BadInput: It cannot be opened; says why.
    """
    if order.subcommand.name is Name.SETTINGS:
        await open_settings(context, command, client)
        return
    debate = await context.debate(order.debate_id, command)
    form = form_for_outcome(context, debate, debate.outcome)
    await open_form(client, command.trigger_id, form)


async def answer_to(context: ListenerContext, command: Command, reading: Reading) -> MessageView:
    """Do what was typed, forms apart, and return the answer.

    Raises:
        BadInput: It cannot be done; says why.
        StoreError: The database does not answer.
    """
    match reading:
        case Order():
            run = _RUN.get(reading.subcommand.name, _show_help)
            return await run(context, command, reading)
        case OpenForm():
            return answers.help_text(context.operator.retention_days)
        case AskBack():
            form = reading.subcommand.form
            return asked_back(reading.text, form, reading.command, origin=command.trigger_id)
        case UnknownOption():
            return answers.words(
                answers.start_failure(answers.unknown_option(reading), command.words)
            )
        case TypedQuestion(text=question, has_options=False) if asks_what_was_decided(question):
            decisions = await context.acts.recall.for_person(
                question, person=command.user_id, workspace=command.team_id
            )
            return await context.lists.recalled_decisions(decisions)
        case TypedQuestion():
            return await start_debate(context, command, reading)


async def _show_help(context: ListenerContext, _command: Command, _order: Order) -> MessageView:
    return answers.help_text(context.operator.retention_days)


async def _list(context: ListenerContext, command: Command, _order: Order) -> MessageView:
    return await context.lists.debate_list(command)


async def _search(context: ListenerContext, command: Command, order: Order) -> MessageView:
    return await context.lists.search_results(command, order.words)


async def _show(context: ListenerContext, command: Command, order: Order) -> MessageView:
    return answers.words(answers.status_answer(await context.debate(order.debate_id, command)))


async def _export(context: ListenerContext, command: Command, order: Order) -> MessageView:
    return await export_debate(context, await context.debate(order.debate_id, command))


async def _share(context: ListenerContext, command: Command, order: Order) -> MessageView:
    return await share_page(context, await context.debate(order.debate_id, command))


async def _end_pages(context: ListenerContext, command: Command, order: Order) -> MessageView:
    return await withdraw_page(context, await context.debate(order.debate_id, command))


async def _stop(context: ListenerContext, command: Command, order: Order) -> MessageView:
    debate = await context.debate(order.debate_id, command)
    await context.acts.steer.stop(debate, person(command))
    return answers.words(answers.stop_answer(debate.id))


async def _examine(context: ListenerContext, command: Command, _order: Order) -> MessageView:
    if context.operator.examine is None:
        return answers.words(NOBODY)
    await _check_admin(context, command)
    return answers.words(LOOKING)


async def _retry_landings(context: ListenerContext, command: Command, _order: Order) -> MessageView:
    await _check_admin(context, command)
    if context.operator.retry_landings is None:
        return answers.words(answers.LANDS_NOWHERE)
    return answers.words(answers.sent_again(await context.operator.retry_landings()))


async def _check_admin(context: ListenerContext, command: Command) -> None:
    if not await context.access.of(command.team_id).is_admin(command.user_id):
        raise BadInput(ADMINS_ONLY)


async def export_debate(context: ListenerContext, debate: Debate) -> MessageView:
    """Post a debate's files as it stands into its thread; whoever may see it may have them."""
    log = await context.acts.find.store.events(debate.id)
    files = await asyncio.to_thread(lambda: exported_files(fold(log), log))
    before = await context.posts.row_by_key(files.key)
    again = before is not None and before.state is PostState.SENT
    if before and before.state is PostState.FAILED:
        await context.outbox.repost(
            with_example_mark(debate, files)
        )  # what Slack refused may be allowed now
    else:
        await context.outbox.post([with_example_mark(debate, files)])
    board, place_of, thread = (
        await context.posts.row_by_key(board_key(debate.id)),
        debate.setup.place,
        "",
    )
    if board and board.ts:
        thread = await context.access.of(place_of.workspace).link_to(place_of.channel, board.ts)
    return answers.words(answers.export_answer(debate.id, thread, again=again))


async def start_debate(
    context: ListenerContext, command: Command, typed: TypedQuestion
) -> MessageView:
    """Start a debate in the command's channel; return the answer to its author."""
    if command.is_direct:
        return answers.words(answers.IN_DIRECT_MESSAGE)
    membership = await context.access.of(command.team_id).standing(command.channel_id)
    if reason := answers.not_here(membership):
        return answers.words(reason)
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
        text = answers.start_failure(str(refusal), typed.text)
        if isinstance(refusal, DuplicateQuestion) and len(command.words) <= MOST_ORDER_CHARS:
            return asked_already(text, command.words, origin=command.trigger_id)
        return answers.words(text)
    return answers.words(answers.start_answer(begun.debate_id, begun.setup.warnings))


#: Subcommands that are answered with a message; the others open a form.
_RUN: Mapping[Name, Run] = {
    Name.LIST: _list,
    Name.SEARCH: _search,
    Name.SHOW: _show,
    Name.EXPORT: _export,
    Name.PAGE: _share,
    Name.PAGE_OFF: _end_pages,
    Name.STOP: _stop,
    Name.TOKEN: make_token,
    Name.TOKEN_NEW: make_token,
    Name.TOKEN_LIST: list_tokens,
    Name.TOKEN_REVOKE: end_tokens,
    Name.DOCTOR: _examine,
    Name.DOCTOR_RETRY: _retry_landings,
    Name.HELP: _show_help,
}
