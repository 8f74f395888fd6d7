"""Buttons and forms beside and after the vote: ballots, decisions, outcomes, feedback."""

import re
from datetime import date

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.context import ListenerContext, PersonsAct, person
from bot.listeners.interactions import ClickEvent, FieldWrong, OnClick, on_click, on_form
from bot.slack.ids import ActionId, CallbackId, FieldId, rank_field
from bot.slack.payloads import FormSubmitted
from bot.views.decision import BUTTONS, already_decided, decision_form, outcome_form, recorded
from bot.views.follow_up import comment_form, thanks
from bot.views.forms import Form, said
from bot.views.message import MessageView
from bot.views.vote import ballot_form, places_of
from core.errors import BadInput
from core.models import (
    Debate,
    Decision,
    DecisionKind,
    DecisionOutcome,
    Feedback,
    OutcomeKind,
    PeopleBallot,
)
from core.use_cases.decide import says_the_same


def register(app: AsyncApp, context: ListenerContext) -> None:
    """Listen to all of them."""
    on_click(app, context, ActionId.BALLOT, open_ballot)
    on_form(app, context, CallbackId.BALLOT_FORM, take_ballot)
    on_click(app, context, ActionId.ACCEPT, _deciding(DecisionKind.ACCEPT))
    on_click(app, context, ActionId.REJECT, _deciding(DecisionKind.REJECT))
    on_click(app, context, ActionId.REVISIT, _deciding(DecisionKind.REVISIT))
    on_click(app, context, ActionId.SUPERSEDE, _deciding(DecisionKind.SUPERSEDE))
    earlier = re.compile(rf"{ActionId.SUPERSEDE_EARLIER.value}-d\d{{1,4}}")
    on_click(app, context, earlier, open_to_supersede)
    on_form(app, context, CallbackId.DECISION_FORM, take_decision)
    for kind, action in BUTTONS.items():
        on_click(app, context, action, _turned_out(kind))
    on_click(app, context, ActionId.OUTCOME_CHANGE, change_outcome)
    on_form(app, context, CallbackId.OUTCOME_FORM, take_outcome)
    on_click(app, context, ActionId.FEEDBACK, take_feedback)
    on_click(app, context, ActionId.SAY_WHY, open_comment)
    on_form(app, context, CallbackId.COMMENT_FORM, take_comment)


async def open_ballot(context: ListenerContext, found: ClickEvent) -> None:
    """Open the form to choose between the options."""
    debate = await context.debate(found.click.value, found.click)
    context.decide.check_ballot(debate, person(found.click))
    await found.open(ballot_form(debate, found.click.user_id))


async def take_ballot(context: ListenerContext, form: FormSubmitted) -> None:
    """Record a ballot; an option chosen twice is said at its field."""
    debate = await context.debate(form.kept.get("debate", ""), form)
    chosen = list[str]()
    for place in range(places_of(debate)):
        option = form.chosen(rank_field(place))
        if option and option in chosen:
            raise FieldWrong(rank_field(place), answers.CHOSEN_TWICE)
        if place == 0 and not option:
            raise FieldWrong(rank_field(place), answers.NO_CHOICE)
        chosen += [option] if option else []
    ballot = PeopleBallot(by=person(form), options=tuple(chosen), origin=form.view_id)
    await context.decide.vote(debate, ballot)


def _deciding(kind: DecisionKind) -> OnClick:
    """Return what opens the form for one kind of decision."""

    async def clicked(context: ListenerContext, found: ClickEvent) -> None:
        debate = await context.debate(found.click.value, found.click)
        context.decide.check_decidable(debate)
        supersedes = kind is DecisionKind.SUPERSEDE
        newer = await context.decide.newer_than(debate) if supersedes else ()
        today = context.decide.today()
        if kind is DecisionKind.REVISIT:
            today = await _today(context, found.click)
        await found.open(decision_form(debate, kind, today=today, newer=newer))

    return clicked


async def open_to_supersede(context: ListenerContext, found: ClickEvent) -> None:
    """Open the form that lets a newer verdict stand in place of an earlier decision.

    Raises:
        BadInput: One of them is gone, the earlier one is superseded already, or the newer one has
            no verdict any more.
    """
    earlier_id, _, newer_id = found.click.value.partition("/")
    earlier = await context.debate(earlier_id, found.click)
    newer = await context.debate(newer_id, found.click)
    this_one = context.decide.stand_in(earlier, newer)
    today = context.decide.today()
    form = decision_form(earlier, DecisionKind.SUPERSEDE, today=today, newer=[this_one])
    await found.open(form)


