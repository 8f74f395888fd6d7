"""The thin edge: reads configuration files and the prompt files they name."""

from pathlib import Path

from core.config.parse import Checked, Known, Loaded, check, load
from core.config.wanted import ReadPrompt
from core.errors import ConfigurationBroken
from core.models import PromptText


def load_file(path: Path, known: Known) -> Loaded:
    """Settings from a file; the built-in ones, with a notice, if there is no such file.

    Args:
        path: YAML, or JSON if the name ends in `.json`.
        known: What holds where the file says nothing.

    Raises:
        ConfigurationBroken: The file cannot be read or used; names file, line and key.
    """
    text = _text(path)
    if text is None:
        missing = f"There is no file {path}: the built-in settings hold."
        return Loaded(settings=known.settings, notices=(missing,))
    return load(text, str(path), known, prompt_reader(path.parent))


def check_file(path: Path, known: Known) -> Checked:
    """The entries of a file that must be there.

    Raises:
        ConfigurationBroken: It is missing, or cannot be read or used.
    """
    text = _text(path)
    if text is None:
        raise ConfigurationBroken(f"There is no file {path}.")
    return check(text, str(path), known)


def prompt_reader(folder: Path) -> ReadPrompt:
    """Reads prompt files in the folder of the configuration file, or below it.

    What it returns raises `ConfigurationBroken` for a path that leads elsewhere: whoever may change
    the settings could otherwise have any file of the machine sent to a model.
    """

    def read(file: str) -> PromptText:
        path = folder / file
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ConfigurationBroken(
                f"The prompt file {file} is outside {folder}: put it beside the configuration "
                "file, or below, and name it relative to that."
            )
        return PromptText(text=path.read_text(encoding="utf-8-sig"), source=str(path))

    return read


def _text(path: Path) -> str | None:
    """The content of the file; None if there is none."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise ConfigurationBroken(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise ConfigurationBroken(f"{path} cannot be read: {reason}.") from None
