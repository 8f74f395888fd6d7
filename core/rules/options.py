"""The options of a debate, and the option of each position (pure).

An option is an answer, a position is one agent's text for it. Agents are compared by their options:
three texts for PostgreSQL are one option, and texts with similar words can be opposites.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from core.debate.contributions import Contribution
from core.debate.state import Debate, cached_per_debate
from core.debate.turn import Act
from core.debate.vote import Option, OptionChange, OptionEdit, OptionScore, QuestionKind

#: The most options that are merged from drafts, so that a ballot can compare them.
MOST_OPTIONS = 6
#: The name of an option that every choice has, for voters that doubt all others.
NONE_OF_THESE = "None of these / not now"
#: Longest name of an option, in characters.
NAME_MAX_CHARS = 80
#: Numbers with at most this sum are shares of 1, not percentages.
_FRACTIONS_TO = 1.02
#: Answers are the same option if they share at least this part of their significant words.
_ALIKE_FROM = 0.6

_WORD = re.compile(r"[^\W_]+(?:[.+#-][^\W_]+)*[+#]*")
#: "Stance: o1 70 %, o2 30 %", with any Markdown that a model adds.
_STANCE_LINE = re.compile(r"^[\s>*_#`-]{0,8}stance[\s*_]{0,4}:(.{0,400})$", re.IGNORECASE)
_PERCENT = r"[\s:=(]{0,4}(\d{1,3}(?:\.\d{1,2})?)\s?%?"
_SHARE = re.compile(r"\b([ont]\d{1,2})\b" + _PERCENT, re.IGNORECASE)
_NEW_SHARE = re.compile(r'["“„]([^"“”„]{3,120})["”“]' + _PERCENT)
#: The first letter of ids of options that agents named after the drafts, and that people added.
#: Ids of options from drafts begin with "o".
_BY_AGENTS, _BY_PEOPLE = "n", "t"
#: Acts of a review: the agent names one of the verdicts, without a probability.
NAMES_A_VERDICT = frozenset({Act.REVIEW, Act.SECOND_LOOK})
#: The number of last lines of a text that are searched for its stance.
_LAST_LINES = 4
_NEGATIONS = frozenset(
    _WORD.findall("no not never without avoid against nicht kein keine keinen nie ohne")
)
_FILLERS = frozenset(
    _WORD.findall(
        """
        a an and as at be best better by choose do for from go i in is it keep let lets my now of
        on one option or our out over pick prefer recommend recommended should start stay take team
        that the their them then this to up use using want we will with you your adopt select
        auf das dem den der die ein eine einen für im ist mit nehmen sollten statt und unser unsere
        verwenden von wir zu zum zur
        """
    )
)


@dataclass(frozen=True)
class OptionList:
    items: tuple[Option, ...] = ()
    #: Ids of merged options → the id of the option that remained.
    merged: Mapping[str, str] = field(default_factory=dict[str, str])

    def resolve(self, option: str) -> str:
        """The current id of an option, after merges; empty if there is no such option."""
        option = self.merged.get(option, option)
        return option if any(option == item.id for item in self.items) else ""

    def name(self, option: str) -> str:
        option = self.resolve(option)
        return next((item.name for item in self.items if item.id == option), "")

    def probabilities(self, shares: Mapping[str, float]) -> Mapping[str, float]:
        """Probabilities by current option; those of merged options are added up.

        Options without a share are left out. The sum may be below 1.
        """
        sums: dict[str, float] = {}
        for option, share in shares.items():
            if current := self.resolve(option):
                sums[current] = sums.get(current, 0.0) + share
        return sums


def options_of(debate: Debate) -> OptionList:
    """The debate's current options: from drafts, from agents' later texts, and after edits."""
    if not debate.options:
        return OptionList()
    return debate.cached("options", lambda: after_edits(named_options(debate), debate.option_edits))


def after_edits(items: Sequence[Option], edits: Iterable[OptionEdit]) -> OptionList:
    """The options after people's edits. Edits of options that do not exist are ignored."""
    current = {item.id: item for item in items}
    merged: dict[str, str] = {}
    additions = 0
    for edit in edits:
        option = merged.get(edit.option, edit.option)
        match edit.change:
            case OptionChange.ADD:
                # The number is the place in the log, so two people can add one at the same moment.
                additions += 1
                new_id = f"{_BY_PEOPLE}{additions}"
                current[new_id] = Option(id=new_id, name=edit.name)
            case OptionChange.RENAME if option in current:
                current[option] = Option(id=option, name=edit.name)
            case OptionChange.MERGE:
                into = merged.get(edit.into, edit.into)
                if option in current and into in current and option != into:
                    del current[option]
                    merged = {old: into if to == option else to for old, to in merged.items()}
                    merged[option] = into
            case _:
                pass
    return OptionList(items=tuple(current.values()), merged=merged)


