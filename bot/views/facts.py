"""Which facts people gave are still there: in the positions, in the verdict (pure)."""

from bot.slack.mrkdwn.convert import gist
from bot.views.message import listed
from bot.views.words import all_offline, name_of
from core.figures import counted
from core.models import Debate, RequirementStatus
from core.rules import facts
from core.rules.formats.registry import format_of

#: They come from the question as well as from answers and notes.
_HEAD = "*Figures and requirements named*"
_LOST_LIMIT = 400
_FACT_LIMIT = 80
_NAMES_LIMIT = 400


def kept_facts(debate: Debate) -> str:
    """Return how many facts hold and which are lost; empty where people gave none."""
    known = facts.ledger(debate)
    if not known or all_offline(debate):  # checklists repeat what was demanded, and check nothing
        return ""
    if debate.verdict and debate.verdict.requirements:
        # A judge said how each requirement stands: that its words occur says less.
        statuses = [one.status for one in debate.verdict.requirements]
        counts = (f"{statuses.count(status)} {status}" for status in RequirementStatus)
        return f"Requirements: {', '.join(counts)}, says the judge."
    if debate.verdict:
        lost = facts.lost(known, facts.words_of(debate.verdict))
        hold = f"{_HEAD}: {len(known) - len(lost)} of {len(known)} hold in the verdict."
        if not lost:
            return hold
        names = listed((f"“{gist(fact.told, _FACT_LIMIT)}”" for fact in lost), _LOST_LIMIT, ", ")
        return f"{hold} Not taken up: {names}"
    texts = format_of(debate).positions(debate)
    if not texts:
        return ""
    kept = (
        f"{name_of(debate, agent)} {len(known) - len(facts.lost(known, made.text))}"
        for agent, made in texts.items()
    )
    said = listed(kept, _NAMES_LIMIT, ", ")
    named = counted(len(known), "figure or requirement", "figures and requirements")
    return f"*Of {named} in the question, answers and notes*, texts repeat: {said}. No score."
