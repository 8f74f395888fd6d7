"""Buttons and forms of the vote and below the verdict: ballots, decisions, outcomes, questions."""

import re
from datetime import date

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.context import (
    FieldWrong,
    ListenerContext,
    OnClick,
    about,
    json_values,
    on_click,
    on_form,
    person,
)
from bot.slack.blocks import READ_ALL
from bot.slack.ids import ActionId, CallbackId, FieldId, rank_field
from bot.slack.limits import FORM_BLOCKS
from bot.slack.payloads import Click, FormSubmission, Interaction, Opener
from bot.views.decision import (
    ask_form,
    comment_form,
    decision_form,
    earlier_decision,
    form_failure,
    outcome_form,
    thanks,
)
from bot.views.group_post import everything
from bot.views.message import VERDICT, Form, MessageView, in_full, message_form, notice, text_form
from bot.views.notices import page_link, withdrawn
from bot.views.turn_groups import said_together
from bot.views.verdict import whole
from bot.views.vote import ballot_form, places_of
from core.debate.state import Debate
from core.debate.verdict import Decision, DecisionKind, DecisionOutcome, Feedback, OutcomeKind
from core.debate.vote import PeopleBallot
from core.errors import BadInput
from core.use_cases.decide import says_the_same

NO_PAGES = (
    "Debates are not shared as pages here: whoever runs Moot has not switched that on "
    "(MOOT_PAGES_URL). Nothing was done."
)


def register(app: AsyncApp, context: ListenerContext) -> None:
    on_click(app, context, ActionId.BALLOT, about(open_ballot))
    on_form(app, context, CallbackId.BALLOT_FORM, about(take_ballot))
    for kind in DecisionKind:
        on_click(app, context, ActionId[kind.name], _deciding(kind))
    earlier = re.compile(rf"{ActionId.SUPERSEDE_EARLIER}-d\d{{1,4}}")
    on_click(app, context, earlier, about(open_to_supersede))
    on_form(app, context, CallbackId.DECISION_FORM, about(take_decision))
    for outcome in OutcomeKind:
        on_click(app, context, ActionId[f"OUTCOME_{outcome.name}"], _turned_out(outcome))
    on_click(app, context, ActionId.OUTCOME_CHANGE, about(change_outcome))
    on_form(app, context, CallbackId.OUTCOME_FORM, about(take_outcome))
    on_click(app, context, ActionId.FEEDBACK, about(take_feedback))
    on_click(app, context, ActionId.SAY_WHY, about(open_comment))
    on_form(app, context, CallbackId.COMMENT_FORM, about(take_comment))
    on_click(app, context, ActionId.ASK, about(open_ask_form, joins=True))
    on_click(app, context, ActionId.ASK_THIS, ask_what_was_written)
    on_form(app, context, CallbackId.ASK_FORM, about(take_question, joins=True))
    on_click(app, context, ActionId.SHARE_PAGE, about(share_page))
    on_click(app, context, ActionId.READ_ALL, about(read_all))


async def open_ballot(context: ListenerContext, click: Click, debate: Debate) -> None:
    context.acts.decide.check_ballot(debate, person(click))
    await context.open(click, ballot_form(debate, click.user_id))


async def take_ballot(context: ListenerContext, form: FormSubmission, debate: Debate) -> None:
    options = list[str]()
    for place in range(places_of(debate)):
        option = form.choice(rank_field(place))
        if option and option in options:
            raise FieldWrong(rank_field(place), answers.CHOSEN_TWICE)
        if place == 0 and not option:
            raise FieldWrong(rank_field(place), answers.NO_CHOICE)
        options += [option] if option else []
    ballot = PeopleBallot(by=person(form), options=tuple(options), origin=form.view_id)
    await context.acts.decide.vote(debate, ballot)


def _deciding(kind: DecisionKind) -> OnClick:
    async def clicked(context: ListenerContext, click: Click, debate: Debate) -> None:
        context.acts.decide.check_decidable(debate)
        supersedes = kind is DecisionKind.SUPERSEDE
        newer = await context.acts.decide.newer_than(debate) if supersedes else dict[str, str]()
        today = context.acts.decide.today()
        if kind is DecisionKind.REVISIT:
            today = await _today(context, click)
        await context.open(click, decision_form(debate, kind, today=today, newer=newer))

    return about(clicked)


async def open_to_supersede(context: ListenerContext, click: Click, earlier: Debate) -> None:
    newer = await context.debate(click.detail, click)
    context.acts.decide.check_supersedes(earlier, newer)
    this_one = {newer.id: newer.setup.question}
    today = context.acts.decide.today()
    form = decision_form(earlier, DecisionKind.SUPERSEDE, today=today, newer=this_one)
    await context.open(click, form)


