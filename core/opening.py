"""Builds a debate's setup from a question: checks, roster, defaults, warnings (pure)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any

from core.debate.agenda import Agenda
from core.debate.agents import (
    EXAMPLE,
    FALLBACK_ROLE,
    OFFLINE,
    Agent,
    ContextMethod,
    ModelChoice,
    PromptText,
    Role,
    Summarization,
)
from core.debate.evidence import SourceKind, SourceReference
from core.debate.people import Mention, Person, Place
from core.debate.rules import MOST_ROUNDS, Ending, Playbook, ShadowWhen, Termination, When
from core.debate.setup import CastingModels, Setup
from core.debate.turn import SHADOW, SUMMARIZER, Act
from core.errors import BadInput
from core.figures import number, quantity
from core.redaction import redact
from core.rules import casting
from core.rules.formats.panel import NAME as PANEL
from core.rules.formats.registry import formats_with
from core.rules.formats.review import NAME as REVIEW
from core.rules.sources import KINDS, MOST_SOURCES, new_links
from core.rules.steps import Format
from core.settings import (
    DEFAULT_ROSTER,
    ROLE_ALIASES,
    Settings,
    agent_for,
    judge_for,
    role_id,
    roles_with,
)
from core.wrong_values import nearest

#: Warning to the person who asked. The question is stored without the secret.
TAKEN_OUT = (
    "What looked like a secret was taken out of your question before it was stored. It was in "
    "plain sight here: replace it."
)

ALONE = "One agent alone is no debate: nobody criticises what it says. Name at least two."
NO_SUBJECT = (
    "There is nothing to review. In Slack: mention Moot with the file attached or in the thread "
    "that holds the proposal, give links under Sources or the text under Context in the form, or "
    "type the text. On a terminal: --source FILE or --diff RANGE. Over MCP: sources or context."
)
NOT_SEALED = "A review is not sealed: its author answers what the agents find."
#: A shorter text of one line that ends in a question mark is a question, not a proposal to review.
_QUESTION_MAX_CHARS = 300
#: Most titles of a review's subject in the question, and the longest title.
_MOST_TITLES, _TITLE_MAX_CHARS = 3, 80
#: Fields that the setup copies from the request and from the settings.
_FROM_REQUEST = ("asked_by", "place", "token", "mention", "continues")
_FROM_SETTINGS = (
    *("audit", "clarifying", "evidence_characters", "judge_models", "reveal_after_hours", "vote"),
)
#: An emoji as Slack sends it: `:thinking_face:`, `:+1::skin-tone-2:`.
_EMOJI = re.compile(r":[a-z0-9_+'-]{1,100}:")


@dataclass(frozen=True, kw_only=True)
class DebateRequest:
    """A person's request; None means the default of the settings."""

    question: str
    context: str = ""
    asked_by: Person
    place: Place
    #: Id of the API token; empty if a person asks.
    token: str = ""
    #: The message that mentions Moot, if people asked in a thread of their own.
    mention: Mention | None = None
    continues: str = ""
    #: Warnings for people at the start, before those that `open_debate` adds.
    warnings: Sequence[str] = ()
    agents: Sequence[str] | None = None
    #: Default agents of the channel. Agents that no longer exist are left out.
    usual_agents: Sequence[str] | None = None
    #: Set by a person: then all rounds are held, even if the first answers agree.
    rounds: int | None = None
    when: When | None = None
    shadow: ShadowWhen | None = None
    sealed: bool | None = None
    format: str | None = None
    #: Name of the playbook. Other fields of the request override its values.
    playbook: str | None = None
    references: Sequence[SourceReference] = ()
    #: Links in the question's text: also sources, but not the subject of a review.
    linked: Sequence[SourceReference] = ()
    #: Start the debate even if another person asked the same in the channel a moment ago.
    anew: bool = False


