"""Settings of debates. Each is declared once, here or in `core.debate.rules`."""

import re
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from core.capabilities import Price
from core.debate.agenda import Agenda
from core.debate.agents import PERSONA, Agent, ModelChoice, PromptText, Role, Speaker
from core.debate.people import Place
from core.debate.rules import DebateRules, Limits, Playbook, VoteRules
from core.debate.turn import JUDGE
from core.landing import LandingPlaces
from core.values import (
    EVERYWHERE,
    LOWER_NAME,
    KeyVariable,
    Money,
    OptionalKeyVariable,
    ProgramText,
    Seconds,
    Value,
    WebAddress,
    channel_or,
    check_names_differ,
)

_ROLES = (
    Role(id="architect", name="Architect", icon=":classical_building:"),
    Role(id="performance", name="Performance", icon=":zap:"),
    Role(id="security", name="Security", icon=":shield:"),
    Role(id="testing", name="Testing", icon=":test_tube:"),
    Role(id="simplicity", name="Simplicity", icon=":feather:"),
    Role(id="data", name="Data modelling", icon=":card_file_box:"),
    Role(id="generalist", name="Generalist", icon=":compass:"),
    Role(id="sceptic", name="Sceptic", icon=":face_with_raised_eyebrow:"),
    Role(id="product", name="Product", icon=":dart:"),
    Role(id="finance", name="Finance", icon=":abacus:"),
    Role(id="people", name="People", icon=":busts_in_silhouette:"),
    Role(id="legal", name="Legal", icon=":scroll:"),
    Role(id="operations", name="Operations", icon=":wrench:"),
    Role(id="customer", name="Customer", icon=":telephone_receiver:"),
    Role(id="design", name="Design", icon=":art:"),
)
ROLES: Mapping[str, Role] = {role.id: role for role in _ROLES}
#: Other spellings people use for a role.
ROLE_ALIASES: Mapping[str, str] = {
    "kiss": "simplicity",
    "data-modelling": "data",
    "data-modeling": "data",
    "datamodeling": "data",
    "skeptic": "sceptic",
    "tester": "testing",
    "perf": "performance",
    "hr": "people",
    "compliance": "legal",
    "ops": "operations",
    "customers": "customer",
    "ux": "design",
}
DEFAULT_ROSTER = ("architect", "security", "simplicity")


#: Default of concurrent model calls per provider: enough for some twenty debates.
USUAL_CALLS_AT_ONCE = 64
#: Default of the longest question, in characters.
QUESTION_CHARACTERS = 4000


class Caps(Value):
    """Bounds on money over several debates, in US dollars."""

    most_debate_cost: Money | None = Field(
        default=None,
        description="Highest `debate_cost` that a channel or a form can set; null: no limit.",
    )
    #: A day is a day in UTC.
    person_day_cost: Money | None = Field(
        default=None, description="Daily cap of one person; null: no cap."
    )
    token_day_cost: Money | None = Field(
        default=None,
        description="Daily cap of debates started with one API token; null: only the cap of the "
        "token's owner.",
    )
    day_cost: Money | None = Field(
        default=None, description="Daily cap of all debates of a workspace; null: no cap."
    )


class AllLimits(Limits, Caps):
    """Limits of one debate and of all debates. Times are in seconds, money in US dollars."""

    def with_cost(self, cost: Decimal | None) -> "AllLimits":
        """Return these limits with a cap per debate (None: no cap), at most `most_debate_cost`."""
        most = self.most_debate_cost
        if most is not None:
            cost = most if cost is None else min(cost, most)
        return self.model_copy(update={"debate_cost": cost})

    @property
    def of_debate(self) -> Limits:
        capped = self.with_cost(self.debate_cost)
        return Limits(**{name: getattr(capped, name) for name in Limits.model_fields})


#: The value for the terminal in a list of channels.
IN_TERMINAL = "terminal"


