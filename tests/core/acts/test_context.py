"""What agents see: it always fits the model, stays flat, and names nobody."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.acts.act import ACTS
from core.acts.ballot import mover_labels, movers_shown
from core.acts.context import candidates, parts_for
from core.acts.request_for import request_for
from core.capabilities import Capability, capability
from core.events import ContributionMade, Event, NoteAdded
from core.llm.fitting import fitted
from core.llm.prices import ESTIMATE_SLACK, output_reserve
from core.llm.prompt_text import prompt_text
from core.llm.sizes import Measure
from core.models import Act, ContextMethod, Contribution, Note, Summarization, Turn
from core.request import Part, PartKind
from core.rules import schedule
from core.rules.history.told import SAID
from core.rules.options import option_of
from core.testing import a_setup
from tests.core.dice import DANA, Luck, Play

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


@pytest.mark.parametrize("form", ["critique", "council", "panel"])
def test_agents_never_read_anybodys_name(form: str) -> None:
    play = a_play(form, 3, ContextMethod.ROUNDS, 1)
    names = [agent.name for agent in play.setup.agents]
    while play.step():
        for turn in schedule.ready(play.debate):
            if turn.act in SPEECHES or turn.act is Act.BALLOT:
                labels = " ".join(part.label for part in parts_for(play.debate, turn))
                assert not any(name in labels for name in names)


@pytest.mark.parametrize("method", list(ContextMethod))
def test_what_is_cached_for_a_critique_is_read_by_several(method: ContextMethod) -> None:
    rules = Summarization(method=method)
    setup = a_setup(rounds=4).model_copy(update={"summarization": rules})
    play = Wordy(setup, Luck(seed=1, failing=0, disturbed=0))
    shared_in: set[tuple[int, bool]] = set()
    while play.step():
        ready = [turn for turn in schedule.ready(play.debate) if turn.act is Act.CRITIQUE]
        for one, other in combinations(ready, 2):
            # Where histories are everybody's own, a critic's critiques share its history; else, and
            # where there is none yet, the critiques of one proposal share that.
            by_critic = one.round > 1 and method in {ContextMethod.FULL, ContextMethod.LENGTH}
            same = one.agent == other.agent if by_critic else one.target == other.target
            if one.round == other.round and same:
                first = cached(play, one)
                assert first == cached(play, other)
                # What the history has in full is not marked again.
                parts = parts_for(play.debate, one)
                reviewed = next(p for p in parts if p.label == "Proposal under review")
                is_above = "(In full above, in: " in reviewed.text
                assert (reviewed == first[-1]) is not (by_critic or is_above)
                assert sum(part.ends_shared for part in first) > 1
                shared_in.add((one.round, by_critic))

    assert {number for number, _ in shared_in} == {1, 2, 3, 4}


def cached(play: Play, turn: Turn) -> Sequence[Part]:
    """The parts that a provider keeps for other turns."""
    parts = parts_for(play.debate, turn)
    last = max(at for at, part in enumerate(parts) if part.ends_shared)
    return parts[: last + 1]


@pytest.mark.parametrize(
    ("form", "act", "least"),
    [
        ("critique", Act.REFINEMENT, 2),
        ("council", Act.PLAN, 2),
        ("council", Act.DEBATE, 2),
        ("council", Act.ADJUST, 2),
        ("council", Act.REBUTTAL, 2),
    ],
)
def test_who_reads_about_the_same_reads_a_common_beginning(form: str, act: Act, least: int) -> None:
    """The second and third of three read the first one's text in the same place."""
    play = Various(a_setup(rounds=1).model_copy(update={"format": form}), Luck(1, 0, 0))
    asked: dict[str, Sequence[Part]] = {}
    while play.step():
        for turn in [one for one in schedule.ready(play.debate) if one.act is act]:
            asked[turn.agent] = parts_for(play.debate, turn)  # the newest: all others are done

    _, second, third = (cached_of(asked[agent.id]) for agent in play.setup.agents)
    assert [part.text for part in second] == [part.text for part in third]
    assert len(second) >= least


def cached_of(parts: Sequence[Part]) -> Sequence[Part]:
    return parts[: 1 + max(at for at, part in enumerate(parts) if part.ends_shared)]


