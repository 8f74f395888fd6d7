"""Renders prompt files: the constant system text, the persona of a role, the task of an act.

People can override the persona and tasks with texts of their own, which are checked when settings
are loaded.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateSyntaxError, meta
from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from core.acts.act import ACTS
from core.debate.agents import PERSONA, Agent
from core.debate.turn import Act

_FOLDER = Path(__file__).parent
_environment = Environment(
    loader=FileSystemLoader(_FOLDER), undefined=StrictUndefined, keep_trailing_newline=False
)
#: For people's own texts: they can reach no internal attribute of Python and no file.
SANDBOX = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
_POSITION = ("proposal", "From this point of view, in a position:")
_CRITIQUE = ("critique", "From this point of view, look for:")
#: Section of a role's file with its points for an act, and the line that introduces them.
LENSES: Mapping[Act, tuple[str, str]] = {
    Act.QUESTIONS: ("questions", "From this point of view, what is worth knowing:"),
    **dict.fromkeys((Act.PROPOSAL, Act.REFINEMENT, Act.ADJUST, Act.STATEMENT), _POSITION),
    **dict.fromkeys((Act.GATHER, Act.PLAN, Act.FORMULATE, Act.SHADOW), _POSITION),
    **dict.fromkeys((Act.CRITIQUE, Act.DEBATE, Act.REBUTTAL), _CRITIQUE),
    **dict.fromkeys((Act.REVIEW, Act.SECOND_LOOK), _CRITIQUE),
    Act.BALLOT: ("ballot", "From this point of view, when you vote:"),
    Act.SUMMARY: ("summary", "From this point of view, when you sum up:"),
}
_CRITICISMS = frozenset({Act.CRITIQUE, Act.DEBATE, Act.REBUTTAL})
#: Acts outside the debate, whose model sees no other agent.
_OUTSIDE = frozenset({Act.SHADOW, Act.SHADOW_CHOICE, Act.EVALUATION, Act.COMPARISON, Act.RECALL})
#: Acts whose replies do not argue.
_SORTING = frozenset(
    {
        *(Act.BALLOT, Act.SUMMARY, Act.OPTIONS, Act.FINDINGS, Act.CASTING, Act.CLARIFICATION),
        *(Act.SHADOW_CHOICE, Act.RECALL, Act.AUDIT),
    }
)
#: Most risks, ideas, facts and gaps that a first answer lists.
MOST_RAISED = 4
#: The recorded source of a prompt that is not overridden.
BUILT_IN = "built-in"

#: Values that every overriding task may use, even if the built-in task does not.
_ALWAYS = frozenset({"persona", "words"})
_RENDERING_ERRORS = (TemplateError, ArithmeticError, LookupError, TypeError, ValueError)
#: Sample values to try an override with; other values are tried with their own names.
_SAMPLES: Mapping[str, object] = {
    **dict.fromkeys(("words", "count", "most", "round", "left", "may_ask", "fewest"), 3),
    "roles": {"security": "You look at what is worth stealing."},
    "criteria": [{"name": "security", "meaning": "threats are met."}],
}


@cache
def system(act: Act | None = None) -> str:
    """The instructions for every prompt. They are constant, so that providers can cache them.

    Args:
        act: For acts outside the debate the text does not mention a debate; for acts that only sort
            or summarise, it does not explain how to argue.
    """
    return rendered("system", alone=act in _OUTSIDE, brief=act in _SORTING)


@cache
def persona(role: str, act: Act | None = None) -> str:
    """The description of a role, and the points that the role considers in this act.

    A role's file begins with the description. Its sections, named after the lenses of acts
    (`LENSES`), list the points. A role without a file gets the generalist's.
    """
    paths = {path.stem: path for path in (_FOLDER / "roles").glob("*.md")}
    text = paths.get(role, paths["generalist"]).read_text(encoding="utf-8")
    intro, *sections = text.split("\n## ")
    lenses = {
        name.strip(): points.strip() for name, _, points in (s.partition("\n") for s in sections)
    }
    lens, heading = LENSES.get(act, ("", "")) if act else ("", "")
    points = lenses.get(lens)
    return f"{intro.strip()}\n\n{heading}\n\n{points}" if points else intro.strip()


def task(act: Act, agent: Agent, **values: object) -> str:
    """The task of this turn; prompts of the agent's own replace built-in ones.

    Raises:
        jinja2.UndefinedError: The text uses a value that is not given.
        jinja2.TemplateNotFound: The act has no prompt.
    """
    override = agent.prompts.get(act.value)
    template = (
        SANDBOX.from_string(override.text)
        if override
        else _environment.get_template(f"{act.value}.md.j2")
    )
    own_persona = agent.prompts.get(PERSONA)
    text = template.render(
        persona=own_persona.text if own_persona else persona(agent.role, act), **values
    ).strip()
    return f"{text}\n\n{short_form(act, **values)}" if ACTS[act].is_speech else text


def short_form(act: Act, **values: object) -> str:
    options = "" if values.get("first") else values.get("options")
    return rendered(
        "short_form",
        is_criticism=act in _CRITICISMS,
        is_first=values.get("raises"),
        was_asked=values.get("was_asked"),
        most_raised=MOST_RAISED,
        options=options,
    )


def rendered(name: str, **values: object) -> str:
    return _environment.get_template(f"{name}.md.j2").render(values).strip()


def source(act: Act, agent: Agent) -> str:
    sources = [agent.prompts[key].source for key in (act.value, PERSONA) if key in agent.prompts]
    return ", ".join(sources) or BUILT_IN


def overridable() -> tuple[str, ...]:
    """The names of all prompts that can be overridden: the persona, and each task with a prompt."""
    return (PERSONA, *(act.value for act in Act if ACTS[act].asks_model))


def override_fault(name: str, text: str) -> str:
    """The reason, for people, why this text cannot replace the built-in prompt; empty if it can."""
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
