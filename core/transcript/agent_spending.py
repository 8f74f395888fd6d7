"""Who spent what: usage per agent, with models, prompts and time (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.debate.setup import Forecast
from core.debate.state import Debate
from core.figures import duration, money, percent, quantity, roughly
from core.transcript.words import calls_words, name_of, seconds_taken
from core.usage import Usage


@dataclass(frozen=True, kw_only=True)
class AgentSpending:
    agent: str
    name: str
    usage: Usage
    #: Calls that led to something in the log; `usage.attempts` counts all requests made.
    calls: int
    latency_ms: int
    models: tuple[str, ...]
    prompt_sources: tuple[str, ...]


def spending(debate: Debate) -> Sequence[AgentSpending]:
    roster = [agent.id for agent in debate.setup.agents]
    # An audit is the judge's turn, by another vendor's model.
    audit = debate.audit
    audited = {audit.turn.agent} if audit and audit.call else set[str]()
    entries: list[AgentSpending] = []
    for agent in dict.fromkeys(
        [*roster, *(expense.agent for expense in debate.spent if expense.agent)]
    ):
        own = [expense for expense in debate.spent if expense.agent == agent]
        calls = [expense.call for expense in own if expense.call]
        # The judge's own model is named before the auditor's, whose reply came before the verdict.
        calls.sort(key=lambda call: audit is not None and call == audit.call)
        entries.append(
            AgentSpending(
                agent=agent,
                name=name_of(debate, agent) + (" and auditor" if agent in audited else ""),
                usage=sum((expense.usage for expense in own), start=Usage()),
                calls=len(calls),
                latency_ms=sum(call.latency_ms for call in calls),
                models=tuple(dict.fromkeys(f"{call.provider}/{call.model}" for call in calls)),
                prompt_sources=tuple(dict.fromkeys(call.prompt_source for call in calls)),
            )
        )
    return entries


def forecast_words(debate: Debate, forecast: Forecast | None) -> str:
    """How far off the estimate was; empty where there is none, or none of a model."""
    if forecast is None or not forecast.calls:
        return ""  # no model was to be asked
    text = (
        f"Estimated before: {quantity(forecast.calls, 'call')}, {money(forecast.cost)}, "
        f"{roughly(forecast.seconds)}. It took {calls_words(debate)}, "
        f"{duration(seconds_taken(debate))}"
    )
    if not forecast.cost or debate.usage.cost is None:
        return f"{text}."
    off = debate.usage.cost / forecast.cost - 1
    how = "more than" if off > 0 else "less than"
    return f"{text}: {percent(float(abs(off)))} {how} the cost estimated."
