"""What agents see: it always fits the model, stays flat, and names nobody."""

import re
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.acts.act import ACTS
from core.acts.ballot import movers_shown
from core.acts.context import candidates, parts_for
from core.acts.request_for import request_for
from core.capabilities import Capability, capability
from core.events import ContributionMade, Event
from core.llm.fitting import fitted
from core.llm.prices import ESTIMATE_SLACK, output_reserve
from core.llm.prompt_text import prompt_text
from core.llm.sizes import Measure
from core.models import Act, ContextMethod, Contribution, Summarization, Turn
from core.rules import schedule
from core.rules.history.told import SAID
from core.rules.options import option_of
from core.testing import a_setup
from tests.core.dice import Luck, Play

MODELS = [
    ("anthropic", "claude-sonnet-5-5"),
    ("anthropic", "claude-haiku-5-5"),
    ("openai", "gpt-6.1-terra"),
    ("openai", "gpt-4o"),
    ("moonshot", "kimi-k3.1-pro"),
    ("ollama", "qwen3:14b"),
    ("compatible", "nobody-knows-it"),
]
SPEECHES = frozenset(act for act, spec in ACTS.items() if spec.is_speech)
ASKING = frozenset({*SPEECHES, Act.BALLOT, Act.SYNTHESIS, Act.FACILITATION})