def stance_in(debate: Debate, contribution: Contribution) -> Mapping[str, float]:
    """The contribution's probabilities by current option, with the options it names first."""
    options = options_of(debate)
    shares = dict(contribution.stance)
    for name, share in contribution.new_options.items():
        if option := _id_of_name(name, options.items) or _id_of_name(name, named_options(debate)):
            shares[option] = shares.get(option, 0.0) + share
    return options.probabilities(shares)


@cached_per_debate
def current_stance(debate: Debate, agent: str) -> Mapping[str, float]:
    """An agent's newest probabilities by current option; empty: it gave none.

    They are from the final ballot, else the newest stance, else the blind ballot. The verdict that
    a reviewer names has no probability; `current_option` returns it.
    """
    options = options_of(debate)
    ballots = [ballot for ballot in debate.ballots.values() if ballot.voter == agent]
    last = max(ballots, key=lambda ballot: ballot.turn.round, default=None)
    if last and last.turn.round and last.probabilities:
        return options.probabilities(last.probabilities)
    for contribution in reversed(list(debate.contributions.values())):
        if contribution.turn.agent != agent or contribution.turn.act in NAMES_A_VERDICT:
            continue
        if stance := stance_in(debate, contribution):
            return stance
    return options.probabilities(last.probabilities) if last else {}


def current_option(debate: Debate, agent: str) -> str:
    """Id of the first choice in an agent's newest stance, else of its draft's option."""
    for contribution in reversed(list(debate.contributions.values())):
        if contribution.turn.agent == agent and (best := leading(stance_in(debate, contribution))):
            return best
    return drafted_option(debate, agent)


def drafted_option(debate: Debate, agent: str) -> str:
    """Id of the option that the agent's draft proposes."""
    option = debate.options.stances.get(agent, "") if debate.options else ""
    return options_of(debate).resolve(option)


def supporters(debate: Debate) -> Mapping[str, Sequence[str]]:
    """Ids of options → ids of the agents whose current option it is."""
    option_by_agent = {agent.id: current_option(debate, agent.id) for agent in debate.setup.agents}
    return {
        item.id: [agent for agent, option in option_by_agent.items() if option == item.id]
        for item in options_of(debate).items
    }


def leading(probabilities: Mapping[str, float]) -> str:
    """The option with the highest probability; empty if two are level or there are none."""
    ranked = sorted(probabilities.items(), key=lambda item: -item[1])
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return ""
    return ranked[0][0]


def as_shares(numbers: Mapping[str, float]) -> Mapping[str, float]:
    """Percentages as shares of 1. The sum is not normalised."""
    divisor = 1 if sum(numbers.values()) <= _FRACTIONS_TO else 100
    return {option: round(number / divisor, 4) for option, number in numbers.items()}


def with_none_of_these(items: Sequence[Option], kind: QuestionKind) -> tuple[Option, ...]:
    """The options of a choice, with `NONE_OF_THESE` added; other kinds of questions have none."""
    if not items or kind is not QuestionKind.CHOICE:
        return tuple(items)
    return (*items, Option(id=f"o{len(items) + 1}", name=NONE_OF_THESE))


def is_listed(options: OptionList, option: str, *figures: float) -> bool:
    """Whether lists show this option: "none of these" only if one of its figures is above 0."""
    return any(figures) or options.name(option) != NONE_OF_THESE


def listed_scores(options: OptionList, scores: Iterable[OptionScore]) -> Sequence[OptionScore]:
    """The scores that lists show, with "none of these" last unless it won."""
    rows = [
        score
        for score in scores
        if is_listed(options, score.option, score.first_choices, score.mean_probability)
    ]
    none = [score for score in rows[1:] if options.name(score.option) == NONE_OF_THESE]
    return [*(score for score in rows if score not in none), *none]


@dataclass(frozen=True)
class Stance:
    """The probabilities that a text states in its last lines, 0 to 1, not normalised."""

    #: By the ids of the debate's options.
    known: Mapping[str, float] = field(default_factory=dict[str, float])
    #: By name, for options that the author names first.
    new: Mapping[str, float] = field(default_factory=dict[str, float])


