"""The card with the agents' questions: Answer opens a form, Skip lets assumptions hold."""

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.clicks import Clicked, on_click, on_form
from bot.listeners.gate import debate_for
from bot.listeners.reception import Reception, person
from bot.people.answering import Reply, open_items, open_numbers
from bot.people.reading import Said
from bot.slack.ids import ActionId, CallbackId, FieldId, question_field
from bot.slack.payloads import Click, FormSubmitted
from bot.views.clarifications import answer_form
from bot.views.forms import Form, said
from core.errors import BadInput
from core.models import Debate


def register(app: AsyncApp, reception: Reception) -> None:
    """Listen to the card and its form."""

    async def answer(found: Clicked) -> None:
        await open_answer_form(reception, found)

    async def skip(found: Clicked) -> None:
        await skip_one(reception, found.click)

    async def skip_all(found: Clicked) -> None:
        await skip_open(reception, found.click)

    async def answered(form: FormSubmitted) -> Form | None:
        return await take_answers(reception, form)

    on_click(app, ActionId.ANSWER, answer)
    on_click(app, ActionId.SKIP, skip)
    on_click(app, ActionId.SKIP_ALL, skip_all)
    on_form(app, CallbackId.ANSWER_FORM, answered)


async def open_answer_form(reception: Reception, found: Clicked) -> None:
    """Open the form with every question that is still open."""
    debate = await _debate(reception, found.click, found.click.value)
    items = open_items(debate)
    if not items:
        raise BadInput(answers.QUESTIONS_CLOSED)
    await found.open(answer_form(debate, items))


async def skip_one(reception: Reception, click: Click) -> None:
    """Let one assumption hold. A second click on it changes nothing."""
    debate_id, _, number = click.value.partition("/")
    debate = await _debate(reception, click, debate_id)
    meant = [one for one in open_numbers(debate) if str(one) == number]
    if not meant:
        raise BadInput(answers.QUESTION_CLOSED)
    by = person(click.user_id, click.user_name)
    await reception.answering.skip(debate.id, meant, by, click.trigger_id)


async def skip_open(reception: Reception, click: Click) -> None:
    """Let all assumptions hold that can still be questioned."""
    debate = await _debate(reception, click, click.value)
    numbers = open_numbers(debate)
    if not numbers:
        raise BadInput(answers.QUESTIONS_CLOSED)
    by = person(click.user_id, click.user_name)
    await reception.answering.skip(debate.id, numbers, by, click.trigger_id)


async def take_answers(reception: Reception, form: FormSubmitted) -> Form | None:
    """Record the answers of the form; say so where somebody was faster."""
    debate_id = form.kept.get("debate", "")
    debate = await debate_for(reception, debate_id, user=form.user_id, team=form.team_id)
    reply = Reply(
        debate_id=debate_id,
        by=person(form.user_id, form.user_name),
        text="",
        origin=form.view_id,
    )
    late = await reception.answering.take_form(reply, _answers(debate, form))
    return said("Answers", answers.too_late(late)) if late else None


def _answers(debate: Debate, form: FormSubmitted) -> list[Said]:
    """What was typed; what was left empty is skipped where that box is ticked."""
    asked = [item.number for opened in debate.clarifications.values() for item in opened.items]
    typed = {number: form.typed(question_field(number)) for number in asked}
    found = [Said(number, text) for number, text in typed.items() if text]
    if form.all_chosen(FieldId.REST.value):
        empty = [number for number in open_numbers(debate) if not typed.get(number)]
        found += [Said(number, "") for number in empty]
    return found


async def _debate(reception: Reception, click: Click, debate_id: str) -> Debate:
    return await debate_for(reception, debate_id, user=click.user_id, team=click.team_id)
