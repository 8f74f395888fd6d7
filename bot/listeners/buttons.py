"""Buttons and forms of the posts of a debate, and the Stop button that Slack shows for agents."""

import re
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.context import (
    FieldError,
    ListenerContext,
    OnClick,
    acknowledge,
    json_values,
    on_click,
    on_form,
    record_first,
    with_debate,
)
from bot.listeners.linked import record_links
from bot.listeners.messages import IncomingMessage
from bot.slack.blocks import READ_ALL
from bot.slack.ids import LINKS, ActionId, CallbackId, FieldId, question_field, rank_field
from bot.slack.limits import FORM_BLOCKS
from bot.slack.payloads import Click, FormSubmission, Interaction, Opener, SessionStopped
from bot.views.clarifications import answer_form
from bot.views.decision import (
    ask_form,
    comment_form,
    decision_form,
    earlier_decision,
    form_failure,
    outcome_form,
    thanks,
)
from bot.views.group_post import full_turn_texts
from bot.views.message import (
    VERDICT,
    Form,
    MessageView,
    full_blocks,
    message_form,
    notice,
    text_form,
)
from bot.views.notices import page_link, page_withdrawal
from bot.views.progress import group_contributions
from bot.views.verdict import full_verdict
from bot.views.vote import (
    ballot_form,
    ballot_ranks,
    context_form,
    edit_field,
    options_form,
    submitted_edits,
)
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.verdict import Decision, DecisionKind, DecisionOutcome, Feedback, OutcomeKind
from core.debate.vote import PeopleBallot
from core.errors import BadInput
from core.rules.schedule import open_questions
from core.use_cases.decide import is_same_decision
from core.use_cases.messages import PersonsReply, open_numbers
from core.use_cases.reply_parsing import GivenAnswer
from core.use_cases.steer import EditRefused

NO_PAGES = (
    "Debates are not shared as pages here: whoever runs Moot has not switched that on "
    "(MOOT_PAGES_URL). Nothing was done."
)

#: Buttons that assign a reply to a question; each button in a message needs its own id.
CHOICES = re.compile(rf"{ActionId.CHOOSE}_\d+")


def register(app: AsyncApp, context: ListenerContext) -> None:
    on_click(app, context, ActionId.BALLOT, with_debate(open_ballot))
    on_form(app, context, CallbackId.BALLOT_FORM, with_debate(record_ballot))
    for kind in DecisionKind:
        on_click(app, context, ActionId[kind.name], _open_decision_form(kind))
    earlier = re.compile(rf"{ActionId.SUPERSEDE_EARLIER}-d\d{{1,4}}")
    on_click(app, context, earlier, with_debate(open_to_supersede))
    on_form(app, context, CallbackId.DECISION_FORM, with_debate(record_decision))
    for outcome in OutcomeKind:
        on_click(app, context, ActionId[f"OUTCOME_{outcome.name}"], _record_outcome_click(outcome))
    on_click(app, context, ActionId.OUTCOME_CHANGE, with_debate(change_outcome))
    on_form(app, context, CallbackId.OUTCOME_FORM, with_debate(record_outcome))
    on_click(app, context, ActionId.FEEDBACK, with_debate(record_feedback))
    on_click(app, context, ActionId.SAY_WHY, with_debate(open_comment))
    on_form(app, context, CallbackId.COMMENT_FORM, with_debate(record_comment))
    on_click(app, context, ActionId.ASK, with_debate(open_ask_form, joins=True))
    on_click(app, context, ActionId.ASK_THIS, ask_written_question)
    on_form(app, context, CallbackId.ASK_FORM, with_debate(ask_judge, joins=True))
    on_click(app, context, ActionId.SHARE_PAGE, with_debate(share_page))
    on_click(app, context, ActionId.READ_ALL, with_debate(read_all))
    on_click(app, context, ActionId.STOP, _steering(context.acts.steer.stop))
    on_click(app, context, ActionId.VOTE_NOW, _steering(context.acts.steer.call_vote))
    on_click(app, context, ActionId.PAUSE, _steering(context.acts.steer.pause))
    on_click(app, context, ActionId.RESUME, _steering(context.acts.steer.resume))
    on_click(app, context, ActionId.ADD_CONTEXT, with_debate(open_context_form))
    on_form(app, context, CallbackId.ADD_CONTEXT_FORM, with_debate(record_context))
    on_click(app, context, ActionId.OPTIONS, with_debate(open_options))
    on_form(app, context, CallbackId.OPTIONS_FORM, with_debate(record_options))
    on_click(app, context, ActionId.REVEAL, _steering(context.acts.steer.reveal))
    on_click(app, context, ActionId.DEBATE_ANYWAY, _steering(context.acts.steer.want))
    app.event("agent_session_stopped", middleware=[record_first(context, stop_session)])(
        acknowledge
    )
    on_click(app, context, ActionId.ANSWER, with_debate(open_answer_form, joins=True))
    on_click(app, context, ActionId.SKIP, with_debate(skip, joins=True))
    on_click(app, context, ActionId.SKIP_ALL, with_debate(skip, joins=True))
    on_click(app, context, CHOICES, with_debate(choose_question, joins=True))
    on_form(app, context, CallbackId.ANSWER_FORM, with_debate(record_answers, joins=True))


