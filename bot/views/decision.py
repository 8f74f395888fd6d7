"""After the verdict: what the team makes of it, how it turned out, feedback, asking on (pure)."""

import json
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from bot.slack.blocks import Block, actions, button, row
from bot.slack.ids import ActionId, CallbackId, FieldId, address_of, headline_key
from bot.slack.limits import BUTTON_TEXT, OPTION_TEXT
from bot.slack.mrkdwn import bare, gist, literal, mrkdwn, plain
from bot.views.message import (
    Field,
    Form,
    MessageView,
    context,
    field_block,
    form,
    in_pages,
    moment,
    notice,
    person,
    sections,
    select,
    text_input,
)
from bot.views.progress import post_key
from core.debate.state import Debate
from core.debate.verdict import (
    DECISION_ENTRY,
    VERDICT_ENTRY,
    Decision,
    DecisionKind,
    DecisionOutcome,
    Feedback,
    FollowUp,
    FollowUpAnswer,
    OutcomeKind,
    Relation,
)
from core.evidence.citations import RawCitation, render_citations
from core.figures import day, money, quantity
from core.redaction import redact
from core.transcript.cited import citation_place, decision_or_question

_WHY_LIMIT = 600
_DECISION_LIMIT = 400
_SIGNS: Mapping[OutcomeKind, str] = {
    OutcomeKind.HELD: ":white_check_mark:",
    OutcomeKind.PARTLY: ":large_yellow_circle:",
    OutcomeKind.REVERSED: ":leftwards_arrow_with_hook:",
    OutcomeKind.TOO_EARLY: ":hourglass_flowing_sand:",
}
DECISION_SIGNS: Mapping[DecisionKind, str] = {
    DecisionKind.ACCEPT: ":white_check_mark:",
    DecisionKind.REJECT: ":x:",
    DecisionKind.REVISIT: ":calendar:",
    DecisionKind.SUPERSEDE: ":fast_forward:",
}
_DECIDED: Mapping[DecisionKind, str] = {
    DecisionKind.ACCEPT: "*Accepted* by {who}",
    DecisionKind.REJECT: "*Rejected* by {who}",
    DecisionKind.REVISIT: "*To be revisited on {on}*, says {who}",
    DecisionKind.SUPERSEDE: "*Superseded* by {by}, says {who}",
}
_CHOICES: Mapping[OutcomeKind, str] = {
    OutcomeKind.HELD: "It held",
    OutcomeKind.PARTLY: "It held in part",
    OutcomeKind.REVERSED: "It was reversed",
    OutcomeKind.TOO_EARLY: "Too early to say",
}
#: Earlier decisions that can be superseded with a button.
_MOST_EARLIER = 5
_STYLES = {DecisionKind.ACCEPT: "primary", DecisionKind.REJECT: "danger"}
#: Ends what screen readers say of a button.
_MORE = {DecisionKind.REVISIT: " on a date", DecisionKind.SUPERSEDE: " with a newer debate's"}
#: What can still be done about a decision of the team, by its kind.
_AFTER: Mapping[DecisionKind, Sequence[DecisionKind]] = {
    DecisionKind.ACCEPT: (DecisionKind.REJECT, DecisionKind.REVISIT, DecisionKind.SUPERSEDE),
    DecisionKind.REJECT: (DecisionKind.ACCEPT, DecisionKind.SUPERSEDE),
    DecisionKind.REVISIT: tuple(DecisionKind),
    DecisionKind.SUPERSEDE: (),
}


