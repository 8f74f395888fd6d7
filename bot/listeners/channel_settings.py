"""`/debate settings`: what holds for debates in a channel, and a line that says who changed it."""

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.listeners import answers
from bot.listeners.clicks import on_form, open_form
from bot.listeners.form_reading import checked_settings
from bot.listeners.reception import Reception, person
from bot.slack.ids import CallbackId
from bot.slack.payloads import Command, FormSubmitted
from bot.store.posts import Channel, NewPost
from bot.views.forms import Form
from bot.views.notices import settings_changed
from bot.views.start_form import settings_form
from core.errors import BadInput


def register(app: AsyncApp, reception: Reception) -> None:
    """Listen to the form."""

    async def submitted(form: FormSubmitted) -> Form | None:
        await save_settings(reception, form)
        return None

    on_form(app, CallbackId.SETTINGS_FORM, submitted)


async def open_settings(reception: Reception, command: Command, client: AsyncWebClient) -> None:
    """Open the form for the channel the command was typed in.

    Raises:
        BadInput: There is no such form here, or Slack does not open it any more.
    """
    if command.is_direct:
        raise BadInput(answers.IN_DIRECT_MESSAGE)
    if reason := answers.not_here(
        await reception.access.of(command.team_id).standing(command.channel_id)
    ):
        raise BadInput(reason)
    channel = Channel(command.team_id, command.channel_id)
    now = await reception.starting.of_channel(channel)
    offer, usual = reception.starting.offer(), reception.starting.built_in()
    await open_form(
        client, command.trigger_id, settings_form(command.channel_id, now, usual, offer)
    )


async def save_settings(reception: Reception, form: FormSubmitted) -> None:
    """Keep the settings and say so in the channel, once however often the form arrives.

    Raises:
        BadInput: The person is not in the channel.
    """
    most_cost = reception.commands.settings().limits.most_debate_cost
    chosen, channel = checked_settings(form, most_cost), form.kept.get("channel", "")
    if not await reception.access.of(form.team_id).may_see(form.user_id, channel):
        raise BadInput(answers.NOT_A_MEMBER)
    await reception.starting.set_channel(Channel(form.team_id, channel), chosen)
    changed = settings_changed(person(form.user_id, form.user_name), chosen)
    post = NewPost(
        key=f"settings/{form.view_id}",
        workspace=form.team_id,
        channel=channel,
        method="post",
        payload=changed.payload,
    )
    await reception.outbox.post([post])