async def open_ballot(context: ListenerContext, click: Click, debate: Debate) -> None:
    context.acts.decide.check_ballot(debate, click.person)
    await context.open(click, ballot_form(debate, click.user_id))


async def record_ballot(context: ListenerContext, form: FormSubmission, debate: Debate) -> None:
    options = list[str]()
    for place in range(ballot_ranks(debate)):
        option = form.choice(rank_field(place))
        if option and option in options:
            raise FieldError(rank_field(place), answers.CHOSEN_TWICE)
        if place == 0 and not option:
            raise FieldError(rank_field(place), answers.NO_CHOICE)
        options += [option] if option else []
    ballot = PeopleBallot(by=form.person, options=tuple(options), origin=form.view_id)
    await context.acts.decide.vote(debate, ballot)


def _open_decision_form(kind: DecisionKind) -> OnClick:
    async def open_form(context: ListenerContext, click: Click, debate: Debate) -> None:
        context.acts.decide.check_decidable(debate)
        supersedes = kind is DecisionKind.SUPERSEDE
        newer = await context.acts.decide.newer_than(debate) if supersedes else dict[str, str]()
        today = context.acts.decide.today()
        if kind is DecisionKind.REVISIT:
            today = await _today(context, click)
        await context.open(click, decision_form(debate, kind, today=today, newer=newer))

    return with_debate(open_form)


async def open_to_supersede(context: ListenerContext, click: Click, earlier: Debate) -> None:
    newer = await context.debate(click.detail, click)
    context.acts.decide.check_supersedes(earlier, newer)
    question = {newer.id: newer.setup.question}
    today = context.acts.decide.today()
    form = decision_form(earlier, DecisionKind.SUPERSEDE, today=today, newer=question)
    await context.open(click, form)


async def record_decision(
    context: ListenerContext, form: FormSubmission, debate: Debate
) -> Form | None:
    """Record a decision with its person and reason, once per form.

    If another decision was recorded after the form was opened, return the form again, which shows
    that decision; submitting it replaces that decision.
    """
    try:
        kind = DecisionKind(form.metadata.get("kind", ""))
    except ValueError:
        raise BadInput(answers.FORM_UNREADABLE) from None
    newer_id, day, newer = form.choice(FieldId.NEWER), None, None
    if kind is DecisionKind.SUPERSEDE:
        newer = await context.debate(newer_id, form)
        try:
            context.acts.decide.check_newer(debate, newer)
        except BadInput as error:
            raise FieldError(FieldId.NEWER, str(error)) from None
    if kind is DecisionKind.REVISIT:
        try:
            day = date.fromisoformat(form.date(FieldId.DATE))
        except ValueError:
            raise FieldError(FieldId.DATE, answers.NO_DATE) from None
        if day <= await _today(context, form):
            raise FieldError(FieldId.DATE, answers.PAST_DATE)
    decision = Decision(
        kind=kind,
        by=form.person,
        why=form.text_of(FieldId.WHY),
        revisit_on=day,
        superseded_by=newer_id or None,
        origin=form.view_id,
    )
    previous = form.metadata.get("stands", "")
    current = await context.acts.decide.decide(debate, decision, previous=previous)
    if current.origin == decision.origin:
        return None
    if is_same_decision(current, decision):
        return message_form("Decided already", earlier_decision(current, decision.why))
    debate = await context.debate(debate.id, form)
    questions = dict[str, str]()
    if newer:
        context.acts.decide.check_supersedes(debate, newer)
        questions[newer.id] = newer.setup.question
    today = await _today(context, form)
    return decision_form(debate, kind, today=today, newer=questions, draft=decision)


