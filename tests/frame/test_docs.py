"""The documents: links and pictures exist, and so does everything that they name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.core import TyperGroup
from typer.main import get_command

from bot.cli import app
from bot.listeners.answers import COMMANDS
from bot.operations.metrics import Metrics
from bot.settings import variables
from bot.slack.ids import ActionId
from bot.views.board import BoardAction
from core.landing import WebhookEvent
from core.llm.providers.factory import PROVIDER_NAMES
from core.rules.formats.registry import FORMATS
from core.rules.history.strategies import STRATEGIES
from core.settings import ROLES
from tests.frame.files import ROOT, project_files, read

DOCUMENTS = [
    path.relative_to(ROOT).as_posix()
    for path in project_files()
    if path.suffix == ".md" and path.relative_to(ROOT).parts[0] not in {"core", "tests"}
]
#: The documents' pictures.
PICTURES = sorted(path.name for path in (ROOT / "docs" / "pictures").iterdir())
MOST_BYTES = 150 * 1024
GUIDES = ("docs/team.md", "docs/admin.md", "docs/extending.md", "README.md", "CONTRIBUTING.md")


def without_code(text: str) -> str:
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)


def links(text: str) -> list[str]:
    targets = re.findall(r"\]\(([^)\s]+)\)", without_code(text))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    heads = re.findall(r"^#{1,6} +(.+)$", without_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def leads_nowhere(document: str, target: str) -> bool:
    path, _, anchor = target.partition("#")
    file = (ROOT / document).parent / path if path else ROOT / document
    if not file.exists():
        return True
    return bool(anchor) and anchor not in anchors(file.read_text(encoding="utf-8"))


def test_every_link_leads_somewhere() -> None:
    broken = [
        (document, link)
        for document in DOCUMENTS
        for link in links(read(document))
        if leads_nowhere(document, link)
    ]
    assert broken == []


def test_readers_are_led_to_every_document() -> None:
    linked = {
        ((ROOT / document).parent / target.partition("#")[0]).resolve()
        for document in DOCUMENTS
        for target in links(read(document))
    }
    guides = [path for path in (ROOT / "docs").glob("*.md") if path.resolve() not in linked]
    assert guides == []


def test_every_picture_is_shown_with_words_for_those_who_cannot_see_it() -> None:
    text = read("README.md") + read("docs/team.md")
    pictures = re.findall(r"!\[([^\]]+)\]\((?:docs/)?pictures/([^)]+)\)", text)
    assert sorted(name for _, name in pictures) == PICTURES
    assert all(len(words) > 20 for words, _ in pictures)


def test_a_picture_is_small_and_fetches_nothing() -> None:
    for picture in PICTURES:
        content = (ROOT / "docs" / "pictures" / picture).read_bytes()
        assert len(content) < MOST_BYTES, picture
        if picture.endswith(".svg"):
            assert b"url(http" not in content.replace(b'"', b""), picture
        else:
            assert content.startswith(b"\x89PNG"), picture


def test_the_guide_names_every_command_of_slack() -> None:
    names = {name for name in COMMANDS if name.startswith("/debate ")} - {"/debate <question>"}
    assert names <= set(re.findall(r"`(/debate [^`]+)`", read("docs/team.md")))


def named(pattern: str) -> set[str]:
    return {
        name for document in DOCUMENTS for name in re.findall(pattern, read(document), re.MULTILINE)
    }


def test_commands_variables_and_metrics_in_documents_exist() -> None:
    slack = {name.split()[1] for name in COMMANDS if name.startswith("/debate ")}
    assert named(r"`/debate ([a-z]+)(?: [A-Z]+)?`") <= slack
    assert named(r"(?:`|^|&& )moot ([a-z]+)\b") <= set(commands())
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    assert named(r"(?:`|^)make ([a-z-]+)") <= targets
    settings = named(r"`((?:MOOT|SLACK|OPENAI|ANTHROPIC|OLLAMA)_[A-Z_]+)\b")
    # Plugins read their own variables.
    assert {name for name in settings if not name.startswith("MOOT_PLUGIN_")} <= set(variables())
    assert named(r"`(moot_[a-z_]+)") <= families() | {"moot_post"}


def test_the_documents_tell_of_every_figure() -> None:
    text = read("docs/operations.md") + read("docs/landing.md")
    figures = {name for name in families() if name.startswith("moot_")}
    assert [name for name in figures if name not in text] == []


@pytest.mark.parametrize("command", ["run", "demo", "debate", "list", "show", "config", "purge"])
def test_options_of_the_terminal_in_documents_exist(command: str) -> None:
    options = {
        option for item in tree_of(command) for param in item.params for option in param.opts
    }
    typed = {
        option
        for document in DOCUMENTS
        for line in re.findall(rf"\bmoot {command}\b[^`\n]*", read(document))
        for option in re.findall(r"(?<=[ \[])--[a-z-]+", line)
    }
    assert typed <= options | {"--help"}


def commands() -> Mapping[str, Any]:
    """Return the commands of `moot` by name."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    context = group.context_class(group)
    return {name: group.get_command(context, name) for name in group.list_commands(context)}


def tree_of(command: str) -> Sequence[Any]:
    item = commands()[command]
    return [item, *(item.commands.values() if isinstance(item, TyperGroup) else ())]


def test_every_command_of_the_terminal_is_documented() -> None:
    text = "\n".join(read(document) for document in DOCUMENTS)
    assert [name for name in commands() if f"moot {name}" not in text] == []


