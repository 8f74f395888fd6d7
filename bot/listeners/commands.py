"""`/debate` and the buttons on its answers. Facts are recorded before the answer, which is private.

Source: https://docs.slack.dev/interactivity/implementing-slash-commands (three seconds)
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond

from bot.listeners import answers
from bot.listeners.buttons import change_outcome, share_page, withdraw_page
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
from bot.views.notices import confirm_command, confirm_duplicate, usage
from bot.views.start_form import FormTarget
from core.debate.log import fold
from core.debate.people import Mention, Person, Place
from core.debate.state import Debate
from core.errors import BadInput, DuplicateQuestion, LogBroken, StoreError
from core.figures import quantity
from core.opening import DebateRequest
from core.redaction import redact
from core.use_cases.recall import is_about_decision
from core.use_cases.start import StartedDebate

_log = logger(__name__)

NO_TOKENS = (
    "Programs cannot call Moot here: whoever runs it has not switched MCP on (MOOT_MCP), so there "
    "are no tokens. Nothing was done."
)
#: Characters of a token's name at most.
_NAME_LIMIT = 40
#: Runs a subcommand; returns the answer, or None if it opened a form. Raises BadInput and
#: StoreError.
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
            message = notice(answers.doctor_answer(await context.operator.examine()))
            try:
                await respond(**message.payload, response_type="ephemeral", replace_original=False)
            except CONNECTION_ERRORS as error:
                _log.warning("findings not delivered", reason=type(error).__name__)

    on_click(app, context, ActionId.DEBATE_IT, debate_it)
    on_click(app, context, ActionId.RUN_COMMAND, run_command)


async def answer_in_time(
    context: ListenerContext, command: Command, reading: Reading
) -> tuple[MessageView | None, bool]:
    """Carry out the text within the time limit; return the answer, and whether it was carried out.

    There is no answer if a form opened. There is none either if Slack delivers again a command that
    changes something and was answered before.
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
        reason = answers.storage_failure(error)
        # Only commands about an existing debate read a log: there is no question to give back.
        is_broken = isinstance(error, LogBroken)
        return notice(reason if is_broken else answers.start_failure(reason, command.words)), False
    except TimeoutError:
        return notice(answers.TOO_SLOW), False


async def answer_to(
    context: ListenerContext, command: Command, reading: Reading
) -> MessageView | None:
    """Carry out the text; return the answer, or None if a form opened."""
    match reading:
        case SubcommandCall(subcommand=subcommand) if run := _ABOUT_DEBATE.get(subcommand.form):
            return await run(context, command, await context.debate(reading.debate_id, command))
        case SubcommandCall(subcommand=subcommand):
            return await _RUN[subcommand.form](context, command, reading)
        case OpenForm(playbook=playbook):
            target = FormTarget(channel="" if command.is_direct else command.channel_id)
            await open_start_form(context, command, target, playbook=playbook)
            return None
        case UnclearText():
            form = reading.subcommand.form
            return confirm_command(reading.text, form, reading.command, origin=command.trigger_id)
        case UnknownOption():
            return notice(answers.start_failure(answers.unknown_option(reading), command.words))
        case TypedQuestion():
            decisions = await find_decisions(context, reading, command.user_id, command.team_id)
            if decisions:
                return decisions
            here = place(command.team_id, command.channel_id)
            await context.check_channel(here)
            request, origin = debate_request(reading, command.person, here), command.trigger_id
            started = await start_or_explain(
                context, request, command.text, origin=origin, retry_text=command.words
            )
            if isinstance(started, MessageView):
                return started
            return notice(answers.start_answer(started.debate_id, started.setup.warnings))


async def find_decisions(
    context: ListenerContext, question: TypedQuestion, person_id: str, team: str
) -> MessageView | None:
    """Answer a question about earlier decisions; None if the question is to be debated."""
    if question.has_options or not is_about_decision(question.text):
        return None
    decisions = await context.acts.recall.for_person(
        question.text, person=person_id, workspace=team
    )
    return await context.lists.recalled_decisions(decisions)


def debate_request(
    question: TypedQuestion, person: Person, here: Place, context: str = ""
) -> DebateRequest:
    return DebateRequest(
        question=question.text,
        context=context,
        asked_by=person,
        place=here,
        format=question.format or None,
        playbook=question.playbook or None,
        when=question.when,
    )


async def start_or_explain(
    context: ListenerContext, request: DebateRequest, text: str, *, origin: str, retry_text: str
) -> StartedDebate | MessageView:
    """Start a debate, or return the reason why it was not started.

    If a debate on the same question runs, the answer has a button that starts another one on
    `retry_text`, unless that is empty or too long for a button. `text` is in Slack's markup.
    """
    ts, thread = (request.mention.message, request.mention.thread) if request.mention else ("", "")
    try:
        return await start_with_links(context, request, text, origin=origin, thread=thread)
    except BadInput as refusal:
        reason = answers.start_failure(str(refusal), request.question)
        if isinstance(refusal, DuplicateQuestion) and 0 < len(retry_text) <= MOST_COMMAND_CHARS:
            return confirm_duplicate(reason, retry_text, origin=origin, ts=ts, thread=thread)
        return notice(reason)


async def with_thread(
    context: ListenerContext, request: DebateRequest, mention: Mention
) -> DebateRequest:
    """Return the request with the thread of the mention as a source."""
    here, by, thread = request.place, request.asked_by, mention.thread
    address = await context.link_to(here, thread)
    source = thread_reference(here.channel, thread, without=mention.message, by=by, address=address)
    return replace(request, references=(source, *request.references), mention=mention)


