"""After the verdict: whether it was of use, asking on, a question and its answer (pure)."""

import json

from bot.slack.blocks import actions, button
from bot.slack.ids import ActionId, BlockId, CallbackId, FieldId, address_of, headline_key
from bot.slack.mrkdwn import gist, literal, mrkdwn, plain
from bot.views.forms import Field, Form, form, text_input
from bot.views.message import Block, MessageView, context, in_pages, notice, sections
from bot.views.turn_groups import post_key
from bot.views.words import cost, person
from core.debate.follow_up import DECISION_ENTRY, VERDICT_ENTRY, Feedback, FollowUp, FollowUpAnswer
from core.debate.state import Debate
from core.evidence.citations import RawCitation, render_citations
from core.redaction import redact
from core.transcript.cited import decided_or_asked, where

_QUESTION_LIMIT = 300
_FAULT_LIMIT = 400
#: Slack keeps 2,000 characters with a button; each may take two.
MOST_OFFERED = 900
_NOT_FOUND = "No answer was found in the record of this debate."
_NO_VERDICT = "It is not part of the verdict."
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


def after_buttons(debate: Debate, *, pages: bool = False) -> list[Block]:
    if not debate.verdict:
        return []
    labels = {
        ActionId.ASK: "Ask about it: a question to the judge",
        ActionId.DEBATE_ON: "Debate it on: start a debate from this verdict",
    }
    if pages:
        labels[ActionId.SHARE_PAGE] = (
            "Share a page: a link to read this debate, for people without Slack"
        )
    buttons = (
        button(label.partition(":")[0], action, debate.id, label=label)
        for action, label in labels.items()
    )
    return [actions(BlockId.AFTER, *buttons)]


def ask_offer(debate: Debate, message: str, text: str) -> MessageView:
    """Return the offer to put a message of a decided thread to the judge, once.

    `text` has at most `MOST_OFFERED` characters.
    """
    # Ephemeral messages are stored as well: without secrets.
    clean = redact(text)
    words = (
        f"Debate `{debate.id}` has ended: its agents do not read this. Shall its judge answer, "
        f"from what was said in the debate?\n> {plain(' '.join(clean.split()))}"
    )
    asking = button(
        "Ask about it",
        ActionId.ASK_THIS,
        json.dumps({"debate": debate.id, "message": message, "text": clean}),
        label="Put what you wrote to the judge of this debate",
    )
    return MessageView(text=words, blocks=[*sections(words), actions(BlockId.ASK_THIS, asking)])


def ask_form(debate: Debate) -> Form:
    field = Field(
        id=FieldId.QUESTION,
        label="What do you want to know?",
        hint="The judge answers in the thread from what was said in the debate, and from nothing "
        "else. A mention of Moot in the thread does the same.",
    )
    return form(
        CallbackId.ASK_FORM,
        title="Ask about it",
        submit="Ask",
        blocks=[
            *sections(f"*The agents' verdict*\n{gist(decided_or_asked(debate), _QUESTION_LIMIT)}"),
            text_input(field, multiline=True),
        ],
        metadata={"debate": debate.id},
    )


def question_line(question: FollowUp) -> MessageView:
    return notice(f":speech_balloon: {person(question.by)} asks: {plain(question.text)}")


def answer_views(debate: Debate, question: FollowUp, answer: FollowUpAnswer) -> list[MessageView]:
    quoted = dict[str, str]()
    for name, key in answer.entries.items():
        # The post that shows that entry of the record.
        if key in {VERDICT_ENTRY, DECISION_ENTRY}:
            post = headline_key(debate.id, debate.edition)
            entry = "the verdict" if key == VERDICT_ENTRY else "the team's decision"
        else:
            turn = debate.contributions[key].turn
            post, who = post_key(debate, turn), debate.setup.agent(turn.agent).name
            entry = f"{who}'s {turn.act.noun}, round {turn.round}"
        quoted[name] = f"<{address_of(post)}|{literal(entry)}>"
    # The foot has no links for quotes of the debate's sources: these carry their place.
    places = {
        (citation.source, citation.words): where(citation)
        for citation in answer.citations
        if citation.source not in answer.entries
    }

    def show(mention: RawCitation, is_verified: bool) -> str:  # noqa: FBT001 - the port's
        if not is_verified:
            return f"~~“{mention.words}”~~ (not found)"
        return f"“{mention.words}” ({places.get((mention.source, mention.words), mention.source)})"

    body = mrkdwn(render_citations(answer.text, show, of_record=True))
    head = f"{person(question.by)} asked: “{gist(question.text, _QUESTION_LIMIT)}”"
    if answer.fault:
        head += f"\n:warning: {gist(answer.fault, _FAULT_LIMIT)}"
    foot = [", ".join(f"{name}: {link}" for name, link in quoted.items())] if quoted else []
    # Where no model answers, the text is passages of the record, or says that there are none.
    is_answered = bool(answer.entries) if answer.fault else bool(answer.text)
    basis = f"Answered from the record of this debate. {_NO_VERDICT}" if is_answered else _NOT_FOUND
    spent = f" · Cost: {cost(answer.usage)}" if answer.call or answer.lost.attempts else ""
    foot.append(f"{basis}{spent}")
    pages = in_pages(f"{head}\n\n{body}")
    return [
        MessageView(
            text=page,
            blocks=[*sections(page), *(context(*foot) if page is pages[-1] else ())],
            speaker=debate.setup.judge,
        )
        for page in pages
    ]


def feedback_buttons(debate: Debate) -> list[Block]:
    def choice(words: str, value: str) -> Block:
        return {
            "text": {"text": words, "type": "plain_text"},
            "accessibility_label": f"This verdict was {words.lower()}",
            "value": f"{debate.id}/{value}",
        }

    element = {
        "action_id": ActionId.FEEDBACK,
        "negative_button": choice("Not helpful", "bad"),
        "positive_button": choice("Helpful", "good"),
        "type": "feedback_buttons",
    }
    return [{"block_id": BlockId.FEEDBACK, "elements": [element], "type": "context_actions"}]


def thanks(debate: Debate, feedback: Feedback) -> MessageView:
    words = _THANKS[feedback.helpful]
    why = button("Say why", ActionId.SAY_WHY, debate.id, label="Say why in a few words")
    return MessageView(text=words, blocks=[*sections(words), actions(BlockId.FEEDBACK, why)])


def comment_form(debate: Debate, feedback: Feedback) -> Form:
    decision = gist(decided_or_asked(debate), _VERDICT_LIMIT)
    field = Field(id=FieldId.WHY, label=_ASKED[feedback.helpful], hint=_HINT, optional=True)
    return form(
        CallbackId.COMMENT_FORM,
        title="Say why",
        submit="Send",
        blocks=[
            *sections(f"*{_FOUND[feedback.helpful]}*\n{decision}"),
            text_input(field, value=feedback.comment, multiline=True, most=_COMMENT_LIMIT),
        ],
        metadata={"debate": debate.id, "helpful": "yes" if feedback.helpful else "no"},
    )