def outcome_post(debate: Debate, of: Decision | None = None) -> MessageView:
    """Return the question how the accepted decision turned out, or what was said to it.

    Every post about one decision looks the same, so that an answer shows wherever people were
    asked. `of` is the decision; None: the newest one to accept.
    """
    accepted = of or debate.acceptance
    outcome = debate.outcome_of(accepted)
    whom, at = "", debate.now
    if accepted:
        people = {item.id: item for item in (accepted.by, debate.setup.asked_by)}
        whom = f"{' '.join(map(person, people.values()))} "
        at = debate.times.get(f"decision/{accepted.origin}", at)
    quote = f"“{gist(decision_or_question(debate), _DECISION_LIMIT)}”"
    answered = f"\n{_words(debate, outcome)}" if outcome else ""
    if accepted and accepted != debate.decision:
        return notice(
            f"*How it turned out*, accepted {moment(at)}, replaced since\n{quote}{answered}\n"
            "Your team has decided anew since then, so nothing is asked here any more. What it "
            "decided stands below the verdict."
        )
    if outcome and outcome.kind is not OutcomeKind.TOO_EARLY:
        since = f", accepted {moment(at)}" if accepted else ""
        text = f"*How it turned out*{since}\n{quote}{answered}"
        label = "Change how it turned out, or why"
        buttons = [button("Change", ActionId.OUTCOME_CHANGE, debate.id, label=label)]
    else:
        text = (
            f"{whom}*How did it turn out?* Your team accepted this {moment(at)}:\n"
            f"{quote}{answered}\n"
            "One click is enough; a reason helps whoever decides next. Anybody in the channel may "
            "answer, and change it later."
        )
        buttons = [
            button(
                kind.value.capitalize(),
                ActionId[f"OUTCOME_{kind.name}"],
                debate.id,
                label=f"{kind.value.capitalize()}: {words.lower()}",
            )
            for kind, words in _CHOICES.items()
        ]
    return notice(text, actions("outcome", *buttons))


def form_failure(debate: Debate, outcome: DecisionOutcome) -> str:
    """Return what only who clicked is told where the form to say why did not open."""
    return (
        f"Recorded: {_CHOICES[outcome.kind].lower()}. To add a reason, type "
        f"`/debate outcome {debate.id}`."
    )


def outcome_form(debate: Debate, outcome: DecisionOutcome | None, *, again_after: int) -> Form:
    """Return the form to say how it turned out, and why, filled with the recorded outcome.

    `again_after`: days until people are asked again where it is too early; 0: never.
    """
    later = f" Asked again after {quantity(again_after, 'day')}." if again_after else ""
    how = Field(
        FieldId.OUTCOME,
        "How did it turn out?",
        "Reversed: it was taken back, or was wrong. Too early: nobody can say yet." + later,
    )
    why = Field(
        FieldId.WHY,
        "Why?",
        "Recorded with your name, shown on the board, in the thread and to later debates.",
        optional=True,
    )
    text = f"\n_Recorded: {_CHOICES[outcome.kind].lower()}._" if outcome else ""
    return form(
        CallbackId.OUTCOME_FORM,
        title="How it turned out",
        submit="Save",
        blocks=[
            *sections(
                f"*The decision*\n{gist(decision_or_question(debate), _DECISION_LIMIT)}{text}"
            ),
            select(
                how,
                {kind.value: words for kind, words in _CHOICES.items()},
                outcome.kind.value if outcome else "",
            ),
            text_input(why, value=outcome.why if outcome else "", multiline=True, most=_WHY_LIMIT),
        ],
        metadata={"debate": debate.id},
    )


def _words(debate: Debate, outcome: DecisionOutcome) -> str:
    at = debate.times.get(f"outcome/{outcome.origin}", debate.now)
    what = f"{_SIGNS[outcome.kind]} *{_CHOICES[outcome.kind]}*"
    return f"{what}, says {person(outcome.by)}, {moment(at)}.{_why(outcome.why)}"


def decision_buttons(debate: Debate) -> list[Block]:
    if not debate.is_decidable:
        return []
    stands = debate.decision
    buttons = [
        button(
            kind.name.capitalize(),
            ActionId[kind.name],
            debate.id,
            style="" if stands else _STYLES.get(kind, ""),
            label=f"{kind.name.capitalize()} this verdict{_MORE.get(kind, '')}",
        )
        for kind in (_AFTER[stands.kind] if stands else DecisionKind)
    ]
    return row("decision", buttons)