def _record_outcome_click(kind: OutcomeKind) -> OnClick:
    """Return the listener that records an outcome, then opens the form for its reason."""

    async def record(context: ListenerContext, click: Click, debate: Debate) -> MessageView | None:
        outcome = DecisionOutcome(kind=kind, by=click.person, origin=click.trigger_id)
        current = await context.acts.decide.say_outcome(debate, outcome)
        try:
            await open_outcome(context, click, debate, current)
        except BadInput:  # the outcome is recorded, only the form did not open
            return notice(form_failure(debate, current))
        return None

    return with_debate(record)


async def change_outcome(context: ListenerContext, act: Opener, debate: Debate) -> None:
    await open_outcome(context, act, debate, debate.outcome)


async def open_outcome(
    context: ListenerContext, act: Opener, debate: Debate, outcome: DecisionOutcome | None
) -> None:
    context.acts.decide.check_outcome(debate)
    dates = context.acts.remind.dates
    again = dates.again_after_days if dates.ask_after_days else 0
    await context.open(act, outcome_form(debate, outcome, again_after=again))


async def record_outcome(context: ListenerContext, form: FormSubmission, debate: Debate) -> None:
    try:
        kind = OutcomeKind(form.choice(FieldId.OUTCOME))
    except ValueError:
        raise FieldError(FieldId.OUTCOME, answers.NO_OUTCOME) from None
    outcome = DecisionOutcome(
        kind=kind, by=form.person, why=form.text_of(FieldId.WHY), origin=form.view_id
    )
    await context.acts.decide.give_outcome(debate, outcome)


async def record_feedback(context: ListenerContext, click: Click, debate: Debate) -> MessageView:
    feedback = Feedback(by=click.person, helpful=click.detail == "good", origin=click.trigger_id)
    await context.acts.decide.say_helpful(debate, feedback)
    return thanks(debate, feedback)


async def open_comment(context: ListenerContext, click: Click, debate: Debate) -> None:
    feedback = context.acts.decide.feedback_of(debate, click.person)
    await context.open(click, comment_form(debate, feedback))


async def record_comment(context: ListenerContext, form: FormSubmission, debate: Debate) -> None:
    feedback = Feedback(
        by=form.person,
        helpful=form.metadata.get("helpful") == "yes",
        comment=form.text_of(FieldId.WHY),
        origin=form.view_id,
    )
    await context.acts.decide.give_feedback(debate, feedback)


async def _today(context: ListenerContext, act: Interaction) -> date:
    return context.acts.decide.today(await context.directories.zone_of(act.user_id, act.team_id))


async def open_ask_form(context: ListenerContext, click: Click, debate: Debate) -> None:
    context.acts.ask.check(debate)
    await context.open(click, ask_form(debate))


async def ask_written_question(context: ListenerContext, click: Click) -> MessageView:
    """Ask the judge the question in a message of the thread; repeated clicks change nothing."""
    offer = json_values(click)
    debate = await context.debate(offer["debate"], click)
    await context.check_taking_part(click.user_id, debate.setup.place)
    await context.acts.ask.ask(
        debate.id, question_id=offer["message"], by=click.person, text=offer["text"]
    )
    return notice("The judge answers in the thread.")


async def ask_judge(context: ListenerContext, form: FormSubmission, debate: Debate) -> None:
    await context.acts.ask.ask(
        debate.id, question_id=form.view_id, by=form.person, text=form.text_of(FieldId.QUESTION)
    )


async def share_page(context: ListenerContext, _act: Interaction, debate: Debate) -> MessageView:
    if context.acts.share is None:
        raise BadInput(NO_PAGES)
    return page_link(debate, await context.acts.share.share(debate))


async def withdraw_page(context: ListenerContext, _act: Interaction, debate: Debate) -> MessageView:
    if context.acts.share is None:
        raise BadInput(NO_PAGES)
    return page_withdrawal(debate.id, had_page=await context.acts.share.withdraw(debate))


