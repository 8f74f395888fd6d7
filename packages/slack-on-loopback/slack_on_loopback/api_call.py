"""A Web API call with its arguments in any encoding, and the type of a method."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl

from aiohttp import web

from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, as_list, as_object, parse_json
from slack_on_loopback.rates import Tier
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.schema import problem

_TRUE = {"true", "1", "yes", "on"}
TokenKind = Literal["bot", "app"]


@dataclass(frozen=True, slots=True)
class ApiCall:
    """An authorized call: its merged arguments, and the warnings of its answer."""

    method: str
    values: Json
    warnings: list[str] = field(default_factory=list[str])

    def has(self, name: str) -> bool:
        """Whether an argument was given (null counts as not given)."""
        return self.values.get(name) is not None

    def text(self, name: str, default: str = "") -> str:
        return str(self.values[name]) if self.has(name) else default

    def required(self, name: str) -> str:
        if text := self.text(name):
            return text
        missing = problem(f"/{name}", f"missing required field: {name}")
        raise SlackRefusal("invalid_arguments", [missing])

    def flag(self, name: str) -> bool:
        """Return an argument as true or false; absent is false."""
        return self.text(name).lower() in _TRUE

    def structure(self, name: str) -> Any:
        """Return a JSON argument, sent as JSON or as a string."""
        value = self.values.get(name)
        return parse_json(value) if isinstance(value, str) else value

    def count(self, name: str, default: int, most: int) -> int:
        """Return a whole number between 1 and `most`."""
        value = self.text(name, str(default))
        if not value.isdigit() or not 1 <= int(value) <= most:
            raise SlackRefusal("invalid_limit")
        return int(value)

    def names(self, name: str) -> list[str]:
        """Return a comma-separated argument, or a JSON list, as a list."""
        items = as_list(self.values.get(name)) or self.text(name).split(",")
        return [str(item).strip() for item in items if str(item).strip()]


Handler = Callable[[Runtime, ApiCall], Json]


@dataclass(frozen=True, slots=True)
class Method:
    """A Web API method.

    Attributes:
        handler: does it; raises SlackRefusal.
        scopes: any one of these is enough; none when empty.
        tier: its rate limit; None for methods with a special limit.
        token: the kind of token it needs.
    """

    handler: Handler
    scopes: tuple[str, ...] = ()
    tier: Tier | None = 3
    token: TokenKind = "bot"  # noqa: S105 a kind, not a secret


Methods = Mapping[str, Method]


async def read_arguments(request: web.Request) -> Json:
    """Return query, form and JSON arguments merged; later encodings win."""
    merged, text = dict[str, Any](request.query), await request.text()
    if request.content_type != "application/json":
        return {**merged, **dict(parse_qsl(text, keep_blank_values=True))}
    value = parse_json(text or "{}")
    body = as_object(value)
    if body is None:
        raise SlackRefusal("invalid_json" if value is None else "json_not_object")
    return {**merged, **body}
