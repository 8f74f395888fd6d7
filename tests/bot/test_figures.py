"""Every figure that people read of a debate, against a second computation from its log alone.

The debates are generated: ballots of any probabilities, turns that fail, options that people add
and merge, models that several agents share. What is compared is computed here anew from the events
as JSON, with nothing of `core.rules`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.mcp import results
from bot.views.board import board
from bot.views.verdict import headline
from core.debate.log import Event, event_to_json
from core.debate.people_events import OptionEdited
from core.debate.rules import When
from core.debate.setup import Setup
from core.debate.turn import Act, Turn
from core.debate.turn_events import BallotAbstained, BallotCast, VerdictReached
from core.debate.verdict import Verdict
from core.debate.vote import Abstention, Ballot
from core.rules.confidence import confidence_of
from core.rules.options import options_of
from core.testing import a_setup
from core.transcript.adr import adr
from core.transcript.decision import decision_text
from core.transcript.record import record_json
from core.transcript.report import report
from core.usage import Call, Usage
from tests.core.dice import Luck, Play, lucks

#: "option 1: 2 of 3 agents, mean probability 57%", in bold or not, then
#: "; option 2: 1 of 3, mean 30%".
_FIRST = re.compile(
    r"(?:\*|\b)(option \d+)\*{0,2}: (\d+) of (\d+) agents?(?: with a ballot that counts)?, "
    r"mean probability (\d+)%"
)
_OTHER = re.compile(r"; \*?(option \d+)\*?: (\d+) of (\d+), mean (\d+)%")
_CONFIDENCE = re.compile(r"\((\d+) of 100\)")
_MEAN = re.compile(r"mean of (\d+) ballots? from (\d+) models?[^:]*: (\d+)%")
_GAVE = re.compile(
    r"first (?:answers|ballots)(?: of \d+ of \d+ agents)? gave it (\d+)%(?: to (\d+)%)?"
)
_ONLY = re.compile(r"only (\d+) of (\d+) ballots? could be counted")
_FAILED = re.compile(r"(\d+) of (\d+) turns failed")
_COST = re.compile(r"(?i:cost:?) \$(\d+\.\d\d)\b")


Shares = dict[str, Fraction]


class FigurePlay(Play):
    """A debate whose ballots hold any probabilities, and whose calls cost something."""

    def step(self) -> bool:
        """One more event; people change nothing once votes are counted."""
        if self.debate.tally:
            self.luck = replace(self.luck, disturbed=0.0)
        return super().step()

    def add(self, event: Event) -> None:
        """Nobody can edit options before there are any (`core/use_cases/option_edits`)."""
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
        result = confidence_of(debate, verdict)
        if result:
            sure = {"confidence": result.percent, "rests_on": result.rests_on}
            verdict = verdict.model_copy(update=sure)
        return VerdictReached(verdict=verdict, edition=debate.edition)

    def _ballot(self, turn: Turn) -> Event:
        if self.dice.random() < 0.1:
            abstention = Abstention(
                turn=turn, reason="unreadable", declared=self.dice.random() < 0.5
            )
            return BallotAbstained(abstention=abstention)
        ids = [item.id for item in options_of(self.debate).items]
        cuts = sorted(self.dice.randrange(101) for _ in ids)
        shares = {
            option: (cut - before) / 100
            for option, before, cut in zip(ids, [0, *cuts[:-1]], cuts, strict=True)
        }
        ranking = tuple(agent.id for agent in self.debate.setup.agents)
        return BallotCast(ballot=Ballot(turn=turn, ranking=ranking, probabilities=shares))


@dataclass
class Naive:
    """The figures of one debate, from its events as JSON."""

    names: dict[str, str] = field(default_factory=dict[str, str])
    into: dict[str, str] = field(default_factory=dict[str, str])
    ballots: dict[tuple[str, int], Shares] = field(default_factory=dict[tuple[str, int], Shares])
    missing: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    failed: set[str] = field(default_factory=set[str])
    spoken: int = 0
    abstained: int = 0
    cost: Decimal = Decimal(0)
    counted: list[tuple[str, Shares]] = field(default_factory=list[tuple[str, Shares]])
    verdict: Mapping[str, Any] = field(default_factory=dict[str, Any])
    swap: str | None = None

    def read(self, event: Mapping[str, Any]) -> None:  # noqa: C901, PLR0912 - a case per event
        """Take one event in."""
        match event["kind"]:
            case "options_merged":
                self.names |= {item["id"]: item["name"] for item in event["options"]["items"]}
            case "option_edited":
                self._edit(event["edit"])
            case "contribution_made":
                self.spoken += 1
            case "ballot_cast":
                turn, shares = event["ballot"]["turn"], event["ballot"]["probabilities"]
                exact = {item: Fraction(round(share * 100), 100) for item, share in shares.items()}
                self.ballots[turn["agent"], turn["round"]] = exact
            case "ballot_abstained":
                turn = event["abstention"]["turn"]
                self.missing.add((turn["agent"], turn["round"]))
                self.abstained += 1
            case "turn_failed":
                turn = event["failure"]["turn"]
                if turn["act"] not in {"summary", "shadow", "shadow_choice"}:
                    self.failed.add(f"{turn}")
                if turn["act"] == "ballot":
                    self.missing.add((turn["agent"], turn["round"]))
            case "vote_tallied":
                last = max(number for _, number in (*self.ballots, *self.missing))
                cast = [
                    (a, shares) for (a, number), shares in self.ballots.items() if number == last
                ]
                self.counted = [text for text in cast if text[0] in event["tally"]["voters"]]
            case "cross_checked":
                self.swap = event["check"]["option"]
            case "verdict_reached":
                self.verdict = event["verdict"]
                self.cost += Decimal(event["verdict"]["call"]["usage"]["cost"])
            case "debate_wanted" if self.verdict or self.counted:
                self.verdict, self.counted, self.swap = {}, [], None
            case _:
                pass

    def _edit(self, edit: Mapping[str, Any]) -> None:
        if edit["change"] == "add":
            number = 1 + sum(text.startswith("t") for text in (*self.names, *self.into))
            self.names[f"t{number}"] = edit["name"]
        elif edit["option"] in self.names and edit["into"] in self.names:
            self.into[edit["option"]] = edit["into"]
            del self.names[edit["option"]]

    def shares(self) -> list[tuple[str, Shares]]:
        """What each counted voter gives each option as it stands; who gives nothing is left out."""
        sums_of_voters: list[tuple[str, Shares]] = []
        for voter, probabilities in self.counted:
            sums: Shares = {}
            for item, share in probabilities.items():
                target = self.into.get(item, item)
                sums[target] = sums.get(target, Fraction(0)) + share
            if sums:
                sums_of_voters.append((voter, sums))
        return sums_of_voters

    def score(self, name: str) -> tuple[int, int, Fraction]:
        """First choices of an option, voters, and the mean of what they give it."""
        option = next(item for item, called in self.names.items() if called == name)
        votes = [shares for _, shares in self.shares()]
        first = 0
        for vote in votes:
            most = max(vote.values())
            first += [item for item, share in vote.items() if share == most] == [option]
        return (
            first,
            len(votes),
            sum((v.get(option, Fraction(0)) for v in votes), Fraction(0)) / (len(votes) or 1),
        )

    def chosen(self) -> str:
        """The option decided for, as it stands."""
        option = str(self.verdict["option"])
        return self.into.get(option, option)

    def given(self) -> list[Fraction]:
        """What first answers gave the chosen option."""
        option = self.chosen()
        blind = [shares for (_, number), shares in self.ballots.items() if number == 0 and shares]
        return [
            sum((s for o, s in shares.items() if self.into.get(o, o) == option), Fraction(0))
            for shares in blind
        ]

    def apart(self) -> Fraction:
        """How far first answers on the chosen option lie apart; 0 of fewer than two."""
        shares = self.given()
        return max(shares) - min(shares) if len(shares) > 1 else Fraction(0)

    def mean(self, models: Mapping[str, str]) -> tuple[int, int, Fraction]:
        """Ballots, models, and the mean for the chosen option, each model counted once."""
        option = self.chosen()
        by_model = dict[str, list[Fraction]]()
        for voter, shares in self.shares():
            by_model.setdefault(models[voter], []).append(shares.get(option, Fraction(0)))
        means = [sum(each, Fraction(0)) / len(each) for each in by_model.values()]
        return len(self.shares()), len(means), sum(means, Fraction(0)) / (len(means) or 1)

    def confidence(self, models: Mapping[str, str]) -> Fraction | None:
        """How sure the verdict is, in percent; None: no figure can be given."""
        option = self.chosen()
        voters, served, mean = self.mean(models)
        if not option or voters < 2:
            return None
        most = 85 if served == 1 else 92
        if self.apart() > Fraction(20, 100):
            most = min(most, 75)
        figure = min(100 * mean, Fraction(most))
        lost = Fraction(30 * (len(models) - voters), len(models))
        turns = self.spoken + len(self.failed)
        failing = Fraction(30 * len(self.failed), turns) if turns else Fraction(0)
        figure -= min(lost + failing, Fraction(30))
        if self.swap is not None and self.into.get(self.swap, self.swap) != option:
            figure -= 20
        return max(Fraction(0), figure)


def is_rounded(figure: int, exact: Fraction) -> bool:
    """Whether an exact figure is shown as this whole one; a half may go either way."""
    return abs(Fraction(figure) - exact) <= Fraction(1, 2) + Fraction(1, 10**6)


def surfaces(play: Play) -> Iterator[tuple[str, str]]:
    """All that people read of the debate."""
    debate = play.debate
    yield "board", board(debate).text
    yield "terminal", decision_text(debate)
    yield "report", report(debate)
    yield "record", adr(debate)
    yield "program", results.verdict(debate, "").text
    if debate.verdict:
        yield "verdict", headline(debate, debate.verdict).text


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
    counts = check_figures()
    assert counts["shown"] > 0
    assert counts["sure"] > 0


def check_figures() -> Mapping[str, int]:
    """Generate debates and compare; return how many figures were."""
    counts = {"shown": 0, "sure": 0}

    # What a few debates show depends on chance: they are the same in every run.
    few = settings().max_examples <= 20

    @settings(max_examples=20 if few else settings().max_examples * 6, derandomize=few)
    @given(some_setups(), lucks)
    def compare(setup: Setup, luck: Luck) -> None:
        play = FigurePlay(setup, luck)
        play.to_the_end()
        naive = Naive()
        for recorded in play.log:
            naive.read(json.loads(event_to_json(recorded.event)))
        counts["shown"] += check_votes(play, naive)
        counts["sure"] += check_verdict(play, naive)
        check_record(play, naive)

    compare()
    return counts


def check_votes(play: Play, naive: Naive) -> int:
    """How many counts of options are shown, all of them right."""
    count = 0
    for surface, text in surfaces(play):
        for name, first, voters, average in _FIRST.findall(text):
            firsts, votes, mean = naive.score(name)
            assert (int(first), int(voters)) == (firsts, votes), (surface, text)
            assert is_rounded(int(average), 100 * mean), (surface, text)
            count += 1
        for name, first, voters, average in _OTHER.findall(text):
            firsts, votes, mean = naive.score(name)
            assert (int(first), int(voters)) == (firsts, votes), (surface, text)
            assert is_rounded(int(average), 100 * mean), (surface, text)
    return count


def check_verdict(play: Play, naive: Naive) -> int:
    """How many confidences are shown, all of them right, and the cost."""
    count = 0
    models = play.debate.setup.models
    for surface, text in surfaces(play):
        for figure in _CONFIDENCE.findall(text):
            exact = naive.confidence(models)
            assert exact is not None, (surface, text)
            assert is_rounded(int(figure), exact), (surface, float(exact), text)
            count += 1
        for dollars in _COST.findall(text):
            assert Decimal(dollars) == naive.cost, (surface, text)
        check_grounds(text, naive, models)
    if play.debate.verdict and play.debate.tally:
        figure = play.debate.verdict.confidence
        assert (figure is None) == (naive.confidence(models) is None)
    return count


def check_grounds(text: str, naive: Naive, models: Mapping[str, str]) -> None:
    """The figures in what a confidence rests on."""
    for ballots, served, average in _MEAN.findall(text):
        voters, by_model, mean = naive.mean(models)
        assert (int(ballots), int(served)) == (voters, by_model), text
        assert is_rounded(int(average), 100 * mean), text
    for least, most in _GAVE.findall(text):
        assert is_rounded(int(least), 100 * min(naive.given())), text
        assert is_rounded(int(most or least), 100 * max(naive.given())), text
    for ballots, voters in _ONLY.findall(text):
        assert (int(ballots), int(voters)) == (len(naive.shares()), len(models)), text
    for failed, turns in _FAILED.findall(text):
        assert (int(failed), int(turns)) == (len(naive.failed), naive.spoken + len(naive.failed)), (
            text
        )


def check_record(play: Play, naive: Naive) -> None:
    """The figures for programs."""
    record = json.loads(record_json(play.log))
    totals = record["totals"]
    assert totals["contributions"] == naive.spoken
    assert totals["abstentions"] == naive.abstained
    assert totals["ballots"] == len(naive.ballots)
    assert Decimal(totals["cost"] or 0) == naive.cost
