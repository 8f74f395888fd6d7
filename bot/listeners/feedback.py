"""Whether the verdict was of use: the click is kept at once, the reason when it is sent."""

from slack_bolt.async_app import AsyncApp

from bot.listeners.clicks import Clicked, on_click, on_form
from bot.listeners.gate import debate_for
from bot.listeners.reception import Reception, person
from bot.slack.ids import ActionId, CallbackId, FieldId
from bot.slack.payloads import Click, FormSubmitted
from bot.views.feedback import comment_form, thanks
from bot.views.forms import Form
from bot.views.message import Message
from core.models import Feedback


def register(app: AsyncApp, reception: Reception) -> None:
    """Listen to the buttons under a verdict, and to the form that says why."""

    async def judged(found: Clicked) -> Message:
        return await take_feedback(reception, found.click)

    async def say_why(found: Clicked) -> None:
        await open_comment(reception, found)

    async def said_why(form: FormSubmitted) -> Form | None:
        await take_comment(reception, form)
        return None

    on_click(app, ActionId.FEEDBACK, judged)
    on_click(app, ActionId.SAY_WHY, say_why)
    on_form(app, CallbackId.COMMENT_FORM, said_why)


async def take_feedback(reception: Reception, click: Click) -> Message:
    """Record whether the verdict was of use; return thanks, with a way to say why."""
    debate_id, _, mark = click.value.partition("/")
    debate = await debate_for(reception, debate_id, user=click.user_id, team=click.team_id)
    by = person(click.user_id, click.user_name)
    given = Feedback(by=by, helpful=mark == "good", origin=click.trigger_id)
    await reception.deciding.judge(debate, given)
    return thanks(debate, given)


async def open_comment(reception: Reception, found: Clicked) -> None:
    """Open the form to say why, with what this person said before.

    Raises:
        BadInput: They have not said whether the verdict was of use.
    """
    click = found.click
    debate = await debate_for(reception, click.value, user=click.user_id, team=click.team_id)
    by = person(click.user_id, click.user_name)
    await found.open(comment_form(debate, reception.deciding.feedback_of(debate, by)))


async def take_comment(reception: Reception, form: FormSubmitted) -> None:
    """Record why, once however often the form arrives."""
    debate_id = form.kept.get("debate", "")
    debate = await debate_for(reception, debate_id, user=form.user_id, team=form.team_id)
    given = Feedback(
        by=person(form.user_id, form.user_name),
        helpful=form.kept.get("helpful") == "yes",
        comment=form.typed(FieldId.WHY.value),
        origin=form.view_id,
    )
    await reception.deciding.give_feedback(debate, given)
