"""How a question becomes a debate's setup: checks, roster, defaults, warnings (pure)."""

import re
import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import count

from core.errors import BadInput
from core.figures import counted, number
from core.models import (
    FALLBACK_ROLE,
    MOST_ROUNDS,
    RESERVED_IDS,
    SUMMARIZER,
    Act,
    Agent,
    ContextMethod,
    Ending,
    Mention,
    ModelChoice,
    Person,
    Place,
    Setup,
    SourceReference,
    Summarization,
    When,
)
from core.redaction import redact
from core.rules.formats.panel import NAME as PANEL
from core.rules.formats.registry import FORMATS
from core.settings import (
    DEFAULT_ROSTER,
    ROLES,
    Settings,
    agent_for,
    judge_for,
    role_id,
)

#: Said to who asked; the question is kept without it.
TAKEN_OUT = (
    "What looked like a secret was taken out of your question before it was stored. It was in "
    "plain sight here: replace it."
)


@dataclass(frozen=True, kw_only=True)
class DebateRequest:
    """What a person asked for; None means the settings' default."""

    question: str
    context: str = ""
    asked_by: Person
    place: Place
    #: Where people asked for it in a thread of their own.
    mention: Mention | None = None
    #: Said to people at the start, besides what opening it gives cause to.
    warnings: Sequence[str] = ()
    agents: Sequence[str] | None = None
    #: Asked for by hand: then all of them are held, whatever the first answers say.
    rounds: int | None = None
    when: When | None = None
    format: str | None = None
    #: What was given as evidence.
    references: Sequence[SourceReference] = ()


def open_debate(request: DebateRequest, settings: Settings, *, delimiter: str) -> Setup:
    """The setup of the debate asked for.

    Args:
        request: What was asked.
        settings: What holds where nothing was asked.
        delimiter: Random text that marks quoted parts in this debate's prompts.

    Raises:
        BadInput: The question, the rounds or the format cannot be used; says what to do.
    """
    roster, warnings = _roster(request.agents, settings)
    form = request.format or settings.format
    if form not in FORMATS:
        raise BadInput(f'There is no format "{form}". Formats: {", ".join(FORMATS)}.')
    rounds, notices = _rounds(request.rounds, settings, form)
    when, termination = request.when or settings.when, settings.termination
    if request.rounds is not None and request.when is None:
        when = When.ALWAYS
        termination = termination.model_copy(update={"ending": Ending.FIXED})
    judge = _completed(settings.judge or judge_for(settings.judge_model), settings)
    asked = check_question(request.question, settings.question_max_chars)
    question, context = redact(asked), redact(request.context.strip())
    if (question, context) != (asked, request.context.strip()):
        warnings.append(TAKEN_OUT)
    agents = [_completed(agent, settings) for agent in roster]
    for at, agent in enumerate(agents):
        if agent.summarization:
            own = _fitting(agent.summarization, form)
            agents[at] = agent.model_copy(update={"summarization": own})
    return Setup(
        question=question,
        context=context,
        asked_by=request.asked_by,
        place=request.place,
        mention=request.mention,
        format=form,
        rounds=rounds,
        agents=tuple(agents),
        judge=judge,
        summarizer=_summarizer(judge, settings.summary_model),
        limits=settings.limits.of_debate,
        vote=settings.vote,
        when=when,
        termination=termination,
        clarifying=settings.clarifying,
        summarization=_fitting(settings.summarization, form),
        evidence_characters=settings.evidence_characters,
        references=tuple(request.references),
        delimiter=delimiter,
        warnings=(*settings.warnings, *request.warnings, *warnings, *notices),
    )


def check_question(question: str, most: int) -> str:
    """The question without surrounding white space.

    Raises:
        BadInput: It holds no letter and no figure, or is longer than `most` characters.
    """
    text = question.strip()
    if not any(map(str.isalnum, text)):
        raise BadInput("There is no question. Write one after the command.")
    if len(text) > most:
        raise BadInput(
            f"The question has {counted(len(text), 'character')}; the most is {number(most)}. "
            "Shorten it, or keep the question short and add the rest as a note in the thread."
        )
    return text


def _rounds(wanted: int | None, settings: Settings, form: str) -> tuple[int, list[str]]:
    """The rounds of the debate; a notice where the format has fewer than a person asked for."""
    rounds = settings.rounds if wanted is None else wanted
    if not 1 <= rounds <= MOST_ROUNDS:
        raise BadInput(f"Rounds must be from 1 to {MOST_ROUNDS}, not {rounds}.")
    most = FORMATS[form].MOST_ROUNDS
    if wanted is None or wanted <= most:
        return min(rounds, most), []
    has = "one round" if most == 1 else f"{most} rounds at most"
    return most, [f"You asked for {wanted} rounds; a {form} has {has}."]