def test_what_one_turn_alone_reads_is_not_written_to_the_cache() -> None:
    play = Various(a_setup(rounds=1), Luck(1, 0, 0))
    asked: set[Act] = set()
    while play.step():
        for turn in schedule.ready(play.debate):
            if turn.act in {Act.OPTIONS, Act.SYNTHESIS}:
                assert not any(part.ends_shared for part in parts_for(play.debate, turn))
                asked.add(turn.act)

    assert asked == {Act.OPTIONS, Act.SYNTHESIS}


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


def test_a_note_is_in_every_prompt_after_it() -> None:
    play = a_play("council", 1, ContextMethod.LENGTH, 1)
    play.add(NoteAdded(note=Note(id="n", author=DANA, text="Two of us are on call.")))
    while play.step():
        for turn in schedule.ready(play.debate):
            if turn.act in ASKING:
                parts = {part.kind: part.text for part in parts_for(play.debate, turn)}
                assert parts[PartKind.NOTES] == "note1 (Dana): Two of us are on call."


@pytest.mark.parametrize("form", ["critique", "council", "panel"])
def test_one_form_of_ballot_holds_whatever_may_have_moved_any_voter(form: str) -> None:
    play = Various(a_setup(rounds=2).model_copy(update={"format": form}), Luck(1, 0, 0))
    before, shown = set[tuple[str, ...]](), set[str]()
    while play.step():
        for turn in [one for one in schedule.ready(play.debate) if one.act is Act.BALLOT]:
            before.add(mover_labels(play.debate))
            shown |= set(movers_shown(play.debate, turn))

    (labels,) = before
    assert shown
    assert shown <= set(labels)


@pytest.mark.parametrize("method", list(ContextMethod))
def test_in_a_panel_everybody_hears_what_the_others_said(method: ContextMethod) -> None:
    setup = a_setup(rounds=2)
    rules = Summarization(method=method)
    setup = setup.model_copy(update={"format": "panel", "summarization": rules})
    play = Various(setup, Luck(1, 0, 0))
    heard: dict[str, str] = {}
    while play.step():
        for turn in schedule.ready(play.debate):
            if turn.act is Act.STATEMENT and turn.round == 2:
                shown = parts_for(play.debate, turn)
                heard[turn.agent] = "\n".join(part.text for part in shown)
    said = {agent.id: play.debate.text_of(Act.STATEMENT, 1, agent.id) for agent in setup.agents}

    assert len(heard) == len(said)
    for text in heard.values():
        assert [text.count(one) for one in said.values()] == [1] * len(said)


def test_what_is_pointed_to_is_shortened_no_sooner_than_what_points_to_it() -> None:
    rules = Summarization(method=ContextMethod.ROUNDS)
    play = Various(a_setup(rounds=2).model_copy(update={"summarization": rules}), Luck(1, 0, 0))
    pointing: list[tuple[Part, Part]] = []
    while play.step():
        turns = [turn for turn in schedule.ready(play.debate) if turn.act in SPEECHES]
        for parts in [parts_for(play.debate, turn) for turn in turns]:
            labelled = {part.label: part for part in parts}
            pointing += [
                (labelled[part.text.rpartition("in: ")[2].rstrip(".)")], part)
                for part in parts
                if "(In full above, in: " in part.text
            ]

    assert pointing
    assert all(above.trim_priority <= part.trim_priority for above, part in pointing)


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


def test_voters_that_read_positions_in_the_same_order_share_them() -> None:
    agents = ("architect", "security", "simplicity", "operations", "finance")
    play = Various(a_setup(rounds=1, agents=agents), Luck(1, 0, 0))
    shared: set[str] = set()
    while play.step():
        turns = [turn for turn in schedule.ready(play.debate) if turn.act is Act.BALLOT]
        shown = {turn: parts_for(play.debate, turn) for turn in turns}
        for turn, parts in shown.items():
            at = max(at for at, part in enumerate(parts) if part.ends_shared)
            begun = parts[: at + 1]
            assert begun[-1].kind in {PartKind.OPTIONS, PartKind.CANDIDATE}
            others = [parts[: at + 1] for other, parts in shown.items() if other != turn]
            if len(turns) == len(agents):
                assert begun in others, turn.key
                shared |= {part.label for part in begun if part.kind is PartKind.CANDIDATE}

    assert "p1" in shared


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
