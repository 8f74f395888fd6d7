"""Translates the keys of dialectic's configuration files into Moot's (pure)."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from core.config.source import Path, WrittenFile

_MILLISECONDS = 1000
#: Keys of `debate` → where their values belong.
_OF_DEBATE: Mapping[str, Path] = {
    "termination_condition": ("debate", "termination"),
    "interactive_clarifications": ("debate", "clarifications", "enabled"),
    "clarifications_max_per_agent": ("debate", "clarifications", "per_agent"),
    "timeout_per_round": ("limits", "round_seconds"),
}
#: Keys of an agent or the judge → the prompts they name files of.
_OF_SPEAKER: Mapping[str, str] = {
    "system_prompt_path": "persona",
    "summary_prompt_path": "summary",
    "clarification_prompt_path": "questions",
}
#: What Moot has no switch for, in whatever section it stands → why.
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


def translate(source: WrittenFile) -> Iterator[str]:
    """Move values to Moot's keys, in place. Yields notices about what Moot lacks."""
    listed = source.values.get("agents")
    agents = cast("list[Any]", listed) if isinstance(listed, list) else []
    speakers: list[Path] = [*(("agents", at) for at, _ in enumerate(agents)), ("judge",)]
    for path in ((), ("debate",), *speakers):
        section = source.section(path)
        for key in [key for key in _NOT_THERE if key in section]:
            value = section.pop(key)
            if key not in _SAME or value != _SAME[key]:
                yield f"{source.at((*path, key))}: Moot has no such switch: {_NOT_THERE[key]}"
        rules = (*path, "summarization")
        source.move((*rules, "prompt_path"), (*rules, "prompt_file"))
        if source.section(rules).get("method") == "length-based":
            source.section(rules)["method"] = "length"
    for key in _OF_JUDGE:
        source.section(("judge",)).pop(key, None)
    for path in speakers:
        for key, prompt in _OF_SPEAKER.items():
            source.move((*path, key), (*path, "prompts", prompt))
        if source.section(path).pop("system_prompt", None):
            where = source.at((*path, "system_prompt"))
            yield (
                f"{where}: put the text into a file and name it as `prompts: {{persona: …}}`; it "
                "is not used."
            )
    debate = source.section(("debate",))
    timeout = debate.get("timeout_per_round")
    if isinstance(timeout, int | float) and not isinstance(timeout, bool):
        debate["timeout_per_round"] = timeout / _MILLISECONDS
    for key, new in _OF_DEBATE.items():
        source.move(("debate", key), new)
    yield from _ending(source)


def _ending(source: WrittenFile) -> Iterator[str]:
    """Endings that have another name here, or do not exist."""
    here = ("debate", "termination")
    termination = source.section(here)
    if "threshold" in termination:  # earlier versions of Moot had it too
        del termination["threshold"]
        where = source.at((*here, "threshold"))
        yield f"{where}: is not used: rounds end by options and probabilities, not by like words."
    if termination.get("type") == "convergence":
        termination["type"] = "converged"
    elif termination.get("type") == "quality":
        termination.clear()
        where = source.at(here)
        yield f'{where}: "quality" is not there: rounds end as they do where nothing is said.'
