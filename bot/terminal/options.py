"""Options of commands: shared option types, and the fields of `debate` and `demo`.

Imports nothing heavy, so that `--help` is fast.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import typer

C = TypeVar("C")
#: Not imported from the formats' modules, which load slowly.
Format = Literal["critique", "council", "panel", "review"]
Config = Annotated[
    Path | None, typer.Option("--config", "-c", help="A YAML or JSON file with settings.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _file_or_output(path: Path | None) -> Path | None:
    """None for `-`, which means standard output."""
    return None if path == Path("-") else path


Result = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        callback=_file_or_output,
        help="Whole record if .json, else the decision's text.",
    ),
]


def _with_md(path: Path | None) -> Path | None:
    if path is None or not path.name or path.suffix.lower() == ".md":  # a folder is refused later
        return path
    return path.with_name(f"{path.name}.md")


Report = Annotated[
    Path | None,
    typer.Option(callback=_with_md, help="Write a Markdown report; .md is added."),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more on standard error.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        callback=_file_or_output,
        help="Write into this file: .md, .json or .csv says the form.",
    ),
]
File = Annotated[Path, typer.Argument(help="A configuration file, YAML or JSON.")]


def built_in_playbooks() -> list[str]:
    from core.config.playbooks import built_in  # noqa: PLC0415 - see above

    return list(built_in())


@dataclass(frozen=True, kw_only=True)
class DebateCommand:
    """The arguments of `moot debate`, or of `moot review`."""

    question: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUESTION",
            help="What to debate; several words are one question; - reads it. "
            "Before one that begins with a dash put --.",
        ),
    ] = None
    problem_file: Annotated[
        Path | None, typer.Option("--problem-file", help="Read the question from this file.")
    ] = None
    context: Annotated[str, typer.Option(help="What the agents should know besides.")] = ""
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            "-s",
            metavar="PLACE",
            help="A file, folder or page as evidence; may be repeated.",
        ),
    ] = None
    diff: Annotated[
        str | None,
        typer.Option(help="Changes as a source: a file, - to read them, or main...HEAD for git."),
    ] = None
    agents: Annotated[
        str | None, typer.Option("--agents", "-a", help="Agents or roles, with commas between.")
    ] = None
    rounds: Annotated[
        int | None, typer.Option("--rounds", "-r", help="So many rounds, and all of them.")
    ] = None
    when: Annotated[
        Literal["split", "always", "never"] | None,
        typer.Option(
            help="Debate only where first answers differ, always, or never (vote at once)."
        ),
    ] = None
    shadow: Annotated[
        bool | None,
        typer.Option(
            "--shadow/--no-shadow",
            help="Have one model answer alone as well, unseen until the decision.",
        ),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="critique, council, panel, review, or a plugin's.",
            autocompletion=lambda: list(get_args(Format)),
        ),
    ] = None
    playbook: Annotated[
        str | None,
        typer.Option(
            "--playbook",
            "-p",
            help="A kind of debate: moot playbook list. What you choose besides wins over it.",
            autocompletion=built_in_playbooks,
        ),
    ] = None
    config: Config = None
    output: Result = None
    report: Report = None
    clarify: Annotated[
        bool, typer.Option("--clarify", help="Agents may ask you before round 1.")
    ] = False
    verbose: Verbose = False
    resume: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with an interrupted debate.")
    ] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show prompts and cost beforehand; ask no model.")
    ] = False
    json: AsJson = False
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before spending more than $1.")
    ] = False

    @property
    def question_text(self) -> str | None:
        return " ".join(self.question) if self.question else None

    @property
    def roles(self) -> Sequence[str] | None:
        return None if self.agents is None else names_in(self.agents)


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """The arguments of `moot demo`."""

    question: Annotated[
        str, typer.Option(help="What to debate. Default: written examples are played.")
    ] = ""
    once: Annotated[bool, typer.Option("--once", help="Print what happens, then exit.")] = False
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where the page is.")] = 8765
    fast: Annotated[bool, typer.Option("--fast", help="No pauses: turns and posts at once.")] = (
        False
    )
    speed: Annotated[float, typer.Option(min=0.1, max=20, help="How fast examples are played.")] = (
        1.0
    )
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before spending money.")] = False
    rounds: Annotated[int | None, typer.Option(min=1, max=15, help="Rounds of the debate.")] = None
    agents: Annotated[str, typer.Option(help="Roles, with commas between.")] = ""
    form: Annotated[
        Format | None,
        typer.Option("--format", help="How the agents debate. Default: critique."),
    ] = None
    #: None: a temporary folder, deleted when the demo ends.
    data: Annotated[Path | None, typer.Option(help="Keep everything in this folder.")] = None

    @property
    def roles(self) -> Sequence[str]:
        return names_in(self.agents)

    @property
    def plays_examples(self) -> bool:
        """Whether the written examples are played, which start when the page is opened."""
        return not (self.question or self.rounds or self.agents or self.form)


def names_in(text: str) -> Sequence[str]:
    return [name for name in text.split(",") if name.strip()]


def command_for(values: Callable[..., C], action: Callable[[C], object], doc: str | None) -> Any:
    """Make a command for Typer whose options are the annotated fields of a class.

    Args:
        values: The class; its fields are annotated as parameters of a Typer command are.
        action: Called with an instance of the class.
        doc: The help text of the command.
    """

    def command(**options: Any) -> None:
        action(values(**options))

    command.__signature__ = inspect.signature(values)
    command.__annotations__ = values.__annotations__
    command.__doc__ = doc
    return command
