"""The buttons that say what somebody meant: *Debate it*, or the command that it resembles."""

from dataclasses import replace

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.commands import answer_in_time
from bot.listeners.context import ListenerContext, person, place
from bot.listeners.interactions import ClickEvent, on_click
from bot.listeners.linked import start_with_links
from bot.listeners.typed import TypedQuestion, read
from bot.slack.evidence import thread_reference
from bot.slack.ids import ActionId
from bot.slack.payloads import Command
from bot.views.asked_back import asked_already, typed_in
from bot.views.message import MessageView
from core.debate.people import Mention
from core.errors import BadInput, DuplicateQuestion
from core.opening import DebateRequest


def register(app: AsyncApp, context: ListenerContext) -> None:
    """Listen to both kinds of buttons."""
    on_click(app, context, ActionId.DEBATE_IT, debate_it)
    on_click(app, context, ActionId.RUN_COMMAND, run_command)


async def debate_it(context: ListenerContext, event: ClickEvent) -> MessageView:
    """Start a debate on the typed text; repeated clicks change nothing.

    Raises:
        BadInput: No debate can be started here; says why.
    """
    click, typed = event.click, typed_in(event.click.value)
    text, thread = typed["text"], typed["thread"]
    if click.channel_id.startswith("D"):
        raise BadInput(answers.IN_DIRECT_MESSAGE)
    membership = await context.access.of(click.team_id).standing(click.channel_id)
    if reason := answers.not_here(membership):
        raise BadInput(reason)
    anew, reading = "anew" in typed, read(text)
    # With its options if a new debate was requested; else as plain text.
    question = reading if anew and isinstance(reading, TypedQuestion) else TypedQuestion(text)
    request = DebateRequest(
        question=question.text,
        asked_by=person(click),
        place=place(click.team_id, click.channel_id),
        format=question.format or None,
        playbook=question.playbook or None,
        when=question.when,
        anew=anew,
    )
    if thread:
        address = await context.access.of(click.team_id).link_to(click.channel_id, thread)
        by, without = request.asked_by, typed["ts"]
        source = thread_reference(click.channel_id, thread, without=without, by=by, address=address)
        mention = Mention(message=typed["ts"], thread=thread)
        request = replace(request, references=(source,), mention=mention)
    origin = typed["origin"]
    try:
        begun = await start_with_links(context, request, text, origin=origin, thread=thread)
    except DuplicateQuestion as refusal:
        words = answers.start_failure(str(refusal), text)
        return asked_already(words, text, origin=origin, ts=typed["ts"], thread=thread)
    return answers.words(answers.start_answer(begun.debate_id, begun.setup.warnings))


async def run_command(context: ListenerContext, event: ClickEvent) -> MessageView | None:
    """Carry out the button's command.

    Raises:
        BadInput: It cannot be done; the question stays with its buttons.
    """
    click = event.click
    command = Command(
        command="/debate",
        text=click.value,
        user_id=click.user_id,
        user_name=click.user_name,
        channel_id=click.channel_id,
        team_id=click.team_id,
        trigger_id=click.trigger_id,
    )
    answer, is_done = await answer_in_time(context, command, read(click.value), event.client)
    if answer and not is_done:
        raise BadInput(answer.text)
    return answer
