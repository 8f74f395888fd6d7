"""Options: what may be chosen, and which of them each position stands for (pure).

An option is the answer, a position is one agent's text for it. Minds are compared by options:
three texts that all say PostgreSQL are one option, and texts in like words may be opposites.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from core.debate.contributions import Contribution
from core.debate.state import Debate, once_per_debate
from core.debate.turn import Act
from core.debate.vote import Option, OptionChange, OptionEdit, OptionScore, QuestionKind

#: The most options a debate begins with: more cannot be weighed against each other in a ballot.
MOST_OPTIONS = 6
#: Stands in every choice beside what was named, so that a doubt about all of it has a place.
NONE_OF_THESE = "None of these / not now"
#: Longest name of an option, in characters.
NAME_MAX_CHARS = 80
#: Numbers that add up to so little are shares of 1, not percentages.
_FRACTIONS_TO = 1.02
#: Answers with so large a share of their telling words in common are one option.
_ALIKE_FROM = 0.6

_WORD = re.compile(r"[^\W_]+(?:[.+#-][^\W_]+)*[+#]*")
#: "Stance: o1 70 %, o2 30 %", however a model decorates it.
_STANCE_LINE = re.compile(r"^[\s>*_#`-]{0,8}stance[\s*_]{0,4}:(.{0,400})$", re.IGNORECASE)
_PERCENT = r"[\s:=(]{0,4}(\d{1,3}(?:\.\d{1,2})?)\s?%?"
_SHARE = re.compile(r"\b([ont]\d{1,2})\b" + _PERCENT, re.IGNORECASE)
_NEW_SHARE = re.compile(r'["“„]([^"“”„]{3,120})["”“]' + _PERCENT)
#: How ids begin: of options merged from drafts, named by agents later, added by people.
_BY_AGENTS, _BY_PEOPLE = "n", "t"
#: Acts whose speaker names a verdict, and gives no probability for it.
NAMES_A_VERDICT = frozenset({Act.REVIEW, Act.SECOND_LOOK})
#: Lines from the end of a text in which its stance is looked for.
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
    #: Ids that went into others → the id that stands for them.
    merged: Mapping[str, str] = field(default_factory=dict[str, str])

    def resolve(self, option: str) -> str:
        """The id that stands for this one now; empty if there is no such option."""
        option = self.merged.get(option, option)
        return option if any(option == item.id for item in self.items) else ""

    def name(self, option: str) -> str:
        option = self.resolve(option)
        return next((item.name for item in self.items if item.id == option), "")

    def probabilities(self, shares: Mapping[str, float]) -> Mapping[str, float]:
        """Probabilities by current option: of merged ones the sum, else unchanged.

        Options without a share are left out; the sum may stay below 1.
        """
        sums: dict[str, float] = {}
        for option, share in shares.items():
            if current := self.resolve(option):
                sums[current] = sums.get(current, 0.0) + share
        return sums


def options_of(debate: Debate) -> OptionList:
    if not debate.options:
        return OptionList()
    return debate.once("options", lambda: after_edits(named_options(debate), debate.option_edits))


def after_edits(items: Sequence[Option], edits: Iterable[OptionEdit]) -> OptionList:
    """The options after people's edits; an edit that fits nothing changes nothing."""
    current = {item.id: item for item in items}
    merged: dict[str, str] = {}
    added = 0
    for edit in edits:
        option = merged.get(edit.option, edit.option)
        match edit.change:
            case OptionChange.ADD:
                # By its place, so that two people who add one at the same moment add two.
                added += 1
                current[f"{_BY_PEOPLE}{added}"] = Option(id=f"{_BY_PEOPLE}{added}", name=edit.name)
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
    options = options_of(debate)
    shares = dict(contribution.stance)
    for name, share in contribution.new_options.items():
        if option := _id_of_name(name, options.items) or _id_of_name(name, named_options(debate)):
            shares[option] = shares.get(option, 0.0) + share
    return options.probabilities(shares)


