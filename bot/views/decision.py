"""What the team makes of a verdict and how it turned out: buttons, forms, words (pure)."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from bot.slack.blocks import actions, button, row
from bot.slack.ids import ActionId, BlockId, CallbackId, FieldId
from bot.slack.limits import BUTTON_TEXT, OPTION_TEXT
from bot.slack.mrkdwn import bare, gist, plain
from bot.views.forms import Field, Form, field_block, form, select, text_input
from bot.views.message import Block, MessageView, notice, sections
from bot.views.words import moment, person
from core.debate.follow_up import Decision, DecisionKind, DecisionOutcome, OutcomeKind
from core.debate.state import Debate
from core.debate.verdict import Relation
from core.figures import day, quantity
from core.redaction import redact
from core.transcript.cited import decided_or_asked

_WHY_LIMIT = 600
_DECISION_LIMIT = 400
_SIGNS: Mapping[OutcomeKind, str] = {
    OutcomeKind.HELD: ":white_check_mark:",
    OutcomeKind.PARTLY: ":large_yellow_circle:",
    OutcomeKind.REVERSED: ":leftwards_arrow_with_hook:",
    OutcomeKind.TOO_EARLY: ":hourglass_flowing_sand:",
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
    quote = f"“{gist(decided_or_asked(debate), _DECISION_LIMIT)}”"
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
    return MessageView(text=text, blocks=[*sections(text), actions(BlockId.OUTCOME, *buttons)])


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
        id=FieldId.OUTCOME,
        label="How did it turn out?",
        hint="Reversed: it was taken back, or was wrong. Too early: nobody can say yet." + later,
    )
    why = Field(
        id=FieldId.WHY,
        label="Why?",
        hint="Recorded with your name, shown on the board, in the thread and to later debates.",
        optional=True,
    )
    text = f"\n_Recorded: {_CHOICES[outcome.kind].lower()}._" if outcome else ""
    return form(
        CallbackId.OUTCOME_FORM,
        title="How it turned out",
        submit="Save",
        blocks=[
            *sections(f"*The decision*\n{gist(decided_or_asked(debate), _DECISION_LIMIT)}{text}"),
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
    return row(BlockId.DECISION, buttons)


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
    return row(BlockId.EARLIER, buttons)


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
        id=FieldId.WHY,
        label="Why?",
        hint="Recorded with your name, shown on the board and in the thread.",
        optional=kind is not DecisionKind.REJECT,
    )
    return form(
        CallbackId.DECISION_FORM,
        title=f"{verb} the verdict",
        submit=submit,
        blocks=[
            *sections(f"*The agents' verdict*\n{gist(decided_or_asked(debate), _DECISION_LIMIT)}"),
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
        f"{_why(decision.why)}\n“{gist(decided_or_asked(debate), _DECISION_LIMIT)}”\n"
        "Accept or reject it below the verdict, or start a new debate and supersede this one."
    )


def _decision_text(decision: Decision) -> str:
    who = person(decision.by)
    match decision.kind:
        case DecisionKind.ACCEPT:
            return f":white_check_mark: *Accepted* by {who}"
        case DecisionKind.REJECT:
            return f":x: *Rejected* by {who}"
        case DecisionKind.REVISIT:
            on = day(decision.revisit_on) if decision.revisit_on else "a date"
            return f":calendar: *To be revisited on {on}*, says {who}"
        case DecisionKind.SUPERSEDE:
            by = f"`{decision.superseded_by}`" if decision.superseded_by else "a newer one"
            return f":fast_forward: *Superseded* by debate {by}, says {who}"


def _why(why: str) -> str:
    return f"\nWhy: {gist(why, _WHY_LIMIT)}" if why.strip() else ""


def _more(
    kind: DecisionKind, today: date, newer: Mapping[str, str], initial: date | None
) -> Sequence[Block]:
    if kind is DecisionKind.REVISIT:
        field = Field(
            id=FieldId.DATE,
            label="On which day?",
            hint="A reminder comes to the thread at 8 that morning, in your time zone.",
        )
        day_shown = initial or today + timedelta(days=30)
        return [field_block(field, "datepicker", initial_date=day_shown.isoformat())]
    if kind is DecisionKind.SUPERSEDE:
        options = {
            debate_id: bare(f"{debate_id}: {question}", OPTION_TEXT)
            for debate_id, question in newer.items()
        }
        field = Field(
            id=FieldId.NEWER,
            label="Which newer debate stands in its place?",
            hint="The newest ones of this channel." if len(newer) > 1 else "",
        )
        return [select(field, options)]
    return []
