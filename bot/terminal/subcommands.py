"""The commands of the command line: each parses its options and calls another module.

Modules are imported when a command runs, so that `--help` is fast.

Reason: every command, its options and their help texts in one place.
"""
# ruff: noqa: PLC0415 - see above

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.interrupts import run_async
from bot.terminal.options import (
    AsJson,
    Config,
    DebateCommand,
    File,
    Output,
    Report,
    Result,
    Verbose,
    built_in_playbooks,
    command_for,
    names_in,
)

#: Commands directly below `moot`.
commands = typer.Typer()
config = typer.Typer(
    name="config", help="Check, import and show configuration.", no_args_is_help=True
)
playbook = typer.Typer(
    name="playbook", help="Kinds of debates: list, show and check them.", no_args_is_help=True
)


def _ids(incomplete: str) -> list[tuple[str, str]]:
    from bot.terminal.records import ids_and_questions

    return [pair for pair in run_async(ids_and_questions()) if pair[0].startswith(incomplete)]


DebateId = Annotated[
    str,
    typer.Argument(metavar="ID", help="The debate's id, like dabc2345.", autocompletion=_ids),
]
Because = Annotated[str, typer.Option("--because", "-b", help="Why, in a few words.")]


_DEBATE = """\
Debate a question here, or have something reviewed; the decision goes to standard output.

\b
  moot debate "Kafka or PostgreSQL for our jobs?" --rounds 2
  moot debate "Which plan?" --source plans/ --agents finance,security
  moot debate --format review --diff main...HEAD
  moot debate --dry-run "Kafka or PostgreSQL?"

Ctrl-C stops the debate: the judge decides on what is there. A second one ends at once.
"""


def _debate(command: DebateCommand) -> None:
    from bot.terminal.debating import hold

    raise typer.Exit(run_async(hold(command)))


commands.command("debate")(command_for(DebateCommand, _debate, _DEBATE))


@commands.command()
def review(  # noqa: PLR0913 - one per option
    debate_id: DebateId,
    *,
    revised: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The changed text: a file, a page, or changes for git."),
    ] = None,
    config: Config = None,
    output: Result = None,
    report: Report = None,
    verbose: Verbose = False,
    json: AsJson = False,
) -> None:
    """Go on with a review, with the text that was changed since; the agents look again."""
    from bot.terminal.debating import hold

    command = DebateCommand(
        resume=debate_id, config=config, output=output, report=report, verbose=verbose, json=json
    )
    raise typer.Exit(run_async(hold(command, revision=revised)))


@commands.command("list")
def list_debates(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many, newest first.")] = 20,
    *,
    running: Annotated[
        bool, typer.Option("--running", help="Only those that did not end.")
    ] = False,
    json: AsJson = False,
) -> None:
    """List debates and what they decided, newest first."""
    from bot.terminal.records import list_records

    run_async(list_records(limit, running_only=running, as_json=json))


@commands.command()
def show(
    debate_id: DebateId,
    *,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Add tokens, money, time, summaries.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Show a debate and its decision; as JSON its whole record."""
    from bot.terminal.records import export_record, show_record

    run_async(
        export_record(debate_id, "json", None) if json else show_record(debate_id, metrics=metrics)
    )


@commands.command()
def ask(
    question: Annotated[
        list[str], typer.Argument(help="What you want to know; several words are one question.")
    ],
    *,
    json: AsJson = False,
) -> None:
    """Tell what was decided, from the database; no model is asked but MOOT_EMBEDDINGS_MODEL."""
    from bot.terminal.records import ask_register

    run_async(ask_register(" ".join(question), as_json=json))


@commands.command()
def explain(
    debate_id: DebateId,
    turn: Annotated[
        str,
        typer.Argument(
            metavar="[TURN]", help="One turn: its key like r1/critique/ann/bob, or words of it."
        ),
    ] = "",
) -> None:
    """Say why each turn ran when it did, what it saw, and how the rounds ended."""
    from bot.terminal.records import explain_record

    run_async(explain_record(debate_id, turn))


@commands.command()
def export(
    debate_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="The debate's id; or name whose debates.")
    ] = "",
    *,
    form: Annotated[
        Literal["json", "md", "adr", "github"] | None,
        typer.Option(
            "--format", "-f", help="Whole record, report, decision record, or a review's tasks."
        ),
    ] = None,
    output: Output = None,
    person: Annotated[str, typer.Option(help="All debates this person (U…) asked for.")] = "",
    channel: Annotated[str, typer.Option(help="All debates of this channel: C….")] = "",
) -> None:
    """Write a debate, or all of a person or channel, as JSON, reports or decision records."""
    from bot.terminal.records import export_record, export_records
    from core.errors import BadInput

    if bool(debate_id) == bool(person or channel):
        raise BadInput("Name one debate, or whose debates: --person U… or --channel C….")
    if debate_id:
        run_async(export_record(debate_id, form, output))
    elif output is None:
        raise BadInput("Name the folder to write into: --output FOLDER.")
    else:
        run_async(export_records(person, channel, form or "md", output))


@commands.command()
def report(
    debate_id: DebateId,
    output: Output = None,
    *,
    json: AsJson = False,
    github: Annotated[
        bool, typer.Option("--github", help="Of a review: a task list for a pull request.")
    ] = False,
) -> None:
    """Write a debate's Markdown report; as JSON its whole record."""
    from bot.terminal.records import export_record

    form = "json" if json else "github" if github else None
    run_async(export_record(debate_id, form, output))


@commands.command("eval")
def evaluate(
    debate_id: DebateId,
    *,
    evaluators: Annotated[
        str,
        typer.Option("--evaluators", "-e", help="Agents or roles, with commas between."),
    ] = "generalist,sceptic,product",
    against: Annotated[
        Literal["single"] | None,
        typer.Option(help="Compare it with the single answer beside it, instead of scores."),
    ] = None,
    form: Annotated[
        Literal["md", "json", "csv"] | None,
        typer.Option("--format", "-f", help="Without it as --output ends, else md."),
    ] = None,
    config: Config = None,
    output: Output = None,
) -> None:
    """Let several evaluators score a finished debate, or compare it with one answer alone."""
    from bot.terminal.records import score

    scoring = score(
        debate_id,
        names_in(evaluators),
        form=form,
        against_single=against == "single",
        config=config,
        output=output,
    )
    raise typer.Exit(run_async(scoring))


@commands.command()
def accept(debate_id: DebateId, *, because: Because = "") -> None:
    """Accept a debate's verdict as your decision."""
    from bot.terminal.calibrating import decide
    from core.debate.verdict import DecisionKind

    run_async(decide(debate_id, DecisionKind.ACCEPT, because))


@commands.command()
def reject(debate_id: DebateId, *, because: Because = "") -> None:
    """Reject a debate's verdict."""
    from bot.terminal.calibrating import decide
    from core.debate.verdict import DecisionKind

    run_async(decide(debate_id, DecisionKind.REJECT, because))


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"a day is written like 2027-01-31, not {text!r}.") from None


