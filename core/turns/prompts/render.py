"""Renders prompt files: the frozen system text, the persona of a role, the task of an act."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from core.models import Act, Agent

_FOLDER = Path(__file__).parent
_environment = Environment(
    loader=FileSystemLoader(_FOLDER), undefined=StrictUndefined, keep_trailing_newline=False
)
#: For texts that are not ours: no attribute of Python's own can be reached from them.
_sandbox = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
#: Where a prompt came from when nobody overrode it.
BUILT_IN = "built-in"
#: The key under which an agent overrides who it is.
PERSONA = "persona"


@cache
def system() -> str:
    """The instructions every agent gets. Frozen, so that providers can cache them."""
    return _environment.get_template("system.md.j2").render().strip()


@cache
def persona(role: str) -> str:
    """Who the agent is; a role without a file of its own gets the generalist's."""
    known = {path.stem: path for path in (_FOLDER / "roles").glob("*.md")}
    return known.get(role, known["generalist"]).read_text(encoding="utf-8").strip()


def task(act: Act, agent: Agent, **values: object) -> str:
    """What the agent is to do on this turn, with its own prompts in place of built-in ones.

    Raises:
        jinja2.UndefinedError: The text needs a value that is not given.
        jinja2.TemplateNotFound: The act asks no model.
    """
    own = agent.prompts.get(act.value)
    template = (
        _sandbox.from_string(own.text)
        if own
        else _environment.get_template(f"acts/{act.value}.md.j2")
    )
    who = agent.prompts.get(PERSONA)
    return template.render(persona=who.text if who else persona(agent.role), **values).strip()


def source(act: Act, agent: Agent) -> str:
    """Where the agent's prompt for this act comes from, for the record."""
    own = [agent.prompts[key].source for key in (act.value, PERSONA) if key in agent.prompts]
    return ", ".join(own) or BUILT_IN