def read_stance(text: str, options: OptionList) -> Stance:
    """Read the probabilities from a line such as `Stance: o1 70 %, "keep both until June" 30 %`.

    A name in quotation marks is a new option. Empty if the last lines contain no such line with
    numbers.
    """
    for line in reversed(text.splitlines()[-_LAST_LINES:]):
        if not (match := _STANCE_LINE.match(line)):
            continue
        statement = match.group(1)
        by_id = {o.lower(): float(share) for o, share in _SHARE.findall(statement)}
        new: dict[str, float] = {}
        for name, share in _NEW_SHARE.findall(statement):
            if option := _id_of_name(name, options.items):
                by_id[option] = by_id.get(option, 0.0) + float(share)
            elif float(share) > 0:
                new[short_name(name)] = float(share)
        by_id = {option: share for option, share in by_id.items() if options.resolve(option)}
        shares = as_shares({**by_id, **new})
        if any(shares.values()):
            return Stance(
                known={option: shares[option] for option in by_id},
                new={name: shares[name] for name in new},
            )
    return Stance()


def is_stance_line(line: str) -> bool:
    return bool(_STANCE_LINE.match(line))


def without_stance(text: str) -> str:
    """The text without stance lines among its last lines."""
    lines = text.splitlines()
    start = max(0, len(lines) - _LAST_LINES)
    kept = [*lines[:start], *(line for line in lines[start:] if not _STANCE_LINE.match(line))]
    return "\n".join(kept).rstrip() if len(kept) < len(lines) else text


def merge_by_rules(answers: Mapping[str, str]) -> tuple[tuple[Option, ...], Mapping[str, str]]:
    """Merge answers with nearly the same words into options; returns also each agent's option id.

    Used if no model can merge them. Two answers of which only one is negated are never merged.
    """
    first, stances = dict[str, str](), dict[str, str]()  # option id → the first answer for it
    for agent, answer in answers.items():
        words = _significant_words(answer)
        for option, first_answer in first.items():
            first_words = _significant_words(first_answer)
            common = words & first_words
            share = len(common) / min(len(words), len(first_words)) if common else 0.0
            if share >= _ALIKE_FROM and ("not" in words) == ("not" in first_words):
                stances[agent] = option
                break
        else:
            if len(first) < MOST_OPTIONS:
                stances[agent] = f"o{len(first) + 1}"
                first[stances[agent]] = answer
    names = short_names(list(first.values()))
    return tuple(Option(id=id_, name=name) for id_, name in zip(first, names, strict=True)), stances


def short_name(text: str, most: int = NAME_MAX_CHARS) -> str:
    """A text as the name of an option: one line without Markdown, cut at a word with "…"."""
    line = " ".join(text.replace("*", "").replace("`", "").split()).rstrip(".")
    return line if len(line) <= most else line[: most - 1].rsplit(" ", 1)[0] + "…"


def short_names(texts: Sequence[str], most: int = NAME_MAX_CHARS) -> list[str]:
    """Texts as different names of options. Names with the same beginning begin later, with "…"."""
    names = [short_name(text, most) for text in texts]
    full_names = [short_name(text, len(text) + 1) for text in texts]
    # First try to begin some words before the difference; then exactly at it, until all differ.
    for lead in (most // 4, *(0 for _ in texts)):
        for name in {name for name in names if names.count(name) > 1}:
            indexes = [index for index, same_name in enumerate(names) if same_name == name]
            if len({full_names[index] for index in indexes}) == 1:
                continue
            letters = zip(*(full_names[index] for index in indexes), strict=False)
            common = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, letters))
            before = full_names[indexes[0]].rfind(" ", 0, max(common - lead, 0)) + 1
            start = before if lead else common
            for index in indexes:
                full_name = full_names[index]
                names[index] = short_name(f"…{full_name[start:]}" if start else full_name, most)
    return names


def _significant_words(answer: str) -> frozenset[str]:
    """The words of an answer without fillers; all negations become "not"."""
    words = (word.lower() for word in _WORD.findall(answer[:1000]))
    return frozenset(
        "not" if word in _NEGATIONS else word for word in words if word not in _FILLERS
    )


def _id_of_name(name: str, items: Iterable[Option]) -> str:
    """The id of the option with this name or the same significant words; empty if there is none."""
    words = _significant_words(name)
    same = (item.id for item in items if item.name.casefold() == name.strip().casefold())
    similar = (item.id for item in items if _significant_words(item.name) == words)
    return next(same, "") or (next(similar, "") if words else "")


def named_options(debate: Debate) -> Sequence[Option]:
    """The options from drafts and those that agents named later, without people's edits."""
    options = [*debate.options.items] if debate.options else []
    for contribution in debate.contributions.values():
        for name in contribution.new_options:
            if not _id_of_name(name, options):
                number = 1 + sum(item.id.startswith(_BY_AGENTS) for item in options)
                options.append(Option(id=f"{_BY_AGENTS}{number}", name=name))
    return options
