"""The page of results: a bench's report, and how it came about (pure)."""

from collections.abc import Sequence

from core.figures import quantity

_COMMAND = """```
make results
```

It puts the questions that come with Moot to one answer alone, to a vote, to the gate and to a
debate on each, and writes this page anew; at most $5 are spent. A server on your own machine serves
as well: `make results ARGS="--config local.yaml --max-usd 0"`, with a file that names it
([proof.md](../proof.md))."""


def results_page(report: str, origin: str) -> str:
    """The page of a report; `origin` says how its answers came about."""
    body = report.replace("\n# ", "\n## ").partition("\n")[2].strip()
    return f"# Results\n\n{origin}\n\n{_COMMAND}\n\n{body}\n"


def held_words(*, questions: int, models: Sequence[str], days: tuple[str, str], spent: str) -> str:
    first, last = days
    when = first if first == last else f"{first} to {last}"
    return (
        f"Held {when}: {quantity(questions, 'question')}, {', '.join(models)}; {spent}. "
        "What it says holds for these models, these prompts and this time. Hold it with your own:"
    )


def replayed_words(questions: int) -> str:
    """What recorded answers can be said to show."""
    return (
        "**Nobody has published a run with models yet.** Below stands the replay of "
        f"{quantity(questions, 'question')} with made-up answers of made-up models: it shows what "
        "the report looks like, and says nothing about debates. Whoever has a key holds the real "
        "one:"
    )
