"""Models written as `provider/model`, in one word (pure)."""

from collections.abc import Collection, Iterator
from typing import Any, cast


def split_names(values: dict[str, Any], providers: Collection[str]) -> None:
    """Take the provider out of `model: groq/llama-4` where no `provider` is named, in place.

    Models of vendors that sell others' models have such names themselves; what is in front of the
    slash counts as a provider only if it is one of those given.

    Args:
        values: The file's values, keys in snake_case.
        providers: Names that count.
    """
    for choice in _choices(values):
        model = choice.get("model")
        if choice.get("provider") or not isinstance(model, str):
            continue
        provider, slash, rest = model.partition("/")
        if slash and rest and provider in providers:
            choice["provider"], choice["model"] = provider, rest


def _choices(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every mapping of the file that may name a model."""
    agents = values.get("agents")
    speakers = [
        values.get("judge"),
        *(cast("list[Any]", agents if isinstance(agents, list) else [])),
    ]
    named = ("default_model", "summary_model", "shadow_model")
    items: list[Any] = [*(values.get(name) for name in named), *speakers]
    for holder in (values, *speakers):
        chain = cast("dict[str, Any]", holder).get("fallbacks") if isinstance(holder, dict) else ()
        items += cast("list[Any]", chain) if isinstance(chain, list) else []
    yield from (cast("dict[str, Any]", item) for item in items if isinstance(item, dict))
