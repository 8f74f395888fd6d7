"""The command `moot`: commands to run the bot, the demo, backups and checks.

Exit codes: 0 done, 1 error, 2 bad arguments, 3 a model provider, 4 configuration. Modules are
imported when a command runs, so that `--help` is fast.
"""

import asyncio
import sys
from datetime import timedelta
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from bot.interrupts import raise_at_ctrl_c, run_async
from bot.terminal.files import is_output_error, prepare_streams, report_output_error
from bot.terminal.options import DemoOptions, command_for
from bot.terminal.subcommands import commands
from core.errors import BadInput, ConfigurationBroken, MootError, ProviderError
from core.figures import quantity

#: The group of entry points by which an installed package adds a command, a function for Typer.
COMMANDS = "moot.commands"

#: Headings of the help, with their commands. Commands without a heading come last.
_GROUPS = {
    "Debate": ("debate", "review", "list", "show", "ask", "explain", "report", "export", "eval"),
    "Decisions": ("accept", "reject", "revisit", "outcome", "calibration"),
    "Run": ("demo", "run", "mcp", "health", "backup", "restore", "purge"),
    "Settings": ("config", "playbook", "doctor"),
}

#: Examples of required arguments, by the argument's name.
_ARGUMENTS = {
    "debate_id": "dabc2345",
    "question": '"Which database for our jobs?"',
    "which": "dabc2345",
    "name": "architecture-decision",
}
#: Examples of required files, by the command's name.
_FILES = {"backup": "moot-backup.db", "check": "moot.yaml", "import": "personas.json"}


class Commands(TyperGroup):
    """The commands of `moot`.

    Commands of installed packages are looked up only for help and for unknown names, as the
    look-up takes some 20 ms.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or _installed_commands().get(cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        built_in = super().list_commands(ctx)
        return [*built_in, *(name for name in _installed_commands() if name not in built_in)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with_heading = {name for names in _GROUPS.values() for name in names}
        ungrouped = [name for name in self.list_commands(ctx) if name not in with_heading]
        for heading, names in {**_GROUPS, "Others": ungrouped}.items():
            rows = [(name, self.get_command(ctx, name).get_short_help_str(200)) for name in names]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=14)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            context, parameter = error.ctx, error.param
            if context and parameter and type(error).__name__ == "MissingParameter":
                name, command = str(parameter.name), context.command_path
                value = _ARGUMENTS.get(name) or _FILES.get(str(context.info_name), name)
                error.message = f"For example: {command} {value}\n{command} --help says more"
                error.ctx = None  # else Typer prints a usage line, which only repeats the name
            from pydantic import ValidationError  # noqa: PLC0415 - help must not wait for it

            from core.wrong_values import wrong  # noqa: PLC0415 - help must not wait for it

            if isinstance(error.__cause__, ValidationError):
                first = error.__cause__.errors(include_url=False)[0]
                text = wrong(first).rstrip(".")
                if text.startswith("must "):
                    text = f"it {text}, not {str(first['input'])!r}"
                error.message = f"{text}."
            raise


@cache
def _installed_commands() -> dict[str, Any]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - help alone needs it

    commands: dict[str, Any] = {}
    for entry in entry_points(group=COMMANDS):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        try:
            app.command(entry.name)(entry.load())
        except Exception as error:  # noqa: BLE001 - code of another package
            package = entry.dist.name if entry.dist else entry.value
            typer.echo(f"Left out: the command {entry.name} of {package}: {error}", err=True)
            continue
        commands[entry.name] = typer.main.get_command(app)
    return commands


app = typer.Typer(
    name="moot",
    cls=Commands,
    help="Agents with different points of view debate a team's question and write a verdict.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

#: Exit codes by error; other errors have 1.
_EXIT_CODES: tuple[tuple[type[MootError], int], ...] = (
    (BadInput, 2),
    (ProviderError, 3),
    (ConfigurationBroken, 4),
)


def main() -> None:
    """Run the command line; expected errors become a message and an exit code."""
    prepare_streams()
    try:
        for argument in sys.argv[1:]:
            # Python decodes invalid bytes as lone surrogates, which cannot be stored or printed.
            if any("\ud800" <= char <= "\udfff" for char in argument):
                raise BadInput(f"{argument!a} is not UTF-8 text.")
        app(prog_name="moot")  # not the module's name under `python -m`
    except MootError as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), 1))
    except OSError as error:
        if not is_output_error(error):
            raise
        report_output_error(error)
        sys.exit(1)


_EXAMPLES = """\
moot demo                                        a debate in a local Slack, to watch
moot debate "Kafka or PostgreSQL for our jobs?"  a debate here, decision and record
moot run                                         the bot in your Slack

moot --help lists all commands, moot debate --help the options of one."""


def _print_version(is_wanted: bool) -> None:  # noqa: FBT001 - Typer calls it so
    if is_wanted:
        from bot.operations.health import moot_version  # noqa: PLC0415 - help must not wait for it

        typer.echo(f"moot {moot_version()}")
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Parse options of `moot` itself; without a command, print examples."""
    del version
    if ctx.invoked_subcommand is None:
        typer.echo(_EXAMPLES)


@app.command()
def run(
    mode: Annotated[
        Literal["socket", "http"] | None,
        typer.Option(help="How Slack reaches the bot. Default: what the tokens are for."),
    ] = None,
) -> None:
    """Run the bot until Ctrl-C or SIGTERM."""
    import uvloop  # noqa: PLC0415 - help must not wait for it

    from bot.log import start_up  # noqa: PLC0415 - help must not wait for it
    from bot.serving import serve  # noqa: PLC0415 - help must not wait for it
    from bot.settings import Mode  # noqa: PLC0415 - help must not wait for it

    raise_at_ctrl_c()
    uvloop.run(serve(start_up(), Mode(mode) if mode else None))


