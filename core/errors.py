"""Every error the core raises on purpose.

    MootError
    ├── BadInput                what a person typed cannot be used; says what to do
    │   └── DuplicateQuestion   a debate on the same question runs in the channel
    ├── ConfigurationBroken     settings cannot be used; names the file and the key
    ├── CallFailed              a question put to models came to nothing; says what it cost
    │   ├── ProviderError       a model could not be asked, or answered uselessly
    │   │   ├── KeyRefused      our key, account or country is refused: only a person mends it
    │   │   ├── ProviderBusy    rate limit or overload; may say when to come back
    │   │   ├── ProviderDown    network, 5xx, broken stream
    │   │   │   ├── ProviderSilent  it said nothing for as long as it may
    │   │   │   └── TimeUp      the call's own time is over, whatever the model does
    │   │   ├── RequestRejected 400: the request itself is wrong, repeating it is useless
    │   │   │   └── PromptTooLong  it holds more than the model does
    │   │   └── ReplyUnusable   empty or refused text, or an echo of the prompt
    │   │       └── ReplyCutOff it is as long as it was allowed to be
    │   ├── ProviderMissing     the provider is not set up (a ConfigurationBroken, too)
    │   ├── ReplyUnreadable     the text arrived but is not the structure asked for
    │   └── LimitReached        a cap on money, time or size would be passed
    │       └── CapReached      it is a cap on money: nothing more can be paid
    ├── ModelsAway              no model can be reached now: the schedule offers the turn again
    └── StoreError
        ├── DebateUnknown       no debate has this id
        ├── LogBroken           its events cannot be read, or cannot have happened so
        ├── RunLost             another run holds the debate now: stop working on it
        └── StoreDown           the database does not answer, is full or locked

Expected errors carry words for people: `str(error)` may be shown as it is. None carries a secret
or a prompt.
"""

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # building the models would hold up the help of `moot`
    from collections.abc import Generator
    from datetime import datetime

    from core.usage import Call, Usage


class MootError(Exception):
    """Something expected went wrong."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip().splitlines()[0])


class BadInput(MootError):
    """What was typed cannot be used."""


class DuplicateQuestion(BadInput):
    """Somebody else asked the same question in the channel a moment ago, and it is debated."""

    def __init__(self, words: str, *, debate_id: str, where: str = "") -> None:
        """`where`: a link to the debate that runs, as the surface writes links."""
        super().__init__(" ".join(filter(None, (words, where))))
        self.words, self.debate_id = words, debate_id


class NotesFull(BadInput):
    """A debate takes no more notes, or for now none of this person."""


class ConfigurationBroken(MootError):
    """The settings cannot be used."""


class CallFailed(MootError):
    """A question put to models came to nothing."""

    def __init__(self, message: str = "", *, usage: "Usage | None" = None) -> None:
        """`usage`: what was spent until it happened, all attempts together."""
        from core.usage import Usage  # noqa: PLC0415 - whoever says what it cost has them already

        super().__init__(message)
        self.usage = usage or Usage()
        #: The call that led to it, when there was a whole reply.
        self.call: Call | None = None


class ProviderError(CallFailed):
    """The model provider failed."""

    #: Whether the same call may succeed when repeated a little later.
    retryable = False


class KeyRefused(ProviderError):
    """The provider refuses our key, account or country."""


class ProviderBusy(ProviderError):
    """The provider is overloaded or limits our rate."""

    retryable = True

    def __init__(
        self, message: str = "", *, retry_after: float | None = None, usage: "Usage | None" = None
    ) -> None:
        """`retry_after`: seconds the provider asks us to wait, if it said so."""
        super().__init__(message, usage=usage)
        self.retry_after = retry_after


class ProviderDown(ProviderError):
    """The provider does not answer."""

    retryable = True


class TimeUp(ProviderDown):
    """A call has taken as long as it may: it says nothing about the model."""


class ProviderSilent(ProviderDown):
    """The provider said nothing for as long as it may: it hangs, or it is very slow."""


class RequestRejected(ProviderError):
    """The provider rejects the request as wrong."""


class PromptTooLong(RequestRejected):
    """The prompt holds more than the model does."""

    def __init__(self, message: str = "", *, tokens: int = 0, usage: "Usage | None" = None) -> None:
        """`tokens`: what the server says that the model holds; 0: it does not say."""
        super().__init__(message, usage=usage)
        self.tokens = tokens


class ReplyUnusable(ProviderError):
    """The model's reply is empty, refused or cut off."""

    retryable = True


class ReplyCutOff(ReplyUnusable):
    """The model's reply is cut off at its length limit."""


class ProviderMissing(CallFailed, ConfigurationBroken):
    """The provider is not set up."""


class ReplyUnreadable(CallFailed):
    """The model's reply is not in the form asked for."""


class LimitReached(CallFailed):
    """A limit would be passed."""


class CapReached(LimitReached):
    """A cap on money could be passed."""


class ModelsAway(MootError):
    """No model can be reached.

    It is no `CallFailed`: nothing came to an end, and whoever asked asks again.
    """

    def __init__(self, message: str = "", *, until: "datetime | None" = None) -> None:
        """`until`: when one of the models is worth asking; None: nobody asks again."""
        super().__init__(message)
        self.until = until


class StoreError(MootError):
    """The database failed."""


class DebateUnknown(StoreError):
    """There is no such debate."""


class LogBroken(StoreError):
    """The debate's events cannot be read, or cannot have happened so."""


@contextmanager
def reading(debate_id: str) -> "Generator[None]":
    """While a debate is folded, shown or compared: what nobody expects to fail is a `LogBroken`."""
    try:
        yield
    except MootError:
        raise
    except Exception as error:
        fault = type(error).__name__
        raise LogBroken(f"The debate {debate_id} cannot be read or shown ({fault}).") from error


class RunLost(StoreError):
    """Another run holds this debate now."""


class StoreDown(StoreError):
    """The database does not answer."""


class StoreInUse(StoreDown):
    """Another process has the database file to itself."""


class StoreMissing(StoreDown):
    """There is no database yet, or nothing of ours is in it; nothing was lost."""
