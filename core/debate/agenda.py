"""The agenda of a plugin's format: its acts, their order and their prompts."""

from collections.abc import Mapping

from pydantic import Field, model_validator

from core.debate.agents import PluginName
from core.debate.turn import Act
from core.values import Value


class Phase(Value):
    act: Act
    #: Earlier acts: what the others said in them is shown, and waited for.
    hears: tuple[Act, ...] = ()


#: The acts an agenda may have: what agents say once each, and which of it they stand for.
_POSITIONS = (Act.PROPOSAL, Act.GATHER, Act.FORMULATE, Act.REFINEMENT, Act.ADJUST)
_ON_AGENDA = frozenset({*_POSITIONS, Act.PLAN, Act.DEBATE, Act.REBUTTAL})
_DRAFTS = frozenset({Act.PROPOSAL, Act.GATHER})
#: Their prompts ask how likely each option is the best, which the count of minds needs.
_LAST_POSITIONS = frozenset({Act.REFINEMENT, Act.ADJUST})


class Agenda(Value):
    """A format of one round as a plugin brings it: which acts follow one another, and their words.

    It is a value, not code, and a debate's log holds it: so the debate goes on, and can be read,
    where the plugin is gone.
    """

    name: PluginName
    words: str = Field(min_length=1, max_length=75)
    phases: tuple[Phase, ...] = Field(min_length=2, max_length=len(_ON_AGENDA))
    #: Tasks in place of the built-in ones, as templates like those of `core/acts/`.
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
            raise ValueError("every act is on the agenda once")
        if acts[0] not in _DRAFTS or self.phases[0].hears:
            raise ValueError("it begins with proposal or gather, and hears nothing there")
        if self.positions[-1] not in _LAST_POSITIONS:
            raise ValueError("the last position agents take is refinement or adjust")
        for at, phase in enumerate(self.phases):
            if late := [act.value for act in phase.hears if act not in acts[:at]]:
                raise ValueError(f"{phase.act.value} hears {late[0]}, which does not come before")
        if other := [act.value for act in self.prompts if act not in acts]:
            raise ValueError(f"there is a prompt of {other[0]}, which is not on the agenda")
        return self
