"""Whether a verdict was of use: the buttons, the thanks, and the form to say why (pure)."""

from bot.slack.blocks import actions, button
from bot.slack.ids import ActionId, BlockId, CallbackId, FieldId
from bot.slack.mrkdwn.convert import gist
from bot.views.forms import Field, Form, form, text_input
from bot.views.message import Block, MessageView, sections
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

    def choice(words: str, value: str) -> Block:
        return {
            "text": {"text": words, "type": "plain_text"},
            "accessibility_label": f"This verdict was {words.lower()}",
            "value": f"{debate.id}/{value}",
        }

    element = {
        "action_id": ActionId.FEEDBACK.value,
        "negative_button": choice("Not helpful", "bad"),
        "positive_button": choice("Helpful", "good"),
        "type": "feedback_buttons",
    }
    block_id = BlockId.FEEDBACK.value
    return [{"block_id": block_id, "elements": [element], "type": "context_actions"}]


def thanks(debate: Debate, given: Feedback) -> MessageView:
    """Return what only who gave feedback is told, with a button to say why."""
    words = _THANKS[given.helpful]
    why = button("Say why", ActionId.SAY_WHY, debate.id, label="Say why in a few words")
    return MessageView(text=words, blocks=[*sections(words), actions(BlockId.FEEDBACK, why)])


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
