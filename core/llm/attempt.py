"""One attempt at a reply: what is known of it while it is under way, and what it has cost."""

from core.llm.cache_warmup import WarmupTurn
from core.models import Usage


class Attempt:
    """Passes on that a reply began; remembers it and what it has cost."""

    def __init__(self) -> None:
        #: Among the calls that share its beginning.
        self.warmup = WarmupTurn(lambda: None, leads=False)
        #: Whether the reply has begun: only then the prompt is paid for.
        self.begun = False
        #: Its cost is nothing before it began, and None when nobody knows.
        self.usage = Usage()

    def __call__(self) -> None:
        """The reply begins."""
        self.begun = True
        self.warmup.began()
