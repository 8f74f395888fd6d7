"""Prompt files: only beside the settings file, rendered in a sandbox without access to Python."""

import os
from pathlib import Path

import pytest
from jinja2.exceptions import SecurityError, TemplateError

from core.acts import prompt as render
from core.config.load import FileDefaults, LoadedFile, load_file
from core.debate.agents import PromptText
from core.debate.turn import Act
from core.errors import ConfigurationBroken
from core.settings import ModelChoice, agent_for

ESCAPES = [
    "{{ ''.__class__.__mro__ }}",
    "{{ persona.__class__.__base__.__subclasses__() }}",
    "{{ persona['__class__'] }}",
    "{{ persona|attr('__class__') }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ lipsum.__globals__ }}",
    "{{ self.__init__.__globals__ }}",
    "{{ '{0.__class__}'.format(persona) }}",
    "{{ '{0.__class__.__mro__}'.format_map({'0': persona}) }}",
    "{% include '/etc/passwd' %}",
    "{% include '../../settings.py' %}",
    "{% import 'os' as os %}{{ os }}",
    "{% for x in [].append.__self__.__class__.__mro__ %}{{ x }}{% endfor %}",
    "{{ range(10 ** 9)|list }}",
]


def loaded(tmp_path: Path, file: str) -> LoadedFile:
    settings = tmp_path / "settings"
    settings.mkdir(exist_ok=True)
    (settings / "moot.yaml").write_text(f"prompts:\n  persona: {file}\n", encoding="utf-8")
    return load_file(settings / "moot.yaml", FileDefaults())


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret.md"
    file.write_text("the secret", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "file", ["../secret.md", "prompts/../../secret.md", "./../settings/../secret.md", "/etc/passwd"]
)
def test_a_prompt_file_elsewhere_stops_the_start(tmp_path: Path, secret: Path, file: str) -> None:
    assert secret.exists()
    with pytest.raises(ConfigurationBroken, match="outside"):
        loaded(tmp_path, file)


def test_a_link_that_leads_elsewhere_stops_the_start(tmp_path: Path, secret: Path) -> None:
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "innocent.md").symlink_to(secret)
    with pytest.raises(ConfigurationBroken, match="outside"):
        loaded(tmp_path, "innocent.md")


def test_the_home_folder_is_not_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "secret.md").write_text("the secret", encoding="utf-8")
    assert "~/secret.md" in loaded(tmp_path, "~/secret.md").settings.warnings[0]


def test_a_prompt_file_below_the_settings_file_is_read(tmp_path: Path) -> None:
    below = tmp_path / "settings" / "prompts"
    below.mkdir(parents=True)
    (below / "pilot.md").write_text("You are a pilot.", encoding="utf-8")
    assert (
        loaded(tmp_path, "prompts/pilot.md").settings.prompts["persona"].text == "You are a pilot."
    )


@pytest.mark.parametrize("text", ESCAPES)
def test_a_prompt_reaches_nothing_of_python(text: str) -> None:
    assert render.override_fault("proposal", text)
    agent = agent_for("architect", ModelChoice(provider="offline", model="m")).model_copy(
        update={"prompts": {"proposal": PromptText(text=text, source="evil.md")}}
    )
    try:
        prompt = render.task(Act.PROPOSAL, agent, words=350)
    except (SecurityError, TemplateError, TypeError, OverflowError, LookupError):
        return
    assert "class" not in prompt
    assert os.sep not in prompt


def test_an_absolute_path_elsewhere_stops_the_start(tmp_path: Path, secret: Path) -> None:
    with pytest.raises(ConfigurationBroken, match="outside"):
        loaded(tmp_path, str(secret))
