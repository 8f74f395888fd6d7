"""The form to tell the agents of a running debate what they should know (pure)."""

from bot.slack.ids import CallbackId, FieldId
from bot.slack.mrkdwn.convert import gist
from bot.views.forms import Field, Form, form, text_input
from bot.views.message import sections
from core.models import Debate

_QUESTION_LIMIT = 300


def context_form(debate: Debate) -> Form:
    """Return the form."""
    field = Field(
        id=FieldId.CONTEXT.value,
        label="What should the agents know?",
        hint="It is shown in the thread and reaches the next turns; the decision says what became "
        "of it.",
    )
    return form(
        CallbackId.ADD_CONTEXT_FORM,
        title="Add context",
        submit="Add",
        blocks=[
            *sections(f"*{gist(debate.setup.question, _QUESTION_LIMIT)}*"),
            text_input(field, multiline=True),
        ],
        metadata={"debate": debate.id},
    )
