"""`/debate …` and the buttons that ask what it meant: recorded first, answered to who typed only.

Source: https://docs.slack.dev/interactivity/implementing-slash-commands (three seconds)
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond

from bot.listeners import answers
from bot.listeners.buttons import open_outcome, share_page, withdraw_page
from bot.listeners.context import ListenerContext, json_values, on_click, place
from bot.listeners.linked import start_with_links
from bot.listeners.start import open_settings, open_start_form
from bot.listeners.typed import (
    MOST_COMMAND_CHARS,
    OpenForm,
    Reading,
    SubcommandCall,
    TypedQuestion,
    UnclearText,
    UnknownOption,
    parse_typed,
)
from bot.log import logger
from bot.presenter.posts import exported_files
from bot.queue.rows import PostState
from bot.slack.access import CONNECTION_ERRORS
from bot.slack.evidence import thread_reference
from bot.slack.ids import ActionId, board_key
from bot.slack.mrkdwn import literal
from bot.slack.payloads import Click, Command
from bot.store.personal_tokens import PersonalToken
from bot.views.message import MessageView, moment, notice
from bot.views.notices import asked_already, asked_back, usage
from bot.views.start_form import FormTarget
from core.debate.log import fold
from core.debate.people import Mention, Person, Place
from core.debate.state import Debate
from core.errors import BadInput, DuplicateQuestion, LogBroken, StoreError
from core.figures import quantity
from core.opening import DebateRequest
from core.redaction import redact
from core.use_cases.recall import asks_what_was_decided
from core.use_cases.start import StartedDebate

_log = logger(__name__)

NO_TOKENS = (
    "Programs cannot call Moot here: whoever runs it has not switched MCP on (MOOT_MCP), so there "
    "are no tokens. Nothing was done."
)
#: Characters of a token's name.
_NAME_LIMIT = 40
#: Carries a subcommand out; returns the answer, or None where a form opened. May raise BadInput
#: and StoreError.
Run = Callable[[ListenerContext, Command, SubcommandCall], Awaitable[MessageView | None]]


def register(app: AsyncApp, context: ListenerContext) -> None:
    @app.command("/debate")
    async def debate(ack: AsyncAck, body: dict[str, Any], respond: AsyncRespond) -> None:
        command = Command.model_validate(body)
        reading = parse_typed(command.words)
        answer, is_done = await answer_in_time(context, command, reading)
        await ack(**(answer.payload if answer else {}))
        is_doctor = isinstance(reading, SubcommandCall) and reading.subcommand.form == "doctor"
        if is_done and answer and context.operator.examine and is_doctor:
            message = notice(answers.examined(await context.operator.examine()))
            try:
                await respond(**message.payload, response_type="ephemeral", replace_original=False)
            except CONNECTION_ERRORS as error:
                _log.warning("findings not delivered", reason=type(error).__name__)

    on_click(app, context, ActionId.DEBATE_IT, debate_it)
    on_click(app, context, ActionId.RUN_COMMAND, run_command)


async def answer_in_time(
    context: ListenerContext, command: Command, reading: Reading
) -> tuple[MessageView | None, bool]:
    """Do what was typed; return the answer, and whether it was done.

    There is no answer when a form opened, or when Slack delivers again what was answered before and
    changes something.
    """
    try:
        async with asyncio.timeout(context.timeouts.answer):
            answer = await answer_to(context, command, reading)
            changes = isinstance(reading, TypedQuestion) or (
                isinstance(reading, SubcommandCall) and not reading.subcommand.only_reads
            )
            if answer and changes and await context.is_repeated("trigger", command.trigger_id):
                return None, True
            return answer, True
    except BadInput as refusal:
        return notice(str(refusal)), False
    except StoreError as error:
        _log.warning("command not recorded", reason=str(error))
        why = answers.storage_failure(error)
        is_broken = isinstance(error, LogBroken)  # of the debate that was named: none was to start
        return notice(why if is_broken else answers.start_failure(why, command.words)), False
    except TimeoutError:
        return notice(answers.TOO_SLOW), False


async def answer_to(
    context: ListenerContext, command: Command, reading: Reading
) -> MessageView | None:
    """Do what was typed; return the answer, or None where a form opened."""
    match reading:
        case SubcommandCall(subcommand=subcommand) if about := _ABOUT.get(subcommand.form):
            return await about(context, command, await context.debate(reading.debate_id, command))
        case SubcommandCall(subcommand=subcommand):
            return await _RUN[subcommand.form](context, command, reading)
        case OpenForm(playbook=playbook):
            target = FormTarget(channel="" if command.is_direct else command.channel_id)
            await open_start_form(context, command, target, playbook=playbook)
            return None
        case UnclearText():
            form = reading.subcommand.form
            return asked_back(reading.text, form, reading.command, origin=command.trigger_id)
        case UnknownOption():
            return notice(answers.start_failure(answers.unknown_option(reading), command.words))
        case TypedQuestion():
            decided = await decisions_asked_for(context, reading, command.user_id, command.team_id)
            return decided or await _start(context, command, reading)


async def decisions_asked_for(
    context: ListenerContext, question: TypedQuestion, person_id: str, team: str
) -> MessageView | None:
    """Answer a question about what was decided; None: it is to be debated."""
    if question.has_options or not asks_what_was_decided(question.text):
        return None
    decisions = await context.acts.recall.for_person(
        question.text, person=person_id, workspace=team
    )
    return await context.lists.recalled_decisions(decisions)


async def _start(context: ListenerContext, command: Command, typed: TypedQuestion) -> MessageView:
    here = place(command.team_id, command.channel_id)
    await context.check_channel(here)
    request, origin = debate_request(typed, command.person, here), command.trigger_id
    begun = await begin(context, request, command.text, origin=origin, typed=command.words)
    if isinstance(begun, MessageView):
        return begun
    return notice(answers.start_answer(begun.debate_id, begun.setup.warnings))


def debate_request(
    question: TypedQuestion, by: Person, here: Place, context: str = ""
) -> DebateRequest:
    return DebateRequest(
        question=question.text,
        context=context,
        asked_by=by,
        place=here,
        format=question.format or None,
        playbook=question.playbook or None,
        when=question.when,
    )


async def begin(
    context: ListenerContext, request: DebateRequest, text: str, *, origin: str, typed: str
) -> StartedDebate | MessageView:
    """Start a debate, or say why it was not started.

    Where one on the same question runs, a button starts another one on what was `typed`, if it has
    room for that; empty: it never has. `text` is as Slack sent it.
    """
    ts, thread = (request.mention.message, request.mention.thread) if request.mention else ("", "")
    try:
        return await start_with_links(context, request, text, origin=origin, thread=thread)
    except BadInput as refusal:
        words = answers.start_failure(str(refusal), request.question)
        if isinstance(refusal, DuplicateQuestion) and 0 < len(typed) <= MOST_COMMAND_CHARS:
            return asked_already(words, typed, origin=origin, ts=ts, thread=thread)
        return notice(words)


async def in_thread(
    context: ListenerContext, request: DebateRequest, mention: Mention
) -> DebateRequest:
    """Return a request with the thread that it was made in as a source."""
    here, by, thread = request.place, request.asked_by, mention.thread
    address = await context.link_to(here, thread)
    source = thread_reference(here.channel, thread, without=mention.message, by=by, address=address)
    return replace(request, references=(source, *request.references), mention=mention)


async def debate_it(context: ListenerContext, click: Click) -> MessageView:
    typed, here = json_values(click), place(click.team_id, click.channel_id)
    text, origin, ts, thread = (typed[name] for name in ("text", "origin", "ts", "thread"))
    await context.check_channel(here)
    anew, reading = "anew" in typed, parse_typed(text)
    # With its options if a new debate was requested; else as plain text.
    question = reading if anew and isinstance(reading, TypedQuestion) else TypedQuestion(text)
    request = replace(debate_request(question, click.person, here), anew=anew)
    if thread:
        request = await in_thread(context, request, Mention(message=ts, thread=thread))
    try:
        begun = await start_with_links(context, request, text, origin=origin, thread=thread)
    except DuplicateQuestion as refusal:
        words = answers.start_failure(str(refusal), text)
        return asked_already(words, text, origin=origin, ts=ts, thread=thread)
    return notice(answers.start_answer(begun.debate_id, begun.setup.warnings))


def command_of(text: str, by: Person, here: Place, trigger_id: str) -> Command:
    """The same words typed after `/debate`."""
    return Command(
        command="/debate",
        text=text,
        user_id=by.id,
        user_name=by.name,
        channel_id=here.channel,
        team_id=here.workspace,
        trigger_id=trigger_id,
    )


async def run_command(context: ListenerContext, click: Click) -> MessageView | None:
    here = place(click.team_id, click.channel_id)
    command = command_of(click.value, click.person, here, click.trigger_id)
    answer, is_done = await answer_in_time(context, command, parse_typed(click.value))
    if answer and not is_done:
        raise BadInput(answer.text)
    return answer


async def _help(context: ListenerContext, _command: Command, _order: SubcommandCall) -> MessageView:
    return usage(answers.COMMANDS, context.operator.retention_days)


async def _examine(
    context: ListenerContext, command: Command, _order: SubcommandCall
) -> MessageView:
    if context.operator.examine is None:
        return notice(answers.NOBODY_LOOKS)
    await _check_admin(context, command)
    return notice(answers.LOOKING)


async def _retry_landings(
    context: ListenerContext, command: Command, _order: SubcommandCall
) -> MessageView:
    await _check_admin(context, command)
    if context.operator.retry_landings is None:
        return notice(answers.LANDS_NOWHERE)
    count = await context.operator.retry_landings()
    if not count:
        return notice("Nothing waits and nothing was given up: all has landed.")
    sent = f"{quantity(count, 'landing')} sent again now."
    return notice(f"{sent} `/debate doctor` says what comes of it.")


async def _check_admin(context: ListenerContext, command: Command) -> None:
    if not await context.directories.of(command.team_id).is_admin(command.user_id):
        raise BadInput(answers.ADMINS_ONLY)


async def _show(_context: ListenerContext, _command: Command, debate: Debate) -> MessageView:
    return notice(answers.status_answer(debate))


async def _stop(context: ListenerContext, command: Command, debate: Debate) -> MessageView:
    await context.acts.steer.stop(debate, command.person)
    return notice(f"Debate `{debate.id}` stops; the judge decides on what is there.")


async def _export(context: ListenerContext, _command: Command, debate: Debate) -> MessageView:
    """Post a debate's files as it stands into its thread; whoever may see it may have them."""
    log = await context.acts.find.store.events(debate.id)
    files = await asyncio.to_thread(lambda: exported_files(fold(log), log))
    before = await context.posts.row_by_key(files.key)
    if before and before.state is PostState.FAILED:
        await context.outbox.repost(files)  # what Slack refused may be allowed now
    else:
        await context.outbox.post([files])
    board, thread = await context.posts.row_by_key(board_key(debate.id)), "its thread"
    if board and board.ts:
        thread = f"<{await context.link_to(debate.setup.place, board.ts)}|its thread>"
    if before and before.state is PostState.SENT:
        return notice(f"The files of debate `{debate.id}` as it stands are in {thread} already.")
    return notice(f"The files of debate `{debate.id}` come into {thread}: report, ADR, JSON.")


