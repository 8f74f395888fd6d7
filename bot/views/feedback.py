"""Whether a verdict was of use: the buttons, the thanks, and the form to say why (pure)."""

from slack_sdk.models.blocks import (
    ActionsBlock,
    ButtonElement,
    ContextActionsBlock,
    FeedbackButtonObject,
    FeedbackButtonsElement,
    PlainTextObject,
)

from bot.slack.ids import ActionId, BlockId, CallbackId, FieldId
from bot.slack.mrkdwn.convert import gist
from bot.views.forms import Field, Form, form, text_input
from bot.views.message import Block, MessageView, as_json, sections
from core.models import Debate, Feedback

_VERDICT_LIMIT = 400
_COMMENT_LIMIT = 1000
_THANKS = {
    True: "Thank you: recorded as helpful.",
    False: "Thank you: recorded as not helpful. Reject the verdict with a reason if the team "
    "should not follow it, or start a new debate with what was missing as context.",
}
_FOUND = {True: "You found this verdict helpful", False: "You found this verdict not helpful"}
_ASKED = {True: "What helped?", False: "What was wrong or missing?"}
_HINT = (
    "Kept with your name in the debate's record and its report, which others of the channel read."
)


def feedback_buttons(debate: Debate) -> list[Block]:
    """Return the buttons that say whether the verdict was of use."""
    good = FeedbackButtonObject(
        text=PlainTextObject(text="Helpful"),
        accessibility_label="This verdict was helpful",
        value=f"{debate.id}/good",
    )
    bad = FeedbackButtonObject(
        text=PlainTextObject(text="Not helpful"),
        accessibility_label="This verdict was not helpful",
        value=f"{debate.id}/bad",
    )
    element = FeedbackButtonsElement(
        action_id=ActionId.FEEDBACK.value, positive_button=good, negative_button=bad
    )
    return [as_json(ContextActionsBlock(block_id=BlockId.FEEDBACK.value, elements=[element]))]


def thanks(debate: Debate, given: Feedback) -> MessageView:
    """Return what only who gave feedback is told, with a button to say why."""
    words = _THANKS[given.helpful]
    button = ButtonElement(
        text="Say why",
        action_id=ActionId.SAY_WHY.value,
        value=debate.id,
        accessibility_label="Say why in a few words",
    )
    actions = ActionsBlock(block_id=BlockId.FEEDBACK.value, elements=[button])
    return MessageView(text=words, blocks=[*sections(words), as_json(actions)])


def comment_form(debate: Debate, given: Feedback) -> Form:
    """Return the form that asks for the reason; what was said earlier stands in it."""
    verdict = debate.verdict.decision if debate.verdict else debate.setup.question
    field = Field(id=FieldId.WHY.value, label=_ASKED[given.helpful], hint=_HINT, optional=True)
    return form(
        CallbackId.COMMENT_FORM,
        title="Say why",
        submit="Send",
        blocks=[
            *sections(f"*{_FOUND[given.helpful]}*\n{gist(verdict, _VERDICT_LIMIT)}"),
            text_input(field, value=given.comment, multiline=True, most=_COMMENT_LIMIT),
        ],
        metadata={"debate": debate.id, "helpful": "yes" if given.helpful else "no"},
    )