def open_debate(request: DebateRequest, settings: Settings, *, delimiter: str) -> Setup:
    """Return the setup of the requested debate; `delimiter` marks quoted parts in its prompts.

    Raises:
        BadInput: The question, the agents, the rounds, the format or the playbook cannot be used.
    """
    playbook, request, settings = _by_playbook(request, settings)
    form, formats = _format_name(request, settings), formats_with(settings.agendas)
    is_review = form == REVIEW
    if is_review:
        request = _with_subject(request)
    raw_question = check_question(request.question, settings.question_max_chars)
    raw_context = request.context.strip()
    question, context = redact(raw_question), redact(raw_context)
    roster = _roster(request, settings)
    agenda, settings = _with_agenda(settings, form)
    rounds, notices = _rounds(request.rounds, settings.rounds, formats[form])
    is_sealed = settings.sealed if request.sealed is None else request.sealed
    warnings = {
        TAKEN_OUT: (question, context) != (raw_question, raw_context),
        **dict.fromkeys(notices, True),
        NOT_SEALED: is_sealed and is_review,
    }
    judge = _with_defaults(settings.judge or judge_for(settings.judge_model), settings)
    agents = [_with_defaults(agent, settings, form) for agent in roster.agents]
    providers = {judge.provider, *(agent.provider for agent in agents)}
    summarizer = _summarizer(judge, settings.background_model(providers))
    cast_with = _casting_models(roster, summarizer or judge, settings)
    models = (*agents, *(cast_with.models if cast_with else ()))
    shadow = request.shadow or settings.shadow
    when, termination = _ending(request, settings)
    copied_fields: dict[str, Any] = {name: getattr(request, name) for name in _FROM_REQUEST}
    copied_fields |= {name: getattr(settings, name) for name in _FROM_SETTINGS}
    room = 0 if form == REVIEW else max(0, MOST_SOURCES - len(request.references))
    return Setup(
        **copied_fields,
        question=question,
        context=context,
        playbook=playbook,
        format=form,
        agenda=agenda,
        rounds=rounds,
        agents=tuple(agents),
        reasons=roster.reasons,
        casting=cast_with,
        judge=judge,
        summarizer=summarizer,
        shadow=shadow,
        sealed=is_sealed and not is_review,
        shadow_agent=_shadow(shadow, models, settings, judge),
        limits=settings.limits.of_debate,
        when=when,
        termination=termination,
        summarization=_fitting(settings.summarization, form),
        references=(*request.references, *new_links(request.linked, request.references)[:room]),
        delimiter=delimiter,
        warnings=(
            *(*settings.warnings, *request.warnings, *roster.warnings),
            *(warning for warning, is_due in warnings.items() if is_due),
        ),
    )


def _format_name(request: DebateRequest, settings: Settings) -> str:
    name, formats = request.format or settings.format, formats_with(settings.agendas)
    if name not in formats:
        raise BadInput(f'There is no format "{name}". {nearest(name, list(formats))}')
    return name


def _ending(request: DebateRequest, settings: Settings) -> tuple[When, Termination]:
    """Return when rounds are held, and how they end. A requested number of rounds is held fully."""
    if request.rounds is not None and request.when is None:
        return When.ALWAYS, settings.termination.model_copy(update={"ending": Ending.FIXED})
    return request.when or settings.when, settings.termination


def _with_agenda(settings: Settings, form: str) -> tuple[Agenda | None, Settings]:
    agenda = next((agenda for agenda in settings.agendas if agenda.name == form), None)
    if agenda is None:
        return None, settings
    # The agenda's prompts replace the built-in prompts of its acts.
    prompts = agenda.prompts.items()
    tasks = {act.value: PromptText(text=text, source=agenda.source) for act, text in prompts}
    adjusted = settings.model_copy(update={"prompts": tasks | dict(settings.prompts)})
    return agenda.model_copy(update={"prompts": {}}), adjusted