def earlier_buttons(debate: Debate) -> list[Block]:
    """Return a button for each earlier decision that this verdict changes.

    They stay once that is done: whether it is stands in the other debate's log. A click says so.
    """
    earlier = debate.verdict.earlier if debate.verdict and debate.decides else ()
    changed = [decision for decision in earlier if decision.relation is not Relation.CONFIRMS]
    buttons = [
        button(
            f"Supersede {decision.source}",
            f"{ActionId.SUPERSEDE_EARLIER}-{decision.source}",
            f"{decision.debate}/{debate.id}",
            label=bare(f"Let this verdict stand in place of {decision.title}", BUTTON_TEXT),
        )
        for decision in changed[:_MOST_EARLIER]
    ]
    return row("earlier", buttons)


def decision_form(
    debate: Debate,
    kind: DecisionKind,
    *,
    today: date,
    newer: Mapping[str, str] | None = None,
    draft: Decision | None = None,
) -> Form:
    """Return the form that asks why, and on which date or by which debate.

    It shows the current decision and holds its origin in the metadata. `newer` are the questions of
    debates that may supersede it, by id; `draft` is this person's decision, sent just after another
    one was recorded.
    """
    verb, stands = kind.name.capitalize(), debate.decision
    submit = "Set the date" if kind is DecisionKind.REVISIT else verb
    now = [standing(debate)] if stands else []
    if draft:
        submit = "Replace it"
        now.append(":warning: That was decided just now. Nothing of yours was recorded yet.")
    why = Field(
        FieldId.WHY,
        "Why?",
        "Recorded with your name, shown on the board and in the thread.",
        optional=kind is not DecisionKind.REJECT,
    )
    return form(
        CallbackId.DECISION_FORM,
        title=f"{verb} the verdict",
        submit=submit,
        blocks=[
            *sections(
                f"*The agents' verdict*\n{gist(decision_or_question(debate), _DECISION_LIMIT)}"
            ),
            *sections("\n".join(now)),
            *_more(kind, today, newer or {}, draft.revisit_on if draft else None),
            text_input(why, multiline=True, most=_WHY_LIMIT, value=draft.why if draft else ""),
        ],
        metadata={
            "debate": debate.id,
            "kind": kind.value,
            "stands": stands.origin if stands else "",
        },
    )


def earlier_decision(decision: Decision, why: str) -> str:
    """Return that a decision is recorded already, with the person's unrecorded reason."""
    text = f"{_decision_text(decision)} already: nothing more was recorded.{_why(decision.why)}"
    wrote = f"\nYou wrote:\n>>> {plain(redact(why))}" if why.strip() else ""
    return text + wrote


def standing(debate: Debate) -> str:
    """Return what the team has decided; empty without a verdict."""
    if debate.decision:
        at = debate.times.get(f"decision/{debate.decision.origin}", debate.now)
        text = f"{_decision_text(debate.decision)}, {moment(at)}.{_why(debate.decision.why)}"
        after = _words(debate, debate.outcome) if debate.outcome else ""
        return "\n".join(filter(None, ("*The team's decision*", text, after)))
    if debate.is_decidable:
        return "*The team's decision*\nOpen: the buttons are below the verdict."
    return ""


def decision_line(decision: Decision) -> MessageView:
    return notice(f":classical_building: {_decision_text(decision)}.{_why(decision.why)}")


def reminder(debate: Debate, decision: Decision) -> MessageView:
    return notice(
        f":calendar: *Time to revisit this decision*, as {person(decision.by)} wanted."
        f"{_why(decision.why)}\n“{gist(decision_or_question(debate), _DECISION_LIMIT)}”\n"
        "Accept or reject it below the verdict, or start a new debate and supersede this one."
    )


