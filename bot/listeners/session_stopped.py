"""Slack's own Stop, which it shows above a thread where Moot is installed as an agent."""

from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners.context import ListenerContext
from bot.listeners.messages import debate_of_thread, report_broken_log, whisper
from bot.slack.ids import note_id
from bot.slack.payloads import SessionStopped
from core.debate.people import Person
from core.errors import BadInput, LogBroken, StoreError

Next = Callable[[], Awaitable[None]]
Body = dict[str, Any]


def register(app: AsyncApp, context: ListenerContext) -> None:
    """Listen to it."""

    async def record_stop(body: Body, next_: Next) -> None:
        try:
            await take_stop(context, SessionStopped.model_validate(body))
        except StoreError:
            context.on_unrecorded()
            raise
        await next_()

    @app.event("agent_session_stopped", middleware=[record_stop])
    async def session_stopped() -> None:
        """Everything was done before the acknowledgement."""


async def take_stop(context: ListenerContext, stopped: SessionStopped) -> None:
    """Stop the debate of the thread, or say to that person only why not."""
    message = stopped.as_reply
    debate_id = await debate_of_thread(context, stopped.team_id, message)
    if debate_id is None:
        return
    name = await context.access.of(stopped.team_id).name_of(stopped.user)
    try:
        debate = await context.acts.find.visible(
            debate_id, person=stopped.user, workspace=stopped.team_id
        )
        await context.acts.steer.stop(debate, Person(id=stopped.user, name=name))
    except BadInput as refusal:
        key = f"{note_id(message.channel, message.ts)}/answer"
        await whisper(context, stopped.team_id, message, {"text": str(refusal)}, key=key)
    except LogBroken as error:  # it stays so: Slack need not repeat it
        await report_broken_log(context, stopped.team_id, message, error)
