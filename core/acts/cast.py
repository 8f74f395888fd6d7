"""Chooses the agents for a question with one cheap model call; by topics if the call fails."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

import structlog
from pydantic import BaseModel

from core.acts import prompt as render
from core.acts.act import ACTS, side_act
from core.acts.replies import label_type, narrow_form
from core.acts.request_for import ask_model
from core.debate.rules import When
from core.debate.setup import Cast
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import AgentsCast
from core.errors import CallFailed
from core.llm.call import ModelCalls
from core.opening import recast
from core.request import Part, PartKind
from core.rules import casting
from core.settings import ROLES, roles_with

_log = structlog.get_logger(__name__)


class CastRoleReply(BaseModel):
    reason: str
    role: str


class CastingReply(BaseModel):
    kind: Literal["judgement", "check of rules", "unclear"] = "unclear"
    undo: Literal["easy", "hard", "unclear"] = "unclear"
    agents: list[CastRoleReply]


@cache
def casting_reply(roles: tuple[str, ...]) -> type[CastingReply]:
    role = narrow_form(CastRoleReply, role=label_type(roles))
    return narrow_form(CastingReply, agents=list[role])


async def choose(calls: ModelCalls, debate: Debate, turn: Turn) -> AgentsCast:
    setup = debate.setup
    roles = roles_with(setup.casting.roles if setup.casting else ())
    topics = Cast(turn=turn, agents=setup.agents, reasons=setup.reasons)
    try:
        reply, call = await ask_model(calls, debate, turn, casting_reply(tuple(roles)))
    except CallFailed as error:
        _log.warning("casting failed", debate=debate.id, reason=str(error))
        text = f"The agents were chosen by the question's topics: no model could. {error}"
        return AgentsCast(cast=topics.model_copy(update={"lost": error.usage, "warnings": (text,)}))
    suggestions = [casting.CastRole(role.role, role.reason) for role in reply.agents]
    # Rounds that people asked for are held, even if the question only checks rules.
    checks_rules = reply.kind == "check of rules" and setup.when is When.SPLIT
    most = casting.A_CHECK if checks_rules else casting.MOST
    cast_roles = casting.valid_cast(suggestions, roles, most)
    if not cast_roles:
        text = "The agents were chosen by the question's topics: a model named no known role."
        return AgentsCast(cast=topics.model_copy(update={"call": call, "warnings": (text,)}))
    roster = recast(setup, cast_roles)
    cast = Cast(
        turn=turn,
        agents=roster.agents,
        reasons=roster.reasons,
        hard_to_undo=reply.undo == "hard",
        checks_rules=checks_rules,
        call=call,
    )
    return AgentsCast(cast=cast)


def _turn_parts(debate: Debate, _turn: Turn) -> Sequence[Part]:
    """The titles of the sources, because most of them have not been read yet."""
    titles = [" ".join(reference.title.split()) for reference in debate.setup.references]
    if not titles:
        return ()
    text = "\n".join(f"- {title}" for title in titles)
    return (Part(kind=PartKind.SOURCE, label="Titles of the sources", text=text),)


def _values(debate: Debate, _turn: Turn) -> Mapping[str, object]:
    descriptions = {role: " ".join(render.persona(role).split()) for role in ROLES}
    plugin_roles = debate.setup.casting.roles if debate.setup.casting else ()
    descriptions |= {
        role.id: " ".join(role.prompt.split("\n\n")[0].split()) for role in plugin_roles
    }
    return {
        "roles": descriptions,
        "sceptic": casting.SCEPTIC,
        "fewest": casting.FEWEST,
        "most": casting.MOST,
    }


ACTS[Act.CASTING] = side_act(
    max_tokens=512,
    values=_values,
    turn_parts=_turn_parts,
    perform=choose,
)
