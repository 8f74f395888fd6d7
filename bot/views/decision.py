"""Views after the verdict: the team's decision, outcome, feedback, follow-up questions (pure)."""

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
    moment,
    mrkdwn_pages,
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
    DecisionKind.REVISIT: "*To be revisited on {date}*, says {who}",
    DecisionKind.SUPERSEDE: "*Superseded* by {newer}, says {who}",
}
_CHOICES: Mapping[OutcomeKind, str] = {
    OutcomeKind.HELD: "It held",
    OutcomeKind.PARTLY: "It held in part",
    OutcomeKind.REVERSED: "It was reversed",
    OutcomeKind.TOO_EARLY: "Too early to say",
}
#: Most buttons to supersede earlier decisions.
_MOST_EARLIER = 5
_STYLES = {DecisionKind.ACCEPT: "primary", DecisionKind.REJECT: "danger"}
#: Ends of button labels for screen readers.
_LABEL_ENDS = {DecisionKind.REVISIT: " on a date", DecisionKind.SUPERSEDE: " with a newer debate's"}
#: The kinds of decision that may follow each kind.
_NEXT_KINDS: Mapping[DecisionKind, Sequence[DecisionKind]] = {
    DecisionKind.ACCEPT: (DecisionKind.REJECT, DecisionKind.REVISIT, DecisionKind.SUPERSEDE),
    DecisionKind.REJECT: (DecisionKind.ACCEPT, DecisionKind.SUPERSEDE),
    DecisionKind.REVISIT: tuple(DecisionKind),
    DecisionKind.SUPERSEDE: (),
}


def outcome_post(debate: Debate, decision: Decision | None = None) -> MessageView:
    """Return the post that asks how an accepted decision turned out, or shows the answer.

    All posts about one decision look the same, so each of them shows the answer.

    Args:
        debate: The debate with the decision.
        decision: None: the newest decision to accept.
    """
    accepted = decision or debate.acceptance
    outcome = debate.outcome_of(accepted)
    mentions, accepted_at = "", debate.now
    if accepted:
        people = {item.id: item for item in (accepted.by, debate.setup.asked_by)}
        mentions = f"{' '.join(map(person, people.values()))} "
        accepted_at = debate.times.get(f"decision/{accepted.origin}", accepted_at)
    quote = f"“{_short_decision(debate)}”"
    answer = f"\n{_outcome_text(debate, outcome)}" if outcome else ""
    if accepted and accepted != debate.decision:
        return notice(
            f"*How it turned out*, accepted {moment(accepted_at)}, replaced since\n"
            f"{quote}{answer}\n"
            "Your team has made a new decision since then, so this question is closed. The new "
            "decision is below the verdict."
        )
    if outcome and outcome.kind is not OutcomeKind.TOO_EARLY:
        date = f", accepted {moment(accepted_at)}" if accepted else ""
        text = f"*How it turned out*{date}\n{quote}{answer}"
        label = "Change how it turned out, or why"
        buttons = [button("Change", ActionId.OUTCOME_CHANGE, debate.id, label=label)]
    else:
        text = (
            f"{mentions}*How did it turn out?* Your team accepted this {moment(accepted_at)}:\n"
            f"{quote}{answer}\n"
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


def _short_decision(debate: Debate) -> str:
    return gist(decision_or_question(debate), _DECISION_LIMIT)


def form_failure(debate: Debate, outcome: DecisionOutcome) -> str:
    """Return the text for the person who clicked if the form for the reason did not open."""
    return (
        f"Recorded: {_CHOICES[outcome.kind].lower()}. To add a reason, type "
        f"`/debate outcome {debate.id}`."
    )


def outcome_form(debate: Debate, outcome: DecisionOutcome | None, *, again_after: int) -> Form:
    """Return the form for an outcome and its reason, filled with the recorded outcome.

    `again_after`: days until people are asked again after "too early"; 0: never.
    """
    later = f" Asked again after {quantity(again_after, 'day')}." if again_after else ""
    outcome_field = Field(
        FieldId.OUTCOME,
        "How did it turn out?",
        "Reversed: it was taken back, or was wrong. Too early: nobody can say yet." + later,
    )
    reason_field = Field(
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
            *sections(f"*The decision*\n{_short_decision(debate)}{text}"),
            select(
                outcome_field,
                {kind.value: words for kind, words in _CHOICES.items()},
                outcome.kind.value if outcome else "",
            ),
            text_input(
                reason_field, value=outcome.why if outcome else "", multiline=True, most=_WHY_LIMIT
            ),
        ],
        metadata={"debate": debate.id},
    )


