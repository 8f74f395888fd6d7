"""Choices of channels and forms over the settings; no choice exceeds the operator's highest cap."""

from decimal import Decimal

import pytest

from bot.listeners.context import FieldError
from bot.listeners.start import checked_draft, checked_settings
from bot.slack.ids import FieldId
from bot.slack.payloads import FormValues
from core.debate.rules import USUAL_DEBATE_COST
from core.errors import BadInput
from core.settings import AllLimits, Settings
from core.use_cases.choices import NO_CAP, ChannelChoices, Choices, cost_cap, with_choices

MOST = Decimal(2)
#: Stored settings of a channel from a version without the value for "no cap".
STORED = """{"choices": {"format": "panel", "rounds": 2, "agents": ["security", "finance"],
"clarify": false, "wait_minutes": 30, "models": "openai", "debate_cost": "2.50"},
"stewards": ["U2"], "unpin": true}"""


def form(cap: str) -> FormValues:
    values = {"question": "Kafka or PostgreSQL?", "cost_cap": cap}
    state = {name: {name: {"value": value}} for name, value in values.items()}
    return FormValues.model_validate(
        {
            "team": {"id": "T1"},
            "user": {"id": "U1"},
            "view": {"id": "V1", "state": {"values": state}},
        }
    )


def test_a_cap_is_an_amount_or_none() -> None:
    caps = {"": None, " $2.50 ": Decimal("2.50"), "2,5": Decimal("2.5"), "None": NO_CAP}
    assert {text: cost_cap(text, None) for text in caps} == caps
    for wrong in ("much", "0", "-1", "1001", "nan", "inf"):
        with pytest.raises(BadInput, match="or none"):
            cost_cap(wrong, None)


@pytest.mark.parametrize("typed", ["2.01", "none"])
def test_no_form_can_exceed_the_highest_cap(typed: str) -> None:
    for check in (
        lambda: checked_draft(form(typed), 100, MOST),
        lambda: checked_settings(form(typed), MOST),
    ):
        with pytest.raises(FieldError) as refused:
            check()
        assert refused.value.field == FieldId.COST_CAP.value
        assert refused.value.text == "Whoever runs Moot allows a cap of $2.00 at most."
    assert checked_draft(form("2"), 100, MOST).choices.debate_cost == MOST


@pytest.mark.parametrize(
    ("value", "most", "cap"),
    [
        (None, None, USUAL_DEBATE_COST),
        (None, MOST, MOST),
        (Decimal(9), None, Decimal(9)),
        (Decimal(9), MOST, MOST),
        (Decimal(1), MOST, Decimal(1)),
        (NO_CAP, None, None),
        (NO_CAP, MOST, MOST),
    ],
)
def test_the_highest_cap_limits_the_choice_of_a_channel(
    value: Decimal | None, most: Decimal | None, cap: Decimal | None
) -> None:
    settings = Settings(limits=AllLimits(most_debate_cost=most))
    choices = Choices.model_validate({"debate_cost": value})

    assert with_choices(settings, choices, ()).limits.of_debate.debate_cost == cap


def test_stored_choices_can_be_read() -> None:
    settings = ChannelChoices.model_validate_json(STORED)

    assert settings.choices.debate_cost == Decimal("2.50")
    assert settings.choices.wait_minutes == 30
    without = ChannelChoices(choices=Choices(debate_cost=NO_CAP))
    assert ChannelChoices.model_validate_json(without.model_dump_json()) == without
