"""Prompts that people bring themselves: which there may be, and whether a text can be used."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import TemplateSyntaxError, meta
from jinja2.exceptions import TemplateError

from core.acts.act import ACTS
from core.acts.prompt import SANDBOX
from core.debate.agents import PERSONA
from core.debate.turn import Act

_FOLDER = Path(__file__).parent
#: Every task may use these, whether the built-in one does or not.
_ALWAYS = frozenset({"persona", "words"})
_RENDERING_ERRORS = (TemplateError, ArithmeticError, LookupError, TypeError, ValueError)
#: Every prompt that can be overridden: the persona, which is plain text, and the template of each
#: act that asks a model.
NAMES = (PERSONA, *(act.value for act in Act if ACTS[act].asks_model))
#: Stand in for real values when an override is tried, where the name of one does not.
_SAMPLES: Mapping[str, object] = {
    **dict.fromkeys(("words", "count", "most", "round", "left", "may_ask", "fewest"), 3),
    "roles": {"security": "You look at what is worth stealing."},
    "criteria": [{"name": "security", "meaning": "threats are met."}],
}


def fault(name: str, text: str) -> str:
    """Why this text cannot stand in for the built-in prompt, for people; empty if it can."""
    if not text.strip():
        return "it is empty"
    if name == PERSONA:
        return ""
    allowed = values_of(Act(name))
    try:
        unknown = _variables(text) - allowed
        if unknown:
            return f"it uses {', '.join(sorted(unknown))}; there are: {', '.join(sorted(allowed))}"
        SANDBOX.from_string(text).render({value: _SAMPLES.get(value, value) for value in allowed})
    except TemplateSyntaxError as error:
        return f"line {error.lineno}: {error.message}"
    except _RENDERING_ERRORS as error:
        return f"it cannot be rendered: {error}"
    return ""


@cache
def values_of(act: Act) -> frozenset[str]:
    file = _FOLDER / f"{act.value}.md.j2"
    return (_variables(file.read_text(encoding="utf-8")) if file.exists() else _ALWAYS) | _ALWAYS


def _variables(text: str) -> frozenset[str]:
    return frozenset(meta.find_undeclared_variables(SANDBOX.parse(text)))
