"""Names of keys: camelCase as snake_case, dialectic's names as ours, the nearest name (pure)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin

from pydantic import BaseModel

from core.config.entries import FileEntry
from core.config.source import Path, Source

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MILLISECONDS = 1000
Change = Callable[[Any], Any]


@dataclass
class Translated:
    """The file in our words."""

    values: dict[str, Any]
    notices: list[str] = field(default_factory=list[str])
    #: Sentences about keys nobody knows.
    problems: list[str] = field(default_factory=list[str])


def translate(source: Source) -> Translated:
    """The file's values under our names; unknown names become problems.

    The names of dialectic's configuration files are understood too, in either spelling.
    """
    done = Translated(_snake(source, source.values, (), FileEntry))
    _Moves(source, done).make()
    written = {key: value for key, value in done.values.items() if value is not None}
    done.values = _Sieve(source, done.problems).known(written, (), FileEntry)
    return done


def snake(name: str) -> str:
    """`timeoutPerRound` as `timeout_per_round`."""
    return _HUMP.sub("_", name).lower() if _HUMP.search(name) else name


def nearest(name: str, names: Sequence[str]) -> str:
    """A hint at the name that may have been meant, or at all of them."""
    found = get_close_matches(name.lower(), names, n=1, cutoff=0.6)
    return f'Did you mean "{found[0]}"?' if found else f"There are: {', '.join(names)}."


def model_in(annotation: object) -> type[BaseModel] | None:
    """The entry in `X`, `X | None` or `list[X]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in {Union, UnionType, list}:
        found = (model_in(choice) for choice in get_args(annotation))
        return next((model for model in found if model), None)
    return None


def _snake(source: Source, value: Any, path: Path, model: type[BaseModel]) -> Any:
    """The value with snake_case keys, as far down as keys are ours."""
    if isinstance(value, list):
        items = enumerate(cast("list[Any]", value))
        return [_snake(source, item, (*path, index), model) for index, item in items]
    if not isinstance(value, dict):
        return value
    done: dict[str, Any] = {}
    for key, inner in cast("dict[str, Any]", value).items():
        name = snake(key)
        if name != key:
            source.move((*path, key), (*path, name))
        done[name] = _snake_inner(source, inner, (*path, name), model)
    return done


def _snake_inner(source: Source, value: Any, path: Path, model: type[BaseModel]) -> Any:
    name = str(path[-1])
    inner = model.model_fields.get(_NESTED.get(name, name))
    inner_model = model_in(inner.annotation) if inner else None
    return _snake(source, value, path, inner_model) if inner_model else value


@dataclass(frozen=True)
class _Sieve:
    """Lets keys pass that are settings; the others become problems."""

    source: Source
    problems: list[str]

    def known(self, value: Any, path: Path, model: type[BaseModel]) -> Any:
        """The value without keys nobody knows."""
        if isinstance(value, list):
            items = enumerate(cast("list[Any]", value))
            return [self.known(item, (*path, index), model) for index, item in items]
        if not isinstance(value, dict):
            return value
        kept: dict[str, Any] = {}
        for key, inner in cast("dict[str, Any]", value).items():
            entry = model.model_fields.get(key)
            if entry is None:
                hint = nearest(key, list(model.model_fields))
                self.problems.append(f"{self.source.at((*path, key))} is no setting. {hint}")
            else:
                inner_model = model_in(entry.annotation)
                deep = inner_model is not None
                kept[key] = self.known(inner, (*path, key), inner_model) if deep else inner
        return kept


#: Names of dialectic whose values have keys of their own, by ours.
_NESTED: Mapping[str, str] = {"termination_condition": "termination"}
_PROMPT_KEYS: Mapping[str, str] = {
    "system_prompt_path": "persona",
    "summary_prompt_path": "summary",
    "clarification_prompt_path": "questions",
}


class _Moves:
    """Puts what dialectic names differently where it belongs."""

    def __init__(self, source: Source, done: Translated) -> None:
        self._source = source
        self._done = done

    def make(self) -> None:
        """Make all moves."""
        debate = self._mapping(self._done.values.get("debate"))
        self._debate(debate)
        for path, agent in self._speakers():
            self._speaker(path, agent)

    def _debate(self, debate: dict[str, Any]) -> None:
        asking = ("debate", "clarifications")
        self._rename(debate, "termination_condition", ("debate", "termination"))
        self._rename(debate, "interactive_clarifications", (*asking, "enabled"))
        self._rename(debate, "clarifications_max_per_agent", (*asking, "per_agent"))
        self._rename(debate, "timeout_per_round", ("limits", "round_seconds"), _seconds)
        self._without_equal(debate)
        self._words(self._mapping(debate.get("termination")), ("debate", "termination"))
        self._summaries(self._mapping(debate.get("summarization")), ("debate", "summarization"))

    def _without_equal(self, debate: dict[str, Any]) -> None:
        """What Moot has no switch for: said, unless the file asks for what Moot does anyway."""
        method = debate.pop("synthesis_method", "judge")
        if method != "judge":
            self._say(
                ("debate", "synthesis_method"),
                f'"{method}" is not there: the agents vote, and the judge starts from the winner.',
            )
        if debate.pop("include_full_history", True) is False:
            self._say(
                ("debate", "include_full_history"),
                "Moot has no such switch: older turns are summarised as `summarization` says.",
            )

    def _words(self, termination: dict[str, Any], path: Path) -> None:
        """The kinds of ending that have other names, or none."""
        if termination.get("type") == "convergence":
            termination["type"] = "converged"
        elif termination.get("type") == "quality":
            termination.clear()
            self._say(path, '"quality" is not there: the debate takes all its rounds.')

    def _speakers(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Every agent, and the judge."""
        agents = self._done.values.get("agents")
        for index, agent in enumerate(
            cast("list[Any]", agents) if isinstance(agents, list) else []
        ):
            yield ("agents", index), self._mapping(agent)
        yield ("judge",), self._mapping(self._done.values.get("judge"))

    def _speaker(self, path: Path, agent: dict[str, Any]) -> None:
        for key, prompt in _PROMPT_KEYS.items():
            if key in agent:
                self._source.move((*path, key), (*path, "prompts", prompt))
                found = agent.pop(key)
                prompts = agent.setdefault("prompts", {}) if found is not None else None
                if isinstance(prompts, dict):
                    cast("dict[str, Any]", prompts).setdefault(prompt, found)
        if agent.pop("system_prompt", None):
            self._say(
                (*path, "system_prompt"),
                "put the text into a file and name it as `prompts: {persona: …}`; it is not used.",
            )
        summaries = self._mapping(agent.get("summarization"))
        self._summaries(summaries, (*path, "summarization"))

    def _summaries(self, summaries: dict[str, Any], path: Path) -> None:
        if "prompt_path" in summaries:
            self._source.move((*path, "prompt_path"), (*path, "prompt_file"))
            summaries.setdefault("prompt_file", summaries.pop("prompt_path"))
        if summaries.get("method") == "length-based":
            summaries["method"] = "length"

    def _rename(
        self, values: dict[str, Any], key: str, new: Path, change: Change | None = None
    ) -> None:
        """Move a value of `debate`, unless something stands in the new place already."""
        if key not in values:
            return
        self._source.move(("debate", key), new)
        place = self._done.values
        for step in new[:-1]:
            inner = place.setdefault(str(step), {})
            if not isinstance(inner, dict):
                return
            place = cast("dict[str, Any]", inner)
        value = values.pop(key)
        place.setdefault(str(new[-1]), change(value) if change else value)

    def _say(self, path: Path, words: str) -> None:
        self._done.notices.append(f"{self._source.at(path)}: {words}")

    @staticmethod
    def _mapping(value: object) -> dict[str, Any]:
        """The mapping itself, so that it can be changed; an empty one where there is none."""
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _seconds(milliseconds: Any) -> Any:
    """Milliseconds as seconds; anything but a number stays and is refused later."""
    is_number = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    return milliseconds / _MILLISECONDS if is_number else milliseconds
