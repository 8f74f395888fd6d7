"""The setup of a debate: everything that is fixed before its first turn, and the cast."""

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
    #: US dollars; None where a model's price is unknown.
    cost: Decimal | None
    #: The same if all agree at once and no round is held; None: not known.
    cost_if_agreed: Decimal | None = None
    seconds: float
    calls: int
    input_tokens: int
    output_tokens: int


class CastingModels(Value):
    #: Dealt to the agents in turn.
    models: tuple[ModelChoice, ...]
    #: Stand in for them.
    fallbacks: tuple[ModelChoice, ...] = ()
    #: What there is to choose among besides the built-in roles.
    roles: tuple[Role, ...] = ()


class Setup(DebateRules):
    question: str
    context: str = ""
    asked_by: Person
    place: Place = Place(surface="terminal")
    #: Id of the token with which a program asked for it; empty: people asked themselves.
    token: str = ""
    #: None: it was not asked for in a thread of people's own.
    mention: Mention | None = None
    #: Id of the debate from whose verdict it goes on; empty: of none.
    continues: str = ""
    #: The kind of debate it is, as its file was at the start; None: none was chosen.
    playbook: Playbook | None = None
    #: What its format is, where a plugin brought it; None: a built-in one.
    agenda: Agenda | None = None
    #: People read one post per agent and round, not one per turn; so it stays to the end. Older
    #: versions posted every turn.
    quiet: bool = False
    #: Where nobody chose them they are cast: by topics, until a model has (`casting`).
    agents: tuple[Agent, ...]
    #: Why each takes part, by id; empty where people chose.
    reasons: Mapping[str, str] = Field(default_factory=dict[str, str])
    #: A model is asked who takes part, before any other turn; None: it is not.
    casting: CastingModels | None = None
    #: What that model says of the decision; where none was asked, nothing is assumed.
    hard_to_undo: bool = False
    checks_rules: bool = False
    judge: Agent
    #: The judge's model is one of these, of a maker none of whose agents won; empty: its own.
    judge_models: tuple[ModelChoice, ...] = ()
    limits: Limits = Limits()
    vote: VoteRules = VoteRules()
    #: Rank the first drafts before the debate, to see later who moved.
    blind_ballot: bool = True
    #: Serve the background; None = the judge's model.
    summarizer: Agent | None = None
    facilitator: Agent | None = None
    #: Answers the question alone, unseen until the verdict; None: nobody does.
    shadow_agent: Agent | None = None
    #: Random per debate: marks where quoted text begins and ends in prompts.
    delimiter: str
    references: tuple[SourceReference, ...] = ()
    #: None: nobody estimated it.
    forecast: Forecast | None = None
    #: Said to people when the debate starts (defaults used, unknown roles, …).
    warnings: tuple[str, ...] = ()

    def agent(self, agent_id: str) -> Agent:
        """The agent with this id; the judge, facilitator and summarizer by their reserved ids."""
        if agent_id == JUDGE:
            return self.judge
        if agent_id == FACILITATOR:
            return self.facilitator or _standing_in(self.judge, FACILITATOR)
        if agent_id == SUMMARIZER:
            return self.summarizer or _standing_in(self.judge, SUMMARIZER)
        if agent_id == SHADOW:
            return self.shadow_agent or _standing_in(self.judge, SHADOW)
        return {agent.id: agent for agent in self.agents}[agent_id]

    @property
    def quorum(self) -> int:
        """How many agents must be able to speak."""
        return min(self.limits.quorum, len(self.agents))

    @property
    def models(self) -> Mapping[str, str]:
        return {agent.id: agent.full_name for agent in self.agents}

    def letter(self, agent_id: str) -> str:
        """The neutral name an agent and its position go by between agents: A, B, C and so on."""
        return chr(ord("A") + [agent.id for agent in self.agents].index(agent_id))


def _standing_in(judge: Agent, role: str) -> Agent:
    return judge.model_copy(update={"id": role, "name": role.capitalize(), "role": role})


class Cast(Value):
    turn: Turn
    agents: tuple[Agent, ...]
    #: Why each takes part, by id.
    reasons: Mapping[str, str]
    #: What the model says of the decision; false as well where it does not know.
    hard_to_undo: bool = False
    checks_rules: bool = False
    call: Call | None = None
    lost: Usage = Usage()
    #: Why topics had to do; empty unless they had.
    warnings: tuple[str, ...] = ()
