"""Prompts of agents: letters for names, shuffled positions, and causes of changed votes."""

import json
import re
from collections.abc import Collection, Iterator

import pytest

from core.acts.act import ACTS
from core.acts.ballot import possible_movers
from core.acts.context import candidates
from core.acts.request_for import request_for
from core.debate.agents import ContextMethod, Summarization
from core.debate.contributions import Contribution
from core.debate.log import Event
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade
from core.request import ModelRequest
from core.rules import schedule
from core.testing import ScriptedProvider, a_setup, plausible_reply
from tests.core.bench import Bench
from tests.core.dice import Luck, Play
from tests.core.rules.formats.debates import (
    AGENTS,
    a_format_setup,
    debate_with,
    options,
    speeches,
    voted,
    wording,
)

SPEECHES = frozenset(act for act, spec in ACTS.items() if spec.is_speech)


class Various(Play):
    """A play in which all texts differ."""

    def outcome(self, turn: Turn) -> Event:
        if turn.act in SPEECHES:
            text = f"**{turn.key}** " + " ".join(f"{turn.key}-{word}" for word in range(60))
            return ContributionMade(contribution=Contribution(turn=turn, text=text))
        return super().outcome(turn)


def turns_of(play: Play, acts: Collection[Act]) -> Iterator[Turn]:
    """Play the debate, and yield each turn of these acts when it is ready."""
    while play.step():
        yield from [turn for turn in schedule.ready(play.debate) if turn.act in acts]


@pytest.mark.parametrize("form", ["critique", "panel"])
@pytest.mark.parametrize("method", [ContextMethod.ROUNDS, ContextMethod.LENGTH])
def test_a_prompt_with_letters_names_the_agents_own_letter(
    form: str, method: ContextMethod
) -> None:
    rules = Summarization(method=method)
    setup = a_setup(rounds=3).model_copy(update={"format": form, "summarization": rules})
    play = Various(setup, Luck(1, 0, 0))
    for turn in turns_of(play, SPEECHES):
        if turn.round > 1 and turn.agent == "security":
            *quoted, task = request_for(play.debate, turn).parts
            text = "\n".join(part.text for part in quoted)
            # The agent's own history says "your own"; shared texts call it B.
            if re.search(r"\[Round \d: B's ", text):
                assert re.search(r"you are B\b", task.text), turn.key


def test_voters_read_the_positions_in_different_orders() -> None:
    agents = ("architect", "security", "simplicity", "operations", "finance")
    play = Various(a_setup(rounds=1, agents=agents), Luck(1, 0, 0))
    orders = {
        tuple(candidate.turn.agent for candidate in candidates(play.debate, turn).values())
        for turn in turns_of(play, {Act.BALLOT})
    }
    assert len(orders) > 1


@pytest.mark.parametrize("form", ["critique", "council", "panel"])
def test_a_voters_own_texts_are_no_cause_of_its_change(form: str) -> None:
    play = Various(a_setup(rounds=2).model_copy(update={"format": form}), Luck(1, 0, 0))
    pairs = [
        (turn.agent, contribution.turn.agent)
        for turn in turns_of(play, {Act.BALLOT})
        for contribution in possible_movers(play.debate, turn).values()
    ]
    assert pairs
    assert all(voter != author for voter, author in pairs)


@pytest.mark.parametrize(("early", "round_read"), [(0.9, 2), (0.2, 1)])
def test_only_critiques_read_before_a_change_can_be_its_cause(
    early: float, round_read: int
) -> None:
    """Security puts Kafka (o1) first before the debate, and last in round 2, or in round 1."""
    critics = ("architect", "simplicity")
    critiques = [f"r{n}/critique/{critic}/security" for n in (1, 2) for critic in critics]
    debate = debate_with(
        a_format_setup("critique"),
        options("Kafka", "PostgreSQL"),
        *(voted(0, agent, o1=0.7, o2=0.3) for agent in AGENTS),
        *speeches(*critiques[:2]),
        wording("r1/refinement/security", "So.", {"o1": early, "o2": 1 - early}),
        *speeches(*critiques[2:]),
        wording("r2/refinement/security", "So.", {"o1": 0.1, "o2": 0.9}),
    )
    movers = possible_movers(debate, Turn(act=Act.BALLOT, round=2, agent="security"))
    expected = [key for key in critiques if key.startswith(f"r{round_read}/")]
    assert [critique.turn.key for critique in movers.values()] == expected


async def test_a_cause_counts_only_if_the_voter_changed_its_choice() -> None:
    def script(request: ModelRequest) -> str:
        if request.act is not Act.BALLOT:
            return plausible_reply(request)
        is_last = "Before the debate" in request.parts[-1].text
        shares = [20, 80, 0] if is_last and request.role == "security" else [80, 20, 0]
        why = {"moved_by": "C1, because it is fast", "why_moved": "It is fast\nenough."}
        named = why if is_last else why | {"moved_by": "none"}
        return json.dumps(json.loads(plausible_reply(request)) | named | {"probabilities": shares})

    debate = await Bench(ScriptedProvider(script)).run(a_setup(rounds=1))
    moved = {ballot.voter: ballot.why_moved for ballot in debate.ballots.values()}

    assert moved == {"architect": "", "security": "It is fast enough.", "simplicity": ""}
    cause = debate.ballots["r1/ballot/security"].moved_by
    assert cause
    assert debate.contributions[cause].turn.act is Act.CRITIQUE
