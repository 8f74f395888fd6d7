"""Prompt files that settings name: read once, checked, and taken or refused with a warning."""

from collections.abc import Callable, Mapping, Sequence

from core.models import PromptText
from core.turns.prompts import overrides

#: Reads a prompt file by its path as written in the settings.
#: Raises OSError or UnicodeDecodeError if it cannot.
ReadPrompt = Callable[[str], PromptText]


class Prompts:
    """Reads the prompt files of one configuration file."""

    def __init__(self, read: ReadPrompt) -> None:
        self._read = read
        self.warnings: list[str] = []

    def take(self, wanted: Mapping[str, str], who: str) -> dict[str, PromptText]:
        """The prompts that can be used, by name; a warning for each of the others.

        Args:
            wanted: Files by the prompt's name.
            who: Whose prompts they are, for people.
        """
        found = {name: self.one(file, name, f"{who}, {name}") for name, file in wanted.items()}
        return {name: prompt for name, prompt in found.items() if prompt}

    def one(self, file: str, name: str, what: str) -> PromptText | None:
        """One prompt; None, with a warning, if it cannot be used."""
        try:
            prompt = self._read(file)
        except OSError as error:
            return self._refuse(what, file, (error.strerror or "it cannot be read").lower())
        except UnicodeDecodeError:
            return self._refuse(what, file, "it is not UTF-8 text")
        reason = overrides.fault(name, prompt.text)
        return self._refuse(what, file, reason) if reason else prompt

    def _refuse(self, what: str, file: str, reason: str) -> None:
        self.warnings.append(
            f"The prompt file {file} ({what}) cannot be used: {reason}. "
            "The built-in prompt takes its place."
        )


def unknown_names(wanted: Mapping[str, str]) -> Sequence[str]:
    """Names of prompts that do not exist."""
    return [name for name in wanted if name not in overrides.NAMES]