class Wordy(Play):
    """A play whose agents talk at length."""

    words = 3000

    def outcome(self, turn: Turn) -> Event:
        if turn.act in SPEECHES:
            text = f"**{turn.act}** " + "The queue must take 2000 jobs. " * (self.words // 6)
            return ContributionMade(contribution=Contribution(turn=turn, text=text))
        return super().outcome(turn)


def a_play(form: str, rounds: int, method: ContextMethod, seed: int) -> Wordy:
    rules = Summarization(method=method)
    setup = a_setup(rounds=rounds).model_copy(update={"format": form, "summarization": rules})
    return Wordy(setup, Luck(seed=seed, failing=0.05, disturbed=0))


@settings(max_examples=25)
@given(
    form=st.sampled_from(["critique", "council", "panel"]),
    rounds=st.integers(1, 15),
    method=st.sampled_from(list(ContextMethod)),
    seed=st.integers(0, 10**6),
    steps=st.integers(0, 200),
    model=st.sampled_from(MODELS),
)
def test_a_prompt_always_fits_the_models_context(
    *, form: str, rounds: int, method: ContextMethod, seed: int, steps: int, model: tuple[str, str]
) -> None:
    play = a_play(form, rounds, method, seed)
    for _ in range(steps):
        if not play.step():
            break
    limits = capability(*model)
    for turn in schedule.ready(play.debate):
        if turn.act in ASKING:
            assert used(play, turn, model, limits) <= limits.context_tokens


def used(play: Play, turn: Turn, model: tuple[str, str], limits: Capability) -> float:
    """Tokens of the prompt as it would be sent, reply and reasoning included."""
    measure = Measure(())
    request = replace(request_for(play.debate, turn), model=model[1])
    sent = fitted(request, limits, partial(measure.prompt_tokens, model[0]))
    reserve = output_reserve(limits, request.max_output_tokens, request.effort)
    return measure.prompt_tokens(model[0], sent) * ESTIMATE_SLACK + reserve


def test_the_question_is_never_shortened() -> None:
    play = a_play("council", 1, ContextMethod.FULL, 1)
    while play.step():
        for turn in schedule.ready(play.debate):
            if turn.act in ASKING:
                request = request_for(play.debate, turn)
                small = capability("ollama", "x").model_copy(update={"context_tokens": 6000})
                sent = fitted(request, small, lambda asked: len(prompt_text(asked)) // 4)
                assert sent.parts[0].text == play.setup.question


class Various(Play):
    """A play in which no two agents say the same."""

    def outcome(self, turn: Turn) -> Event:
        if turn.act in SPEECHES:
            text = f"**{turn.key}** " + " ".join(f"{turn.key}-{word}" for word in range(60))
            return ContributionMade(contribution=Contribution(turn=turn, text=text))
        return super().outcome(turn)


@pytest.mark.parametrize("form", ["critique", "council", "panel"])
@pytest.mark.parametrize("method", list(ContextMethod))
def test_no_text_stands_twice_in_a_prompt(form: str, method: ContextMethod) -> None:
    rules = Summarization(method=method)
    setup = a_setup(rounds=3).model_copy(update={"format": form, "summarization": rules})
    play = Various(setup, Luck(seed=1, failing=0, disturbed=0))
    asked: set[Act] = set()
    while play.step():
        for turn in [turn for turn in schedule.ready(play.debate) if turn.act in ASKING]:
            prompt = "\n".join(part.text for part in parts_for(play.debate, turn))
            for made in play.debate.contributions.values():
                assert prompt.count(made.text) <= 1, (turn.key, made.turn.key)
            asked.add(turn.act)

    assert {Act.BALLOT, Act.SYNTHESIS} < asked


def test_the_judge_sees_the_case() -> None:
    play = Various(a_setup(rounds=2), Luck(seed=1, failing=0, disturbed=0))
    while not [turn for turn in schedule.ready(play.debate) if turn.act is Act.SYNTHESIS]:
        play.step()
    parts = parts_for(play.debate, Turn(act=Act.SYNTHESIS, round=2, agent="judge"))
    texts = {part.label: part.text for part in parts}
    tally, ballots = play.debate.tally, play.debate.ballots.values()
    assert tally
    ranked = [score.position for score in tally.scores]
    held = [[a for a in ranked if option_of(play.debate, a) == o.option] for o in tally.options]
    top = [agents[0] for agents in held if agents][:2]
    names = {agent.id: agent.name for agent in play.setup.agents}

    assert all(f"Position of {name}" in texts for name in names.values())
    assert [label for label in texts if " on the position of " in label] == [
        f"{names[critic]} on the position of {names[target]} in round 2"
        for target in top
        for critic in names
        if critic != target
    ]
    for ballot in ballots:
        if ballot.turn.round:
            assert f"The ballot of {names[ballot.voter]}: " in texts["The vote"]
            assert all(reason in texts["The vote"] for reason in ballot.reasons.values())


@pytest.mark.parametrize("form", ["critique", "panel"])
@pytest.mark.parametrize("method", list(ContextMethod))
def test_who_is_shown_letters_is_told_its_own(form: str, method: ContextMethod) -> None:
    rules = Summarization(method=method)
    setup = a_setup(rounds=3).model_copy(update={"format": form, "summarization": rules})
    play = Various(setup, Luck(1, 0, 0))
    while play.step():
        ready = [turn for turn in schedule.ready(play.debate) if turn.act in SPEECHES]
        for turn in [one for one in ready if one.round > 1 and one.agent == "security"]:
            *quoted, task = request_for(play.debate, turn).parts
            shown = "\n".join(part.text for part in quoted)
            # In its own history it says "your own"; in what all read it is B.
            if re.search(r"\[Round \d: B's ", shown):
                assert re.search(r"you are B\b", task.text), turn.key


def test_every_speech_has_the_noun_of_its_act_where_agents_are_told_of_it() -> None:
    # What is said in a review is no free text, and told all the same.
    spoken = SPEECHES | {Act.REVIEW, Act.SECOND_LOOK}
    assert {act: ACTS[act].noun for act in spoken} == SAID


def test_voters_do_not_all_read_the_positions_in_one_order() -> None:
    agents = ("architect", "security", "simplicity", "operations", "finance")
    play = Various(a_setup(rounds=1, agents=agents), Luck(1, 0, 0))
    orders: set[tuple[str, ...]] = set()
    while play.step():
        for turn in schedule.ready(play.debate):
            if turn.act is Act.BALLOT:
                orders.add(tuple(candidate.position for candidate in candidates(play.debate, turn)))

    assert len(orders) > 1


@pytest.mark.parametrize("form", ["critique", "council", "panel"])
def test_nobody_is_moved_by_its_own_words(form: str) -> None:
    play = Various(a_setup(rounds=2).model_copy(update={"format": form}), Luck(1, 0, 0))
    shown = 0
    while play.step():
        for turn in [one for one in schedule.ready(play.debate) if one.act is Act.BALLOT]:
            movers = movers_shown(play.debate, turn).values()
            assert turn.agent not in {made.turn.agent for made in movers}
            shown += len(movers)

    assert shown
