"""The board's buttons: recorded before they are acknowledged, refusals only for who clicked."""

from collections.abc import Awaitable, Callable

from slack_bolt.async_app import AsyncApp

from bot.listeners.clicks import Clicked, OnClick, on_click, on_form
from bot.listeners.gate import debate_for
from bot.listeners.reception import Reception, person
from bot.slack.ids import ActionId, CallbackId, FieldId
from bot.slack.payloads import Click, FormSubmitted
from bot.views.context_form import context_form
from bot.views.forms import Form
from core.models import Debate, Person

#: What a button does to its debate.
Deed = Callable[[Debate, Person], Awaitable[None]]


def register(app: AsyncApp, reception: Reception) -> None:
    """Listen to the buttons of the board."""
    steering = reception.steering
    deeds: dict[ActionId, Deed] = {
        ActionId.STOP: steering.stop,
        ActionId.VOTE_NOW: steering.call_vote,
        ActionId.PAUSE: steering.pause,
        ActionId.RESUME: steering.resume,
    }
    for action_id, deed in deeds.items():
        on_click(app, action_id, _doing(reception, deed))

    async def add_context(found: Clicked) -> None:
        await open_context_form(reception, found)

    async def added(form: FormSubmitted) -> Form | None:
        await take_context(reception, form)
        return None

    on_click(app, ActionId.ADD_CONTEXT, add_context)
    on_form(app, CallbackId.ADD_CONTEXT_FORM, added)


def _doing(reception: Reception, deed: Deed) -> OnClick:
    async def do(found: Clicked) -> None:
        await deed(await _debate(reception, found.click), _who(found.click))

    return do


async def open_context_form(reception: Reception, found: Clicked) -> None:
    """Open the form for what the agents should know.

    Raises:
        BadInput: The person may not; says what they may do.
    """
    debate = await _debate(reception, found.click)
    await reception.steering.check_context(debate, _who(found.click))
    await found.open(context_form(debate))


async def take_context(reception: Reception, form: FormSubmitted) -> None:
    """Add what was typed as a note, once however often the form arrives."""
    debate_id = form.kept.get("debate", "")
    debate = await debate_for(reception, debate_id, user=form.user_id, team=form.team_id)
    by = person(form.user_id, form.user_name)
    text = form.typed(FieldId.CONTEXT.value)
    await reception.steering.add_context(debate, by, text, form.view_id)


async def _debate(reception: Reception, click: Click) -> Debate:
    return await debate_for(reception, click.value, user=click.user_id, team=click.team_id)


def _who(click: Click) -> Person:
    return person(click.user_id, click.user_name)
