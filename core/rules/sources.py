"""Which sources are still to be read, and whether anything waits for them (pure).

What came with the question is read before anybody speaks; what came with a note is read while the
debate goes on, and turns that begin later see it.
"""

from collections.abc import Sequence

from core.debate.evidence import Source, SourceKind, SourceReference
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.turn import ENGINE, Act, Turn, turn_of

#: What people give; earlier decisions and what tools say are looked up besides.
KINDS = frozenset({SourceKind.FILE, SourceKind.LINK, SourceKind.THREAD, SourceKind.TEXT})
#: How the fault of a source begins that was given twice: nothing of it is lost.
SAME_AS = "it is the same as"
#: Sources that one debate may have.
MOST_SOURCES = 50
#: Characters that the texts of all of them may have together.
MOST_CHARACTERS = 3_000_000
#: Characters of a page's address that are its title.
_LONGEST_TITLE = 120


def unread(debate: Debate) -> Sequence[Turn]:
    turns = (reading_turn(number) for number in range(1, len(debate.references) + 1))
    return debate.open_turns(turns)


def threads(debate: Debate) -> Sequence[Turn]:
    return [
        reading_turn(number)
        for number, reference in enumerate(debate.setup.references, start=1)
        if reference.kind is SourceKind.THREAD
    ]


def are_awaited(debate: Debate, reading: Sequence[Turn]) -> bool:
    awaited = with_question(debate)
    return any(turn in awaited for turn in reading)


def with_question(debate: Debate) -> Sequence[Turn]:
    """The turns that read the sources of the question and its thread.

    The same file may come with a note again, changed: then it is read anew.
    """
    with_notes = [reference for note in debate.all_notes for reference in note.references]
    numbered, first = enumerate(debate.references, start=1), len(debate.setup.references)
    return [
        reading_turn(number)
        for number, reference in numbered
        if number <= first or reference not in with_notes
    ]


def unreadable_sources(debate: Debate) -> Sequence[Source]:
    return [
        source
        for source in debate.sources
        if source.fault and source.reference.kind in KINDS and not source.fault.startswith(SAME_AS)
    ]


def page_reference(link: str, by: Person) -> SourceReference:
    """A page as a source; its query may hold a key, so it is used for the fetch only."""
    text = f"{link.partition('?')[0]}?…" if "?" in link else link
    return SourceReference(
        kind=SourceKind.LINK, title=text[:_LONGEST_TITLE], address=text, fetch=link, by=by
    )


def new_links(
    links: Sequence[SourceReference], there: Sequence[SourceReference]
) -> Sequence[SourceReference]:
    """The linked sources that a debate does not have yet, in order; maybe more than its maximum."""
    keys = {(reference.kind, reference.fetch) for reference in there}
    return [link for link in links if (link.kind, link.fetch) not in keys]


def no_source_reason(debate: Debate) -> str:
    """Why a debate whose given sources are all lost is not held; empty where it is.

    A thread that came with a mention, and what the words of a question link to, were not chosen as
    sources: without them the question stands.
    Nor is one given up in which agents were asked already, as older versions did.
    """
    agents = {agent.id for agent in debate.setup.agents}
    tables = (debate.contributions, debate.questions, debate.failures)
    if any(outcome.turn.agent in agents for outcomes in tables for outcome in outcomes.values()):
        return ""
    chosen = KINDS - ({SourceKind.THREAD} if debate.setup.mention else set())
    references = [
        reference
        for reference in debate.setup.references
        if reference.kind in chosen and not reference.in_words
    ]
    losses = [source for source in unreadable_sources(debate) if not source.reference.in_words]
    read = [source.reference for source in debate.evidence if not source.reference.in_words]
    if not references or not losses or any(reference.kind in KINDS for reference in read):
        return ""
    text = "; ".join(f"{source.reference.title}: {source.fault}" for source in losses)
    return (
        f"No source that was given could be read ({text}), so no agent was asked. Give it in "
        "another form, or ask without it."
    )


def reading_turn(number: int) -> Turn:
    return turn_of(Act.READING, 0, ENGINE, str(number))


def label_of(references: Sequence[SourceReference], number: int) -> str:
    """How the source of that number is cited where that is not by it: d1 is the first decision."""
    kinds = [reference.kind for reference in references[:number]]
    if kinds[-1] is not SourceKind.DECISION:
        return ""
    return f"d{kinds.count(SourceKind.DECISION)}"
