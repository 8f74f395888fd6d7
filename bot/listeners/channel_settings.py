"""`/debate settings`: what holds for debates in a channel, and a line that says who changed it."""

from decimal import Decimal

from slack_bolt.async_app import AsyncApp

from bot.listeners.context import ListenerContext, person, place
from bot.listeners.interactions import on_form
from bot.listeners.start import checked_choices, form_options
from bot.queue.rows import NewPost
from bot.slack.ids import CallbackId, FieldId
from bot.slack.payloads import Command, FormSubmission, FormValues
from bot.views.notices import settings_line
from bot.views.start_form import CHANNEL_BOXES, STATES, settings_form
from core.use_cases.choices import ChannelChoices


def register(app: AsyncApp, context: ListenerContext) -> None:
    on_form(app, context, CallbackId.SETTINGS_FORM, save_settings)


async def open_settings(context: ListenerContext, command: Command) -> None:
    here = place(command.team_id, command.channel_id)
    await context.check_channel(here)
    now = await context.records.channels.get(here)
    options, usual = form_options(context.acts.start), context.acts.start.built_in()
    is_open = command.team_id in context.operator.open_workspaces
    form = settings_form(command.channel_id, now, usual, options, is_open=is_open)
    await context.open(command, form)


async def save_settings(context: ListenerContext, form: FormSubmission) -> None:
    most_cost = context.acts.start.settings().limits.most_debate_cost
    settings = checked_settings(form, most_cost)
    here = place(form.team_id, form.metadata.get("channel", ""))
    await context.check_member(form.user_id, here)
    await context.check_colleague(form.user_id, here)
    await context.records.channels.put(here, settings)
    post = NewPost(
        key=f"settings/{form.view_id}",
        workspace=here.workspace,
        channel=here.channel,
        method="post",
        payload=settings_line(person(form), settings).payload,
    )
    await context.outbox.post([post])


def checked_settings(form: FormValues, most_cost: Decimal | None) -> ChannelChoices:
    fields = (FieldId.CLARIFY, FieldId.SHADOW, FieldId.OPEN_TO_OTHERS)
    asks, alone, is_open = (STATES.get(form.choice(field.value)) for field in fields)
    choices = checked_choices(form, most_cost, clarify=asks)
    settings = ChannelChoices(
        choices=choices.model_copy(update={"shadow": alone}),
        stewards=form.people(FieldId.STEWARDS),
        open_to_others=is_open,
    )
    ticked = {box.id: bool(form.choices(box.id)) for box, _ in CHANNEL_BOXES}
    return settings.model_copy(update=ticked)
