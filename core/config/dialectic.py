"""Translates configuration files of the program dialectic to Moot's keys (pure)."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from core.config.source import Path, WrittenFile

_MILLISECONDS = 1000
#: Keys of `debate` → paths of Moot's keys.
_OF_DEBATE: Mapping[str, Path] = {
    "termination_condition": ("debate", "termination"),
    "interactive_clarifications": ("debate", "clarifications", "enabled"),
    "clarifications_max_per_agent": ("debate", "clarifications", "per_agent"),
    "timeout_per_round": ("limits", "round_seconds"),
}
#: Keys of an agent or the judge that name a prompt file → names of Moot's prompts.
_OF_SPEAKER: Mapping[str, str] = {
    "system_prompt_path": "persona",
    "summary_prompt_path": "summary",
    "clarification_prompt_path": "questions",
}
#: Keys that Moot does not have, in any section → explanation in the notice.
_UNSUPPORTED: Mapping[str, str] = {
    "synthesis_method": "the agents vote, and the judge starts from the winner.",
    "include_full_history": "`summarization` sets how older turns are summarised.",
    "orchestrator_type": "`format` sets the order of turns.",
    "clarifications_max_iterations": "the nearest setting is `clarifications: {rounds: …}`.",
    "trace": "`moot explain` shows how a debate went.",
    "tools": "agents have no tools.",
}
#: Values of unsupported keys that need no notice, because Moot always behaves so.
_DEFAULTS: Mapping[str, object] = {"synthesis_method": "judge", "include_full_history": True}
#: Keys of the judge that are ignored: there is always one judge.
_OF_JUDGE = ("id", "role", "enabled")


def translate(source: WrittenFile) -> Iterator[str]:
    """Move values to Moot's keys, in place. Yield a notice for each unsupported key."""
    value = source.values.get("agents")
    agents = cast("list[Any]", value) if isinstance(value, list) else []
    speakers: list[Path] = [*(("agents", index) for index in range(len(agents))), ("judge",)]
    for path in ((), ("debate",), *speakers):
        yield from _translate_section(source, path)
    for key in _OF_JUDGE:
        source.section(("judge",)).pop(key, None)
    for path in speakers:
        for key, prompt in _OF_SPEAKER.items():
            source.move((*path, key), (*path, "prompts", prompt))
        if source.section(path).pop("system_prompt", None):
            location = source.at((*path, "system_prompt"))
            yield (
                f"{location}: this text is not used. Put it into a file and name the file as "
                "`prompts: {persona: …}`."
            )
    debate = source.section(("debate",))
    timeout = debate.get("timeout_per_round")
    if isinstance(timeout, int | float) and not isinstance(timeout, bool):
        debate["timeout_per_round"] = timeout / _MILLISECONDS
    for key, new in _OF_DEBATE.items():
        source.move(("debate", key), new)
    yield from _translate_termination(source)


def _translate_section(source: WrittenFile, path: Path) -> Iterator[str]:
    """Translate keys that may be in the file's top, in `debate`, or at an agent or the judge."""
    section = source.section(path)
    for key in [key for key in _UNSUPPORTED if key in section]:
        value = section.pop(key)
        if key not in _DEFAULTS or value != _DEFAULTS[key]:
            yield f"{source.at((*path, key))}: Moot has no such setting: {_UNSUPPORTED[key]}"
    rules = (*path, "summarization")
    source.move((*rules, "prompt_path"), (*rules, "prompt_file"))
    if source.section(rules).get("method") == "length-based":
        source.section(rules)["method"] = "length"


def _translate_termination(source: WrittenFile) -> Iterator[str]:
    path = ("debate", "termination")
    termination = source.section(path)
    if "threshold" in termination:  # earlier versions of Moot had it too
        del termination["threshold"]
        location = source.at((*path, "threshold"))
        yield (
            f"{location}: is not used: rounds end by options and probabilities, not by similar "
            "words."
        )
    if termination.get("type") == "convergence":
        termination["type"] = "converged"
    elif termination.get("type") == "quality":
        termination.clear()
        yield f'{source.at(path)}: "quality" is not supported; the default termination is used.'
