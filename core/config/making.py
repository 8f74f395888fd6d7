"""The entries of a configuration file → `Settings` (pure)."""

from collections.abc import Mapping, Sequence

from core.config.entries import (
    AgentEntry,
    DebateEntry,
    FileEntry,
    JudgeEntry,
    LimitsEntry,
    ModelEntry,
    SummaryEntry,
    SummaryOverride,
)
from core.config.wanted import Prompts
from core.models import (
    JUDGE,
    Agent,
    Clarifying,
    ContextMethod,
    Ending,
    Limits,
    Summarization,
    Termination,
    VoteRules,
)
from core.settings import FALLBACK_ROLE, ROLES, Caps, ModelChoice, Settings, role_id

#: What a model is chosen by: an entry that may name a provider, a model, both or none.
Choosing = ModelEntry | AgentEntry | JudgeEntry


def make_settings(
    entry: FileEntry, base: Settings, providers: Mapping[str, str], prompts: Prompts
) -> Settings:
    """The settings of a checked file.

    Args:
        entry: The file.
        base: Which models hold where it names none.
        providers: The model each provider serves when none is named.
        prompts: Reads the prompt files.
    """
    agent_model = _choice(entry.default_model, base.agent_model, providers)
    default_judge = agent_model if _names_model(entry.default_model) else base.judge_model
    judge_model = _choice(entry.judge, default_judge, providers)
    summaries = _summaries(entry.debate.summarization, prompts)
    makes = _Speakers(summaries, prompts, providers)
    return base.model_copy(
        update={
            "agents": tuple(
                makes.agent(one, _choice(one, agent_model, providers)) for one in entry.agents
            ),
            "agent_model": agent_model,
            "judge_model": judge_model,
            "judge": makes.judge(entry.judge, judge_model) if _has_judge(entry) else base.judge,
            "summarization": summaries,
            "summary_model": _choice(entry.summary_model, judge_model, providers)
            if _names_model(entry.summary_model)
            else base.summary_model,
            "fallbacks": _chain(entry.fallbacks, providers) or (),
            "method_chosen": "method" in entry.debate.summarization.model_fields_set,
            "prompts": prompts.take(entry.prompts, "for every agent"),
            "vote": VoteRules(**entry.vote.model_dump()),
            "caps": Caps(**entry.limits.model_dump(include={"person_day_cost", "day_cost"})),
            "limits": _limits(entry.limits),
            "models": tuple(entry.models),
            "prices": {name: price.price() for name, price in entry.prices.items()},
            **_debate(entry.debate, base),
        }
    )


def _names_model(entry: Choosing) -> bool:
    return bool(entry.provider or entry.model)


def _has_judge(entry: FileEntry) -> bool:
    return "judge" in entry.model_fields_set


def _choice(entry: Choosing, usual: ModelChoice, providers: Mapping[str, str]) -> ModelChoice:
    """The model an entry names; a provider alone stands for its usual model."""
    provider = entry.provider or usual.provider
    model = entry.model or (usual.model if provider == usual.provider else "")
    return ModelChoice(provider=provider, model=model or providers.get(provider, usual.model))


def _chain(
    entries: Sequence[ModelEntry] | None, providers: Mapping[str, str]
) -> tuple[ModelChoice, ...] | None:
    """The models of a chain of fallbacks; None if there is no chain."""
    if entries is None:
        return None
    nobody = ModelChoice(provider="", model="")
    return tuple(_choice(entry, nobody, providers) for entry in entries)


def _debate(entry: DebateEntry, base: Settings) -> dict[str, object]:
    ending = entry.termination
    asking = entry.clarifications
    says = "enabled" in asking.model_fields_set
    return {
        "format": entry.format,
        "rounds": entry.rounds,
        "termination": Termination(
            ending=Ending(ending.type), threshold=ending.threshold, min_rounds=ending.min_rounds
        ),
        "clarifying": Clarifying(
            enabled=asking.enabled if says else base.clarifying.enabled,
            per_agent=asking.per_agent,
            wait_seconds=asking.wait_seconds,
            rounds=asking.rounds,
        ),
    }


def _limits(entry: LimitsEntry) -> Limits:
    return Limits(
        turn_seconds=entry.turn_seconds,
        round_seconds=entry.round_seconds,
        debate_seconds=entry.debate_seconds,
        debate_cost=entry.debate_cost,
        quorum=entry.quorum,
    )


def _summaries(entry: SummaryEntry, prompts: Prompts) -> Summarization:
    """The debate's summarization; its method counts as set only if somebody chose it."""
    file = entry.prompt_file
    rules = Summarization(
        enabled=entry.enabled,
        threshold=entry.threshold,
        max_length=entry.max_length,
        prompt=prompts.one(file, "summary", "for summaries") if file else None,
    )
    chosen = "method" in entry.model_fields_set
    return rules.model_copy(update={"method": ContextMethod(entry.method)} if chosen else {})


class _Speakers:
    """Makes agents and the judge."""

    def __init__(
        self, summaries: Summarization, prompts: Prompts, providers: Mapping[str, str]
    ) -> None:
        self._summaries = summaries
        self._prompts = prompts
        self._providers = providers

    def agent(self, entry: AgentEntry, choice: ModelChoice) -> Agent:
        """The agent; an unknown role argues as a generalist."""
        role = role_id(entry.role) or FALLBACK_ROLE
        name = entry.name or (ROLES[role].name if role_id(entry.role) else entry.role)
        return Agent(
            id=entry.id,
            name=name,
            role=role,
            icon=entry.icon or ROLES[role].icon,
            provider=choice.provider,
            model=choice.model,
            fallbacks=_chain(entry.fallbacks, self._providers),
            temperature=entry.temperature,
            enabled=entry.enabled,
            prompts=self._prompts.take(entry.prompts, name),
            summarization=self._override(entry.summarization, name),
        )

    def judge(self, entry: JudgeEntry, choice: ModelChoice) -> Agent:
        """The judge."""
        return Agent(
            id=JUDGE,
            name=entry.name,
            role="judge",
            icon=entry.icon,
            provider=choice.provider,
            model=choice.model,
            fallbacks=_chain(entry.fallbacks, self._providers),
            temperature=entry.temperature,
            prompts=self._prompts.take(entry.prompts, entry.name),
            summarization=self._override(entry.summarization, entry.name),
        )

    def _override(self, entry: SummaryOverride | None, who: str) -> Summarization | None:
        """The debate's summarization with what this agent does otherwise."""
        if entry is None:
            return None
        changes = entry.model_dump(exclude_none=True, exclude={"prompt_file", "method"})
        if entry.method:
            changes["method"] = ContextMethod(entry.method)
        if entry.prompt_file:
            prompt = self._prompts.one(entry.prompt_file, "summary", f"{who}, summaries")
            changes["prompt"] = prompt or self._summaries.prompt
        return self._summaries.model_copy(update=changes)