def _outcome_text(debate: Debate, outcome: DecisionOutcome) -> str:
    recorded_at = debate.times.get(f"outcome/{outcome.origin}", debate.now)
    head = f"{_SIGNS[outcome.kind]} *{_CHOICES[outcome.kind]}*"
    return f"{head}, says {person(outcome.by)}, {moment(recorded_at)}.{_reason(outcome.why)}"


def decision_buttons(debate: Debate) -> list[Block]:
    if not debate.is_decidable:
        return []
    current = debate.decision
    buttons = [
        button(
            kind.name.capitalize(),
            ActionId[kind.name],
            debate.id,
            style="" if current else _STYLES.get(kind, ""),
            label=f"{kind.name.capitalize()} this verdict{_LABEL_ENDS.get(kind, '')}",
        )
        for kind in (_NEXT_KINDS[current.kind] if current else DecisionKind)
    ]
    return row("decision", buttons)


def earlier_buttons(debate: Debate) -> list[Block]:
    """Return a button for each earlier decision that this verdict changes.

    The buttons stay after a click, because only the log of the other debate says whether its
    decision is superseded. Another click answers that it is.
    """
    earlier = debate.verdict.earlier if debate.verdict and debate.decides else ()
    decisions = [decision for decision in earlier if decision.relation is not Relation.CONFIRMS]
    buttons = [
        button(
            f"Supersede {decision.source}",
            f"{ActionId.SUPERSEDE_EARLIER}-{decision.source}",
            f"{decision.debate}/{debate.id}",
            label=bare(f"Let this verdict stand in place of {decision.title}", BUTTON_TEXT),
        )
        for decision in decisions[:_MOST_EARLIER]
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
    """Return the form for a decision of the given kind: a reason, and a date or a newer debate.

    It shows the current decision and has its origin in the metadata. `newer` are the questions of
    debates that may supersede this one, by id. `draft` is the person's decision, if another one was
    recorded just before it.
    """
    verb, current = kind.name.capitalize(), debate.decision
    submit = "Set the date" if kind is DecisionKind.REVISIT else verb
    lines = [team_decision(debate)] if current else []
    if draft:
        submit = "Replace it"
        lines.append(":warning: That was decided just now. Nothing of yours was recorded yet.")
    reason_field = Field(
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
            *sections(f"*The agents' verdict*\n{_short_decision(debate)}"),
            *sections("\n".join(lines)),
            *_kind_fields(kind, today, newer or {}, draft.revisit_on if draft else None),
            text_input(
                reason_field, multiline=True, most=_WHY_LIMIT, value=draft.why if draft else ""
            ),
        ],
        metadata={
            "debate": debate.id,
            "kind": kind.value,
            "stands": current.origin if current else "",
        },
    )


def earlier_decision(decision: Decision, reason: str) -> str:
    """Say that a decision is recorded already, and quote the person's unrecorded reason."""
    text = f"{_decision_text(decision)} already: nothing more was recorded.{_reason(decision.why)}"
    quote = f"\nYou wrote:\n>>> {plain(redact(reason))}" if reason.strip() else ""
    return text + quote


def team_decision(debate: Debate) -> str:
    """Return the team's decision, or how to decide; empty without a verdict."""
    if decision := debate.decision:
        decided_at = debate.times.get(f"decision/{decision.origin}", debate.now)
        text = f"{_decision_text(decision)}, {moment(decided_at)}.{_reason(decision.why)}"
        if debate.outcome:
            before = "" if decision == debate.acceptance else "Accepted before: "
            text += f"\n{before}{_outcome_text(debate, debate.outcome)}"
        return f"*The team's decision*\n{text}"
    if debate.is_decidable:
        return "*The team's decision*\nOpen: the buttons are below the verdict."
    return ""


