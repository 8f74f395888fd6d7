"""Which changes to the list of options make sense (pure)."""

from collections.abc import Sequence

from core.debate.state import Debate, Status
from core.debate.vote import OptionChange, OptionEdit
from core.errors import BadInput
from core.figures import quantity
from core.redaction import redact
from core.rules.options import NAME_MAX_CHARS, OptionList, after_edits, named_options, options_of

#: More options cannot be weighed against each other, however they came to be.
MOST_OPTIONS = 12


class EditRefused(BadInput):
    """An edit of the options makes no sense; says what to do."""

    def __init__(self, edit: OptionEdit, words: str) -> None:
        super().__init__(words)
        self.edit = edit


def check_editable(debate: Debate) -> None:
    if debate.status is not Status.RUNNING:
        raise BadInput(f"Debate `{debate.id}` is over; its options stay as they were voted on.")
    if debate.tally or debate.verdict:
        raise BadInput("The votes are counted; the options stay as they were voted on.")
    if not options_of(debate).items:
        raise BadInput(
            "There are no options yet: they are named when all first answers are there. "
            "Try again in a minute, or add what the agents should know in the thread."
        )


def checked_edits(debate: Debate, edits: Sequence[OptionEdit]) -> Sequence[OptionEdit]:
    """Return the edits to record: redacted, without those that change nothing.

    Each is checked after those before it; `EditRefused` names the one that cannot be made.
    """
    clean_edits = list[OptionEdit]()
    for edit in edits:
        before = after_edits(named_options(debate), (*debate.option_edits, *clean_edits))
        clean = edit.model_copy(update={"name": " ".join(redact(edit.name).split())})
        if edit.change is OptionChange.RENAME and before.name(edit.option) == clean.name:
            continue
        if wrong := _fault(before, clean):
            raise EditRefused(edit, wrong)
        clean_edits.append(clean)
    return clean_edits


def _fault(options: OptionList, edit: OptionEdit) -> str:
    hint = f"The options are: {', '.join(item.name for item in options.items)}."
    if edit.change is OptionChange.MERGE and not (edit.option and edit.into):
        return "Choose both: the option that goes, and the one it goes into."
    if edit.change is not OptionChange.ADD and not options.resolve(edit.option):
        return f"There is no such option any more. {hint} Open the form again."
    if edit.change is OptionChange.MERGE:
        if not options.resolve(edit.into):
            return f"Say which option it goes into. {hint}"
        if options.resolve(edit.into) == options.resolve(edit.option):
            return "An option cannot go into itself: choose two different ones."
        return ""
    if not edit.name:
        return "An option needs a name. To take one away, merge it into another."
    if len(edit.name) > NAME_MAX_CHARS:
        return (
            f"The name has {quantity(len(edit.name), 'character')}; the most is {NAME_MAX_CHARS}. "
            "Say the rest as context."
        )
    own = options.resolve(edit.option) if edit.change is OptionChange.RENAME else ""
    same = (i for i in options.items if i.name.casefold() == edit.name.casefold() and i.id != own)
    if twin := next(same, None):
        return (
            f"There is an option “{twin.name}” already. Give it another name, or merge the two if "
            "they are the same."
        )
    if edit.change is OptionChange.ADD and len(options.items) >= MOST_OPTIONS:
        return f"There are {MOST_OPTIONS} options, as many as can be weighed. Merge two first."
    return ""
