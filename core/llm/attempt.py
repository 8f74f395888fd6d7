"""One attempt at a reply: what is known of it while it is under way, and what it has cost."""

from core.errors import ProviderDown
from core.llm.budget_holds import AttemptCost
from core.llm.cache_warmup import Place
from core.models import Usage


class Attempt:
    """Passes on that a reply began; remembers it and what it has cost."""

    def __init__(self) -> None:
        #: Among the calls that share its beginning.
        self.place = Place(lambda: None, leads=False)
        #: Whether the reply has begun.
        self.begun = False
        #: Whether it comes as it is written; else in one piece.
        self.streamed = True
        self.usage = Usage()
        self.spent = AttemptCost()

    def __call__(self) -> None:
        """The reply begins."""
        self.begun = True
        self.place.began()

    def is_paid(self, error: BaseException) -> bool:
        """Whether the prompt counts as paid for, though the attempt ended with this error.

        It does if the reply had begun. Nobody sees a reply in one piece begin: it may have been
        written all the while, so it counts if nobody waited any longer, or nothing came; not if the
        request was refused or not sent.
        """
        if self.begun or self.streamed:
            return self.begun
        was_cancelled = not isinstance(error, Exception)
        return was_cancelled or (isinstance(error, ProviderDown) and error.maybe_paid)