def families() -> set[str]:
    """Names of all metrics as Prometheus is told them."""
    collected = Metrics().registry.collect()
    return {item.name + "_total" * (item.type == "counter") for item in collected}


@pytest.mark.parametrize("document", GUIDES)
def test_files_named_in_guides_exist(document: str) -> None:
    paths = re.findall(r"`((?:core|bot|tests|docs|tools|bench)/[\w./-]*\w/?)`", read(document))
    assert [path for path in paths if "NNNN" not in path if not (ROOT / path).exists()] == []


def test_files_in_the_decided_part_of_a_record_exist() -> None:
    missing = [
        f"{record.name}: {path}"
        for record in sorted((ROOT / "docs" / "decisions").glob("*.md"))
        for path in re.findall(
            r"`((?:core|bot|tests|tools|packages)/[\w./-]*\w)/?`",
            record.read_text("utf-8").partition("## What was decided")[2].partition("\n## ")[0],
        )
        if not (ROOT / path).exists()
    ]
    assert missing == []


def test_the_paths_to_read_along_name_what_is_there() -> None:
    text = read("ARCHITECTURE.md").partition("## Paths")[2].partition("\n## ")[0]
    steps = re.findall(r"`((?:core|bot)/[\w./]+\.py)`\s+`(\w+)`", text)
    assert len(steps) > 25
    named = r"^ *(?:async )?def {0}\b|^{0}\b"
    missing = [
        f"{path} {name}"
        for path, name in steps
        if not re.search(named.format(name), read(path), re.MULTILINE)
    ]
    assert missing == []


def test_every_file_and_module_that_the_architecture_names_exists() -> None:
    text = read("ARCHITECTURE.md")
    paths = re.findall(r"`((?:core|bot|tests|docs|packages)/[\w./-]*\w)/?`", text)
    assert [path for path in paths if not (ROOT / path).exists()] == []
    rows = re.findall(
        r"^\| (`[^|]+) \|[^|]+\|(.+)\|$", text.partition("## Packages")[2], re.MULTILINE
    )
    missing = [
        f"{packages}: {name}"
        for packages, modules in rows
        for name in re.findall(r"`(\w+)`", modules)
        if not any(holds(package, name) for package in re.findall(r"`([^`]+)`", packages))
    ]
    assert len(rows) > 20
    assert missing == []
    assert [path for path in modules() if not is_named(path, text, rows)] == []


def modules() -> Iterator[Path]:
    for package in ("core", "bot"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if not path.stem.startswith("__") and "migrations" not in path.parts:
                yield path.relative_to(ROOT)


def is_named(module: Path, text: str, rows: Sequence[tuple[str, str]]) -> bool:
    """Whether the map names a module, or the folder that holds it, by path or in its package."""
    names = {module.stem, *(folder.name for folder in module.parents[:-1])}
    packages = {f"`{folder}`" for folder in module.parents[:-1]}
    return f"`{module}`" in text or any(
        not packages.isdisjoint(owners.split(", ")) and f"`{name}`" in words
        for owners, words in rows
        for name in names
    )


def holds(package: str, name: str) -> bool:
    """Whether a package has a module, a package or a class of this name, two levels down."""
    folders = [ROOT / package, *(path for path in (ROOT / package).iterdir() if path.is_dir())]
    is_module = any((folder / f"{name}.py").exists() for folder in folders)
    files = (ROOT / package).rglob("*.py")
    return (
        is_module
        or (ROOT / package / name).is_dir()
        or any(
            re.search(rf"^class {name}\b", file.read_text("utf-8"), re.MULTILINE) for file in files
        )
    )


@pytest.mark.parametrize(
    ("document", "names"),
    [
        ("docs/configuration.md", ROLES),
        ("docs/configuration.md", FORMATS),
        ("docs/configuration.md", PROVIDER_NAMES),
        ("docs/configuration.md", [method.value for method in STRATEGIES]),
        ("docs/models.md", PROVIDER_NAMES),
        ("README.md", FORMATS),
        ("docs/landing.md", [f"debate.{event}" for event in WebhookEvent]),
        ("docs/configuration.md", [f"`{event}`" for event in WebhookEvent]),
    ],
)
def test_document_names_all_of_a_kind(document: str, names: list[str]) -> None:
    text = read(document)
    assert [name for name in names if not re.search(rf"(?<!\w){name}(?!\w)", text)] == []


def test_the_guide_names_every_button_of_the_board() -> None:
    text = read("docs/team.md")
    left_out = {BoardAction.RESUME}
    assert [action for action in BoardAction if f"**{action}" not in text] == [*left_out]
    assert {"ACCEPT", "REJECT", "REVISIT", "SUPERSEDE"} <= set(ActionId.__members__)


def test_the_front_of_the_repository_is_as_github_reads_it() -> None:
    workflow = yaml.safe_load(read(".github/workflows/ci.yml"))
    assert workflow["jobs"]["check"]["steps"][-1] == {"run": ".ci/run"}
    assert workflow["permissions"] == {"contents": "read"}
    assert (ROOT / ".ci/run").stat().st_mode & 0o100
    templates = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md"))
    assert [template.stem for template in templates] == ["bug", "wish"]
    for template in templates:
        head = yaml.safe_load(template.read_text("utf-8").split("---")[1])
        assert set(head) == {"name", "about"}
