"""Buttons and forms after, and beside, the agents' vote: ballots and decisions."""

from datetime import date

from slack_bolt.async_app import AsyncApp

from bot.listeners import answers
from bot.listeners.clicks import Clicked, FieldWrong, OnClick, on_click, on_form
from bot.listeners.gate import debate_for
from bot.listeners.reception import Reception, person
from bot.slack.ids import ActionId, CallbackId, FieldId, rank_field
from bot.slack.payloads import Click, FormSubmitted
from bot.views.decision import decision_form
from bot.views.forms import Form
from bot.views.people_vote import ballot_form, positions_of
from core.errors import BadInput
from core.models import Debate, Decision, DecisionKind, PeopleBallot

_KINDS = {
    ActionId.ACCEPT: DecisionKind.ACCEPT,
    ActionId.REJECT: DecisionKind.REJECT,
    ActionId.REVISIT: DecisionKind.REVISIT,
    ActionId.SUPERSEDE: DecisionKind.SUPERSEDE,
}


def register(app: AsyncApp, reception: Reception) -> None:
    """Listen to all of them."""

    async def rank(found: Clicked) -> None:
        await open_ballot(reception, found)

    async def ranked(form: FormSubmitted) -> Form | None:
        await take_ballot(reception, form)
        return None

    async def decided(form: FormSubmitted) -> Form | None:
        await take_decision(reception, form)
        return None

    on_click(app, ActionId.BALLOT, rank)
    on_form(app, CallbackId.BALLOT_FORM, ranked)
    for action_id, kind in _KINDS.items():
        on_click(app, action_id, _deciding(reception, kind))
    on_form(app, CallbackId.DECISION_FORM, decided)


async def open_ballot(reception: Reception, found: Clicked) -> None:
    """Open the form to rank the positions."""
    click = found.click
    debate = await _debate(reception, click)
    reception.deciding.check_ballot(debate, person(click.user_id, click.user_name))
    await found.open(ballot_form(debate, click.user_id))


async def take_ballot(reception: Reception, form: FormSubmitted) -> None:
    """Record a ballot; a position chosen twice is said at its field."""
    debate = await _debate_of(reception, form)
    fields = [rank_field(place) for place in range(len(positions_of(debate)))]
    ranking = [form.chosen(field) for field in fields]
    for place, agent in enumerate(ranking):
        if agent in ranking[:place]:
            raise FieldWrong(fields[place], answers.RANKED_TWICE)
    by = person(form.user_id, form.user_name)
    ballot = PeopleBallot(by=by, ranking=tuple(ranking), origin=form.view_id)
    await reception.deciding.vote(debate, ballot)


def _deciding(reception: Reception, kind: DecisionKind) -> OnClick:
    async def do(found: Clicked) -> None:
        debate = await _debate(reception, found.click)
        reception.deciding.check_decision(debate)
        supersedes = kind is DecisionKind.SUPERSEDE
        newer = await reception.deciding.newer_than(debate) if supersedes else ()
        today = reception.deciding.today()
        if kind is DecisionKind.REVISIT:
            today = await _today(reception, found.click)
        await found.open(decision_form(debate, kind, today=today, newer=newer))

    return do


async def take_decision(reception: Reception, form: FormSubmitted) -> None:
    """Record a decision with who and why, once however often the form arrives."""
    debate = await _debate_of(reception, form)
    kind = _kind_of(form)
    newer = form.chosen(FieldId.NEWER.value)
    if kind is DecisionKind.SUPERSEDE:
        other = await debate_for(reception, newer, user=form.user_id, team=form.team_id)
        reception.deciding.check_decision(other)
    decision = Decision(
        kind=kind,
        by=person(form.user_id, form.user_name),
        why=form.typed(FieldId.WHY.value),
        revisit_on=await _day(reception, form) if kind is DecisionKind.REVISIT else None,
        superseded_by=newer or None,
        origin=form.view_id,
    )
    await reception.deciding.decide(debate, decision)


def _kind_of(form: FormSubmitted) -> DecisionKind:
    try:
        return DecisionKind(form.kept.get("kind", ""))
    except ValueError:
        raise BadInput(answers.FORM_UNREADABLE) from None


async def _day(reception: Reception, form: FormSubmitted) -> date:
    try:
        day = date.fromisoformat(form.date(FieldId.DATE.value))
    except ValueError:
        raise FieldWrong(FieldId.DATE.value, answers.NO_DATE) from None
    if day <= await _today(reception, form):
        raise FieldWrong(FieldId.DATE.value, answers.PAST_DATE)
    return day


async def _today(reception: Reception, by: Click | FormSubmitted) -> date:
    """The day it is where this person is."""
    zone = await reception.access.of(by.team_id).zone_of(by.user_id)
    return reception.deciding.today(zone)


async def _debate(reception: Reception, click: Click) -> Debate:
    return await debate_for(reception, click.value, user=click.user_id, team=click.team_id)


async def _debate_of(reception: Reception, form: FormSubmitted) -> Debate:
    debate_id = form.kept.get("debate", "")
    return await debate_for(reception, debate_id, user=form.user_id, team=form.team_id)
