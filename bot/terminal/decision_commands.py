"""The terminal's commands after a verdict: accept, reject, revisit, outcome; they delegate.

What a command needs is imported when it runs, so that help is there at once.
"""
# ruff: noqa: PLC0415 - see above

from datetime import date
from typing import Annotated, Literal

import typer

from bot.interrupts import run_async


def _ids(incomplete: str) -> list[tuple[str, str]]:
    """Ids of the newest debates with their questions, for the shell to complete."""
    from bot.terminal.records import ids_and_questions

    return [pair for pair in run_async(ids_and_questions()) if pair[0].startswith(incomplete)]


DebateId = Annotated[
    str,
    typer.Argument(metavar="ID", help="The debate's id, like dabc2345.", autocompletion=_ids),
]
Because = Annotated[str, typer.Option("--because", "-b", help="Why, in a few words.")]


def register(app: typer.Typer) -> None:
    """Add them to `moot`."""
    app.command("accept")(accept)
    app.command("reject")(reject)
    app.command("revisit")(revisit)
    app.command("outcome")(outcome)


def accept(debate_id: DebateId, *, because: Because = "") -> None:
    """Accept a debate's verdict as your decision."""
    from bot.terminal.calibrating import decide
    from core.debate.follow_up import DecisionKind

    run_async(decide(debate_id, DecisionKind.ACCEPT, because))


def reject(debate_id: DebateId, *, because: Because = "") -> None:
    """Reject a debate's verdict."""
    from bot.terminal.calibrating import decide
    from core.debate.follow_up import DecisionKind

    run_async(decide(debate_id, DecisionKind.REJECT, because))


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"a day is written like 2027-01-31, not {text!r}.") from None


def revisit(
    debate_id: DebateId,
    on: Annotated[
        date, typer.Option("--on", parser=_day, metavar="DAY", help="The day, like 2027-01-31.")
    ],
    *,
    because: Because = "",
) -> None:
    """Put a debate's verdict off: look at it again on a day."""
    from bot.terminal.calibrating import decide
    from core.debate.follow_up import DecisionKind

    run_async(decide(debate_id, DecisionKind.REVISIT, because, on=on))


def outcome(
    debate_id: DebateId,
    how: Annotated[
        Literal["held", "partly", "reversed", "too-early"] | None,
        typer.Argument(help="How the decision turned out; left out: what was said so far."),
    ] = None,
    *,
    because: Because = "",
) -> None:
    """Say how an accepted decision turned out; `moot calibration` counts it."""
    from bot.terminal.calibrating import say_outcome, show_outcome
    from core.debate.follow_up import OutcomeKind
    from core.errors import BadInput

    if how is None and because:
        raise BadInput("Say how it turned out, too: held, partly, reversed or too-early.")
    kind = OutcomeKind(how.replace("-", " ")) if how else None
    run_async(say_outcome(debate_id, kind, because) if kind else show_outcome(debate_id))