async def take_decision(context: ListenerContext, form: FormSubmitted) -> Form | None:
    """Record a decision with who and why, once however often the form arrives.

    Somebody who was a moment slower than another is shown what stands, and sends the form again to
    replace it.
    """
    debate = await context.debate(form.kept.get("debate", ""), form)
    try:
        kind = DecisionKind(form.kept.get("kind", ""))
    except ValueError:
        raise BadInput(answers.FORM_UNREADABLE) from None
    newer, day, instead = form.chosen(FieldId.NEWER.value), None, None
    if kind is DecisionKind.SUPERSEDE:
        instead = await context.debate(newer, form)
        try:
            context.decide.check_newer(debate, instead)
        except BadInput as error:
            raise FieldWrong(FieldId.NEWER.value, str(error)) from None
    if kind is DecisionKind.REVISIT:
        try:
            day = date.fromisoformat(form.date(FieldId.DATE.value))
        except ValueError:
            raise FieldWrong(FieldId.DATE.value, answers.NO_DATE) from None
        if day <= await _today(context, form):
            raise FieldWrong(FieldId.DATE.value, answers.PAST_DATE)
    decision = Decision(
        kind=kind,
        by=person(form),
        why=form.typed(FieldId.WHY.value),
        revisit_on=day,
        superseded_by=newer or None,
        origin=form.view_id,
    )
    seen = form.kept.get("stands", "")
    standing = await context.decide.decide(debate, decision, previous=seen)
    if standing.origin == decision.origin:
        return None
    if says_the_same(standing, decision):
        return said("Decided already", already_decided(standing, decision.why))
    debate = await context.debate(debate.id, form)
    newer_ones = [context.decide.stand_in(debate, instead)] if instead else ()
    today = await _today(context, form)
    return decision_form(debate, kind, today=today, newer=newer_ones, draft=decision)


def _turned_out(kind: OutcomeKind) -> OnClick:
    """Return what records one outcome at once, then opens the form to say why."""

    async def clicked(context: ListenerContext, found: ClickEvent) -> MessageView | None:
        debate = await context.debate(found.click.value, found.click)
        outcome = DecisionOutcome(kind=kind, by=person(found.click), origin=found.click.trigger_id)
        standing = await context.decide.say_outcome(debate, outcome)
        try:
            await found.open(form_for_outcome(context, debate, standing))
        except BadInput:  # it is recorded all the same
            return answers.words(recorded(debate, standing))
        return None

    return clicked


async def change_outcome(context: ListenerContext, found: ClickEvent) -> None:
    """Open the form with what was said about the decision."""
    debate = await context.debate(found.click.value, found.click)
    await found.open(form_for_outcome(context, debate, debate.outcome))


def form_for_outcome(
    context: ListenerContext, debate: Debate, outcome: DecisionOutcome | None
) -> Form:
    """Return the form to say how a decision turned out.

    Raises:
        BadInput: There is no accepted decision.
    """
    context.decide.check_outcome(debate)
    dates = context.remind.dates
    again = dates.again_after_days if dates.ask_after_days else 0
    return outcome_form(debate, outcome, again_after=again)


async def take_outcome(context: ListenerContext, form: FormSubmitted) -> None:
    """Record how a decision turned out and why, once however often the form arrives."""
    debate = await context.debate(form.kept.get("debate", ""), form)
    try:
        kind = OutcomeKind(form.chosen(FieldId.OUTCOME.value))
    except ValueError:
        raise FieldWrong(FieldId.OUTCOME.value, answers.NO_OUTCOME) from None
    outcome = DecisionOutcome(
        kind=kind, by=person(form), why=form.typed(FieldId.WHY.value), origin=form.view_id
    )
    await context.decide.give_outcome(debate, outcome)


async def take_feedback(context: ListenerContext, found: ClickEvent) -> MessageView:
    """Record whether the verdict was of use; return thanks, with a way to say why."""
    debate_id, _, mark = found.click.value.partition("/")
    debate = await context.debate(debate_id, found.click)
    feedback = Feedback(
        by=person(found.click), helpful=mark == "good", origin=found.click.trigger_id
    )
    await context.decide.say_helpful(debate, feedback)
    return thanks(debate, feedback)


async def open_comment(context: ListenerContext, found: ClickEvent) -> None:
    """Open the form to say why, with what this person said before.

    Raises:
        BadInput: They have not said whether the verdict was of use.
    """
    debate = await context.debate(found.click.value, found.click)
    feedback = context.decide.feedback_of(debate, person(found.click))
    await found.open(comment_form(debate, feedback))


async def take_comment(context: ListenerContext, form: FormSubmitted) -> None:
    """Record why, once however often the form arrives."""
    debate = await context.debate(form.kept.get("debate", ""), form)
    feedback = Feedback(
        by=person(form),
        helpful=form.kept.get("helpful") == "yes",
        comment=form.typed(FieldId.WHY.value),
        origin=form.view_id,
    )
    await context.decide.give_feedback(debate, feedback)


async def _today(context: ListenerContext, act: PersonsAct) -> date:
    """The day it is where this person is."""
    return context.decide.today(await context.access.zone_of(act.user_id, act.team_id))
