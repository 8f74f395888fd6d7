"""Clicks on buttons: recorded before they are acknowledged, refusals only for who clicked."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond

from bot.ids import ActionId
from bot.listeners.reception import Reception, person
from bot.payloads import Click
from core.errors import BadInput


def register(app: AsyncApp, reception: Reception) -> None:
    """Listen to the buttons of the board."""

    @app.action(ActionId.STOP.value)
    async def stop(ack: AsyncAck, body: dict[str, Any], respond: AsyncRespond) -> None:
        refusal = await stop_by_click(reception, Click.model_validate(body))
        await ack()
        if refusal:
            await respond(text=refusal, response_type="ephemeral", replace_original=False)


async def stop_by_click(reception: Reception, click: Click) -> str:
    """Stop the debate the button belongs to; return why not, in words."""
    by = person(click.user_id, click.user_name)
    try:
        await reception.commands.stop_debate(click.value, by, workspace=click.team_id)
    except BadInput as refusal:
        return str(refusal)
    return ""
