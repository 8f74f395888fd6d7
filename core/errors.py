"""Every error the core raises on purpose.

    MootError
    ├── BadInput                a person's input cannot be used; says what to do
    │   └── DuplicateQuestion   a debate on the same question runs in the channel
    ├── ConfigurationBroken     settings cannot be used; names the file and the key
    ├── CallFailed              a model call failed; has its usage
    │   ├── ProviderError       the model could not be called, or its reply is unusable
    │   │   ├── KeyRefused      key, account or country is refused: only a person can fix it
    │   │   ├── ProviderBusy    rate limit or overload; may say how long to wait
    │   │   ├── ProviderDown    network error, 5xx, broken stream
    │   │   │   ├── ProviderSilent  no data within the allowed time
    │   │   │   └── TimeUp      the call's own time limit is over
    │   │   ├── RequestRejected 400: the request is wrong, a retry is useless
    │   │   │   └── PromptTooLong  the prompt exceeds the model's context
    │   │   └── ReplyUnusable   empty or refused text, or an echo of the prompt
    │   │       └── ReplyCutOff the reply ends at its length limit
    │   ├── ProviderMissing     the provider is not set up (also a ConfigurationBroken)
    │   ├── ReplyUnreadable     the reply does not have the requested structure
    │   └── LimitReached        a limit on money, time or size would be exceeded
    │       └── CapReached      a cap on money: no further call can be paid
    ├── ModelsAway              no model is available now; the turn is scheduled again
    └── StoreError
        ├── DebateUnknown       no debate has this id
        ├── LogBroken           the events cannot be read or contradict each other
        ├── RunLost             another run holds the debate now: stop working on it
        └── StoreDown           the database does not answer, is full or locked

The texts of these errors are for people: `str(error)` may be shown as it is. No text contains a
secret or a prompt.
"""

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing pydantic models would delay `moot --help`
    from collections.abc import Generator
    from datetime import datetime

    from core.usage import Call, Usage


class MootError(Exception):
    """Something expected went wrong."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip().splitlines()[0])


class BadInput(MootError):
    """The input cannot be used."""


class DuplicateQuestion(BadInput):
    """Another person asked the same question in the channel a moment ago; its debate runs."""

    def __init__(self, words: str, *, debate_id: str, where: str = "") -> None:
        """`where`: a link to the running debate, in the format of the surface."""
        super().__init__(" ".join(filter(None, (words, where))))
        self.words, self.debate_id = words, debate_id


class NotesFull(BadInput):
    """A debate takes no more notes, or for now none of this person."""


class ConfigurationBroken(MootError):
    """The settings cannot be used."""


class CallFailed(MootError):
    """The model call failed."""

    def __init__(self, message: str = "", *, usage: "Usage | None" = None) -> None:
        """`usage`: usage of all attempts until the failure."""
        from core.usage import Usage  # noqa: PLC0415 - see TYPE_CHECKING above

        super().__init__(message)
        self.usage = usage or Usage()
        #: The call, if there was a complete reply.
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
        """`retry_after`: seconds to wait, if the provider says so."""
        super().__init__(message, usage=usage)
        self.retry_after = retry_after


class ProviderDown(ProviderError):
    """The provider does not answer."""

    retryable = True


class TimeUp(ProviderDown):
    """The call has reached its own time limit, which says nothing about the provider."""


class ProviderSilent(ProviderDown):
    """The provider sent nothing within the allowed time: it hangs, or it is very slow."""


class RequestRejected(ProviderError):
    """The provider rejects the request as wrong."""


class PromptTooLong(RequestRejected):
    """The prompt is longer than the model's context."""

    def __init__(self, message: str = "", *, tokens: int = 0, usage: "Usage | None" = None) -> None:
        """`tokens`: the model's context size according to the server; 0: unknown."""
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
    """The model's reply does not have the requested structure."""


class LimitReached(CallFailed):
    """A limit would be exceeded."""


class CapReached(LimitReached):
    """A cap on money could be exceeded."""


class ModelsAway(MootError):
    """No model can be reached.

    Not a `CallFailed`: the turn has not failed, it is taken again later.
    """

    def __init__(self, message: str = "", *, until: "datetime | None" = None) -> None:
        """`until`: when to try one of the models again; None: at no certain time."""
        super().__init__(message)
        self.until = until


class StoreError(MootError):
    """The database failed."""


class DebateUnknown(StoreError):
    """There is no such debate."""


class LogBroken(StoreError):
    """The debate's events cannot be read or contradict each other."""


@contextmanager
def reading(debate_id: str) -> "Generator[None]":
    """Convert unexpected errors while a debate is folded or shown to `LogBroken`."""
    try:
        yield
    except MootError:
        raise
    except Exception as error:
        name = type(error).__name__
        raise LogBroken(f"The debate {debate_id} cannot be read or shown ({name}).") from error


class RunLost(StoreError):
    """Another run holds this debate now."""


class StoreDown(StoreError):
    """The database does not answer."""


class StoreInUse(StoreDown):
    """Another process holds the lock of the database file."""


class StoreMissing(StoreDown):
    """There is no database yet, or it contains no tables of Moot. Nothing was lost."""
