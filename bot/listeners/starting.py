"""The form to start a debate: from the command, a message's shortcut, or a button."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.listeners import answers
from bot.listeners.clicks import Clicked, FieldWrong, on_click, on_form, open_form
from bot.listeners.estimating import PENDING, OpenForm
from bot.listeners.form_reading import aim_of, channel_of, checked_draft, draft_of
from bot.listeners.reception import Reception, person, place
from bot.slack.ids import ActionId, CallbackId, FieldId
from bot.slack.payloads import FormSubmitted, MessageShortcut
from bot.store.posts import Channel
from bot.views.forms import Form, said
from bot.views.start_form import Aim, Draft, fitted, start_form
from core.errors import BadInput
from core.models import Person
from core.opening import Wish

#: Menus of the form whose choice changes the estimate.
_TELLING = (FieldId.FORMAT, FieldId.AGENTS, FieldId.ROUNDS, FieldId.MODELS)


@dataclass(frozen=True, kw_only=True)
class Opening:
    """Who wants the form to start a debate, where, and with what in it."""

    trigger_id: str
    team: str
    by: Person
    #: Empty: chosen in the form.
    channel: str = ""
    question: str = ""
    source: str = ""


def register(app: AsyncApp, reception: Reception) -> None:
    """Listen to the form, its menus, its shortcut and its button."""

    @app.shortcut("debate_this")
    async def debate_this(ack: AsyncAck, body: dict[str, Any], client: AsyncWebClient) -> None:
        await open_for_message(reception, MessageShortcut.model_validate(body), client)
        await ack()

    async def start(found: Clicked) -> None:
        click = found.click
        by = person(click.user_id, click.user_name)
        opening = Opening(trigger_id=click.trigger_id, team=click.team_id, by=by)
        await open_start_form(reception, found.client, opening)

    async def chosen(found: Clicked) -> None:
        show_estimate(reception, found)

    async def submitted(form: FormSubmitted) -> Form | None:
        return await start_from_form(reception, form)

    on_click(app, ActionId.START, start)
    for field in _TELLING:
        on_click(app, field, chosen)
    on_form(app, CallbackId.START_FORM, submitted)


async def open_start_form(reception: Reception, client: AsyncWebClient, opening: Opening) -> None:
    """Open the form; the estimate follows.

    Raises:
        BadInput: Slack does not open it any more, or no debate can be held in the channel.
    """
    if opening.channel:
        reason = answers.not_here(await reception.access.of(opening.team).standing(opening.channel))
        if reason:
            raise BadInput(reason)
    usual = await reception.starting.usual(Channel(opening.team, opening.channel))
    question, context, left_out = fitted(opening.question)
    draft = Draft(question=question, context=context, choices=usual)
    aim = Aim(channel=opening.channel, source=opening.source, left_out=left_out)
    view = start_form(draft, reception.starting.offer(), aim, PENDING)
    view_id = await open_form(client, opening.trigger_id, view)
    where = place(opening.team, opening.channel)
    opened = OpenForm(view_id=view_id, draft=draft, aim=aim, place=where, by=opening.by)
    reception.estimates.show(client, opened)


async def open_for_message(
    reception: Reception, used: MessageShortcut, client: AsyncWebClient
) -> None:
    """Open the form with a message as its question; say why where it cannot be."""
    link = await reception.access.of(used.team_id).link_to(used.channel_id, used.message_ts)
    opening = Opening(
        trigger_id=used.trigger_id,
        team=used.team_id,
        by=person(used.user_id, used.user_name),
        channel="" if used.is_direct else used.channel_id,
        question=used.words,
        source=link,
    )
    try:
        await open_start_form(reception, client, opening)
    except BadInput as refusal:
        with suppress(BadInput):  # too late for this form as well
            await open_form(client, used.trigger_id, said("Not here", str(refusal)))


def show_estimate(reception: Reception, found: Clicked) -> None:
    """Bring the estimate of an open form up to date."""
    click = found.click
    if click.callback_id != CallbackId.START_FORM.value:
        return  # the same menus are in the form for a channel's settings
    opened = OpenForm(
        view_id=click.view_id,
        draft=draft_of(click),
        aim=aim_of(click),
        place=place(click.team_id, channel_of(click)),
        by=person(click.user_id, click.user_name),
    )
    reception.estimates.show(found.client, opened)


async def start_from_form(reception: Reception, form: FormSubmitted) -> Form | None:
    """Start the debate of a form, once however often it arrives; mark what cannot be used."""
    settings = reception.commands.settings()
    draft = checked_draft(form, settings.question_max_chars, settings.limits.most_debate_cost)
    channel = channel_of(form)
    await _check_channel(reception, form, channel)
    source = aim_of(form).source
    wish = Wish(
        question=draft.question,
        context="\n\n".join(filter(None, (draft.context, source and f"Asked about: {source}"))),
        asked_by=person(form.user_id, form.user_name),
        place=place(form.team_id, channel),
    )
    await reception.starting.start(wish, origin=form.view_id, choices=draft.choices)
    return None


async def _check_channel(reception: Reception, form: FormSubmitted, channel: str) -> None:
    """Make sure that the debate can be held there, and that its starter belongs there."""
    reason = answers.not_here(await reception.access.of(form.team_id).standing(channel))
    if not reason and not await reception.access.of(form.team_id).may_see(form.user_id, channel):
        reason = answers.NOT_A_MEMBER
    if reason and not aim_of(form).channel:
        raise FieldWrong(FieldId.CHANNEL.value, answers.without_marks(reason))
    if reason:
        raise BadInput(reason)
