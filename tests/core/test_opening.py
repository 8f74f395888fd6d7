"""From a person's wish to a debate's setup."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.errors import BadInput
from core.events import DebateStarted, fold
from core.models import (
    Agent,
    ContextMethod,
    ModelChoice,
    Person,
    Place,
    PromptText,
    Summarization,
)
from core.opening import TAKEN_OUT, DebateRequest, open_debate
from core.rules.history.rules_in_force import rules_of
from core.settings import Settings
from core.testing import recorded

WISH = DebateRequest(
    question="Kafka or PostgreSQL?", asked_by=Person(id="U1"), place=Place(surface="slack")
)


def roles_of(agents: Sequence[str] | None = None) -> tuple[list[str], tuple[str, ...]]:
    setup = open_debate(replace(WISH, agents=agents), Settings(), delimiter="ab")
    return [agent.role for agent in setup.agents], setup.warnings


def test_without_a_wish_the_default_roster_takes_part() -> None:
    assert roles_of() == (["architect", "security", "simplicity"], ())


def test_agents_are_found_by_role_and_by_other_spellings() -> None:
    roles, warnings = roles_of(agents=["KISS", "Data modelling", "finance"])

    assert roles == ["simplicity", "data", "finance"]
    assert warnings == ()


def test_an_unknown_role_becomes_a_generalist_with_a_warning() -> None:
    roles, warnings = roles_of(agents=["wizard", "architect"])

    assert roles == ["generalist", "architect"]
    assert "wizard" in warnings[0]


def test_a_role_that_is_only_misspelt_is_named_in_the_warning() -> None:
    _, warnings = roles_of(["securty", "unicorn"])

    assert warnings == (
        'There is no role "securty"; a generalist takes its place. Did you mean "security"?',
        'There is no role "unicorn"; a generalist takes its place.',
    )


def test_no_agent_left_means_the_default_roster_with_a_warning() -> None:
    roles, warnings = roles_of(agents=["  "])

    assert roles == ["architect", "security", "simplicity"]
    assert "No agents were left" in warnings[0]


def test_an_agent_named_twice_takes_part_once() -> None:
    assert roles_of(agents=["architect", "security", "architect"])[0] == ["architect", "security"]


@pytest.mark.parametrize("name", ["judge", "engine", "a/b c"])
def test_an_agents_id_is_safe_in_keys(name: str) -> None:
    setup = open_debate(replace(WISH, agents=[name, "security"]), Settings(), delimiter="ab")

    assert setup.agents[0].id not in {"judge", "engine"}
    assert "/" not in setup.agents[0].id


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["ユーザー", "顧客", "security"], ["agent", "agent-2", "security"]),
        (["Nutzer!", "Nutzer?"], ["nutzer", "nutzer-2"]),
        (["architect!", "architect"], ["agent-architect", "architect"]),
        (["Sécurité"], ["securite"]),
        (["顧客", "wizard", "顧客", "wizard"], ["agent", "wizard"]),
    ],
)
def test_unknown_roles_are_agents_of_their_own_in_any_script(
    names: Sequence[str], ids: Sequence[str]
) -> None:
    setup = open_debate(replace(WISH, agents=names), Settings(), delimiter="ab")

    assert [agent.id for agent in setup.agents] == ids
    assert [agent.name for agent in setup.agents if agent.role == "generalist"] == [
        name for name in dict.fromkeys(names) if name not in {"security", "architect"}
    ]


def test_an_unknown_role_takes_no_other_agents_id() -> None:
    ann = Agent(id="ann", name="Ann of Arc", role="architect", provider="p", model="m")
    wish = replace(WISH, agents=["Ann!", "ann"])
    setup = open_debate(wish, Settings(agents=(ann,)), delimiter="ab")

    assert [agent.id for agent in setup.agents] == ["agent-ann", "ann"]


@pytest.mark.parametrize(
    ("form", "wanted", "usual", "rounds", "notices"),
    [
        ("council", None, 3, 1, ()),
        ("council", 1, 3, 1, ()),
        ("council", 3, 3, 1, ("You asked for 3 rounds; a council has one round.",)),
        ("panel", None, 15, 7, ()),
        ("panel", 7, 3, 7, ()),
        ("panel", 15, 3, 7, ("You asked for 15 rounds; a panel has 7 rounds at most.",)),
        ("critique", 15, 3, 15, ()),
    ],
)
def test_a_debate_has_no_more_rounds_than_its_format(
    *, form: str, wanted: int | None, usual: int, rounds: int, notices: tuple[str, ...]
) -> None:
    settings = Settings(format=form, rounds=usual)
    setup = open_debate(replace(WISH, rounds=wanted), settings, delimiter="ab")

    assert (setup.rounds, setup.warnings) == (rounds, notices)


def test_disabled_agents_stay_out() -> None:
    ann = Agent(id="ann", name="Ann", role="architect", provider="p", model="m")
    bob = ann.model_copy(update={"id": "bob", "enabled": False})
    setup = open_debate(WISH, Settings(agents=(ann, bob)), delimiter="ab")

    assert (ann,) == setup.agents


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (replace(WISH, question="  \n "), "There is no question"),
        (replace(WISH, question="?"), "There is no question"),
        (replace(WISH, question="… ?! 🙂"), "There is no question"),
        (replace(WISH, question="x" * 4001), "4,001 characters; the most is 4,000"),
        (replace(WISH, rounds=0), "from 1 to 15, not 0"),
        (replace(WISH, format="brawl"), 'no format "brawl". Formats: critique'),
    ],
)
def test_what_cannot_be_used_is_named(wish: DebateRequest, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        open_debate(wish, Settings(), delimiter="ab")

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("form", "chosen", "method"),
    [
        ("panel", False, ContextMethod.ROUNDS),
        ("panel", True, ContextMethod.LENGTH),
        ("critique", False, ContextMethod.LENGTH),
    ],
)
def test_a_panel_sums_up_rounds_unless_a_method_was_chosen(
    form: str,
    chosen: bool,  # noqa: FBT001 - a table's column
    method: ContextMethod,
) -> None:
    rules = Summarization(method=ContextMethod.LENGTH) if chosen else Summarization()
    settings = Settings(format=form, summarization=rules)

    assert open_debate(WISH, settings, delimiter="ab").summarization.method is method


def test_agents_without_fallbacks_take_the_usual_ones_but_never_their_own_model() -> None:
    luna, terra = (ModelChoice(provider="openai", model=name) for name in ("luna", "terra"))
    ann = Agent(id="ann", name="Ann", role="architect", provider="openai", model="luna")
    bob = ann.model_copy(update={"id": "bob", "model": "m", "fallbacks": ()})
    settings = Settings(agents=(ann, bob), fallbacks=(luna, terra))
    setup = open_debate(WISH, settings, delimiter="ab")

    assert [agent.fallbacks for agent in setup.agents] == [(terra,), ()]
    assert setup.judge.fallbacks == (luna, terra)
    assert setup.agent("summarizer").fallbacks == (luna, terra)


def test_question_and_context_are_kept_without_secrets_and_the_person_is_told() -> None:
    secret = "xoxb-" + "1234567890-" * 3 + "abcdefghij"

    asked = open_debate(replace(WISH, question=f"Why is {secret} bad?"), Settings(), delimiter="ab")
    told = open_debate(replace(WISH, context=f"We use {secret}."), Settings(), delimiter="ab")

    assert asked.question == "Why is [redacted] bad?"
    assert told.context == "We use [redacted]."
    assert TAKEN_OUT in asked.warnings
    assert TAKEN_OUT in told.warnings


def test_background_summaries_are_made_by_a_cheap_model_of_the_judges_provider() -> None:
    sonnet, haiku, luna = (
        ModelChoice(provider=provider, model=model)
        for provider, model in (("anthropic", "sonnet"), ("anthropic", "haiku"), ("openai", "luna"))
    )
    near = Settings(judge_model=sonnet, summary_model=haiku)
    far = Settings(judge_model=sonnet, summary_model=luna)
    cheap = open_debate(WISH, near, delimiter="ab").agent("summarizer")

    assert (cheap.provider, cheap.model, cheap.fallbacks) == ("anthropic", "haiku", (sonnet,))
    assert open_debate(WISH, far, delimiter="ab").agent("summarizer").model == "sonnet"


@pytest.mark.parametrize(
    ("form", "own", "method"),
    [
        ("panel", Summarization(threshold=9), ContextMethod.ROUNDS),
        ("panel", Summarization(method=ContextMethod.LENGTH), ContextMethod.LENGTH),
        ("critique", Summarization(threshold=9), ContextMethod.LENGTH),
    ],
)
def test_an_agents_own_rules_name_the_usual_method_of_the_format_if_they_name_none(
    form: str, own: Summarization, method: ContextMethod
) -> None:
    ann = Agent(id="ann", name="Ann", role="architect", provider="p", model="m", summarization=own)
    setup = open_debate(replace(WISH, format=form), Settings(agents=(ann,)), delimiter="ab")
    rules = setup.agents[0].summarization

    assert rules
    assert (rules.method, rules.threshold) == (method, own.threshold)


def test_an_agents_own_prompt_for_summaries_wins_over_the_debates() -> None:
    everybodys = PromptText(text="For all.", source="all.md")
    anns, bobs = (PromptText(text=f"For {who}.", source=f"{who}.md") for who in ("ann", "bob"))
    agents = (
        Agent(id="ann", provider="p", model="m", prompts={"summary": anns}),
        Agent(id="bob", provider="p", model="m", summarization=Summarization(prompt=bobs)),
        Agent(id="cem", provider="p", model="m"),
    )
    settings = Settings(agents=agents, summarization=Summarization(prompt=everybodys))
    debate = fold(recorded([DebateStarted(setup=open_debate(WISH, settings, delimiter="ab"))]))

    used = {one.id: rules_of(debate, one.id).prompt for one in debate.setup.agents}
    assert used == {"ann": anns, "bob": bobs, "cem": everybodys}