@commands.command()
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
    from core.debate.verdict import DecisionKind

    run_async(decide(debate_id, DecisionKind.REVISIT, because, on=on))


@commands.command()
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
    from core.debate.verdict import OutcomeKind
    from core.errors import BadInput

    if how is None and because:
        raise BadInput("Say how it turned out, too: held, partly, reversed or too-early.")
    kind = OutcomeKind(how.replace("-", " ")) if how else None
    run_async(say_outcome(debate_id, kind, because) if kind else show_outcome(debate_id))


@commands.command()
def calibration(
    channel: Annotated[str, typer.Option(help="Only debates of this channel: C….")] = "",
    *,
    output: Output = None,
    json: AsJson = False,
) -> None:
    """Say how often accepted decisions held, by confidence, model, role and gate."""
    from bot.terminal.calibrating import show_calibration

    run_async(show_calibration(channel, "json" if json else None, output))


@commands.command()
def doctor(config: Config = None, *, json: AsJson = False) -> None:
    """Look whether keys, models, Slack, database and settings work; exit 1 or 4 if not."""
    from bot.log import start_up
    from bot.operations.doctor.examine import examine
    from bot.operations.doctor.findings import as_json, as_text, exit_code, is_well
    from bot.settings import LogLevel
    from bot.terminal.files import write_output

    # A line such as `git failed`, which a finding refers to, is a warning.
    findings = run_async(examine(start_up(LogLevel.WARNING), config))
    last = "All is well." if is_well(findings) else "Something needs you: see the lines with ✗."
    write_output(as_json(findings) if json else f"{as_text(findings)}\n\n{last}\n", None)
    raise typer.Exit(exit_code(findings))


@config.command("check")
def check_config(file: File, *, json: AsJson = False) -> None:
    """Say whether a configuration file can be used, and what it lacks."""
    from bot.terminal.configuring import check_config_file

    raise typer.Exit(run_async(check_config_file(file, as_json=json)))


@config.command("schema")
def config_schema() -> None:
    """Print the JSON Schema of configuration files, for editors."""
    from bot.terminal.files import write_json
    from core.config.writing import json_schema

    write_json(json_schema())


@config.command("import")
def import_config(file: File, output: Output = None) -> None:
    """Write another program's file (dialectic's) as settings of Moot."""
    from bot.terminal.configuring import import_config_file

    import_config_file(file, output)


@config.command("show")
def show_config(config: Config = None, *, json: AsJson = False) -> None:
    """Print the settings in force: built in, then the file's."""
    from bot.terminal.configuring import show_settings

    run_async(show_settings(config, as_json=json))


@playbook.command("list")
def list_playbooks(config: Config = None, *, json: AsJson = False) -> None:
    """List the kinds of debates there are: built in, and your own."""
    from bot.terminal import configuring

    run_async(configuring.list_playbooks(config, as_json=json))


@playbook.command("show")
def show_playbook(
    name: Annotated[str, typer.Argument(help="Its name.", autocompletion=built_in_playbooks)],
    config: Config = None,
    *,
    json: AsJson = False,
) -> None:
    """Print a playbook's file, to read it or to begin your own from it."""
    from bot.terminal import configuring

    run_async(configuring.show_playbook(name, config, as_json=json))


@playbook.command("check")
def check_playbooks(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files; none: those beside the settings file.")
    ] = None,
    config: Config = None,
    *,
    json: AsJson = False,
) -> None:
    """Say whether playbooks can be used; exit 4 if one cannot."""
    from bot.terminal import configuring

    raise typer.Exit(run_async(configuring.check_playbooks(files or (), config, as_json=json)))


commands.add_typer(config)
commands.add_typer(playbook)
