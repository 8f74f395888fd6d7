"""The group of `moot`'s commands: errors in plain words, and commands of installed packages."""

from functools import cache
from typing import Any

import typer
from typer.core import TyperGroup

#: The group of entry points by which an installed package adds a command, a function for Typer.
COMMANDS = "moot.commands"

#: Headings of the help, and the commands under each; what is in none of them stands last.
_GROUPS = {
    "Debate": ("debate", "review", "list", "show", "ask", "explain", "report", "export", "eval"),
    "Decisions": ("accept", "reject", "revisit", "outcome", "calibration"),
    "Run": ("demo", "run", "mcp", "health", "backup", "restore", "purge"),
    "Settings": ("config", "playbook", "doctor"),
}

#: What a person could give for each argument that a command needs, by its name.
_ARGUMENTS = {
    "debate_id": "dabc2345",
    "question": '"Which database for our jobs?"',
    "which": "dabc2345",
    "name": "architecture-decision",
}
#: For each file that a command needs, by the command's name.
_FILES = {"backup": "moot-backup.db", "check": "moot-settings.toml", "import": "personas.json"}


class Commands(TyperGroup):
    """The commands of `moot`.

    Commands of installed packages are looked up only for help and for a name that is none of
    Moot's own: the look-up takes some 20 ms.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or _installed_commands().get(cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *(name for name in _installed_commands() if name not in own)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        grouped = {name for names in _GROUPS.values() for name in names}
        others = [name for name in self.list_commands(ctx) if name not in grouped]
        for heading, names in {**_GROUPS, "Others": others}.items():
            rows = [(name, self.get_command(ctx, name).get_short_help_str(200)) for name in names]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=14)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            _add_example(error)
            from pydantic import ValidationError  # noqa: PLC0415 - help must not wait for it

            from core.wrong_values import wrong  # noqa: PLC0415 - help must not wait for it

            if isinstance(error.__cause__, ValidationError):
                first = error.__cause__.errors(include_url=False)[0]
                words = wrong(first).rstrip(".")
                if words.startswith("must "):
                    words = f"it {words}, not {str(first['input'])!r}"
                error.message = f"{words}."
            raise


def _add_example(error: typer.BadParameter) -> None:
    """Say how the command is typed where an argument is missing."""
    context, parameter = error.ctx, error.param
    if context is None or parameter is None or type(error).__name__ != "MissingParameter":
        return
    name = str(parameter.name)
    value = _ARGUMENTS.get(name) or _FILES.get(str(context.info_name), name)
    # Without the line of its usage: there, what is missing is only a name in braces.
    error.ctx = None
    path = context.command_path
    error.message = f"For example: {path} {value}\n{path} --help says more"


@cache
def _installed_commands() -> dict[str, Any]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - help alone needs it

    commands: dict[str, Any] = {}
    for entry in entry_points(group=COMMANDS):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        try:
            app.command(entry.name)(entry.load())
        except Exception as error:  # noqa: BLE001 - whatever another's code does
            package = entry.dist.name if entry.dist else entry.value
            typer.echo(f"Left out: the command {entry.name} of {package}: {error}", err=True)
            continue
        commands[entry.name] = typer.main.get_command(app)
    return commands
