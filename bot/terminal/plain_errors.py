"""Wrong values on the command line, in plain words: the option, the value, what is allowed."""

from typing import Any

import typer
from typer.core import TyperGroup

#: Of a value that is told; the rest says nothing more.
_VALUE_CHARS = 80


class PlainErrors(TyperGroup):
    """The commands of `moot`, with faults in words of ours where Typer passes on pydantic's."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was typed.

        Raises:
            typer.BadParameter: A value cannot be used.
        """
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            from pydantic import ValidationError  # noqa: PLC0415 - help must not wait for it

            from core.wrong_values import wrong  # noqa: PLC0415 - help must not wait for it

            if isinstance(error.__cause__, ValidationError):
                first = error.__cause__.errors(include_url=False)[0]
                words = wrong(first).rstrip(".")
                if words.startswith("must "):
                    words = f"it {words}, not {str(first['input'])[:_VALUE_CHARS]!r}"
                error.message = f"{words}."
            raise
