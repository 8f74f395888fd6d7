"""How things are said on Slack: names made safe, people, moments, confidence (pure).

Money, spans of time, counts and dates are said as everywhere: `core.transcript.words`.
"""

import re
from datetime import datetime

from bot.slack.mrkdwn import bare, gist, literal
from core.debate.agents import EXAMPLE, OFFLINE, Agent
from core.debate.contributions import Contribution, Summary
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.turn import Turn
from core.debate.verdict import Verdict
from core.figures import money, when
from core.rules.confidence import Confidence
from core.transcript.words import letters_words
from core.transcript.words import name_of as transcript_name
from core.usage import Usage

_NAME_LIMIT = 120
OFFLINE_NOTE = "Offline engine: built from checklists by rules. No AI model was asked."
EXAMPLE_NOTE = ":pencil2: Written example, played by the real engine. No AI model was asked."
_EMOJI = re.compile(r":[a-z0-9_+'-]{1,100}:")
_PERSON = re.compile(r"[UW][A-Z0-9]{1,20}")


def turn_noun(debate: Debate, turn: Turn) -> str:
    """What the turn is, without its agent: "critique of Ben's proposal"."""
    is_about = turn.target in {agent.id for agent in debate.setup.agents}
    of = f" of {name_of(debate, turn.target or '')}'s proposal" if is_about else ""
    return turn.act.noun + of


def name_of(debate: Debate, agent_id: str) -> str:
    """An agent's name, safe; its id where the debate does not know it."""
    return literal(plain_name(debate, agent_id))


def plain_name(debate: Debate, agent_id: str) -> str:
    """An agent's name on one line, not escaped."""
    return bare(transcript_name(debate, agent_id), _NAME_LIMIT) or agent_id


def letters(debate: Debate, *texts: Contribution | Summary) -> str:
    """A key to the letters by which these texts name agents; empty where they name none."""
    words = letters_words(debate, texts)
    return f"Letters agents go by: {literal(words)}" if words else ""


def icon(agent: Agent) -> str:
    """The agent's emoji code, if it is one."""
    return agent.icon if _EMOJI.fullmatch(agent.icon) else ":speech_balloon:"


def title(agent: Agent) -> str:
    """Name and role, not escaped: "Ann (architect)"; the role once, where both are the same."""
    name, role = (bare(word, _NAME_LIMIT) for word in (agent.name or agent.id, agent.role))
    return name if role.casefold() in name.casefold() else f"{name} ({role})"


def person(someone: Person) -> str:
    """A person as Slack shows them."""
    if _PERSON.fullmatch(someone.id):
        return f"<@{someone.id}>"
    return gist(someone.display_name, _NAME_LIMIT)


def is_offline(agent: Agent) -> bool:
    return agent.provider == OFFLINE


def all_offline(debate: Debate) -> bool:
    return all(map(is_offline, (*debate.setup.agents, debate.setup.judge)))


def is_example(debate: Debate) -> bool:
    """Whether the debate was written by hand, as an example."""
    return all(agent.provider == EXAMPLE for agent in debate.setup.agents)


def cost(usage: Usage) -> str:
    if usage.cost is None:
        return "n/a (a price is unknown)"
    return money(usage.cost)


def confidence(reached: Verdict) -> str:
    """A confidence in a word first: "fair (72 of 100)"; "not given", and why, if there is none."""
    if reached.confidence is None:
        return ": ".join(["not given", *map(literal, reached.rests_on)])
    return f"{Confidence(reached.confidence, ()).word} ({reached.confidence} of 100)"


def moment(at: datetime) -> str:
    """A date and time that Slack shows each reader in their own time zone."""
    fallback = when(at)
    return f"<!date^{int(at.timestamp())}^{{date_short_pretty}} {{time}}|{fallback}>"