async def read_all(context: ListenerContext, click: Click, debate: Debate) -> None:
    contribution = debate.contributions.get(click.detail)
    if click.detail == VERDICT and debate.verdict:
        section = full_verdict(debate, debate.verdict)
    elif contribution:
        section = full_turn_texts(
            debate, contribution.turn, group_contributions(debate, contribution.turn)
        )
    else:
        raise BadInput(answers.NOTHING_TO_READ)
    await context.open(click, text_form(READ_ALL, full_blocks(section, FORM_BLOCKS)))


def _steering(steer: Callable[[Debate, Person], Awaitable[None]]) -> OnClick:
    async def steer_debate(_context: ListenerContext, click: Click, debate: Debate) -> None:
        await steer(debate, click.person)

    return with_debate(steer_debate)


async def open_context_form(context: ListenerContext, click: Click, debate: Debate) -> None:
    await context.acts.steer.check_context(debate, click.person)
    await context.open(click, context_form(debate))


async def record_context(context: ListenerContext, form: FormSubmission, debate: Debate) -> None:
    text = form.text_of(FieldId.CONTEXT)
    await context.acts.steer.add_context(debate, form.person, text, origin=form.view_id)
    await record_links(context, debate, text, form.person, note=form.view_id + LINKS)


async def open_options(context: ListenerContext, click: Click, debate: Debate) -> None:
    await context.acts.steer.check_options(debate, click.person)
    await context.open(click, options_form(debate))


async def record_options(context: ListenerContext, form: FormSubmission, debate: Debate) -> None:
    """Record the edits of the form, once even if it arrives again; show errors at their fields."""
    edits = submitted_edits(debate, form, form.person)
    try:
        await context.acts.steer.edit_options(debate, form.person, edits)
    except EditRefused as refused:
        raise FieldError(edit_field(refused.edit), str(refused)) from None


async def stop_session(context: ListenerContext, body: dict[str, Any]) -> None:
    """Stop the debate of the thread, or tell only that person why not."""
    event = SessionStopped.model_validate(body)
    message = IncomingMessage(context, event.team_id, event.as_reply)
    debate_id = await message.debate_id()
    if debate_id is None:
        return
    async with message.log_failures():
        try:
            debate = await context.acts.find.visible(
                debate_id, person=event.user, workspace=event.team_id
            )
            await context.acts.steer.stop(debate, await message.author())
        except BadInput as refusal:
            await message.answer_privately(str(refusal), key=f"{message.origin}/answer")


async def open_answer_form(context: ListenerContext, click: Click, debate: Debate) -> None:
    items = open_questions(debate)
    if not items:
        raise BadInput(answers.QUESTIONS_CLOSED)
    await context.open(click, answer_form(debate, items))


async def skip(context: ListenerContext, click: Click, debate: Debate) -> None:
    """Skip one question, or all open ones; a second click changes nothing."""
    numbers = [number for number in open_numbers(debate) if click.detail in {"", str(number)}]
    if not numbers:
        raise BadInput(answers.QUESTIONS_CLOSED)
    await context.acts.answer.skip(debate.id, numbers, click.person, click.trigger_id)


async def choose_question(context: ListenerContext, click: Click, debate: Debate) -> MessageView:
    """Record a reply as the answer to the question that the person clicked."""
    number, _, note = click.detail.partition("/")
    if not number.isdecimal():
        raise BadInput(answers.QUESTIONS_CLOSED)
    await context.acts.answer.choose(debate.id, note, int(number))
    return notice(f":white_check_mark: Taken as the answer to question {int(number)}.")


async def record_answers(
    context: ListenerContext, form: FormSubmission, debate: Debate
) -> Form | None:
    """Record the answers of the form; return a form that lists those that came too late.

    If the box for that is ticked, questions with empty fields are skipped.
    """
    numbers = [item.number for item in debate.all_clarifications]
    texts = {number: form.text_of(question_field(number)) for number in numbers}
    new_answers = [GivenAnswer(number, text) for number, text in texts.items() if text]
    if form.choices(FieldId.REST):
        empty = [number for number in open_numbers(debate) if not texts.get(number)]
        new_answers += [GivenAnswer(number, "") for number in empty]
    reply = PersonsReply(debate_id=debate.id, by=form.person, origin=form.view_id)
    late = await context.acts.answer.form(reply, new_answers)
    full_text = "\n".join(texts.values())
    await record_links(context, debate, full_text, form.person, note=form.view_id + LINKS)
    return message_form("Answers", answers.late_answers(late)) if late else None
