"""From a person's wish to a debate's setup."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.errors import BadInput
from core.events import DebateStarted, fold
from core.models import (
    Agent,
    CastingModels,
    ModelChoice,
    Person,
    Place,
    PromptText,
    SourceKind,
    SourceReference,
    Summarization,
)
from core.opening import NO_SUBJECT, TAKEN_OUT, DebateRequest, open_debate
from core.rules.history.rules_in_force import rules_of
from core.settings import Settings
from core.testing import recorded

WISH = DebateRequest(
    question="Kafka or PostgreSQL?", asked_by=Person(id="U1"), place=Place(surface="slack")
)


def roles_of(agents: Sequence[str] | None = None) -> tuple[list[str], tuple[str, ...]]:
    setup = open_debate(replace(WISH, agents=agents), Settings(), delimiter="ab")
    return [agent.role for agent in setup.agents], setup.warnings


def test_without_a_wish_agents_are_cast_by_the_questions_topics() -> None:
    setup = open_debate(WISH, Settings(), delimiter="ab")

    assert [agent.role for agent in setup.agents] == [
        "performance",
        "architect",
        "operations",
        "sceptic",
    ]
    assert setup.reasons["performance"] == "The question says “Kafka”: load and speed."
    assert setup.casting is None, "without a model nobody else can be asked"


def test_a_model_is_asked_who_takes_part_only_where_nobody_chose() -> None:
    model = ModelChoice(provider="anthropic", model="sonnet")
    settings = Settings(agent_model=model, judge_model=model, fallbacks=(model,))
    ann = Agent(id="ann", name="Ann", role="architect", provider="p", model="m")

    def casting(**changes: object) -> object:
        wish = replace(WISH, agents=changes.pop("wanted", None))
        return open_debate(wish, settings.model_copy(update=changes), delimiter="ab").casting

    assert casting() == CastingModels(models=(model,), fallbacks=(model,))
    assert casting(wanted=["architect", "security"]) is None
    assert casting(agents=(ann,)) is None
    assert casting(casting=False) is None


def test_models_are_dealt_to_whom_nobody_gave_one() -> None:
    one, two = (ModelChoice(provider=name, model=name) for name in ("anthropic", "openai"))
    cheap = ModelChoice(provider="openai", model="luna")
    nowhere = ModelChoice(provider="moonshot", model="kimi")
    mixed = Settings(
        agent_model=one,
        judge_model=one,
        mixed_models=(one, two),
        judge_models=(one, two),
        background_models=(nowhere, cheap),
    )

    cast = open_debate(WISH, mixed, delimiter="ab")
    named = open_debate(replace(WISH, agents=["kiss", "data", "legal"]), mixed, delimiter="ab")
    usual = open_debate(WISH, mixed.model_copy(update={"casting": False}), delimiter="ab")

    for setup in (cast, named, usual):
        providers = [agent.provider for agent in setup.agents]
        assert providers[:3] == ["anthropic", "openai", "anthropic"]
        assert setup.judge_models == (one, two)
        assert setup.agent("summarizer").model == "luna", "nothing goes where nobody takes part"
    assert cast.casting
    assert cast.casting.models == (one, two)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("securty", 'There is no agent or role "securty". Did you mean "security"?'),
        ("kis", 'Did you mean "kiss"?'),
        ("judge", 'There is no agent or role "judge".'),
        ("ユーザー", "Roles: architect, performance"),
    ],
)
def test_who_is_not_there_is_refused_with_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(BadInput) as refused:
        roles_of(agents=[name, "architect"])

    assert hint in str(refused.value)


def test_a_disabled_agent_is_refused_by_id_name_and_role() -> None:
    ann = Agent(id="ann", name="Ann", role="architect", provider="p", model="m")
    bob = Agent(id="bob", name="Bobby", role="finance", provider="p", model="m", enabled=False)
    settings = Settings(agents=(ann, bob))

    for name in ("bob", "bobby", "finance"):
        with pytest.raises(BadInput, match=f'"{name}" is disabled in the settings. There are: ann'):
            open_debate(replace(WISH, agents=["ann", name]), settings, delimiter="ab")
    near = replace(WISH, agents=["an"])
    with pytest.raises(BadInput, match='Did you mean "ann"'):
        open_debate(near, settings, delimiter="ab")


def test_who_is_gone_from_a_places_own_agents_is_left_out_with_a_warning() -> None:
    setup = open_debate(
        replace(WISH, usual_agents=["wizard", "security", "finance"]), Settings(), delimiter="ab"
    )

    assert [agent.id for agent in setup.agents] == ["security", "finance"]
    assert setup.warnings == ('"wizard" is left out: it is gone, or disabled.',)


def test_no_agent_left_means_the_default_roster_with_a_warning() -> None:
    roles, warnings = roles_of(agents=["  "])

    assert roles == ["architect", "security", "simplicity"]
    assert "No agents were left" in warnings[0]


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


def test_words_link_to_no_more_sources_than_a_debate_has() -> None:
    def links(count: int, host: str) -> list[SourceReference]:
        names = [f"https://{host}/{number}" for number in range(count)]
        kind, by = SourceKind.LINK, WISH.asked_by
        return [SourceReference(kind=kind, title=name, fetch=name, by=by) for name in names]

    given, linked = links(48, "a.example"), links(5, "b.example")
    wish = replace(WISH, references=given, linked=linked)

    assert open_debate(wish, Settings(), delimiter="ab").references == (*given, *linked[:2])
    full = replace(WISH, references=links(60, "a.example"), linked=linked)
    assert len(open_debate(full, Settings(), delimiter="ab").references) == 60


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (replace(WISH, question="  \n "), "There is no question"),
        (replace(WISH, question="?"), "There is no question"),
        (replace(WISH, question="… ?! 🙂"), "There is no question"),
        (replace(WISH, question=":thinking_face: :+1::skin-tone-2: ?"), "There is no question"),
        (replace(WISH, question="x" * 4001), "4,001 characters; the most is 4,000"),
        (replace(WISH, rounds=0), "from 1 to 15, not 0"),
        (replace(WISH, format="brawl"), 'no format "brawl". Formats: critique'),
    ],
)
def test_what_cannot_be_used_is_named(wish: DebateRequest, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        open_debate(wish, Settings(), delimiter="ab")

    assert words in str(caught.value)


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

    used = {agent.id: rules_of(debate, agent.id).prompt for agent in debate.setup.agents}
    assert used == {"ann": anns, "bob": bobs, "cem": everybodys}


def test_a_secret_in_a_proposal_is_taken_out_before_it_is_stored() -> None:
    wish = replace(WISH, question="We use the key sk-ant-api03-" + "x" * 40, format="review")
    setup = open_debate(wish, Settings(), delimiter="ab")

    assert "xxxx" not in setup.model_dump_json()
    assert TAKEN_OUT in setup.warnings


@pytest.mark.parametrize("question", ["", "  ", "Should we use Kafka?"])
def test_a_review_of_nothing_is_refused(question: str) -> None:
    with pytest.raises(BadInput) as refused:
        open_debate(replace(WISH, question=question, format="review"), Settings(), delimiter="ab")
    assert str(refused.value) == NO_SUBJECT