def _by_playbook(
    request: DebateRequest, settings: Settings
) -> tuple[Playbook | None, DebateRequest, Settings]:
    if not request.playbook:
        return None, request, settings
    playbook = find_playbook(request.playbook, settings)
    if playbook.agents and request.agents is None:
        request = replace(request, agents=playbook.agents)
    values = {"format": playbook.format, "rounds": playbook.rounds, "when": playbook.when}
    overrides = {name: value for name, value in values.items() if value}
    return playbook, request, settings.model_copy(update=overrides)


def _with_subject(request: DebateRequest) -> DebateRequest:
    """Return the request for a review, with its subject as sources and a question about it.

    The subject is the sources, or else the context, or else the text of the question.

    Raises:
        BadInput: There is nothing to review.
    """
    references = [reference for reference in request.references if reference.kind in KINDS]
    question, context = request.question.strip(), request.context.strip()
    text = "" if references else context or question
    is_short = "\n" not in text and len(text) <= _QUESTION_MAX_CHARS
    if not (references or context) and (not text or (is_short and text.endswith("?"))):
        raise BadInput(NO_SUBJECT)
    if text:
        clean = redact(text)
        reference = SourceReference(
            kind=SourceKind.TEXT, title="the proposal", fetch=clean, by=request.asked_by
        )
        references = [reference]
        request = replace(
            request,
            context="",
            references=(reference, *request.references),
            warnings=(*request.warnings, *([TAKEN_OUT] if clean != text else ())),
        )
    if not question or text == question:
        request = replace(request, question=_usual_question(references))
    return request


def _usual_question(references: Sequence[SourceReference]) -> str:
    """Return the default question of a review of these sources."""
    titles = ", ".join(
        reference.title[:_TITLE_MAX_CHARS] for reference in references[:_MOST_TITLES]
    )
    ellipsis = ", …" if len(references) > _MOST_TITLES else ""
    return f"Is this ready, and what has to change? {titles}{ellipsis}"


@dataclass(frozen=True, kw_only=True)
class Roster:
    agents: tuple[Agent, ...]
    #: The reason for each agent, by id; empty if people chose the agents.
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    warnings: Sequence[str] = ()


def _casting_models(roster: Roster, chooser: Agent, settings: Settings) -> CastingModels | None:
    """Return the models for cast agents; None if people chose the agents, or no model can."""
    if not roster.reasons or chooser.provider == OFFLINE:
        return None
    models = settings.mixed_models or (settings.agent_model,)
    return CastingModels(models=models, fallbacks=settings.fallbacks, roles=settings.roles)


def recast(setup: Setup, cast: Sequence[casting.CastRole]) -> Roster:
    """Return the agents for cast roles, with the debate's common prompts and fallbacks."""
    if setup.casting is None:
        raise ValueError("the agents of this debate were chosen by people")
    roster = _agents_of(cast, setup.casting.models, setup.casting.roles)
    # The prompts that all agents have in common; a plugin's role adds one of its own.
    first, *other_prompts = (agent.prompts for agent in setup.agents)
    prompts = {
        name: prompt
        for name, prompt in first.items()
        if all(other.get(name) == prompt for other in other_prompts)
    }
    agents: list[Agent] = []
    for agent in roster.agents:
        fallbacks = agent.other_models(setup.casting.fallbacks) or None
        update = {"prompts": {**prompts, **agent.prompts}, "fallbacks": fallbacks}
        agents.append(agent.model_copy(update=update))
    return replace(roster, agents=tuple(agents))


def largest(setup: Setup) -> Setup:
    """Return the setup with the maximum number of agents that a model may cast."""
    current_roles = [
        casting.CastRole(agent.role, setup.reasons.get(agent.id, "")) for agent in setup.agents
    ]
    current_ids = {role.role for role in current_roles}
    role_ids = roles_with(setup.casting.roles if setup.casting else ())
    other_roles = (casting.CastRole(role, "") for role in role_ids if role not in current_ids)
    roster = recast(setup, [*current_roles, *other_roles][: casting.MOST])
    return setup.model_copy(update={"agents": roster.agents, "reasons": roster.reasons})


