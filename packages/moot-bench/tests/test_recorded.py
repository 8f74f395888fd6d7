"""Moot's rules replayed on recorded answers, against figures that were worked out by hand."""

import json

from moot_bench.recorded import recorded_answers, replayed_questions, rules_report

Shares = tuple[float, ...]


def a_set(*questions: tuple[Shares, Shares, object]) -> str:
    """First and second probabilities of yes by model, and the outcome, as lines of JSON."""
    lines = list[str]()
    for number, (first, second, outcome) in enumerate(questions):
        for phase, shares in (("first", first), ("second", second)):
            for model, share in zip("abc", shares, strict=False):
                row = {"question": f"Q{number}?", "model": model, "phase": phase}
                lines.append(json.dumps({**row, "probability": share, "outcome": outcome}))
    return "\n".join(lines)


def the_report(text: str, name: str = "set.jsonl") -> str:
    tasks, answers, models = recorded_answers(text, name)
    return rules_report(replayed_questions(tasks, answers, [model.model for model in models]))


#: All agree and are right; all lean one way by little; split and the lone one is right.
BOTH = a_set(
    ((0.9, 0.9, 0.9), (0.9, 0.9, 0.9), True),
    ((0.6, 0.6, 0.6), (0.2, 0.2, 0.2), False),
    ((0.2, 0.3, 0.7), (0.6, 0.6, 0.9), True),
)


def test_confidence_and_gate_of_recorded_debates() -> None:
    text = the_report(BOTH)
    # Sides in the end: yes at 90, no at 80, yes at 70; all right.
    assert "Is the chosen side right? 3 questions" in text
    assert "| always 100%, the share that was right | 0.0000 | 0.0000 |" in text
    # (0.1² + 0.2² + 0.3²) / 3, and a mean of 70 % where first answers lay 50 points apart stays.
    assert "| mean of the ballots | 0.0467 | 0.2000 |" in text
    assert "| what Moot says | 0.0467 | 0.2000 |" in text
    assert "| high | 2 | 100%" in text
    assert "| fair | 1 | 100%" in text
    # Firsts: yes at 90 (right), yes at 60 (wrong), no at 60 (wrong).
    assert "| nobody debates: the vote | 0% | 0.2433 |" in text
    assert "| everybody debates | 100% | 0.0467 |" in text
    # Agreement at 60 : 40 is debated by the gate, and not by how far answers lie apart.
    assert "| first answers 20 points apart | 33% | 0.1533 |" in text
    assert "| Moot's gate | 67% | 0.0467 |" in text
    assert "100% / 100% / 100%" in text
    assert "- Brier score: one model 0.2589, the vote 0.2433, after the debate 0.0467; " in text
    assert "- 6 moves of 10 points or more, 100% the right way" in text
    # Without the first model the third question is level.
    assert "- First vote hangs on one model: 1 question, 100% wrong" in text
    assert "- First vote hangs on none: 2 questions, 50% wrong" in text
    assert "- A model alone with its side: 1, 100% right" in text


def test_sets_of_first_answers_only_and_of_csv() -> None:
    rows = [json.loads(line) for line in BOTH.splitlines()]
    firsts = [row for row in rows if row["phase"] == "first"]
    text = the_report("\n".join(map(json.dumps, firsts)))
    assert "## Confidence, replayed" in text
    assert "Gate, replayed" not in text
    table = "\n".join([",".join(firsts[0]), *(",".join(map(str, row.values())) for row in firsts)])
    assert the_report(table, "set.csv") == text, "a word of a table is no truth by itself"


def test_level_models_choose_nothing() -> None:
    assert "level on every question" in the_report(a_set(((0.4, 0.6), (0.4, 0.6), True)))


def test_one_model_alone_is_no_ground_for_a_figure() -> None:
    text = the_report(a_set(((0.9,), (0.9,), True)))
    assert "no figure for fewer than 2 ballots" in text
    assert "what Moot says" not in text