class ToolSource(Value):
    """A tool of an MCP server, called at the start of a debate; its result is a source."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, description="Name of the tool.")
    arguments: Mapping[str, Any] = Field(
        default_factory=dict[str, Any],
        description="Arguments of the call. In texts `{question}` is replaced by the question, "
        "`{words}` by its longer words (four letters or more, figures, abbreviations).",
    )
    title: str = Field(
        default="",
        max_length=100,
        description="Title of the source; empty: the names of server and tool.",
    )
    read_only: bool = Field(
        default=False,
        description="You confirm that the tool changes nothing, if the server does not say so.",
    )


class ToolServer(Value):
    """An MCP server with tools that serve as sources: a program, or an address."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=LOWER_NAME, description="Name in Moot, in lower case.")
    command: tuple[ProgramText, ...] = Field(
        default=(), description="Program and arguments of a server on stdio."
    )
    url: WebAddress = Field(default="", description="Address of a server on streamable HTTP.")
    #: Besides these the program gets only PATH, HOME and the language of Moot's environment.
    variables: tuple[KeyVariable, ...] = Field(
        default=(),
        description="Environment variables for the program (names with KEY, TOKEN or SECRET).",
    )
    key_variable: OptionalKeyVariable = Field(
        default="",
        description="The variable with the token for the address (a name with KEY, TOKEN or "
        "SECRET); empty: none.",
    )
    channels: tuple[Annotated[str, channel_or(IN_TERMINAL, EVERYWHERE)], ...] = Field(
        min_length=1,
        description="Ids of channels whose debates use it; `terminal`; `*` is everywhere.",
    )
    seconds: Seconds = Field(default=20.0, gt=0, description="Time for starting and calling it.")
    tools: tuple[ToolSource, ...] = Field(
        min_length=1, description="Tools to call; no other tool is called."
    )

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("needs a command or a url, one of the two")
        if self.url and self.variables:
            raise ValueError("variables: only a command is handed variables")
        if self.command and self.key_variable:
            raise ValueError("key_variable: only a url is sent a key; see variables")
        return self

    def serves(self, place: Place) -> bool:
        where = place.channel or IN_TERMINAL
        return EVERYWHERE in self.channels or where in self.channels


def _check_names(servers: tuple[ToolServer, ...]) -> tuple[ToolServer, ...]:
    check_names_differ("MCP server", [server.name for server in servers])
    return servers


def _host(host: str) -> str:
    if not re.fullmatch(r"(\*\.)?[^\s/:@*]+", host):
        raise ValueError("must be a host, like docs.example.com or *.example.com")
    return host


class EvidenceLimits(Value):
    """Sources that debates may use, and limits of reading one."""

    #: By default nothing is fetched from the network.
    link_hosts: tuple[Annotated[str, AfterValidator(_host)], ...] = Field(
        default=(),
        description="Hosts whose links may be read: `docs.example.com`, `*.example.com`.",
    )
    earlier_decisions: bool = Field(
        default=True, description="Use the channel's earlier decisions as a source."
    )
    mcp_servers: Annotated[tuple[ToolServer, ...], AfterValidator(_check_names)] = Field(
        default=(), description="MCP servers with tools that serve as sources."
    )
    file_bytes: int = Field(default=20_000_000, ge=1, description="Largest file, in bytes.")
    pages: int = Field(default=500, ge=1, description="Most pages or slides of one file.")
    characters: int = Field(default=400_000, ge=1, description="Most characters of one source.")
    seconds: Seconds = Field(default=10.0, description="Time for reading one file, in seconds.")
    memory_bytes: int = Field(
        default=1_500_000_000, ge=300_000_000, description="Memory for reading one file, in bytes."
    )


class OutcomeDates(Value):
    """When people are asked how an accepted decision turned out."""

    ask_after_days: int = Field(
        default=90,
        ge=0,
        le=3650,
        description="Days after a decision was accepted; 0: nobody is asked.",
    )
    again_after_days: int = Field(
        default=30, ge=1, le=3650, description="Days until they are asked again after *too early*."
    )


