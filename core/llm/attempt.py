"""One attempt at a reply: what is known of it while it is under way, and what it has cost."""

from collections.abc import Callable

from core.usage import Usage


class Attempt:
    """Passes on that a reply began; remembers it and what it has cost."""

    def __init__(self) -> None:
        #: Told that the reply begins: others that share its beginning may go on.
        self.warmup: Callable[[], None] = lambda: None
        #: Whether the reply has begun: only then the prompt is paid for.
        self.begun = False
        #: Its cost is nothing before it began, and None when nobody knows.
        self.usage = Usage()

    def __call__(self) -> None:
        """The reply begins."""
        self.begun = True
        self.warmup()