@once_per_debate
def current_stance(debate: Debate, agent: str) -> Mapping[str, float]:
    """The newest probabilities an agent gave, by the options as they stand; empty: none.

    Final ballot, else the newest stance, else the blind ballot. A reviewer names a verdict and
    gives no probability for it: that is `current_option` alone.
    """
    options = options_of(debate)
    own = [ballot for ballot in debate.ballots.values() if ballot.voter == agent]
    late = max(own, key=lambda ballot: ballot.turn.round, default=None)
    if late and late.turn.round and late.probabilities:
        return options.probabilities(late.probabilities)
    for contribution in reversed(list(debate.contributions.values())):
        if contribution.turn.agent != agent or contribution.turn.act in NAMES_A_VERDICT:
            continue
        if stance := stance_in(debate, contribution):
            return stance
    return options.probabilities(late.probabilities) if late else {}


def current_option(debate: Debate, agent: str) -> str:
    for contribution in reversed(list(debate.contributions.values())):
        if contribution.turn.agent == agent and (best := leading(stance_in(debate, contribution))):
            return best
    return drafted_option(debate, agent)


def drafted_option(debate: Debate, agent: str) -> str:
    drafted = debate.options.stances.get(agent, "") if debate.options else ""
    return options_of(debate).resolve(drafted)


def supporters(debate: Debate) -> Mapping[str, Sequence[str]]:
    option_by_agent = {agent.id: current_option(debate, agent.id) for agent in debate.setup.agents}
    return {
        item.id: [agent for agent, option in option_by_agent.items() if option == item.id]
        for item in options_of(debate).items
    }


def leading(probabilities: Mapping[str, float]) -> str:
    """The option held most likely the best; empty where two are level or nothing is given."""
    ranked = sorted(probabilities.items(), key=lambda item: -item[1])
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return ""
    return ranked[0][0]


def as_shares(numbers: Mapping[str, float]) -> Mapping[str, float]:
    """Percentages as shares of 1, as they were given: nothing is normalised."""
    hundred = 1 if sum(numbers.values()) <= _FRACTIONS_TO else 100
    return {option: round(number / hundred, 4) for option, number in numbers.items()}


def with_none_of_these(items: Sequence[Option], kind: QuestionKind) -> tuple[Option, ...]:
    """The options of a choice, with the one that says no to all others; other kinds have none."""
    if not items or kind is not QuestionKind.CHOICE:
        return tuple(items)
    return (*items, Option(id=f"o{len(items) + 1}", name=NONE_OF_THESE))


def is_listed(options: OptionList, option: str, *figures: float) -> bool:
    """Whether lists name this option: "none of these" only with a figure above 0."""
    return any(figures) or options.name(option) != NONE_OF_THESE


def listed_scores(options: OptionList, scores: Iterable[OptionScore]) -> Sequence[OptionScore]:
    rows = [
        score
        for score in scores
        if is_listed(options, score.option, score.first_choices, score.mean_probability)
    ]
    none = [score for score in rows[1:] if options.name(score.option) == NONE_OF_THESE]
    return [*(score for score in rows if score not in none), *none]


@dataclass(frozen=True)
class Stance:
    """What a text says in its last lines of how likely each option is."""

    #: 0 to 1 by option id, and by name where the author names an option first; as stated.
    known: Mapping[str, float] = field(default_factory=dict[str, float])
    new: Mapping[str, float] = field(default_factory=dict[str, float])


