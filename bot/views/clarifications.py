"""The card with the agents' questions, and the form to answer them (pure)."""

from collections.abc import Sequence
from datetime import datetime

from bot.slack.blocks import Block, actions, button, verbatim
from bot.slack.ids import ActionId, CallbackId, FieldId, question_field
from bot.slack.limits import ROW_ELEMENTS
from bot.slack.mrkdwn import bare, gist
from bot.views.message import (
    Field,
    Form,
    MessageView,
    checkbox,
    context,
    form,
    header,
    item_list,
    moment,
    name_of,
    notice,
    person,
    plain_name,
    sections,
    text_input,
)
from core.debate.contributions import Clarification, Clarifications
from core.debate.state import Debate, Status
from core.figures import quantity
from core.rules import schedule
from core.rules.formats import clarifying
from core.rules.formats.review import SEVERE, is_settled_by_text, unasked_words

#: Most characters of all questions of a card together, and of one question.
_ROOM = 9000
_MOST_WORDS = 600
_LABEL_LIMIT = 400
_NOTHING = "nothing in particular"
_HINT_LIMIT = 300
_HOW = (
    "Anybody in this channel can answer. While a question is open, answers can be corrected: name "
    "the question again, or edit your message; deleting it takes the answer back."
)
#: The effect of a reply without the number of a question.
_WITHOUT_NUMBER = "Without the number it is a note, until you say which question it answers."


