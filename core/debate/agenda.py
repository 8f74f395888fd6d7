"""The agenda of a plugin's format: its acts, their order and their prompts."""

from collections.abc import Mapping

from pydantic import Field, model_validator

from core.debate.agents import PluginName
from core.debate.turn import Act
from core.values import Value


class Phase(Value):
    act: Act
    #: Earlier acts. The turn waits for the other agents' texts of these acts and shows them.
    hears: tuple[Act, ...] = ()


#: The acts an agenda may have: those that state a position, and all.
_POSITIONS = (Act.PROPOSAL, Act.GATHER, Act.FORMULATE, Act.REFINEMENT, Act.ADJUST)
_ON_AGENDA = frozenset({*_POSITIONS, Act.PLAN, Act.DEBATE, Act.REBUTTAL})
_DRAFTS = frozenset({Act.PROPOSAL, Act.GATHER})
#: Acts whose prompts ask for a probability for each option. The last position must be one of them.
_LAST_POSITIONS = frozenset({Act.REFINEMENT, Act.ADJUST})


class Agenda(Value):
    """A format of one round that a plugin defines: the order of its acts, and their prompts.

    It is data, not code, and is stored in the debate's log. So the debate can continue, and can be
    read, after the plugin was removed.
    """

    name: PluginName
    words: str = Field(min_length=1, max_length=75)
    phases: tuple[Phase, ...] = Field(min_length=2, max_length=len(_ON_AGENDA))
    #: Prompt templates by act that replace the built-in ones of `core/acts/`.
    prompts: Mapping[Act, str] = Field(default_factory=dict[Act, str])
    source: str = ""

    @property
    def positions(self) -> tuple[Act, ...]:
        return tuple(phase.act for phase in self.phases if phase.act in _POSITIONS)

    @model_validator(mode="after")
    def _can_be_held(self) -> "Agenda":
        acts = [phase.act for phase in self.phases]
        if unknown := [act.value for act in acts if act not in _ON_AGENDA]:
            names = ", ".join(sorted(act.value for act in _ON_AGENDA))
            raise ValueError(f"{unknown[0]} cannot be on an agenda; these can: {names}")
        if len(set(acts)) < len(acts):
            raise ValueError("each act can be on the agenda only once")
        if acts[0] not in _DRAFTS or self.phases[0].hears:
            raise ValueError("the first act must be proposal or gather, and must not hear others")
        if self.positions[-1] not in _LAST_POSITIONS:
            raise ValueError("the last position must be refinement or adjust")
        for index, phase in enumerate(self.phases):
            if late := [act.value for act in phase.hears if act not in acts[:index]]:
                raise ValueError(f"{phase.act.value} hears {late[0]}, which is not an earlier act")
        if unused := [act.value for act in self.prompts if act not in acts]:
            raise ValueError(f"there is a prompt of {unused[0]}, which is not on the agenda")
        return self