def _decision_text(decision: Decision) -> str:
    on = day(decision.revisit_on) if decision.revisit_on else "a date"
    by = f"debate `{decision.superseded_by}`" if decision.superseded_by else "a newer one"
    text = _DECIDED[decision.kind].format(who=person(decision.by), on=on, by=by)
    return f"{DECISION_SIGNS[decision.kind]} {text}"


def _why(why: str) -> str:
    return f"\nWhy: {gist(why, _WHY_LIMIT)}" if why.strip() else ""


def _more(
    kind: DecisionKind, today: date, newer: Mapping[str, str], initial: date | None
) -> Sequence[Block]:
    if kind is DecisionKind.REVISIT:
        field = Field(
            FieldId.DATE,
            "On which day?",
            "A reminder comes to the thread at 8 that morning, in your time zone.",
        )
        day_shown = initial or today + timedelta(days=30)
        return [field_block(field, "datepicker", initial_date=day_shown.isoformat())]
    if kind is DecisionKind.SUPERSEDE:
        options = {
            debate_id: bare(f"{debate_id}: {question}", OPTION_TEXT)
            for debate_id, question in newer.items()
        }
        field = Field(
            FieldId.NEWER,
            "Which newer debate stands in its place?",
            "The newest ones of this channel." if len(newer) > 1 else "",
        )
        return [select(field, options)]
    return []


_FAULT_LIMIT = 400
#: Slack keeps 2,000 characters with a button; each may take two.
MOST_OFFERED = 900
_NOT_FOUND = "No answer was found in the record of this debate."
_NO_VERDICT = "It is not part of the verdict."
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
    return [actions("after", *buttons)]


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
    return notice(words, actions("ask_this", asking))


def ask_form(debate: Debate) -> Form:
    field = Field(
        FieldId.QUESTION,
        "What do you want to know?",
        "The judge answers in the thread from what was said in the debate, and from nothing "
        "else. A mention of Moot in the thread does the same.",
    )
    return form(
        CallbackId.ASK_FORM,
        title="Ask about it",
        submit="Ask",
        blocks=[
            *sections(
                f"*The agents' verdict*\n{gist(decision_or_question(debate), _DECISION_LIMIT)}"
            ),
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
        (citation.source, citation.words): citation_place(citation)
        for citation in answer.citations
        if citation.source not in answer.entries
    }

    def show(mention: RawCitation, is_verified: bool) -> str:  # noqa: FBT001 - the port's
        if not is_verified:
            return f"~~“{mention.words}”~~ (not found)"
        return f"“{mention.words}” ({places.get((mention.source, mention.words), mention.source)})"

    body = mrkdwn(render_citations(answer.text, show, of_record=True))
    head = f"{person(question.by)} asked: “{gist(question.text, _DECISION_LIMIT)}”"
    if answer.fault:
        head += f"\n:warning: {gist(answer.fault, _FAULT_LIMIT)}"
    foot = [", ".join(f"{name}: {link}" for name, link in quoted.items())] if quoted else []
    # Where no model answers, the text is passages of the record, or says that there are none.
    is_answered = bool(answer.entries) if answer.fault else bool(answer.text)
    basis = f"Answered from the record of this debate. {_NO_VERDICT}" if is_answered else _NOT_FOUND
    spent = f" · Cost: {money(answer.usage.cost)}" if answer.call or answer.lost.attempts else ""
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
    return [{"block_id": "feedback", "elements": [element], "type": "context_actions"}]


def thanks(debate: Debate, feedback: Feedback) -> MessageView:
    words = _THANKS[feedback.helpful]
    why = button("Say why", ActionId.SAY_WHY, debate.id, label="Say why in a few words")
    return notice(words, actions("feedback", why))


def comment_form(debate: Debate, feedback: Feedback) -> Form:
    decision = gist(decision_or_question(debate), _DECISION_LIMIT)
    field = Field(FieldId.WHY, _ASKED[feedback.helpful], _HINT, optional=True)
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