def _agents_of(
    cast: Sequence[casting.CastRole], models: Sequence[ModelChoice], plugin_roles: Sequence[Role]
) -> Roster:
    agents = (
        agent_for(role.role, models[index % len(models)], plugin_roles)
        for index, role in enumerate(cast)
    )
    return Roster(agents=tuple(agents), reasons={role.role: role.reason for role in cast})


def check_question(question: str, most: int) -> str:
    """Return the question without surrounding white space.

    Raises:
        BadInput: It has no letter and no digit outside of emoji names, or is too long.
    """
    text = question.strip()
    if not any(map(str.isalnum, _EMOJI.sub("", text))):
        raise BadInput("There is no question. Write one.")
    instead = "Shorten it, or keep the question short and add the rest as a note in the thread."
    check_length("The question", text, most, instead=instead)
    return text


def check_length(subject: str, text: str, most: int, *, instead: str) -> None:
    if len(text) > most:
        characters = quantity(len(text), "character")
        raise BadInput(f"{subject} has {characters}; the most is {number(most)}. {instead}")


def find_playbook(name: str, settings: Settings) -> Playbook:
    """Return the playbook of that name; spaces may replace its hyphens. Raises `BadInput`."""
    folded = "-".join(name.casefold().split())
    if playbook := settings.playbooks.get(folded):
        return playbook
    hint = nearest(folded, list(settings.playbooks))
    raise BadInput(f'There is no playbook "{name.strip()}". {hint}')


def _rounds(asked_rounds: int | None, usual: int, form: Format) -> tuple[int, list[str]]:
    """Return the number of rounds, and a notice if the format has fewer than requested."""
    rounds = usual if asked_rounds is None else asked_rounds
    if not 1 <= rounds <= MOST_ROUNDS:
        raise BadInput(f"Rounds must be from 1 to {MOST_ROUNDS}, not {rounds}.")
    most = form.most_rounds
    if asked_rounds is None or asked_rounds <= most:
        return min(rounds, most), []
    most_words = "one round" if most == 1 else f"{most} rounds at most"
    return most, [f"You asked for {asked_rounds} rounds; a {form.name} has {most_words}."]


def _roster(request: DebateRequest, settings: Settings) -> Roster:
    models = settings.mixed_models or (settings.agent_model,)
    names = request.agents if request.agents is not None else request.usual_agents
    if names is None and not settings.agents and settings.casting:
        cast = casting.cast_by_topics(f"{request.question}\n{request.context}", settings.roles)
        return _agents_of(cast, models, settings.roles)
    warnings = list[str]()
    chosen = {agent.id: agent for agent in settings.agents if agent.enabled}
    if names is not None:
        chosen = _by_name(names, settings, None if request.agents is not None else warnings)
    if not chosen and (names is not None or settings.agents):
        default_names = ", ".join(DEFAULT_ROSTER)
        warnings.append(f"No agents were left; the default ones take part: {default_names}.")
    if len(chosen) == 1:
        warnings.append(ALONE)
    usual = (agent_for(role, ModelChoice()) for role in DEFAULT_ROSTER)
    return Roster(agents=_with_models(chosen.values() or usual, models), warnings=warnings)


def _with_models(agents: Iterable[Agent], models: Sequence[ModelChoice]) -> tuple[Agent, ...]:
    """Return the agents. Those without a model get the models in turn."""
    choices = cycle(models)
    return tuple(
        agent if agent.provider else agent.model_copy(update=dict(next(choices)))
        for agent in agents
    )


def _by_name(
    names: Sequence[str], settings: Settings, warnings: list[str] | None
) -> dict[str, Agent]:
    """Return the agents of these names, by id.

    Unknown names are added to `warnings`.

    Raises:
        BadInput: An agent is unknown or disabled, and `warnings` is None.
    """
    by_id = dict[str, Agent]()
    for name in filter(str.strip, names):
        try:
            agent = find_agent(name, settings)
        except BadInput:
            if warnings is None:
                raise
            warnings.append(f'"{name.strip()}" is left out: it is gone, or disabled.')
        else:
            by_id.setdefault(agent.id, agent)
    return by_id