def card(debate: Debate, clarifications: Clarifications) -> MessageView:
    still_open = {item.number for item in schedule.open_questions(debate)}
    waiting = [item for item in clarifications.items if item.number in still_open]
    limit = min(_MOST_WORDS, _ROOM // (2 * max(len(clarifications.items), 1)))
    head = _head(debate, clarifications, waiting)
    lines = [
        f"*{item.number}. {gist(item.question, limit)}*\n"
        f"_asked by {item_list((name_of(debate, agent) for agent in item.asked_by), 300, ', ')}_\n"
        f"{_outcome(debate, item, limit, is_open=item in waiting)}"
        for item in clarifications.items
    ]
    noun = "finding" if debate.findings and clarifications.turn.round else "question"
    title = f"{noun.capitalize()}s: closed"
    if not waiting and _correction_deadline(debate, clarifications):
        title = f"{noun.capitalize()}s: answered"
    if waiting:
        suffix = " still open" if len(waiting) < len(clarifications.items) else ""
        title = f"{quantity(len(waiting), noun)}{suffix}"
    blocks: list[Block] = [header(title), *sections(head)]
    for item, line in zip(clarifications.items, lines, strict=True):
        section: Block = {"expand": True, "text": verbatim(line), "type": "section"}
        if item in waiting:
            label = f"Skip question {item.number}: its assumption holds"
            skip = button("Skip", ActionId.SKIP, f"{debate.id}/{item.number}", label=label)
            section = {"accessory": skip, **section}
        blocks.append(section)
    if waiting:
        label = "Answer the questions in a form"
        answer = button("Answer", ActionId.ANSWER, debate.id, style="primary", label=label)
        label = "Skip all open questions: their assumptions hold"
        skip = button("Skip all", ActionId.SKIP_ALL, debate.id, label=label)
        blocks += [actions("questions", answer, skip), *context(_HOW)]
    return MessageView(text="\n".join([title, head, *lines]), blocks=blocks)


def answer_form(debate: Debate, items: Sequence[Clarification]) -> Form:
    fields = list[Block]()
    for item in items:
        names = ", ".join(bare(plain_name(debate, agent), 40) for agent in item.asked_by)
        hint = f"Asked by {names}. If nobody answers: {item.assumption or _NOTHING}"
        field = Field(
            question_field(item.number),
            bare(f"{item.number}. {item.question}", _LABEL_LIMIT),
            bare(hint, _HINT_LIMIT),
            optional=True,
        )
        fields.append(text_input(field, multiline=True))
    skip_field = Field(FieldId.REST, "What I leave empty", optional=True)
    skip_box = checkbox(skip_field, "Skip it: what the form says is assumed")
    intro = f"*{gist(debate.setup.question, _HINT_LIMIT)}*"
    return form(
        CallbackId.ANSWER_FORM,
        title="Answer questions",
        submit="Send answers",
        blocks=[*sections(intro), *fields, skip_box],
        metadata={"debate": debate.id},
    )


def _correction_deadline(debate: Debate, clarifications: Clarifications) -> datetime | None:
    """The end of the time to correct answers; None if it is over, or an answer is missing."""
    is_answered = all(item.number in debate.answers for item in clarifications.items)
    if schedule.is_cut_short(debate) or not is_answered or clarifications not in debate.open_cards:
        return None
    end = clarifying.end_of(debate, clarifications)
    return end if end > debate.now else None


def _head(debate: Debate, clarifications: Clarifications, waiting: Sequence[Clarification]) -> str:
    if debate.stop or debate.status is Status.FAILED:
        return "The debate was ended: the agents read no answers any more."
    if not waiting and (deadline := _correction_deadline(debate, clarifications)):
        return (
            f"The agents go on at {moment(deadline)}. Until then, people who answered in the "
            "thread can edit their message."
        )
    if not waiting:
        return (
            "The agents go on with what is here. While the debate runs, what you add in the "
            "thread reaches them as a note."
        )
    number, asker = waiting[0].number, person(debate.setup.asked_by)
    deadline = (
        f"Waiting until {moment(clarifications.until)}. Where nobody has answered by then, what it "
        "says under the question is assumed."
    )
    if debate.paused_by:
        deadline = "Paused: the time to answer stands still until somebody resumes the debate."
    deadline = f":hourglass_flowing_sand: {deadline}"
    if debate.findings and clarifications.turn.round:
        items = debate.findings.items
        light = sum(item.severity not in SEVERE for item in items)
        note = f" Lighter findings in the agents' posts: {light}." if light else ""
        note += f" {unasked}" if (unasked := unasked_words(debate)) else ""
        return (
            f"{asker}, these are the agents' most severe findings.{note} Answer in this thread: "
            f"`{number}: we do it because …`. If you changed the text, attach it to a reply "
            "*before* you answer the last one. Then the agents check their findings "
            f"again.\n{deadline}"
        )
    return (
        f"{asker}, please answer this before the agents begin. "
        f"Reply in this thread: `{number}: your answer`. {_WITHOUT_NUMBER}\n{deadline}"
    )


def _outcome(debate: Debate, item: Clarification, limit: int, *, is_open: bool) -> str:
    answer = debate.answers.get(item.number)
    assumption = gist(item.assumption, limit) or _NOTHING
    if answer and answer.text:
        other_answers = debate.other_answers(item.number)
        text = "".join(
            f"; {person(other.by)} said: {gist(other.text, limit)}" for other in other_answers
        )
        return f":white_check_mark: {person(answer.by)}: {gist(answer.text, limit)}{text}"
    if is_settled_by_text(debate, item):
        return ":page_facing_up: The changed text is the answer."
    if answer:
        return f":fast_forward: Skipped by {person(answer.by)}. Assumed: {assumption}"
    return (
        f"If nobody answers: {assumption}" if is_open else f"Nobody answered. Assumed: {assumption}"
    )


def which_question(debate: Debate, note: str, words: str) -> MessageView:
    items = schedule.open_questions(debate)
    excerpt = gist(words, _LABEL_LIMIT)
    lines = "\n".join(f"*{item.number}.* {gist(item.question, _HINT_LIMIT)}" for item in items)
    text = (
        f"Which question does this answer?\n> {' '.join(excerpt.split())}\n{lines}\n"
        "If none, leave it: the agents read it as a note."
    )
    buttons = (
        button(
            f"Use it as the answer to {item.number}",
            f"{ActionId.CHOOSE}_{item.number}",
            f"{debate.id}/{item.number}/{note}",
            label=f"Take it as the answer to question {item.number}",
        )
        for item in items[:ROW_ELEMENTS]
    )
    return notice(text, actions("which", *buttons))
