"""The agents of a debate as its board shows them: who, with which model, and why (pure)."""

from bot.slack.mrkdwn.convert import gist
from bot.slack.mrkdwn.escape import bare, literal
from bot.views.message import listed
from bot.views.words import icon, is_offline, title
from core.figures import counted
from core.models import EXAMPLE, Agent, Debate, Status
from core.rules import casting
from core.transcript.models_used import model_count_words

_LIMIT = 1000
_REASON_LIMIT = 80
_MODEL_LIMIT = 60


def agents_shown(debate: Debate) -> str:
    """Return who takes part; why, where they were chosen for the question."""
    agents, reasons = debate.setup.agents, debate.setup.reasons
    if casting.is_due(debate) and debate.status is Status.RUNNING:
        return "*Agents*\n_Being chosen for this question …_"
    # One model for all is said once, below.
    shared = model_count_words(agents).rstrip(".")
    names = {
        agent.id: f"{icon(agent)} {literal(title(agent))}{'' if shared else _model(agent)}"
        for agent in agents
    }
    if reasons:
        head = "*Agents, chosen for this question*"
        why = {agent.id: gist(reasons.get(agent.id, ""), _REASON_LIMIT) for agent in agents}
        shown = listed([f"{name}: {why[one]}" for one, name in names.items()], _LIMIT)
    else:
        head, shown = "*Agents*", listed(names.values(), _LIMIT, " · ")
    foot = f"\n_{shared}:_{_model(agents[0])}" if shared else ""
    if all(map(is_offline, agents)):
        foot = f"\n:warning: _{counted(len(agents), 'point')} of view, no model: checklists only_"
    return f"{head}\n{shown}{foot}"


def _model(agent: Agent) -> str:
    if is_offline(agent) or agent.provider == EXAMPLE:
        return ""
    return f" `{literal(bare(agent.model, _MODEL_LIMIT)).replace('`', '')}`"
