"""What a summary is made from, how long it may be, and what stands in where it fails (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.models import ContextMethod, PromptText, Summarization, SummaryKind

#: Characters a token has, roughly, in English prose.
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """The text used when a summary could not be made."""

    text: str
    #: What the record calls it.
    method: str


@dataclass(frozen=True, kw_only=True)
class SummaryMaterial:
    """What is to be summed up, and into how much."""

    kind: SummaryKind
    method: ContextMethod
    text: str
    #: Characters the summary may have.
    most_chars: int
    #: The same in words for the model.
    length: str
    #: A prompt of one's own.
    prompt: PromptText | None
    #: Characters of the whole where `text` holds openings; 0: it is the whole.
    whole_chars: int = 0
    #: None: the turn fails, and its strategy shows what was to be summed up.
    stand_in: StandIn | None = None
    #: The text in pieces: what is summed up later begins with the same ones, and adds to them.
    grows_by: Sequence[str] = ()
    #: Whether no later one is foreseen: then nobody reads the last piece again.
    is_last: bool = False

    @property
    def shortened(self) -> str:
        """For the second try. Of a round, what was said last counts most; no half of the others."""
        whole = self.kind is not SummaryKind.ROUND
        return self.text if whole else self.text[-len(self.text) // 2 :]


def in_characters(
    kind: SummaryKind, text: str, rules: Summarization, stand_in: StandIn | None = None
) -> SummaryMaterial:
    """Material for a summary as long as those rules allow."""
    return SummaryMaterial(
        kind=kind,
        method=rules.method,
        text=text,
        most_chars=rules.max_length,
        length=f"{rules.max_length} characters",
        prompt=rules.prompt,
        stand_in=stand_in,
    )


def in_tokens(
    kind: SummaryKind, text: str, rules: Summarization, *, tokens: int, stand_in: StandIn
) -> SummaryMaterial:
    """Material for a summary of so many tokens."""
    most = tokens * _CHARS_PER_TOKEN
    return SummaryMaterial(
        kind=kind,
        method=rules.method,
        text=text,
        most_chars=most,
        length=f"{tokens} tokens ({most} characters)",
        prompt=rules.prompt,
        stand_in=stand_in,
    )
