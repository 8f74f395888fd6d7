"""Which models stood in for others that could not be asked, in words for people (pure)."""

from collections.abc import Iterable, Sequence

from core.usage import Call


def fallback_words(calls: Iterable[Call]) -> Sequence[str]:
    """One sentence for each model that could not be asked, however often that was.

    Args:
        calls: What was asked, oldest first.
    """
    first: dict[tuple[str, str], Call] = {}
    for call in calls:
        if call.stands_in_for:
            first.setdefault((call.stands_in_for, answering(call)), call)
    return [
        f"{model} stands in for {missing}, which could not be asked. {call.stands_in_why}"
        for (missing, model), call in first.items()
    ]


def answering(call: Call) -> str:
    """The model that really answered, as `provider/model`."""
    return f"{call.provider}/{call.model}"
