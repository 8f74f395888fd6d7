"""Fills structured answers: the known forms, and any other one as well as its types allow."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from core.llm.providers.offline_engine.ballot import ballot
from core.llm.providers.offline_engine.checklist import Role, catalogue
from core.llm.providers.offline_engine.checks import spread
from core.llm.providers.offline_engine.clarifying import questions
from core.llm.providers.offline_engine.evaluation import evaluation
from core.llm.providers.offline_engine.material import Material, Text
from core.llm.providers.offline_engine.panel import facilitation
from core.llm.providers.offline_engine.positions import checks_met
from core.llm.providers.offline_engine.verdict import synthesis
from core.llm.providers.offline_engine.wording import full_stop
from core.models import Act
from core.request import AnswerForm

_KNOWN: Mapping[str, Callable[[Material], dict[str, object]]] = {
    Act.BALLOT: ballot,
    Act.SYNTHESIS: synthesis,
    Act.QUESTIONS: questions,
    Act.FACILITATION: facilitation,
    Act.EVALUATION: evaluation,
}
_LOW, _HIGH = 1, 10
#: Words in a field's name, and the role that looks after it.
_FIELD_ROLES = {
    "perform": "performance",
    "scal": "performance",
    "secur": "security",
    "complian": "security",
    "test": "testing",
    "maintain": "simplicity",
    "cost": "finance",
    "function": "product",
}


def filled(form: AnswerForm, act: Act, material: Material) -> dict[str, object]:
    """The answer to a form: what the act gives, and for other fields what their types allow."""
    writer = _KNOWN.get(form.name) or _KNOWN.get(act)
    known = writer(material) if writer else {}
    wanted = form.schema.get("properties") or known
    filled_in = _by_types(
        {
            "properties": {
                k: v for k, v in form.schema.get("properties", {}).items() if k not in known
            }
        },
        material,
    )
    return {name: known[name] if name in known else filled_in[name] for name in wanted}


def _by_types(schema: Mapping[str, Any], material: Material) -> dict[str, object]:
    properties = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {}))
    return {name: _value(name, entry, material) for name, entry in properties.items()}


def _value(name: str, entry: Mapping[str, Any], material: Material) -> object:
    if choices := entry.get("enum"):
        return cast("list[object]", choices)[0]
    kind = entry.get("type")
    match kind:
        case "integer" | "number":
            share = _share(name, material)
            score = _LOW + share * (_HIGH - _LOW)
            return round(score) if kind == "integer" else round(score, 1)
        case "boolean":
            return _share(name, material) >= 0.5  # noqa: PLR2004 - more than half
        case "array":
            item = cast("Mapping[str, Any]", entry.get("items", {}))
            return (
                [_value(name, item, material)] if item.get("type") == "object" else _lines(material)
            )
        case "object":
            return _by_types(entry, material)
        case _:
            return _words(name, material)


def _texts(material: Material) -> tuple[Text, ...]:
    parts = (material.positions, material.candidates, material.others, material.summaries)
    return tuple(text for part in parts for text in part)


def _share(name: str, material: Material) -> float:
    """How much of what a field asks for is dealt with in the texts, 0 to 1."""
    said = "\n".join([material.own, *(text.text for text in _texts(material))])
    demands = material.reading.requirements
    met = sum(r.is_met_in(said) for r in demands) / len(demands) if demands else 0.5
    checks = spread(_role_for(name, material), material.reading)
    named = len(checks_met(checks, said)) / len(checks)
    return (met + min(1.0, named * 2)) / 2


def _role_for(name: str, material: Material) -> Role:
    """The role whose checklist fits a field's name; the asking role's where none does."""
    key = next((key for word, key in _FIELD_ROLES.items() if word in name.lower()), None)
    return catalogue().role(key) if key else material.role


def _lines(material: Material) -> list[str]:
    return [check.ask for check in spread(material.role, material.reading)[:3]]


def _words(name: str, material: Material) -> str:
    said = f"About {name.replace('_', ' ')}: {material.ranked[0].option.name}"
    return full_stop(said)
