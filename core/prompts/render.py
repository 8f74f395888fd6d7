"""Renders prompt files: the frozen system text, the persona of a role, the task of an act."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from core.models import Act

_FOLDER = Path(__file__).parent
_environment = Environment(
    loader=FileSystemLoader(_FOLDER), undefined=StrictUndefined, keep_trailing_newline=False
)
#: Where a prompt came from when nobody overrode it.
BUILT_IN = "built-in"


@cache
def system() -> str:
    """The instructions every agent gets. Frozen, so that providers can cache them."""
    return _environment.get_template("system.md.j2").render().strip()


@cache
def persona(role: str) -> str:
    """Who the agent is; a role without a file of its own gets the generalist's."""
    file = _FOLDER / "roles" / f"{role}.md"
    known = {path.stem for path in (_FOLDER / "roles").glob("*.md")}
    chosen = file if role in known else _FOLDER / "roles" / "generalist.md"
    return chosen.read_text(encoding="utf-8").strip()


def task(act: Act, role: str, **values: object) -> str:
    """What the agent is to do on this turn.

    Raises:
        jinja2.UndefinedError: The act's file needs a value that is not given.
        jinja2.TemplateNotFound: The act asks no model.
    """
    template = _environment.get_template(f"acts/{act.value}.md.j2")
    return template.render(persona=persona(role), **values).strip()
