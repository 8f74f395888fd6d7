"""The forms to change options and to add context, and what was put into them (pure)."""

from collections.abc import Sequence

from bot.slack.ids import CallbackId, FieldId, name_field
from bot.slack.mrkdwn import gist
from bot.slack.payloads import FormSubmission
from bot.views.forms import Field, Form, form, select, text_input
from bot.views.message import sections
from bot.views.options import option_labels
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.vote import OptionChange, OptionEdit
from core.rules.options import NAME_MAX_CHARS, after_edits, named_options, options_of

_QUESTION_LIMIT = 300
_HOW = (
    "Agents compare and vote on these options. What you change is shown in the thread and holds "
    "from their next turn on."
)
#: What the fields for merging two and for a new one are, by what they do.
_FIELDS = {OptionChange.MERGE: FieldId.MERGED_INTO, OptionChange.ADD: FieldId.NEW_OPTION}


def options_form(debate: Debate) -> Form:
    items = options_of(debate).items
    names = option_labels(items)
    renaming = [
        text_input(
            Field(
                id=name_field(item.id),
                label=f"Option {number}",
                hint="" if number > 1 else "Type over a name to rename the option.",
            ),
            value=item.name[:NAME_MAX_CHARS],
            most=NAME_MAX_CHARS,
        )
        for number, item in enumerate(items, start=1)
    ]
    merging = [
        select(Field(id=FieldId.MERGED, label="Merge this option …", optional=True), names),
        select(
            Field(
                id=FieldId.MERGED_INTO,
                label="… into this one",
                hint="For two that are the same: votes for either count for it.",
                optional=True,
            ),
            names,
        ),
    ]
    adding = text_input(
        Field(id=FieldId.NEW_OPTION, label="Add an option", optional=True), most=NAME_MAX_CHARS
    )
    return form(
        CallbackId.OPTIONS_FORM,
        title="Options",
        submit="Change options",
        blocks=[
            *sections(f"*{gist(debate.setup.question, _QUESTION_LIMIT)}*\n{_HOW}"),
            *renaming,
            *(merging if len(items) > 1 else []),
            adding,
        ],
        metadata={"debate": debate.id, "edits": str(len(debate.option_edits))},
    )


def edits_in(debate: Debate, submitted: FormSubmission, by: Person) -> Sequence[OptionEdit]:
    """Return the edits of the form: renames first, then the merge, then the new option."""

    def edit(change: OptionChange, part: str, **fields: str) -> OptionEdit:
        return OptionEdit(change=change, by=by, origin=f"{submitted.view_id}/{part}", **fields)

    # Compared with the names that the form showed: another form may have changed some since.
    count = submitted.metadata.get("edits", "")
    then = debate.option_edits[: int(count)] if count.isdecimal() else debate.option_edits
    names = {item.id: item.name for item in after_edits(named_options(debate), then).items}
    typed = {item: submitted.text_of(name_field(item)) for item in names}
    edits = [
        edit(OptionChange.RENAME, item, option=item, name=name)
        for item, name in typed.items()
        if name_field(item) in submitted.values and name != names[item]
    ]
    merged, into = submitted.choice(FieldId.MERGED), submitted.choice(FieldId.MERGED_INTO)
    if merged or into:
        edits.append(edit(OptionChange.MERGE, "merge", option=merged, into=into))
    if added := submitted.text_of(FieldId.NEW_OPTION):
        edits.append(edit(OptionChange.ADD, "add", name=added))
    return edits


def field_of(edit: OptionEdit) -> str:
    return _FIELDS.get(edit.change) or name_field(edit.option)


def context_form(debate: Debate) -> Form:
    field = Field(
        id=FieldId.CONTEXT,
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