def _roster(
    wanted: Sequence[str] | None, settings: Settings
) -> tuple[tuple[Agent, ...], list[str]]:
    """The agents of the debate, and warnings about agents that could not be had."""
    warnings: list[str] = []
    enabled = [agent for agent in settings.agents if agent.enabled]
    if wanted is None:
        chosen = enabled
    else:
        found = [_find(name, enabled, settings, warnings) for name in wanted if name.strip()]
        # Every agent once; names that make the same id, as in other scripts, are numbered.
        by_id: dict[str, Agent] = {}
        for agent in {(agent.id, agent.name.casefold()): agent for agent in found}.values():
            ids = (f"{agent.id}-{n}" if n > 1 else agent.id for n in count(1))
            free = next(name for name in ids if name not in by_id)
            by_id[free] = agent.model_copy(update={"id": free})
        chosen = list(by_id.values())
    if not chosen:
        if wanted is not None or settings.agents:
            names = ", ".join(DEFAULT_ROSTER)
            warnings.append(f"No agents were left; the default ones take part: {names}.")
        chosen = [agent_for(role, settings.agent_model) for role in DEFAULT_ROSTER]
    return tuple(chosen), warnings


def _find(name: str, enabled: Sequence[Agent], settings: Settings, warnings: list[str]) -> Agent:
    """The agent meant by an id or a role; an unknown role becomes a generalist, with a warning."""
    wanted = name.strip().lower()
    for agent in enabled:
        if wanted in {agent.id.lower(), agent.role.lower(), agent.name.lower()}:
            return agent
    role = role_id(name)
    if role:
        return agent_for(role, settings.agent_model)
    meant = get_close_matches(wanted, ROLES, n=1, cutoff=0.7)
    hint = f' Did you mean "{meant[0]}"?' if meant else ""
    warnings.append(f'There is no role "{name.strip()}"; a generalist takes its place.{hint}')
    generalist = agent_for(FALLBACK_ROLE, settings.agent_model)
    others = {agent.id for agent in enabled}
    return generalist.model_copy(update={"id": _agent_id(wanted, others), "name": name.strip()})


def _agent_id(name: str, others: AbstractSet[str]) -> str:
    """An id that is safe in keys and neither a stand-in for the judge nor another agent's."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")
    if slug and slug not in RESERVED_IDS | ROLES.keys() | others:
        return slug
    return f"agent-{slug}".strip("-")


def _completed(agent: Agent, settings: Settings) -> Agent:
    """The agent with the prompts and fallbacks meant for everybody, where it has none itself."""
    changes: dict[str, object] = {"prompts": {**settings.prompts, **agent.prompts}}
    own, rules = agent.prompts.get(Act.SUMMARY), agent.summarization or settings.summarization
    if own and rules.prompt == settings.summarization.prompt:
        # The agent's own prompt for summaries, not the one meant for everybody's.
        changes["summarization"] = rules.model_copy(update={"prompt": own})
    if agent.fallbacks is None and settings.fallbacks:
        own = ModelChoice(provider=agent.provider, model=agent.model)
        changes["fallbacks"] = tuple(one for one in settings.fallbacks if one != own)
    return agent.model_copy(update=changes)


def _summarizer(judge: Agent, choice: ModelChoice | None) -> Agent | None:
    """Who sums up rounds in the background, if not simply the judge's model."""
    if choice is None or choice.provider != judge.provider or choice.model == judge.model:
        return None
    own = ModelChoice(provider=judge.provider, model=judge.model)
    changes: dict[str, object] = {"id": SUMMARIZER, "name": "Summarizer", "role": SUMMARIZER}
    changes |= {"model": choice.model, "temperature": None}
    # The judge's own model may stand in: it is at hand anyway.
    changes["fallbacks"] = (own, *(judge.fallbacks or ()))
    return judge.model_copy(update=changes)


def _fitting(rules: Summarization, form: str) -> Summarization:
    """Rules of summaries that fit the format, where they name no method.

    In a panel agents must see each other's statements, which a summary of one's own history does
    not show: so it sums up rounds.
    """
    if form == PANEL and "method" not in rules.model_fields_set:
        return rules.model_copy(update={"method": ContextMethod.ROUNDS})
    return rules
