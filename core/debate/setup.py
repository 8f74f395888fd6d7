"""The setup of a debate, which is fixed before its first turn, and the cast of agents."""

from collections.abc import Mapping
from decimal import Decimal

from pydantic import Field

from core.debate.agenda import Agenda
from core.debate.agents import Agent, ModelChoice, Role
from core.debate.evidence import SourceReference
from core.debate.people import Mention, Person, Place
from core.debate.rules import DebateRules, Limits, Playbook, VoteRules
from core.debate.turn import FACILITATOR, JUDGE, SHADOW, SUMMARIZER, Turn
from core.usage import Call, Usage
from core.values import Value


class Forecast(Value):
    #: US dollars; None if a model's price is unknown.
    cost: Decimal | None
    #: The cost if all agents agree at once and no round is held; None: unknown.
    cost_if_agreed: Decimal | None = None
    seconds: float
    calls: int
    input_tokens: int
    output_tokens: int


class CastingModels(Value):
    #: Assigned to the agents one after the other.
    models: tuple[ModelChoice, ...]
    #: The agents' fallback models.
    fallbacks: tuple[ModelChoice, ...] = ()
    #: Roles that can be cast besides the built-in ones.
    roles: tuple[Role, ...] = ()


class Setup(DebateRules):
    question: str
    context: str = ""
    asked_by: Person
    place: Place = Place(surface="terminal")
    #: Id of the API token with which a program started the debate; empty: a person started it.
    token: str = ""
    #: The mention that asked for the debate in an existing thread; None: there was none.
    mention: Mention | None = None
    #: Id of the debate whose verdict this one continues; empty: none.
    continues: str = ""
    #: A copy of the chosen playbook, as its file was at the start; None: none was chosen.
    playbook: Playbook | None = None
    #: The plugin's format; None: the format is built in.
    agenda: Agenda | None = None
    #: Whether people get one post per agent and round instead of one per turn. Fixed at the start.
    #: Older versions posted every turn.
    quiet: bool = False
    #: The agents. If nobody chose them, they are cast by topics until a model has cast them
    #: (`casting`).
    agents: tuple[Agent, ...]
    #: Why each agent takes part, by its id; empty if people chose the agents.
    reasons: Mapping[str, str] = Field(default_factory=dict[str, str])
    #: Models for a cast that a model chooses, before any other turn; None: no model chooses.
    casting: CastingModels | None = None
    #: Whether the decision is hard to undo, and whether the question asks to check rules, as the
    #: casting model says. False if no model was asked.
    hard_to_undo: bool = False
    checks_rules: bool = False
    judge: Agent
    #: Candidates for the judge's model: the first whose maker has no agent among the winners is
    #: used. Empty: the judge's own model.
    judge_models: tuple[ModelChoice, ...] = ()
    limits: Limits = Limits()
    vote: VoteRules = VoteRules()
    #: Whether agents vote on the first drafts before the debate, to show later who changed sides.
    blind_ballot: bool = True
    #: Writes summaries and does other background work; None: the judge's model does.
    summarizer: Agent | None = None
    facilitator: Agent | None = None
    #: Answers the question alone, hidden until the verdict; None: there is no shadow answer.
    shadow_agent: Agent | None = None
    #: Random per debate: marks where quoted text begins and ends in prompts.
    delimiter: str
    references: tuple[SourceReference, ...] = ()
    #: None: there was no estimate.
    forecast: Forecast | None = None
    #: Warnings that people read when the debate starts (defaults used, unknown roles).
    warnings: tuple[str, ...] = ()

    def agent(self, agent_id: str) -> Agent:
        """The agent with this id; reserved ids give the judge, facilitator, summarizer, shadow."""
        if agent_id == JUDGE:
            return self.judge
        if agent_id == FACILITATOR:
            return self.facilitator or _judge_as(self.judge, FACILITATOR)
        if agent_id == SUMMARIZER:
            return self.summarizer or _judge_as(self.judge, SUMMARIZER)
        if agent_id == SHADOW:
            return self.shadow_agent or _judge_as(self.judge, SHADOW)
        return {agent.id: agent for agent in self.agents}[agent_id]

    @property
    def quorum(self) -> int:
        """The number of agents that must be able to speak."""
        return min(self.limits.quorum, len(self.agents))

    @property
    def models(self) -> Mapping[str, str]:
        """Each agent's model, as `provider/model`, by the agent's id."""
        return {agent.id: agent.full_name for agent in self.agents}

    def letter(self, agent_id: str) -> str:
        """The letter under which other agents read this agent's position: A, B, C and so on."""
        return chr(ord("A") + [agent.id for agent in self.agents].index(agent_id))


def _judge_as(judge: Agent, role: str) -> Agent:
    return judge.model_copy(update={"id": role, "name": role.capitalize(), "role": role})


class Cast(Value):
    turn: Turn
    agents: tuple[Agent, ...]
    #: Why each agent takes part, by its id.
    reasons: Mapping[str, str]
    #: The model's answers about the decision (see `Setup`); false also if it does not know.
    hard_to_undo: bool = False
    checks_rules: bool = False
    call: Call | None = None
    lost: Usage = Usage()
    #: Why the agents were cast by topics and not by a model; else empty.
    warnings: tuple[str, ...] = ()