def _without_path(url: str) -> str:
    """The address without the path of Chat Completions, which documentation often includes."""
    address, mark, query = url.partition("?")
    return address.rstrip("/").removesuffix("/chat/completions") + mark + query


class ModelServer(Value):
    """A model server with OpenAI's API, under a name of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=LOWER_NAME, description="Its name in `provider`, in lower case.")
    base_url: Annotated[WebAddress, AfterValidator(_without_path)] = Field(
        description="Address up to and including `/v1`, or the server's other prefix."
    )
    #: Secrets are read from the environment before the settings, so they are found by their names.
    key_variable: OptionalKeyVariable = Field(
        default="",
        description="The variable with its key (a name with KEY, TOKEN or SECRET); empty: it needs "
        "none.",
    )
    api: Literal["chat", "responses"] = Field(
        default="chat", description="Chat Completions, or Responses."
    )
    models: tuple[str, ...] = Field(
        default=(),
        description="Its models that people can choose in Slack, besides models named elsewhere in "
        "these settings.",
    )


class StallLimits(Value):
    """How long a model may send nothing before a call fails, in seconds."""

    first_token: Seconds = Field(
        default=120.0,
        gt=0,
        description="Until the first token of a reply. At least 300 for a model of Ollama, which "
        "may have to be loaded. Keep-alive messages of the server restart the time.",
    )
    between_tokens: Seconds = Field(
        default=60.0,
        gt=0,
        description="Between tokens of a reply; never more than `first_token`.",
    )


USUAL_STALL_LIMITS = StallLimits()


class CommonSettings(Value):
    """Settings that have the same form in a settings file and in the program."""

    summary_model: ModelChoice | None = Field(
        default=None,
        # A provider that does not take part in the debate must not get its texts.
        description="The model for summaries and for choosing agents, if its provider takes part "
        "in the debate; null: the cheapest model of those providers.",
    )
    shadow_model: ModelChoice | None = Field(
        default=None,
        description="The model of the single answer beside a debate (`debate.shadow`); null: the "
        "most expensive of the agents' models, else the judge's.",
    )
    agents: tuple[Agent, ...] = Field(
        default=(), description="Agents; none: chosen for each question among the built-in roles."
    )
    casting: bool = Field(
        default=True,
        description="Choose agents for each question if nobody named any; false: always architect, "
        "security and simplicity.",
    )
    servers: tuple[ModelServer, ...] = Field(
        default=(), description="Model servers with OpenAI's API; each is a provider."
    )
    vote: VoteRules = Field(default=VoteRules(), description="How ballots are counted.")
    limits: AllLimits = Field(
        default=AllLimits(), description="Time, money, least number of agents."
    )
    calls_at_once: int = Field(
        default=USUAL_CALLS_AT_ONCE,
        ge=1,
        description="Most concurrent model calls per provider; at most 8 for models on your own "
        "machine.",
    )
    stall: StallLimits = Field(
        default=USUAL_STALL_LIMITS, description="How long a model may send nothing."
    )
    evidence: EvidenceLimits = Field(
        default=EvidenceLimits(), description="Allowed sources, and their limits."
    )
    outcomes: OutcomeDates = Field(
        default=OutcomeDates(),
        description="When people are asked how a decision turned out.",
    )
    landing: LandingPlaces = Field(
        default=LandingPlaces(), description="Where debates and decisions are sent besides Slack."
    )
    fallbacks: tuple[ModelChoice, ...] = Field(
        default=(),
        description="Models to use, in this order, if an agent's own model is unavailable.",
    )
    prompts: Mapping[str, PromptText] = Field(
        default_factory=dict[str, PromptText], description="Prompt files by act, for every agent."
    )
    models: tuple[Mapping[str, Any], ...] = Field(
        default=(), description="Capabilities of models; they override the built-in table."
    )
    prices: Mapping[str, Price] = Field(
        default_factory=dict[str, Price],
        description="Prices by `provider/model` or by the model's name.",
    )


class SettingsFile(CommonSettings):
    """The configuration file of Moot."""

    default_model: ModelChoice = Field(
        default=ModelChoice(), description="The model of agents and judge without a model."
    )
    judge: Speaker | None = Field(default=None, description="The agent that writes the verdict.")
    debate: DebateRules = Field(default=DebateRules(), description="How a debate goes.")


class Settings(CommonSettings, DebateRules):
    """The settings from which debates start."""

    #: The model of agents that have none, such as those of built-in roles.
    agent_model: ModelChoice = ModelChoice(provider="offline", model="offline-checklists")
    judge_model: ModelChoice = ModelChoice(provider="offline", model="offline-checklists")
    #: Given in turn to agents that have no model; empty: `agent_model` for all of them.
    mixed_models: tuple[ModelChoice, ...] = ()
    #: The judge uses one whose maker has no agent among the winners; empty: its own model.
    judge_models: tuple[ModelChoice, ...] = ()
    #: For summaries, casting and merging without `summary_model`; the cheapest first.
    background_models: tuple[ModelChoice, ...] = ()
    #: The most expensive of the agents' models, for the shadow answer without `shadow_model`.
    strongest_model: ModelChoice | None = None
    #: The judge; None: built from `judge_model`.
    judge: Agent | None = None
    #: Warnings at the start of each debate, about settings that cannot be applied.
    warnings: tuple[str, ...] = ()
    #: Playbooks by name: built-in ones and the team's.
    playbooks: Mapping[str, Playbook] = Field(default_factory=dict[str, Playbook])
    #: Errors of the team's playbooks that are left out, a line each.
    playbook_faults: tuple[str, ...] = ()
    question_max_chars: int = QUESTION_CHARACTERS
    #: Roles and agendas of plugins.
    roles: tuple[Role, ...] = ()
    agendas: tuple[Agenda, ...] = ()

    def background_model(self, providers: Collection[str]) -> ModelChoice | None:
        """Return the model for summaries, casting and merging; None: the judge's model.

        Only a model of these providers, which take part in the debate: no other provider gets its
        texts.
        """
        candidates = [self.summary_model] if self.summary_model else []
        choices = (*candidates, *self.background_models)
        return next((choice for choice in choices if choice.provider in providers), None)

    @property
    def providers(self) -> frozenset[str]:
        """Providers used by debates with these settings, unless people choose other models."""
        people = [*(agent for agent in self.agents if agent.enabled), *filter(None, [self.judge])]
        choices = [self.agent_model, self.judge_model, *self.fallbacks]
        choices += [fallback for agent in people for fallback in agent.fallbacks or ()]
        return frozenset(choice.provider for choice in (*people, *choices))


def roles_with(plugin_roles: Iterable[Role]) -> Mapping[str, Role]:
    return {**ROLES, **{role.id: role for role in plugin_roles}}


def role_id(name: str, plugin_roles: Iterable[Role] = ()) -> str | None:
    """Return the id of the role with this name or alias; None if there is none."""
    key = name.strip().lower().replace(" ", "-").replace("_", "-")
    key = ROLE_ALIASES.get(key, key)
    return key if key in roles_with(plugin_roles) else None


def agent_for(role: str, choice: ModelChoice, plugin_roles: Iterable[Role] = ()) -> Agent:
    definition = roles_with(plugin_roles)[role]
    prompts = (
        {PERSONA: PromptText(text=definition.prompt, source=definition.source)}
        if definition.prompt
        else {}
    )
    return Agent(
        id=definition.id,
        name=definition.name,
        role=definition.id,
        icon=definition.icon,
        prompts=prompts,
        provider=choice.provider,
        model=choice.model,
    )


def judge_for(choice: ModelChoice) -> Agent:
    return Agent(
        id=JUDGE,
        name="Judge",
        role=JUDGE,
        icon=":scales:",
        provider=choice.provider,
        model=choice.model,
    )