def find_agent(name: str, settings: Settings) -> Agent:
    """Return the agent with this id, name or role; configured agents come before built-in roles.

    An agent of a built-in role has no model yet.

    Raises:
        BadInput: There is none, or it is disabled. The text suggests a similar name.
    """
    folded = name.strip().lower()
    role = role_id(name, settings.roles)
    agents = [
        agent
        for agent in settings.agents
        if {folded, role} & {agent.id.lower(), agent.role.lower(), agent.name.lower()}
    ]
    if agent := next((agent for agent in agents if agent.enabled), None):
        return agent
    enabled = [agent.id for agent in settings.agents if agent.enabled]
    if agents:
        hint_words = f" There are: {', '.join(enabled)}." if enabled else ""
        raise BadInput(f'The agent "{name.strip()}" is disabled in the settings.{hint_words}')
    if role:
        return agent_for(role, ModelChoice(), settings.roles)
    hint = nearest(folded, known_agents(settings), ROLE_ALIASES)
    raise BadInput(f'There is no agent or role "{name.strip()}". {hint}')


def known_agents(settings: Settings) -> list[str]:
    configured = (agent.id for agent in settings.agents if agent.enabled)
    return [*configured, *roles_with(settings.roles)]


def _with_defaults(agent: Agent, settings: Settings, form: str = "") -> Agent:
    """Return the agent, with the settings' prompts and fallbacks where it has none."""
    changes: dict[str, object] = {"prompts": {**settings.prompts, **agent.prompts}}
    own, rules = agent.prompts.get(Act.SUMMARY), agent.summarization or settings.summarization
    if own and rules.prompt == settings.summarization.prompt:
        # The agent's own prompt for summaries goes before the settings' prompt.
        changes["summarization"] = rules.model_copy(update={"prompt": own})
    if agent.fallbacks is None and settings.fallbacks:
        changes["fallbacks"] = agent.other_models(settings.fallbacks)
    complete = agent.model_copy(update=changes)
    own_rules = complete.summarization and _fitting(complete.summarization, form)
    return complete.model_copy(update={"summarization": own_rules})


def _summarizer(judge: Agent, choice: ModelChoice | None) -> Agent | None:
    if choice is None or choice.full_name == judge.full_name:
        return None
    judge_model = ModelChoice(provider=judge.provider, model=judge.model)
    changes: dict[str, object] = {"id": SUMMARIZER, "name": "Summarizer", "role": SUMMARIZER}
    changes |= {**dict(choice), "temperature": None}
    # The judge's model is the first fallback: it takes part in the debate anyway.
    changes["fallbacks"] = (judge_model, *(judge.fallbacks or ()))
    return judge.model_copy(update=changes)


def _shadow(
    when: ShadowWhen, models: Sequence[ModelChoice], settings: Settings, judge: Agent
) -> Agent | None:
    has_several = len({model.full_name for model in models}) > 1
    if when is ShadowWhen.NEVER or (when is ShadowWhen.MIXED and not has_several):
        return None
    model = settings.shadow_model or settings.strongest_model or judge
    if model.provider in {OFFLINE, EXAMPLE}:
        return None  # no real model
    agent = agent_for(FALLBACK_ROLE, model)
    # No fallbacks: another model's answer would not be comparable.
    changes: dict[str, object] = {"id": SHADOW, "name": "One model alone", "fallbacks": ()}
    changes |= {"icon": ":bust_in_silhouette:", "prompts": settings.prompts}
    return agent.model_copy(update=changes)


def _fitting(rules: Summarization, form: str) -> Summarization:
    """Return rules for summaries with a method that fits the format, unless one is set.

    In a panel agents must see each other's statements, which a summary of an agent's own history
    does not contain.
    """
    if form == PANEL and "method" not in rules.model_fields_set:
        return rules.model_copy(update={"method": ContextMethod.ROUNDS})
    return rules
