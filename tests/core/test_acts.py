"""Each act is declared, with everything it needs."""

from pathlib import Path

import pytest

from core.acts import overrides
from core.acts.act import ACTS, declare
from core.debate.turn import Act


def test_every_act_is_declared_once() -> None:
    assert set(ACTS) == set(Act)
    with pytest.raises(ValueError, match="declared twice"):
        declare(Act.PROPOSAL, ACTS[Act.PROPOSAL])


def test_every_act_of_a_debate_says_how_it_is_performed() -> None:
    """But evaluations, which are made after a debate, and reading, for which `Turns` has a port."""
    performed = {act for act, spec in ACTS.items() if spec.perform}

    assert performed == set(Act) - {Act.EVALUATION, Act.COMPARISON, Act.RECALL, Act.READING}


@pytest.mark.parametrize("act", [act for act, spec in ACTS.items() if spec.asks_model])
def test_an_act_that_asks_a_model_has_a_prompt_that_can_be_overridden(act: Act) -> None:
    assert act.value in overrides.NAMES
    assert (Path(overrides.__file__).parent / f"{act.value}.md.j2").is_file()


@pytest.mark.parametrize("act", [act for act, spec in ACTS.items() if spec.is_speech])
def test_a_speech_says_how_long_it_may_be(act: Act) -> None:
    assert ACTS[act].words > 0


def test_words_for_people_are_not_shared_by_two_acts() -> None:
    for words in ("label", "noun", "phase"):
        texts = [getattr(act, words) for act in Act]
        assert len(set(texts)) == len(texts)
