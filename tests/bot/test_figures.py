"""Every figure that people read of a debate, against a second computation from its log alone.

The debates are generated: ballots of any probabilities, turns that fail, options that people add
and merge, models that several agents share. What is compared is computed here anew from their
outcomes, with nothing of `core.rules`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.mcp import results
from bot.views.board import board
from bot.views.verdict import headline
from core.debate.log import Event
from core.debate.people_events import OptionEdited
from core.debate.rules import When
from core.debate.setup import Setup
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import BallotAbstained, BallotCast, VerdictReached
from core.debate.verdict import Overrule, Verdict
from core.debate.vote import Abstention, Ballot, OptionChange
from core.rules.confidence import confidence_of
from core.rules.options import options_of
from core.testing import a_setup
from core.transcript.decision import adr, decision_text
from core.transcript.report import report
from core.usage import Call, Usage
from tests.core.dice import Luck, Play, lucks

#: "option 1: 2 of 3 agents, mean probability 57%; option 2: 1 of 3, mean 30%", in bold or not.
_COUNT = re.compile(
    r"\b(option \d+)\*?: (\d+) of (\d+)(?: agents?(?: with a ballot that counts)?)?, "
    r"mean (?:probability )?(\d+)%"
)
_CONFIDENCE = re.compile(r"\((\d+) of 100\)")
_MEAN = re.compile(r"mean of (\d+) ballots? from (\d+) models?[^:]*: (\d+)%")
_GAVE = re.compile(
    r"first (?:answers|ballots)(?: of \d+ of \d+ agents)? gave it (\d+)%(?: to (\d+)%)?"
)
_COST = re.compile(r"(?i:cost:?) \$(\d+\.\d\d)\b")
Shares = dict[str, Fraction]
#: Acts whose failure is no failed turn: a missing ballot counts as a missing ballot.
_UNHEARD = {Act.SUMMARY, Act.SHADOW, Act.SHADOW_CHOICE, Act.BALLOT}


class FigurePlay(Play):
    """A debate whose ballots hold any probabilities, and whose calls cost something."""

    def step(self) -> bool:
        """One more event; people change nothing once votes are counted."""
        if self.debate.tally:
            self.luck = replace(self.luck, disturbed=0.0)
        return super().step()

    def add(self, event: Event) -> None:
        """Nobody can edit options before there are any (`core/use_cases/steer`)."""
        if isinstance(event, OptionEdited) and not options_of(self.debate).items:
            return
        super().add(event)

    def outcome(self, turn: Turn) -> Event:
        """A ballot of any kind; a verdict with its computed confidence; else as by dice."""
        debate = self.debate
        if turn.act is Act.BALLOT and self.dice.random() >= self.luck.failing:
            return self._ballot(turn)
        if turn.act is not Act.SYNTHESIS:
            return super().outcome(turn)
        options = [item.id for item in options_of(debate).items]
        cents = Decimal(self.dice.randrange(500)) / 100
        call = Call(provider="p", model="m", usage=Usage(cost=cents, attempts=1))
        option = self.dice.choice(options) if options else ""
        fields = {"decision": "Do it.", "solution": "So.", "option": option, "confidence": None}
        verdict = Verdict.model_validate(fields | {"call": call})
        if option and self.dice.random() < 0.3:  # the judge would have decided otherwise
            ruled = Overrule(vote=option, judge=self.dice.choice(options))
            verdict = verdict.model_copy(update={"overrule": ruled})
        result = confidence_of(debate, verdict)
        if result:
            sure = {"confidence": result.percent, "rests_on": result.rests_on}
            verdict = verdict.model_copy(update=sure)
        return VerdictReached(verdict=verdict, edition=debate.edition)

    def _ballot(self, turn: Turn) -> Event:
        if self.dice.random() < 0.1:
            is_declared = self.dice.random() < 0.5
            abstention = Abstention(turn=turn, reason="unreadable", declared=is_declared)
            return BallotAbstained(abstention=abstention)
        ids = [item.id for item in options_of(self.debate).items]
        cuts = sorted(self.dice.randrange(101) for _ in ids)
        pairs = zip(ids, [0, *cuts[:-1]], cuts, strict=True)
        shares = {option: (cut - before) / 100 for option, before, cut in pairs}
        ranking = tuple(agent.id for agent in self.debate.setup.agents)
        return BallotCast(ballot=Ballot(turn=turn, ranking=ranking, probabilities=shares))


class Naive:
    """The figures of one debate, from what its events say."""

    def __init__(self, debate: Debate, cost: Decimal) -> None:
        self.cost, self.verdict, self.models = cost, debate.verdict, debate.setup.models
        self.spoken = len(debate.contributions)
        self.failed = sum(failure.turn.act not in _UNHEARD for failure in debate.failures.values())
        self.swap = debate.cross_check.option if debate.cross_check else None
        ruled = debate.verdict.overrule if debate.verdict else None
        self.judge = ruled.judge if ruled else debate.verdict.option if debate.verdict else ""
        self.names = {item.id: item.name for item in debate.options.items} if debate.options else {}
        self.into: dict[str, str] = {}
        for edit in debate.option_edits:
            if edit.change is OptionChange.ADD:
                number = 1 + sum(option.startswith("t") for option in (*self.names, *self.into))
                self.names[f"t{number}"] = edit.name
            elif {edit.option, edit.into} <= self.names.keys():
                self.into[edit.option] = edit.into
                del self.names[edit.option]
        outcomes = (*debate.ballots.values(), *debate.abstentions.values())
        turns = [outcome.turn for outcome in (*outcomes, *debate.failures.values())]
        last = max((turn.round for turn in turns if turn.act is Act.BALLOT), default=0)
        voters = debate.tally.voters if debate.tally else ()
        ballots = debate.ballots.values()
        self.first = [self.merged(ballot) for ballot in ballots if ballot.turn.round == 0]
        self.counted = {
            ballot.voter: self.merged(ballot)
            for ballot in ballots
            if ballot.turn.round == last and ballot.voter in voters and ballot.probabilities
        }

    def merged(self, ballot: Ballot) -> Shares:
        """What a ballot gives options as they stand."""
        sums: Shares = {}
        for item, share in ballot.probabilities.items():
            target = self.into.get(item, item)
            sums[target] = sums.get(target, Fraction(0)) + Fraction(round(share * 100), 100)
        return sums

    def score(self, name: str) -> tuple[int, int, Fraction]:
        """First choices of an option, voters, and the mean of what they give it."""
        option = next(item for item, called in self.names.items() if called == name)
        votes = [*self.counted.values()]
        leaders = ([o for o, s in vote.items() if s == max(vote.values())] for vote in votes)
        total = sum((vote.get(option, Fraction(0)) for vote in votes), Fraction(0))
        return sum(each == [option] for each in leaders), len(votes), total / (len(votes) or 1)

    def now(self, option: str) -> str:
        """The option into which people merged this one, or itself."""
        return self.into.get(option, option)

    def chosen(self) -> str:
        """The option decided for, as it stands."""
        assert self.verdict
        return self.now(self.verdict.option)

    def given(self) -> list[Fraction]:
        """What first answers gave the chosen option."""
        return [shares.get(self.chosen(), Fraction(0)) for shares in self.first if shares]

    def mean(self) -> tuple[int, int, Fraction]:
        """Ballots, models, and the mean for the chosen option, each model counted once."""
        by_model = dict[str, list[Fraction]]()
        for voter, shares in self.counted.items():
            share = shares.get(self.chosen(), Fraction(0))
            by_model.setdefault(self.models[voter], []).append(share)
        means = [sum(each, Fraction(0)) / len(each) for each in by_model.values()]
        return len(self.counted), len(means), sum(means, Fraction(0)) / (len(means) or 1)

    def confidence(self) -> Fraction | None:
        """How sure the verdict is, in percent; None: no figure can be given."""
        voters, served, mean = self.mean()
        if not self.chosen() or voters < 2:
            return None
        most, given = 85 if served == 1 else 92, self.given()
        if given and max(given) - min(given) > Fraction(20, 100):
            most = min(most, 75)
        figure = min(100 * mean, Fraction(most))
        lost = Fraction(30 * (len(self.models) - voters), len(self.models))
        turns = self.spoken + self.failed
        failing = Fraction(30 * self.failed, turns) if turns else Fraction(0)
        figure -= min(lost + failing, Fraction(30))
        if self.swap is not None and self.now(self.swap) != self.now(self.judge):
            figure -= 20
        return max(Fraction(0), figure)


def is_rounded(figure: int, exact: Fraction) -> bool:
    """Whether an exact figure is shown as this whole one; a half may go either way."""
    return abs(Fraction(figure) - exact) <= Fraction(1, 2) + Fraction(1, 10**6)


def surfaces(debate: Debate) -> Iterator[str]:
    """All that people read of the debate."""
    yield board(debate).text
    yield decision_text(debate)
    yield report(debate)
    yield adr(debate)
    yield results.verdict(debate, "").text
    if debate.verdict:
        yield headline(debate, debate.verdict).text


@st.composite
def some_setups(draw: st.DrawFn) -> Setup:
    """A choice, with two to five agents on one to three models."""
    setup = a_setup(rounds=draw(st.integers(1, 3)))
    agents = setup.agents[: draw(st.integers(2, 3))]
    served = tuple(
        agent.model_copy(update={"model": f"m{draw(st.integers(1, 3))}"}) for agent in agents
    )
    rules = {
        "agents": served,
        "when": draw(st.sampled_from(list(When))),
        "format": draw(st.sampled_from(["critique", "council", "panel"])),
    }
    return setup.model_copy(update=rules)


@pytest.mark.hypothesis
def test_every_figure_agrees_with_one_from_the_log() -> None:
    shown = Counter[str]()
    # What a few debates show depends on chance: they are the same in every run.
    few = settings().max_examples <= 20

    @settings(max_examples=20 if few else settings().max_examples * 6, derandomize=few)
    @given(some_setups(), lucks)
    def compare(setup: Setup, luck: Luck) -> None:
        play = FigurePlay(setup, luck)
        play.to_the_end()
        events = [recorded.event for recorded in play.log]
        calls = [event.verdict.call for event in events if isinstance(event, VerdictReached)]
        cost = sum((call.usage.cost or Decimal(0) for call in calls if call), Decimal(0))
        naive = Naive(play.debate, cost)
        for text in surfaces(play.debate):
            shown["counts"] += check_counts(text, naive)
            if naive.verdict:
                shown["confidences"] += check_verdict(text, naive)
        if naive.verdict and play.debate.tally:
            assert (naive.verdict.confidence is None) == (naive.confidence() is None)

    compare()
    assert shown["counts"] > 0
    assert shown["confidences"] > 0


def check_counts(text: str, naive: Naive) -> int:
    """How many counts of options are shown, all of them right."""
    counts = _COUNT.findall(text)
    for name, first, voters, average in counts:
        firsts, votes, mean = naive.score(name)
        assert (int(first), int(voters)) == (firsts, votes), text
        assert is_rounded(int(average), 100 * mean), text
    return len(counts)


def check_verdict(text: str, naive: Naive) -> int:
    """How many confidences are shown, all of them right, as are their grounds and the cost."""
    confidences = _CONFIDENCE.findall(text)
    for figure in confidences:
        exact = naive.confidence()
        assert exact is not None, text
        assert is_rounded(int(figure), exact), (float(exact), text)
    for dollars in _COST.findall(text):
        assert Decimal(dollars) == naive.cost, text
    for ballots, served, average in _MEAN.findall(text):
        voters, by_model, mean = naive.mean()
        assert (int(ballots), int(served)) == (voters, by_model), text
        assert is_rounded(int(average), 100 * mean), text
    for least, most in _GAVE.findall(text):
        assert is_rounded(int(least), 100 * min(naive.given())), text
        assert is_rounded(int(most or least), 100 * max(naive.given())), text
    return len(confidences)
