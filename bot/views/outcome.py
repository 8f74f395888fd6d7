"""How an accepted decision turned out: the question to people, their answer, the form (pure)."""

from collections.abc import Mapping

from bot.slack.blocks import actions, button
from bot.slack.ids import ActionId, BlockId, CallbackId, FieldId
from bot.slack.mrkdwn.convert import gist
from bot.views.forms import Field, Form, form, select, text_input
from bot.views.message import Block, MessageView, sections
from bot.views.words import moment, person
from core.figures import counted
from core.models import Debate, Decision, DecisionOutcome, OutcomeKind

_WHY_LIMIT = 600
_DECISION_LIMIT = 400
#: How each outcome reads, what its button does and says.
_SAID: Mapping[OutcomeKind, str] = {
    OutcomeKind.HELD: ":white_check_mark: *It held*",
    OutcomeKind.PARTLY: ":large_yellow_circle: *It held in part*",
    OutcomeKind.REVERSED: ":leftwards_arrow_with_hook: *It was reversed*",
    OutcomeKind.TOO_EARLY: ":hourglass_flowing_sand: *Too early to say*",
}
BUTTONS: Mapping[OutcomeKind, ActionId] = {
    OutcomeKind.HELD: ActionId.OUTCOME_HELD,
    OutcomeKind.PARTLY: ActionId.OUTCOME_PARTLY,
    OutcomeKind.REVERSED: ActionId.OUTCOME_REVERSED,
    OutcomeKind.TOO_EARLY: ActionId.OUTCOME_TOO_EARLY,
}
_CHOICES: Mapping[OutcomeKind, str] = {
    OutcomeKind.HELD: "It held",
    OutcomeKind.PARTLY: "It held in part",
    OutcomeKind.REVERSED: "It was reversed",
    OutcomeKind.TOO_EARLY: "Too early to say",
}


def outcome_post(debate: Debate, of: Decision | None = None) -> MessageView:
    """Return the question how the accepted decision turned out, or what was said to it.

    Every post about one decision looks the same, so that an answer shows wherever people were
    asked. Where the team has decided anew since, nothing is asked any more.

    Args:
        debate: The debate.
        of: Which of the team's decisions; None: the newest one to accept.
    """
    accepted = of or debate.accepted
    said = debate.outcome_of(accepted)
    verdict = debate.verdict.decision if debate.verdict else debate.setup.question
    whom, at = "", debate.now
    if accepted:
        people = {one.id: one for one in (accepted.by, debate.setup.asked_by)}
        whom = f"{' '.join(map(person, people.values()))} "
        at = debate.times.get(f"decision/{accepted.origin}", at)
    quote = f"“{gist(verdict, _DECISION_LIMIT)}”"
    answered = f"\n{_words(debate, said)}" if said else ""
    if accepted and accepted != debate.decision:
        text = (
            f"*How it turned out*, accepted {moment(at)}, replaced since\n{quote}{answered}\n"
            "Your team has decided anew since then, so nothing is asked here any more. What it "
            "decided stands below the verdict."
        )
        return MessageView(text=text, blocks=sections(text))
    if said and said.kind is not OutcomeKind.TOO_EARLY:
        since = f", accepted {moment(at)}" if accepted else ""
        text = f"*How it turned out*{since}\n{quote}{answered}"
    else:
        text = (
            f"{whom}*How did it turn out?* Your team accepted this {moment(at)}:\n"
            f"{quote}{answered}\n"
            "One click is enough; a reason helps whoever decides next. Anybody in the channel may "
            "answer, and change it later."
        )
    return MessageView(text=text, blocks=[*sections(text), _buttons(debate)])


def turned_out(debate: Debate) -> str:
    """Return how the accepted decision turned out, as somebody said; empty if nobody did."""
    return _words(debate, debate.outcome) if debate.outcome else ""


def recorded(debate: Debate, given: DecisionOutcome) -> str:
    """Return what only who clicked is told where the form to say why did not open."""
    return (
        f"Recorded: {_CHOICES[given.kind].lower()}. To add a reason, type "
        f"`/debate outcome {debate.id}`."
    )


def outcome_form(debate: Debate, given: DecisionOutcome | None, *, again_after: int) -> Form:
    """Return the form to say how it turned out, and why; what was said before stands in it.

    Args:
        debate: The debate.
        given: What is recorded so far.
        again_after: Days until people are asked again where it is too early; 0: never.
    """
    verdict = debate.verdict.decision if debate.verdict else debate.setup.question
    later = f" Asked again after {counted(again_after, 'day')}." if again_after else ""
    how = Field(
        id=FieldId.OUTCOME.value,
        label="How did it turn out?",
        hint="Reversed: it was taken back, or was wrong. Too early: nobody can say yet." + later,
    )
    why = Field(
        id=FieldId.WHY.value,
        label="Why?",
        hint="Recorded with your name, shown on the board, in the thread and to later debates.",
        optional=True,
    )
    said = f"\n_Recorded: {_CHOICES[given.kind].lower()}._" if given else ""
    return form(
        CallbackId.OUTCOME_FORM,
        title="How it turned out",
        submit="Save",
        blocks=[
            *sections(f"*The decision*\n{gist(verdict, _DECISION_LIMIT)}{said}"),
            select(
                how,
                {kind.value: words for kind, words in _CHOICES.items()},
                given.kind.value if given else "",
            ),
            text_input(why, value=given.why if given else "", multiline=True, most=_WHY_LIMIT),
        ],
        metadata={"debate": debate.id},
    )


def _words(debate: Debate, said: DecisionOutcome) -> str:
    at = debate.times.get(f"outcome/{said.origin}", debate.now)
    why = f"\nWhy: {gist(said.why, _WHY_LIMIT)}" if said.why.strip() else ""
    return f"{_SAID[said.kind]}, says {person(said.by)}, {moment(at)}.{why}"


def _buttons(debate: Debate) -> Block:
    """One button per outcome; once one is known, the button to change it."""
    said = debate.outcome
    if said and said.kind is not OutcomeKind.TOO_EARLY:
        label = "Change how it turned out, or why"
        change = button("Change", ActionId.OUTCOME_CHANGE, debate.id, label=label)
        return actions(BlockId.OUTCOME, change)
    words = {kind: kind.value.capitalize() for kind in BUTTONS}
    buttons = (
        button(words[kind], action, debate.id, label=f"{words[kind]}: {_CHOICES[kind].lower()}")
        for kind, action in BUTTONS.items()
    )
    return actions(BlockId.OUTCOME, *buttons)