def read_stance(text: str, options: OptionList) -> Stance:
    """The probabilities that a text states in its last lines.

    "Stance: o1 70 %, o2 10 %, "keep both until June" 20 %": a name in quotation marks is a new
    option. Empty without a figure for an option of the debate.
    """
    for line in reversed(text.splitlines()[-_LAST_LINES:]):
        if not (match := _STANCE_LINE.match(line)):
            continue
        statement = match.group(1)
        by_id = {o.lower(): float(share) for o, share in _SHARE.findall(statement)}
        new: dict[str, float] = {}
        for name, share in _NEW_SHARE.findall(statement):
            same = _id_of_name(name, options.items)
            if same:
                by_id[same] = by_id.get(same, 0.0) + float(share)
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
    lines = text.splitlines()
    start = max(0, len(lines) - _LAST_LINES)
    rest = [*lines[:start], *(line for line in lines[start:] if not _STANCE_LINE.match(line))]
    return "\n".join(rest).rstrip() if len(rest) < len(lines) else text


def merge_by_rules(answers: Mapping[str, str]) -> tuple[tuple[Option, ...], Mapping[str, str]]:
    """Options of answers that say the same in nearly the same words, and who stands for which.

    For where no model can merge them. Answers of which only one is negated are never the same.
    """
    first, stances = dict[str, str](), dict[str, str]()  # first answer for each option, by its id
    for agent, answer in answers.items():
        words = _telling(answer)
        for option, other in first.items():
            theirs = _telling(other)
            both = words & theirs
            share = len(both) / min(len(words), len(theirs)) if both else 0.0
            if share >= _ALIKE_FROM and ("not" in words) == ("not" in theirs):
                stances[agent] = option
                break
        else:
            if len(first) < MOST_OPTIONS:
                stances[agent] = f"o{len(first) + 1}"
                first[stances[agent]] = answer
    names = short_names(list(first.values()))
    return tuple(Option(id=id_, name=name) for id_, name in zip(first, names, strict=True)), stances


def short_name(text: str, most: int = NAME_MAX_CHARS) -> str:
    """A text as the name of an option: one line, without marks, cut visibly at a word."""
    line = " ".join(text.replace("*", "").replace("`", "").split()).rstrip(".")
    return line if len(line) <= most else line[: most - 1].rsplit(" ", 1)[0] + "…"


def short_names(texts: Sequence[str], most: int = NAME_MAX_CHARS) -> list[str]:
    """Texts as names of options; of those that begin alike, what follows from where they differ."""
    names = [short_name(text, most) for text in texts]
    whole = [short_name(text, len(text) + 1) for text in texts]
    # Words before the difference first; then, until all differ, what begins with it.
    for lead in (most // 4, *(0 for _ in texts)):
        for name in {name for name in names if names.count(name) > 1}:
            alike = [at for at, other in enumerate(names) if other == name]
            if len({whole[at] for at in alike}) == 1:
                continue
            letters = zip(*(whole[at] for at in alike), strict=False)
            common = sum(1 for _ in takewhile(lambda each: len(set(each)) == 1, letters))
            start = whole[alike[0]].rfind(" ", 0, max(common - lead, 0)) + 1 if lead else common
            for at in alike:
                names[at] = short_name(f"…{whole[at][start:]}" if start else whole[at], most)
    return names


def _telling(answer: str) -> frozenset[str]:
    """The words that tell answers apart; negations count, fillers do not."""
    words = (word.lower() for word in _WORD.findall(answer[:1000]))
    return frozenset(
        "not" if word in _NEGATIONS else word for word in words if word not in _FILLERS
    )


def _id_of_name(name: str, items: Iterable[Option]) -> str:
    """The id of the option that goes by this name, in nearly these words; empty if none does."""
    words = _telling(name)
    same = (item.id for item in items if item.name.casefold() == name.strip().casefold())
    alike = (item.id for item in items if _telling(item.name) == words)
    return next(same, "") or (next(alike, "") if words else "")


def named_options(debate: Debate) -> Sequence[Option]:
    options = [*debate.options.items] if debate.options else []
    for contribution in debate.contributions.values():
        for name in contribution.new_options:
            if not _id_of_name(name, options):
                number = 1 + sum(item.id.startswith(_BY_AGENTS) for item in options)
                options.append(Option(id=f"{_BY_AGENTS}{number}", name=name))
    return options
