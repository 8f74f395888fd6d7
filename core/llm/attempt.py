"""One attempt at a reply: what is known of it while it is under way, and what it has cost."""

from core.errors import ProviderError
from core.llm.budget_holds import AttemptCost
from core.llm.cache_warmup import WarmupTurn
from core.llm.sending import Sending
from core.models import Usage


class Attempt:
    """Passes on that a reply began; remembers it and what it has cost."""

    def __init__(self, *, must_stream: bool = False) -> None:
        """Begin with nothing known.

        Args:
            must_stream: Whether the reply is to be streamed, whoever waits for it.
        """
        self.must_stream = must_stream
        self.sending = Sending()
        #: Among the calls that share its beginning.
        self.warmup = WarmupTurn(lambda: None, leads=False)
        #: Whether the reply has begun.
        self.begun = False
        #: Whether it comes as it is written; else in one piece.
        self.streamed = True
        self.usage = Usage()
        self.spent = AttemptCost()

    def __call__(self) -> None:
        """The reply begins."""
        self.begun = True
        self.warmup.began()

    def is_paid(self, error: BaseException) -> bool:
        """Whether the prompt counts as paid for, though the attempt ended with this error.

        It does if the reply had begun. Nobody sees a reply in one piece begin: it may have been
        written all the while, so it counts if nobody waited any longer, or nothing came; not if the
        request was refused or not sent. One that is far too long was written.
        """
        if self.begun or self.streamed:
            return self.begun
        if self.sending.is_held_back:
            return False
        was_cancelled = not isinstance(error, Exception)
        return was_cancelled or (isinstance(error, ProviderError) and error.maybe_paid)
