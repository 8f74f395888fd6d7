"""What was filled into a form, as values; what cannot be used is said at its field (pure)."""

import re
from decimal import Decimal
from typing import Literal

from bot.choices import WAITS, ChannelChoices, Choices, cost_cap
from bot.listeners.clicks import FieldWrong
from bot.slack.ids import FieldId
from bot.slack.payloads import Filled
from bot.views.start_form import AS_USUAL, Aim, Draft
from core.errors import BadInput
from core.models import MOST_ROUNDS
from core.opening import check_question

FEWEST_AGENTS = 2


def aim_of(form: Filled) -> Aim:
    """Return where a form leads."""
    kept = form.kept
    left_out = kept.get("left_out", "")
    return Aim(
        channel=kept.get("channel", ""),
        source=kept.get("source", ""),
        left_out=int(left_out) if re.fullmatch(r"[0-9]{1,6}", left_out) else 0,
    )


def channel_of(form: Filled) -> str:
    """Return the channel a form leads to: its own, or the one chosen in it."""
    return aim_of(form).channel or form.conversation(FieldId.CHANNEL.value)


def draft_of(form: Filled) -> Draft:
    """Return what is in the form to start a debate; a cost cap nobody can read counts as none."""
    try:
        cap = cost_cap(form.typed(FieldId.COST_CAP.value), None)
    except BadInput:
        cap = None
    clarify = bool(form.all_chosen(FieldId.CLARIFY.value))
    return Draft(
        question=form.typed(FieldId.QUESTION.value),
        context=form.typed(FieldId.CONTEXT.value),
        choices=_choices(form, clarify=clarify, cap=cap),
    )


def checked_draft(form: Filled, most_characters: int, most_cost: Decimal | None) -> Draft:
    """Return what is in the form, ready to start.

    Args:
        form: What was filled in.
        most_characters: The longest question.
        most_cost: The highest cost cap; None: any.

    Raises:
        FieldWrong: Something in it cannot be used.
    """
    _cap(form, most_cost)
    _enough_agents(form)
    draft = draft_of(form)
    try:
        check_question(draft.question, most_characters)
    except BadInput as wrong:
        raise FieldWrong(FieldId.QUESTION.value, str(wrong)) from None
    return draft


def checked_settings(form: Filled, most_cost: Decimal | None) -> ChannelChoices:
    """Return what a channel is to have set.

    Args:
        form: What was filled in.
        most_cost: The highest cost cap; None: any.

    Raises:
        FieldWrong: Something in it cannot be used.
    """
    asks = {"on": True, "off": False}.get(form.chosen(FieldId.CLARIFY.value))
    _enough_agents(form)
    return ChannelChoices(
        choices=_choices(form, clarify=asks, cap=_cap(form, most_cost)),
        stewards=form.people(FieldId.STEWARDS.value),
        unpin=bool(form.all_chosen(FieldId.UNPIN.value)),
    )


def _choices(
    form: Filled, *, clarify: bool | None, cap: Decimal | Literal["none"] | None
) -> Choices:
    return Choices(
        format=_meant(form, FieldId.FORMAT),
        rounds=_number(form, FieldId.ROUNDS, MOST_ROUNDS),
        agents=form.all_chosen(FieldId.AGENTS.value) or None,
        clarify=clarify,
        wait_minutes=_number(form, FieldId.WAIT, max(WAITS)),
        models=_meant(form, FieldId.MODELS),
        debate_cost=cap,
    )


def _meant(form: Filled, field: FieldId) -> str | None:
    """What is chosen in a menu; None for "as usual"."""
    chosen = form.chosen(field.value)
    return None if chosen in {"", AS_USUAL} else chosen


def _number(form: Filled, field: FieldId, most: int) -> int | None:
    """The number chosen in a menu; None for "as usual", and for what is no number of ours."""
    chosen = form.chosen(field.value)
    number = int(chosen) if re.fullmatch(r"[0-9]{1,4}", chosen) else 0
    return number if 1 <= number <= most else None


def _cap(form: Filled, most: Decimal | None) -> Decimal | Literal["none"] | None:
    try:
        return cost_cap(form.typed(FieldId.COST_CAP.value), most)
    except BadInput as wrong:
        raise FieldWrong(FieldId.COST_CAP.value, str(wrong)) from None


def _enough_agents(form: Filled) -> None:
    chosen = form.all_chosen(FieldId.AGENTS.value)
    if 0 < len(chosen) < FEWEST_AGENTS:
        raise FieldWrong(FieldId.AGENTS.value, "Choose at least two: one alone cannot debate.")