async def take_decision(
    context: ListenerContext, form: FormSubmission, debate: Debate
) -> Form | None:
    """Record a decision with person and reason, once per form.

    If another decision was recorded meanwhile, return the form again with that one; sending it
    replaces that one.
    """
    try:
        kind = DecisionKind(form.metadata.get("kind", ""))
    except ValueError:
        raise BadInput(answers.FORM_UNREADABLE) from None
    newer, day, instead = form.choice(FieldId.NEWER), None, None
    if kind is DecisionKind.SUPERSEDE:
        instead = await context.debate(newer, form)
        try:
            context.acts.decide.check_newer(debate, instead)
        except BadInput as error:
            raise FieldWrong(FieldId.NEWER, str(error)) from None
    if kind is DecisionKind.REVISIT:
        try:
            day = date.fromisoformat(form.date(FieldId.DATE))
        except ValueError:
            raise FieldWrong(FieldId.DATE, answers.NO_DATE) from None
        if day <= await _today(context, form):
            raise FieldWrong(FieldId.DATE, answers.PAST_DATE)
    decision = Decision(
        kind=kind,
        by=person(form),
        why=form.text_of(FieldId.WHY),
        revisit_on=day,
        superseded_by=newer or None,
        origin=form.view_id,
    )
    previous = form.metadata.get("stands", "")
    current = await context.acts.decide.decide(debate, decision, previous=previous)
    if current.origin == decision.origin:
        return None
    if says_the_same(current, decision):
        return message_form("Decided already", earlier_decision(current, decision.why))
    debate = await context.debate(debate.id, form)
    newer_ones = dict[str, str]()
    if instead:
        context.acts.decide.check_supersedes(debate, instead)
        newer_ones[instead.id] = instead.setup.question
    today = await _today(context, form)
    return decision_form(debate, kind, today=today, newer=newer_ones, draft=decision)


def _turned_out(kind: OutcomeKind) -> OnClick:
    """Return the listener that records an outcome, then opens the form for its reason."""

    async def clicked(context: ListenerContext, click: Click, debate: Debate) -> MessageView | None:
        outcome = DecisionOutcome(kind=kind, by=person(click), origin=click.trigger_id)
        current = await context.acts.decide.say_outcome(debate, outcome)
        try:
            await open_outcome(context, click, debate, current)
        except BadInput:  # it is recorded all the same
            return notice(form_failure(debate, current))
        return None

    return about(clicked)


async def change_outcome(context: ListenerContext, click: Click, debate: Debate) -> None:
    await open_outcome(context, click, debate, debate.outcome)


async def open_outcome(
    context: ListenerContext, act: Opener, debate: Debate, outcome: DecisionOutcome | None
) -> None:
    context.acts.decide.check_outcome(debate)
    dates = context.acts.remind.dates
    again = dates.again_after_days if dates.ask_after_days else 0
    await context.open(act, outcome_form(debate, outcome, again_after=again))


async def take_outcome(context: ListenerContext, form: FormSubmission, debate: Debate) -> None:
    try:
        kind = OutcomeKind(form.choice(FieldId.OUTCOME))
    except ValueError:
        raise FieldWrong(FieldId.OUTCOME, answers.NO_OUTCOME) from None
    outcome = DecisionOutcome(
        kind=kind, by=person(form), why=form.text_of(FieldId.WHY), origin=form.view_id
    )
    await context.acts.decide.give_outcome(debate, outcome)


async def take_feedback(context: ListenerContext, click: Click, debate: Debate) -> MessageView:
    feedback = Feedback(by=person(click), helpful=click.detail == "good", origin=click.trigger_id)
    await context.acts.decide.say_helpful(debate, feedback)
    return thanks(debate, feedback)


async def open_comment(context: ListenerContext, click: Click, debate: Debate) -> None:
    feedback = context.acts.decide.feedback_of(debate, person(click))
    await context.open(click, comment_form(debate, feedback))


async def take_comment(context: ListenerContext, form: FormSubmission, debate: Debate) -> None:
    feedback = Feedback(
        by=person(form),
        helpful=form.metadata.get("helpful") == "yes",
        comment=form.text_of(FieldId.WHY),
        origin=form.view_id,
    )
    await context.acts.decide.give_feedback(debate, feedback)


async def _today(context: ListenerContext, act: Interaction) -> date:
    return context.acts.decide.today(await context.access.zone_of(act.user_id, act.team_id))


async def open_ask_form(context: ListenerContext, click: Click, debate: Debate) -> None:
    context.acts.ask.check(debate)
    await context.open(click, ask_form(debate))


async def ask_what_was_written(context: ListenerContext, click: Click) -> MessageView:
    """Put a message of the thread to the judge; repeated clicks change nothing."""
    offer = json_values(click)
    debate = await context.debate(offer["debate"], click)
    await context.check_taking_part(click.user_id, debate.setup.place)
    await context.acts.ask.ask(
        debate.id, question_id=offer["message"], by=person(click), text=offer["text"]
    )
    return notice("The judge answers in the thread.")


async def take_question(context: ListenerContext, form: FormSubmission, debate: Debate) -> None:
    await context.acts.ask.ask(
        debate.id, question_id=form.view_id, by=person(form), text=form.text_of(FieldId.QUESTION)
    )


async def share_page(context: ListenerContext, _act: Interaction, debate: Debate) -> MessageView:
    if context.acts.share is None:
        raise BadInput(NO_PAGES)
    return page_link(debate, await context.acts.share.share(debate))


async def withdraw_page(context: ListenerContext, _act: Interaction, debate: Debate) -> MessageView:
    if context.acts.share is None:
        raise BadInput(NO_PAGES)
    return withdrawn(debate.id, had_page=await context.acts.share.withdraw(debate))


async def read_all(context: ListenerContext, click: Click, debate: Debate) -> None:
    contribution = debate.contributions.get(click.detail)
    if click.detail == VERDICT and debate.verdict:
        fold = whole(debate, debate.verdict)
    elif contribution:
        fold = everything(debate, contribution.turn, said_together(debate, contribution.turn))
    else:
        raise BadInput(answers.NOTHING_TO_READ)
    await context.open(click, text_form(READ_ALL, in_full(fold, FORM_BLOCKS)))