@app.command()
def mcp(
    *,
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", help="A YAML or JSON file with settings."),
    ] = None,
    env_file: Annotated[
        Path | None,
        typer.Option(help="Read variables from this file. No .env is read by itself."),
    ] = None,
) -> None:
    """Serve an editor or assistant over MCP, on standard input and output."""
    if find_spec("mcp") is None:
        raise ConfigurationBroken(
            "`moot mcp` needs the MCP SDK, which is not installed here: in a checkout type "
            "`make extras`; docs/deploy.md says how elsewhere."
        )
    if env_file and not env_file.expanduser().is_file():
        raise ConfigurationBroken(f"There is no file {env_file} to read variables from.")
    from bot.mcp.stdio import serve  # noqa: PLC0415 - help must not wait for it
    from bot.settings import read_settings  # noqa: PLC0415 - help must not wait for it

    environment = read_settings(env_file.expanduser() if env_file else None)
    # Ctrl-C still ends the process at once: all steps are on disk, and an orderly end would wait
    # for the thread that reads standard input until the client writes.
    asyncio.run(serve(environment, config))


@app.command()
def health(
    url: Annotated[str, typer.Option(help="Default: the address in the settings.")] = "",
) -> None:
    """Ask a running bot whether it works; exit 1 if it does not."""
    from bot.operations.health import ask_health  # noqa: PLC0415 - help must not wait for it
    from bot.settings import read_settings  # noqa: PLC0415 - help must not wait for it

    settings = read_settings()
    answer = ask_health(url or f"http://{settings.moot_host}:{settings.moot_port}/health")
    typer.echo(answer.text)
    raise typer.Exit(0 if answer.healthy else 1)


def _demo(options: DemoOptions) -> None:
    if find_spec("slack_on_loopback") is None:
        raise ConfigurationBroken(
            "`moot demo` needs the local Slack, which is not installed here: in a checkout type "
            "`make demo`, or `pip install ./packages/slack-on-loopback`."
        )
    from bot.demo import show  # noqa: PLC0415 - help must not wait for it

    raise typer.Exit(run_async(show(options)))


_DEMO = "Show a debate in a local Slack: no account, no key, no network needed."
app.command("demo")(command_for(DemoOptions, _demo, _DEMO))


@app.command()
def backup(file: Annotated[Path, typer.Argument(help="The copy; must not exist yet.")]) -> None:
    """Copy the database to a file while the bot goes on."""
    from bot.operations.backup import back_up  # noqa: PLC0415 - help must not wait for it
    from bot.settings import read_settings  # noqa: PLC0415 - help must not wait for it

    raise_at_ctrl_c()
    size = back_up(read_settings().moot_database, file)
    typer.echo(f"{file}: {quantity(size, 'byte')}, checked.")


@app.command()
def restore(
    file: Annotated[Path | None, typer.Argument(help="A backup. None after pg_restore.")] = None,
) -> None:
    """Put a backup in the database's place. Stop the bot first."""
    from bot.operations.backup import restore as restore_now  # noqa: PLC0415 - help must not wait for it
    from bot.settings import read_settings  # noqa: PLC0415 - help must not wait for it

    raise_at_ctrl_c()
    old_database = restore_now(read_settings().moot_database, file)
    if old_database:
        typer.echo(f"The previous database is now {old_database}.")
    typer.echo(
        "Restored. When the bot starts, debates that were running are paused; press Resume on the "
        "board of a debate to continue it, or stop it."
    )


@app.command()
def purge(
    workspace: Annotated[
        str, typer.Option(help="Slack's id of the workspace: T…; '' for debates of the terminal.")
    ],
    *,
    older_than: Annotated[
        int | None,
        typer.Option(min=1, max=36_500, help="Days: only debates that ended longer ago."),
    ] = None,
    person: Annotated[str, typer.Option(help="Only debates this person (U…) asked for.")] = "",
    channel: Annotated[str, typer.Option(help="Only debates of this channel: C….")] = "",
    debate: Annotated[str, typer.Option(help="Only this debate: d….")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a workspace's debates for good. Stop the bot first."""
    from bot.operations.backup import purge as purge_now  # noqa: PLC0415 - help must not wait for it
    from bot.settings import read_settings  # noqa: PLC0415 - help must not wait for it
    from core.clock import SystemClock  # noqa: PLC0415 - help must not wait for it
    from core.store.upkeep import PurgeFilter  # noqa: PLC0415 - help must not wait for it

    only = PurgeFilter(person=person, channel=channel, debate=debate)
    owner, age = workspace or "the terminal", f"older than {older_than} days" if older_than else ""
    filters = " ".join(filter(None, (person, channel, debate, age)))
    subject = f"debates of {owner} ({filters})" if filters else f"all data of {owner}"
    if not yes and not typer.confirm(f"Delete {subject} for good?"):
        raise BadInput("Nothing was deleted.")
    before = SystemClock().now() - timedelta(days=older_than) if older_than else None
    result = run_async(purge_now(read_settings().moot_database, workspace, before, only))
    typer.echo(f"Deleted {quantity(result.debates, 'debate')}.")
    if not result.debates:
        typer.echo(f"There was no such debate of {owner}. Are the ids right?")
    if result.readers:
        typer.echo(
            "These debates have a deleted decision as a source, and contain its text until they "
            f"are deleted, too: {', '.join(result.readers)}"
        )


app.add_typer(commands)
