"""Fenced blocks of the documents: settings are accepted, commands parse, marked ones are run."""

import ast
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.main import get_command

from bot.cli import app
from core.config.load import Known, check
from core.config.playbooks import read_playbook
from core.settings import Settings
from tests.command_line import moot
from tests.frame.files import read
from tests.frame.test_docs import DOCUMENTS

#: Stands before a block whose commands a test runs, one after the other, in a folder of its own.
RUN = "<!-- run -->"
FENCED = re.compile(
    r"(?P<before>[^\n]*)\n\n?(?P<dent> *)```(?P<kind>\w*)\n(?P<text>.*?)^(?P=dent)```",
    re.DOTALL | re.MULTILINE,
)


#: How a line calls `moot`: here, in another folder, in a container.
CALL = re.compile(
    r"(?:\$ )?(?:cd \S+ && )?(?:\S*/)?moot (.+)|(?:docker compose exec moot|.* --) moot (.+)"
)


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    document: str
    #: Its first line in the document.
    line: int
    kind: str
    text: str
    is_run: bool

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"

    @property
    def commands(self) -> Sequence[str]:
        """Its lines that call `moot`, as words after the name."""
        if self.kind not in {"", "console", "sh", "bash"}:
            return []
        lines = self.text.replace("\\\n", " ").splitlines()
        called = (CALL.match(line.strip()) for line in lines)
        made = (re.match(r"make debate ARGS='(.*)'$", line.strip()) for line in lines)
        return [
            *((found[1] or found[2]).partition("  #")[0] for found in called if found),
            *(f"debate {found[1]}" for found in made if found),
        ]


def blocks() -> Iterator[Block]:
    for document in DOCUMENTS:
        whole = read(document)
        for found in FENCED.finditer(whole):
            dent, text = found["dent"], found["text"]
            plain = "".join(line.removeprefix(dent) for line in text.splitlines(keepends=True))
            is_run = found["before"].strip() == RUN
            yield Block(
                document,
                whole.count("\n", 0, found.start("text")) + 1,
                found["kind"],
                plain,
                is_run,
            )


COMMANDS: Any = get_command(app)
BLOCKS = [block for block in blocks() if block.text.strip()]
WITH_COMMANDS = [block for block in BLOCKS if block.commands]
RUNNABLE = [block for block in BLOCKS if block.is_run]


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.kind == "yaml"], ids=str)
def test_settings_and_playbooks_are_accepted(block: Block) -> None:
    values: Any = yaml.safe_load(block.text)
    if "title" in values and "name" in values:
        read_playbook(block.text, block.document, Settings())
    else:
        check(block.text, block.document, Known())


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.kind == "json"], ids=str)
def test_json_is_json(block: Block) -> None:
    json.loads(block.text)


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.kind == "python"], ids=str)
def test_python_is_python(block: Block) -> None:
    compile(block.text, block.document, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("block", WITH_COMMANDS, ids=str)
def test_commands_are_taken_by_their_parser(block: Block) -> None:
    for line in block.commands:
        command, words = COMMANDS, shlex.split(line)
        while words and hasattr(command, "commands") and not words[0].startswith("-"):
            name = words.pop(0)
            command = command.get_command(command.context_class(command), name)
            assert command, f"no command {name}: {line}"
        with suppress(typer.Exit):  # of --version
            command.make_context("moot", words)


@pytest.mark.parametrize("block", RUNNABLE, ids=str)
def test_marked_commands_run(block: Block, tmp_path: Path) -> None:
    environment = {"MOOT_DATABASE": "moot.db", "OLLAMA_HOST": "http://127.0.0.1:9"}
    assert block.commands
    for line in block.commands:
        done = moot(*shlex.split(line), folder=tmp_path, env=environment)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_there_are_blocks_of_each_kind() -> None:
    assert len(BLOCKS) > 30
    assert len(WITH_COMMANDS) > 5
    assert len(RUNNABLE) > 1
