"""Decides which sources are still to be read, and whether turns wait for them (pure).

Sources of the question are read before any agent speaks. Sources of a note are read while the
debate continues; later turns see them.
"""

from collections.abc import Sequence

from core.debate.evidence import Source, SourceKind, SourceReference
from core.debate.people import Person
from core.debate.state import Debate, roster
from core.debate.turn import ENGINE, Act, Turn, turn_of

#: Kinds of sources that people give. Moot itself adds earlier decisions and answers of tools.
KINDS = frozenset({SourceKind.FILE, SourceKind.LINK, SourceKind.THREAD, SourceKind.TEXT})
#: The beginning of the fault of a duplicate. Its text is read once, as another source.
SAME_AS = "it is the same as"
#: The most sources of one debate.
MOST_SOURCES = 50
#: The most characters of all their texts together.
MOST_CHARACTERS = 3_000_000
#: The longest title of a page, in characters of its address.
_LONGEST_TITLE = 120


def unread_turns(debate: Debate) -> Sequence[Turn]:
    turns = (reading_turn(number) for number in range(1, len(debate.references) + 1))
    return debate.open_turns(turns)


def thread_turns(debate: Debate) -> Sequence[Turn]:
    """The turns that read the threads given with the question."""
    return [
        reading_turn(number)
        for number, reference in enumerate(debate.setup.references, start=1)
        if reference.kind is SourceKind.THREAD
    ]


def question_turns(debate: Debate) -> Sequence[Turn]:
    """The turns that read the sources of the question and of its thread.

    A file of the question that is given again with a note, changed, is read again for the note.
    """
    note_references = [reference for note in debate.all_notes for reference in note.references]
    question_count = len(debate.setup.references)
    return [
        reading_turn(number)
        for number, reference in enumerate(debate.references, start=1)
        if number <= question_count or reference not in note_references
    ]


def unreadable_sources(debate: Debate) -> Sequence[Source]:
    return [
        source
        for source in debate.sources
        if source.fault and source.reference.kind in KINDS and not source.fault.startswith(SAME_AS)
    ]


def page_reference(link: str, by: Person) -> SourceReference:
    """A page as a source. Its query may contain a key, so it is not shown, only fetched with."""
    text = f"{link.partition('?')[0]}?…" if "?" in link else link
    return SourceReference(
        kind=SourceKind.LINK, title=text[:_LONGEST_TITLE], address=text, fetch=link, by=by
    )


def new_links(
    links: Sequence[SourceReference], references: Sequence[SourceReference]
) -> Sequence[SourceReference]:
    """The links that are not among a debate's references, in order; also beyond `MOST_SOURCES`."""
    keys = {(reference.kind, reference.fetch) for reference in references}
    return [link for link in links if (link.kind, link.fetch) not in keys]


def no_source_reason(debate: Debate) -> str:
    """Why a debate is not held because none of its given sources could be read; else empty.

    The thread of a mention and links inside the question were not chosen as sources: the debate is
    held without them. A debate in which agents were already asked, as in older versions, continues.
    """
    agents = roster(debate)
    tables = (debate.contributions, debate.questions, debate.failures)
    if any(outcome.turn.agent in agents for outcomes in tables for outcome in outcomes.values()):
        return ""
    chosen = KINDS - ({SourceKind.THREAD} if debate.setup.mention else set())
    references = [
        reference
        for reference in debate.setup.references
        if reference.kind in chosen and not reference.in_words
    ]
    failures = [source for source in unreadable_sources(debate) if not source.reference.in_words]
    is_any_read = any(
        source.reference.kind in KINDS and not source.reference.in_words
        for source in debate.evidence
    )
    if not references or not failures or is_any_read:
        return ""
    text = "; ".join(f"{source.reference.title}: {source.fault}" for source in failures)
    return (
        f"No source that was given could be read ({text}), so no agent was asked. Give it in "
        "another form, or ask without it."
    )


def reading_turn(number: int) -> Turn:
    return turn_of(Act.READING, 0, ENGINE, str(number))


def label_of(references: Sequence[SourceReference], number: int) -> str:
    """The label of a source in citations: d1 for the first earlier decision; empty: its number."""
    kinds = [reference.kind for reference in references[:number]]
    if kinds[-1] is not SourceKind.DECISION:
        return ""
    return f"d{kinds.count(SourceKind.DECISION)}"
