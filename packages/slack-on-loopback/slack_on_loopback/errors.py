"""Refusals of the workspace, as exceptions for the caller."""

from typing import Any

from slack_on_loopback.json_values import Json


class SlackRefusal(Exception):
    """A call that Slack answers with `ok: false`.

    Attributes:
        code: Slack's error code, for example `not_in_channel`.
        messages: the `response_metadata.messages`.
        extra: further fields of the answer, for example `needed` and `provided`.
    """

    def __init__(self, code: str, messages: list[str] | None = None, **extra: Any):
        super().__init__(code)
        self.code = code
        self.messages = messages or []
        self.extra: Json = extra

    def body(self) -> Json:
        """Return the answer's JSON body."""
        body: Json = {"ok": False, "error": self.code, **self.extra}
        if self.messages:
            body["response_metadata"] = {"messages": self.messages}
        return body


class RateLimited(SlackRefusal):
    """Too many calls: HTTP 429 with Retry-After in whole seconds."""

    def __init__(self, retry_after: int):
        super().__init__("ratelimited")
        self.retry_after = retry_after


class PersonRefusal(Exception):
    """A refused action of a person, with a message for the page.

    Attributes:
        code: a stable code, for example `command_in_thread`.
        words: a sentence to show.
    """

    def __init__(self, code: str, words: str):
        super().__init__(code)
        self.code = code
        self.words = words