def decision_line(decision: Decision) -> MessageView:
    return notice(f":classical_building: {_decision_text(decision)}.{_reason(decision.why)}")


def reminder(debate: Debate, decision: Decision) -> MessageView:
    return notice(
        f":calendar: *Time to revisit this decision*, as {person(decision.by)} wanted."
        f"{_reason(decision.why)}\n“{_short_decision(debate)}”\n"
        "Accept or reject it below the verdict, or start a new debate and supersede this one."
    )


def _decision_text(decision: Decision) -> str:
    date = day(decision.revisit_on) if decision.revisit_on else "a date"
    newer = f"debate `{decision.superseded_by}`" if decision.superseded_by else "a newer one"
    text = _DECIDED[decision.kind].format(who=person(decision.by), date=date, newer=newer)
    return f"{DECISION_SIGNS[decision.kind]} {text}"


def _reason(text: str) -> str:
    return f"\nWhy: {gist(text, _WHY_LIMIT)}" if text.strip() else ""


def _kind_fields(
    kind: DecisionKind, today: date, newer: Mapping[str, str], initial: date | None
) -> Sequence[Block]:
    if kind is DecisionKind.REVISIT:
        field = Field(
            FieldId.DATE,
            "On which day?",
            "A reminder comes to the thread at 8 that morning, in your time zone.",
        )
        first_date = initial or today + timedelta(days=30)
        return [field_block(field, "datepicker", initial_date=first_date.isoformat())]
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
#: A button's value has 2,000 characters at most, and escaping may double each character.
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
    """Return the offer to ask the judge about a message in the thread of an ended debate.

    `text` has at most `MOST_OFFERED` characters.
    """
    # Redacted because the queue stores ephemeral messages, too.
    clean = redact(text)
    words = (
        f"Debate `{debate.id}` has ended: its agents do not read this. Shall its judge answer, "
        f"from what was said in the debate?\n> {plain(' '.join(clean.split()))}"
    )
    ask_button = button(
        "Ask about it",
        ActionId.ASK_THIS,
        json.dumps({"debate": debate.id, "message": message, "text": clean}),
        label="Put what you wrote to the judge of this debate",
    )
    return notice(words, actions("ask_this", ask_button))


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
            *sections(f"*The agents' verdict*\n{_short_decision(debate)}"),
            text_input(field, multiline=True),
        ],
        metadata={"debate": debate.id},
    )


def question_line(question: FollowUp) -> MessageView:
    return notice(f":speech_balloon: {person(question.by)} asks: {plain(question.text)}")


def answer_views(debate: Debate, question: FollowUp, answer: FollowUpAnswer) -> list[MessageView]:
    entry_links = dict[str, str]()
    for name, key in answer.entries.items():
        # Find the post that shows this entry of the record.
        if key in {VERDICT_ENTRY, DECISION_ENTRY}:
            post = headline_key(debate.id, debate.edition)
            entry = "the verdict" if key == VERDICT_ENTRY else "the team's decision"
        else:
            turn = debate.contributions[key].turn
            post, agent = post_key(debate, turn), debate.setup.agent(turn.agent).name
            entry = f"{agent}'s {turn.act.noun}, round {turn.round}"
        entry_links[name] = f"<{address_of(post)}|{literal(entry)}>"
    # The foot links only entries of the record. Quotes of other sources name their place instead.
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
    names = ", ".join(f"{name}: {link}" for name, link in entry_links.items())
    foot = [names] if names else []
    # If no model answers, the text is passages of the record, or says that there are none.
    is_answered = bool(answer.entries) if answer.fault else bool(answer.text)
    basis = f"Answered from the record of this debate. {_NO_VERDICT}" if is_answered else _NOT_FOUND
    cost = f" · Cost: {money(answer.usage.cost)}" if answer.call or answer.lost.attempts else ""
    foot.append(f"{basis}{cost}")
    pages = mrkdwn_pages(f"{head}\n\n{body}")
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
    reason_button = button("Say why", ActionId.SAY_WHY, debate.id, label="Say why in a few words")
    return notice(_THANKS[feedback.helpful], actions("feedback", reason_button))


def comment_form(debate: Debate, feedback: Feedback) -> Form:
    decision = _short_decision(debate)
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
