"""Options as people read them: who stands where, the vote, how the debate went (pure)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from bot.slack.blocks import actions, button, confirmation
from bot.slack.ids import ActionId, BlockId
from bot.slack.limits import OPTION_TEXT
from bot.slack.mrkdwn import bare_gist, gist
from bot.views.message import Block, item_list
from bot.views.words import name_of
from core.debate.gate import GateReason
from core.debate.state import Debate
from core.debate.verdict import Verdict
from core.debate.vote import Option
from core.figures import money, percent
from core.rules.agreement import GAP_FROM, agreement
from core.rules.ending import ending_sentences as ended
from core.rules.ending import round_reasons
from core.rules.gate import gate_after
from core.rules.options import (
    NAME_MAX_CHARS,
    by_option,
    held_by,
    is_listed,
    leading,
    options_of,
    short_names,
)
from core.rules.voting import is_uncounted
from core.rules.wanting import why_not_wanted
from core.transcript.cited import decision_line
from core.transcript.single_answer import cost_words, single_answer_words

_LIST_LIMIT = 1200
_NAMES_LIMIT = 300
_SENTENCE_LIMIT = 500
#: Whose first choice an option is; and where nobody may be told.
_NOBODY = {False: "nobody's first choice", True: "sealed"}
#: Letters from which on a word of an option's name must stand in the decision.
_LONG_WORD = 3


def option_labels(items: Sequence[Option]) -> dict[str, str]:
    """What the options are called in a menu, by their ids; no two alike."""
    names = short_names([bare_gist(item.name, len(item.name) + 1) for item in items], OPTION_TEXT)
    return dict(zip((item.id for item in items), names, strict=True))


def option_name(debate: Debate, option: str) -> str:
    """What the option is called, safe; empty if there is no such option."""
    return gist(options_of(debate).name(option), 2 * NAME_MAX_CHARS)


def who_stands_where(debate: Debate) -> str:
    """Every option with the agents who hold it best and their shares; then the widest gap."""
    agents_by_option = by_option(debate)
    if not agents_by_option:
        return ""
    shares_by_agent = {agent.id: held_by(debate, agent.id) for agent in debate.setup.agents}
    stated = {agent: shares for agent, shares in shares_by_agent.items() if shares}
    lines = list[str]()
    for option, drafted in agents_by_option.items():
        option_shares = [shares.get(option, 0.0) for shares in shares_by_agent.values()]
        if not is_listed(options_of(debate), option, *option_shares, len(drafted)):
            continue
        # Stated shares count more than the option of the draft.
        names = (
            _with_share(debate, agent, shares, option)
            for agent, shares in shares_by_agent.items()
            if (leading(shares) == option if shares else agent in drafted)
        )
        text = item_list(names, _NAMES_LIMIT, ", ") or _NOBODY[debate.is_sealed]
        lines.append(f"• *{option_name(debate, option)}* – {text}")
    level = [name_of(debate, agent) for agent, shares in stated.items() if not leading(shares)]
    if level:
        lines.append(f"• _Undecided between the best two_ – {', '.join(level)}")
    how = agreement(stated)
    if how.spread > GAP_FROM:
        widest = [shares.get(how.widest, 0.0) for shares in stated.values()]
        lines.append(
            f"Widest gap: *{option_name(debate, how.widest)}*, "
            f"{percent(min(widest))} to {percent(max(widest))}."
        )
    return f"*Options*\n{item_list(lines, _LIST_LIMIT)}"


def _with_share(debate: Debate, agent: str, shares: Mapping[str, float], option: str) -> str:
    """An agent's name with its share of an option, as far as it has stated any."""
    share = f" {percent(shares[option])}" if shares.get(option) else ""
    before = " (before the vote)" if shares and is_uncounted(debate, agent) else ""
    return f"{name_of(debate, agent)}{share}{before}"


def how_it_goes(debate: Debate) -> Iterator[str]:
    """Why the debate is held or its rounds ended, in a sentence each, the newest last."""
    first = gate_after(debate, 0)
    # While a split is debated, the list of options says what it is about now.
    is_split = first is not None and first.reason is GateReason.SPLIT
    yield from map(_sentence, (*round_reasons(debate)[int(is_split) :][-2:], *ended(debate)))


def ending_text(debate: Debate) -> str:
    """What ended the rounds and how many were really held, as safe mrkdwn."""
    return " ".join(map(_sentence, ended(debate)))


def how_it_went(debate: Debate) -> str:
    """The same, and before it why rounds were held."""
    return " ".join(map(_sentence, (*round_reasons(debate), *ended(debate))))


def single_answer(debate: Debate) -> str:
    """What one model, asked alone, answered, and its cost; empty before the verdict."""
    words = single_answer_words(debate)
    return gist(f"{words} {cost_words(debate)}", _SENTENCE_LIMIT) if words else ""


def decided_on(debate: Debate, verdict: Verdict, limit: int) -> str:
    """The decision on one safe line, with the option's name before it where it is not named."""
    text = gist(decision_line(verdict), limit)
    name = option_name(debate, verdict.option)
    if not name or _is_named(name, text):
        return text
    return f"{name}: {text}"


def _is_named(name: str, sentence: str) -> bool:
    """Whether a sentence has an option's name, or its longer words in their order."""
    name_words, words = (re.findall(r"\w+", text.casefold()) for text in (name, sentence))
    rest = iter(words)
    longer = [word for word in name_words if len(word) >= _LONG_WORD or word.isdigit()]
    return name.casefold() in sentence.casefold() or (
        len(longer) > 1 and all(word in rest for word in longer)
    )


def anyway_button(debate: Debate) -> list[Block]:
    """Return the button that has the skipped debate held; none where nothing was skipped."""
    anyway = anyway_element(debate)
    return [actions(BlockId.SKIPPED, anyway)] if anyway else []


def anyway_element(debate: Debate) -> Block | None:
    """Return the same without a block of its own."""
    if debate.wanted_by or why_not_wanted(debate):
        return None
    first = gate_after(debate, 0)
    cost = f" It is expected to cost {money(first.saved)} more." if first and first.saved else ""
    ends = " This verdict then counts no more." if debate.verdict else ""
    return button(
        "Debate anyway",
        ActionId.DEBATE_ANYWAY,
        debate.id,
        label="Debate anyway: have the rounds held that were skipped",
        confirm=confirmation(
            "Debate it anyway?",
            f"The agents criticise each other's answers and vote again.{ends}{cost}",
            confirm="Debate it",
            deny="Leave it",
        ),
    )


def _sentence(text: str) -> str:
    return gist(text, _SENTENCE_LIMIT)
