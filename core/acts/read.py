"""Reads a source: what came of it is recorded, and why, where nothing did."""

from core.acts.act import ActSpec, declare
from core.debate.evidence import Source, SourceText
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import SourceRead
from core.errors import BadInput
from core.ports import SourceReader
from core.rules.sources import MOST_CHARACTERS, MOST_SOURCES, SAME_AS, label_of


async def read(reader: SourceReader | None, debate: Debate, turn: Turn) -> SourceRead:
    number = int(turn.target or 0)
    reference = debate.references[number - 1]
    text, fault = SourceText(), ""
    if reader is None:
        fault = "no sources are read here"
    elif number > MOST_SOURCES:
        fault = f"a debate has {MOST_SOURCES} sources at most"
    else:
        try:
            text = await reader.read(reference, debate.setup.place)
            same = [source.id for source in debate.evidence if source.sha256 == text.sha256]
            if same:
                fault = f"{SAME_AS} {same[0]}"
            elif (
                sum(len(source.text) for source in debate.evidence) + len(text.text)
                > MOST_CHARACTERS
            ):
                fault = "the sources of this debate have too much text already"
        except BadInput as error:
            fault = str(error)
    # The search may find a decision that a person has named already.
    keys = {(reference.kind, reference.fetch) for reference in debate.references}
    # Files of a thread that was linked in words count as linked in words, too.
    fresh = tuple(
        item.model_copy(update={"in_words": reference.in_words})
        for item in text.references
        if (item.kind, item.fetch) not in keys
    )
    whole = {} if fault else dict(text.model_copy(update={"references": fresh}))
    label = label_of(debate.references, number)
    return SourceRead(
        source=Source(turn=turn, reference=reference, fault=fault, label=label, **whole)
    )


declare(Act.READING, ActSpec(asks_model=False, is_posted=False, is_numbered=True))
