"""Whose rules for summaries hold: an agent's own, the judge's own, else the debate's (pure)."""

from core.models import JUDGE, ContextMethod, Debate, Summarization


def rules_of(debate: Debate, agent: str) -> Summarization:
    """The agent's or the judge's own settings; the debate's for whoever has none."""
    setup = debate.setup
    speakers = {**{agent.id: agent for agent in setup.agents}, JUDGE: setup.judge}
    own = speakers[agent].summarization if agent in speakers else None
    return own or setup.summarization


def method_of(debate: Debate, agent: str) -> ContextMethod:
    """What stands in for older turns in this agent's prompts; switched off, nothing does."""
    rules = rules_of(debate, agent)
    return rules.method if rules.enabled else ContextMethod.FULL
