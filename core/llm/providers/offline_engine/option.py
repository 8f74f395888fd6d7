"""One answer people may choose."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """One answer people may choose."""

    #: Short name for use inside a sentence: "PostgreSQL", "keeping our monolith".
    name: str
    #: The decision for it, an imperative in the question's words, without a full stop.
    say: str
    #: Keys of the things it stands for, see `Catalogue.things`.
    things: tuple[str, ...] = ()
    #: The answer "no" of a pair of yes and no.
    negated: bool = False
    #: Key of the criterion it puts first: an answer to a question that names nothing to choose.
    criterion: str = ""