async def debate_it(context: ListenerContext, click: Click) -> MessageView:
    values, here = json_values(click), place(click.team_id, click.channel_id)
    text, origin, ts, thread = (values[name] for name in ("text", "origin", "ts", "thread"))
    await context.check_channel(here)
    is_anew, reading = "anew" in values, parse_typed(text)
    # Options before the question count if a second debate is started; else the text is plain.
    question = reading if is_anew and isinstance(reading, TypedQuestion) else TypedQuestion(text)
    request = replace(debate_request(question, click.person, here), anew=is_anew)
    if thread:
        request = await with_thread(context, request, Mention(message=ts, thread=thread))
    try:
        started = await start_with_links(context, request, text, origin=origin, thread=thread)
    except DuplicateQuestion as refusal:
        reason = answers.start_failure(str(refusal), text)
        return confirm_duplicate(reason, text, origin=origin, ts=ts, thread=thread)
    return notice(answers.start_answer(started.debate_id, started.setup.warnings))


def as_command(text: str, person: Person, here: Place, trigger_id: str) -> Command:
    """The command with this text after `/debate`."""
    return Command(
        command="/debate",
        text=text,
        user_id=person.id,
        user_name=person.name,
        channel_id=here.channel,
        team_id=here.workspace,
        trigger_id=trigger_id,
    )


async def run_command(context: ListenerContext, click: Click) -> MessageView | None:
    here = place(click.team_id, click.channel_id)
    command = as_command(click.value, click.person, here, click.trigger_id)
    answer, is_done = await answer_in_time(context, command, parse_typed(click.value))
    if answer and not is_done:
        raise BadInput(answer.text)
    return answer


async def _help(context: ListenerContext, _command: Command, _order: SubcommandCall) -> MessageView:
    return usage(answers.COMMANDS, context.operator.retention_days)


async def _answer_doctor(
    context: ListenerContext, command: Command, _order: SubcommandCall
) -> MessageView:
    if context.operator.examine is None:
        return notice(answers.NO_CHECKS)
    await _check_admin(context, command)
    return notice(answers.CHECKING)


async def _retry_landings(
    context: ListenerContext, command: Command, _order: SubcommandCall
) -> MessageView:
    await _check_admin(context, command)
    if context.operator.retry_landings is None:
        return notice(answers.NO_RECEIVERS)
    count = await context.operator.retry_landings()
    if not count:
        return notice("There is nothing to send again: all has landed.")
    retries = f"{quantity(count, 'landing')} sent again now."
    return notice(f"{retries} `/debate doctor` shows the result.")


async def _check_admin(context: ListenerContext, command: Command) -> None:
    if not await context.directories.of(command.team_id).is_admin(command.user_id):
        raise BadInput(answers.ADMINS_ONLY)


async def _show(_context: ListenerContext, _command: Command, debate: Debate) -> MessageView:
    return notice(answers.status_answer(debate))


async def _stop(context: ListenerContext, command: Command, debate: Debate) -> MessageView:
    await context.acts.steer.stop(debate, command.person)
    return notice(f"Debate `{debate.id}` stops; the judge decides on what is there.")


async def _export(context: ListenerContext, _command: Command, debate: Debate) -> MessageView:
    """Post the debate's files into its thread, for everybody who can see the debate."""
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
    lifetime, now = _token_lifetime(context), context.clock.now()
    await context.check_colleague(command.user_id, place(command.team_id, command.channel_id))
    draft = PersonalToken(
        id="",
        workspace=command.team_id,
        person=command.user_id,
        number=0,
        name=redact(order.words)[:_NAME_LIMIT],
        made_at=now,
        expires_at=now + lifetime,
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
    _token_lifetime(context)
    now, lines = context.clock.now(), ["*Your tokens*"]
    for token in await context.records.tokens.of(command.team_id, command.user_id, now):
        name = f" {literal(token.name)}" if token.name else ""
        usage_text = f"used {moment(token.used_at)}" if token.used_at else "never used"
        dates = f"made {moment(token.made_at)}, ends {moment(token.expires_at)}"
        lines.append(f"• *{token.number}*{name} (`{token.id}`): {usage_text}; {dates}")
    if len(lines) == 1:
        return notice("You have no tokens. `/debate token` makes one for your programs.")
    return notice("\n".join(lines))


async def end_tokens(
    context: ListenerContext, command: Command, order: SubcommandCall
) -> MessageView:
    _token_lifetime(context)
    number = None if order.words.lower() == "all" else int(order.words)
    count = await context.records.tokens.revoke(command.team_id, command.user_id, number)
    if not count:
        tokens = f"token {number}" if number else "tokens"
        raise BadInput(f"You have no {tokens}; nothing was done. `/debate token list` shows yours.")
    pronoun = "it" if count == 1 else "them"
    return notice(f"{quantity(count, 'token')} ended: nothing can be done with {pronoun} any more.")


def _token_lifetime(context: ListenerContext) -> timedelta:
    if context.operator.token_lifetime is None:
        raise BadInput(NO_TOKENS)
    return context.operator.token_lifetime


#: By the form of a subcommand: the function that runs it.
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
    "doctor": _answer_doctor,
    "doctor retry": _retry_landings,
    "help": _help,
}
#: The same for subcommands about a debate that the person may see.
_ABOUT_DEBATE: Mapping[
    str, Callable[[ListenerContext, Command, Debate], Awaitable[MessageView | None]]
] = {
    "show ID": _show,
    "outcome ID": change_outcome,
    "export ID": _export,
    "export ID page": share_page,
    "export ID page off": withdraw_page,
    "stop ID": _stop,
}