async def make_token(
    context: ListenerContext, command: Command, order: SubcommandCall
) -> MessageView:
    holds, now = _validity(context), context.clock.now()
    await context.check_colleague(command.user_id, place(command.team_id, command.channel_id))
    draft = PersonalToken(
        id="",
        workspace=command.team_id,
        person=command.user_id,
        number=0,
        name=redact(order.words)[:_NAME_LIMIT],
        made_at=now,
        expires_at=now + holds,
        used_at=None,
    )
    most = context.acts.start.bounds.tokens_per_person
    token = await context.records.tokens.make(draft, origin=command.trigger_id, most=most)
    if not token:
        raise BadInput(
            f"You have {most} tokens, as many as one person may. No token was made. "
            "`/debate token list` shows them, `/debate token revoke N` ends one."
        )
    return notice(
        f":key: Your token, shown this once:\n```{token}```\n"
        "Put it where your editor or program keeps its secrets: it calls Moot with it over MCP and "
        f"may do there what you may do here, in your name, until {moment(draft.expires_at)}. Never "
        "post it. Ask whoever runs Moot for the address to call; it ends in `/mcp`. "
        "`/debate token list` shows your tokens, `/debate token revoke N` ends one at once."
    )


async def list_tokens(
    context: ListenerContext, command: Command, _order: SubcommandCall
) -> MessageView:
    _validity(context)
    now, lines = context.clock.now(), ["*Your tokens*"]
    for token in await context.records.tokens.of(command.team_id, command.user_id, now):
        name = f" {literal(token.name)}" if token.name else ""
        used = f"used {moment(token.used_at)}" if token.used_at else "never used"
        ends = f"made {moment(token.made_at)}, ends {moment(token.expires_at)}"
        lines.append(f"• *{token.number}*{name} (`{token.id}`): {used}; {ends}")
    if len(lines) == 1:
        return notice("You have no tokens. `/debate token` makes one for your programs.")
    return notice("\n".join(lines))


