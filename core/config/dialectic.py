"""Translates the keys of dialectic's configuration files into Moot's (pure)."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from core.config.source import Path, WrittenFile

_MILLISECONDS = 1000
_PROMPT_KEYS: Mapping[str, str] = {
    "system_prompt_path": "persona",
    "summary_prompt_path": "summary",
    "clarification_prompt_path": "questions",
}
#: Keys of `debate` → where their values belong.
_MOVED: Mapping[str, Path] = {
    "termination_condition": ("debate", "termination"),
    "interactive_clarifications": ("debate", "clarifications", "enabled"),
    "clarifications_max_per_agent": ("debate", "clarifications", "per_agent"),
    "timeout_per_round": ("limits", "round_seconds"),
}
#: What Moot has no switch for, in whatever section it stands → why; nothing where it is the same.
_NOT_THERE: Mapping[str, str] = {
    "synthesis_method": "the agents vote, and the judge starts from the winner.",
    "include_full_history": "older turns are summarised as `summarization` says.",
    "orchestrator_type": "who speaks when is the `format`'s business.",
    "clarifications_max_iterations": "`clarifications: {rounds: …}` is what comes nearest.",
    "trace": "`moot explain` shows how a debate went.",
    "tools": "agents have no tools.",
}
#: Values of those that ask for what Moot does anyway.
_SAME: Mapping[str, object] = {"synthesis_method": "judge", "include_full_history": True}
#: Ignored: there is one judge, and it judges.
_OF_JUDGE = ("id", "role", "enabled")


def translate(values: dict[str, Any], source: WrittenFile) -> Iterator[str]:
    """Rename keys (in snake_case) to Moot's, in place. Yields notices about what Moot lacks."""
    debate, judge = _mapping(values.get("debate")), _mapping(values.get("judge"))
    listed = values.get("agents")
    agents = cast("list[Any]", listed) if isinstance(listed, list) else []
    speakers: list[tuple[Path, dict[str, Any]]] = [
        *((("agents", at), _mapping(agent)) for at, agent in enumerate(agents)),
        (("judge",), judge),
    ]
    for path, section in [((), values), (("debate",), debate), *speakers]:
        for key in [key for key in _NOT_THERE if key in section]:
            value = section.pop(key)
            if key not in _SAME or value != _SAME[key]:
                yield f"{source.at((*path, key))}: Moot has no such switch: {_NOT_THERE[key]}"
    for key, new in _MOVED.items():
        _move(values, source, key, new)
    for key in _OF_JUDGE:
        judge.pop(key, None)
    for path, speaker in speakers:
        yield from _speaker(speaker, path, source)
    # Endings that have another name here, or do not exist.
    termination = _mapping(debate.get("termination"))
    if "threshold" in termination:  # earlier versions of Moot had it too
        where = source.at(("debate", "termination", "threshold"))
        del termination["threshold"]
        yield f"{where}: is not used: rounds end by options and probabilities, not by like words."
    if termination.get("type") == "convergence":
        termination["type"] = "converged"
    elif termination.get("type") == "quality":
        termination.clear()
        where = source.at(("debate", "termination"))
        yield f'{where}: "quality" is not there: rounds end as they do where nothing is said.'
    _summaries(debate, ("debate",), source)


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _move(values: dict[str, Any], source: WrittenFile, key: str, new: Path) -> None:
    debate = _mapping(values.get("debate"))
    if key not in debate:
        return
    place = values
    for step in new[:-1]:
        inner = place.setdefault(str(step), {})
        if not isinstance(inner, dict):
            return
        place = cast("dict[str, Any]", inner)
    source.move(("debate", key), new)
    value = debate.pop(key)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if key == "timeout_per_round" and is_number:
        value /= _MILLISECONDS
    place.setdefault(str(new[-1]), value)


def _speaker(speaker: dict[str, Any], path: Path, source: WrittenFile) -> Iterator[str]:
    for key, prompt in _PROMPT_KEYS.items():
        if key in speaker:
            source.move((*path, key), (*path, "prompts", prompt))
            file = speaker.pop(key)
            if file is not None:
                _mapping(speaker.setdefault("prompts", {})).setdefault(prompt, file)
    if speaker.pop("system_prompt", None):
        where = source.at((*path, "system_prompt"))
        yield (
            f"{where}: put the text into a file and name it as `prompts: {{persona: …}}`; it is "
            "not used."
        )
    _summaries(speaker, path, source)


def _summaries(section: dict[str, Any], path: Path, source: WrittenFile) -> None:
    rules = _mapping(section.get("summarization"))
    if "prompt_path" in rules:
        here = (*path, "summarization")
        source.move((*here, "prompt_path"), (*here, "prompt_file"))
        rules.setdefault("prompt_file", rules.pop("prompt_path"))
    if rules.get("method") == "length-based":
        rules["method"] = "length"