async def end_tokens(
    context: ListenerContext, command: Command, order: SubcommandCall
) -> MessageView:
    _validity(context)
    number = None if order.words.lower() == "all" else int(order.words)
    ended = await context.records.tokens.revoke(command.team_id, command.user_id, number)
    if not ended:
        which = f"token {number}" if number else "tokens"
        raise BadInput(f"You have no {which}; nothing was done. `/debate token list` shows yours.")
    it = "it" if ended == 1 else "them"
    return notice(f"{quantity(ended, 'token')} ended: nothing can be done with {it} any more.")


def _validity(context: ListenerContext) -> timedelta:
    if context.operator.token_holds is None:
        raise BadInput(NO_TOKENS)
    return context.operator.token_holds


#: What subcommands do, by their forms.
_RUN: Mapping[str, Run] = {
    "list": lambda context, command, _: context.lists.debate_list(command),
    "search WORDS": lambda context, command, order: context.lists.search_results(
        command, order.words
    ),
    "settings": lambda context, command, _: open_settings(context, command),
    "token": make_token,
    "token new NAME": make_token,
    "token list": list_tokens,
    "token revoke N": end_tokens,
    "doctor": _examine,
    "doctor retry": _retry_landings,
    "help": _help,
}
#: The same of those about one debate, which the person may see.
_ABOUT: Mapping[
    str, Callable[[ListenerContext, Command, Debate], Awaitable[MessageView | None]]
] = {
    "show ID": _show,
    "outcome ID": lambda context, act, debate: open_outcome(context, act, debate, debate.outcome),
    "export ID": _export,
    "export ID page": share_page,
    "export ID page off": withdraw_page,
    "stop ID": _stop,
}
