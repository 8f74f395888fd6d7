"""Building a debate's setup from a request."""

from dataclasses import replace

import pytest

from core.debate.agents import Agent, ModelChoice, PromptText, Summarization
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.people import Person, Place
from core.errors import BadInput
from core.opening import NOT_SEALED, TAKEN_OUT, DebateRequest, open_debate
from core.rules.history.material import summarization_for
from core.settings import Settings
from core.testing import log_of

WISH = DebateRequest(
    question="Kafka or PostgreSQL?", asked_by=Person(id="U1"), place=Place(surface="slack")
)


SECRET = "xoxb-" + "1234567890-" * 3 + "abcdefghij"


def test_without_a_wish_agents_are_cast_by_the_questions_topics() -> None:
    setup = open_debate(WISH, Settings(), delimiter="ab")

    cast = ["performance", "architect", "operations", "sceptic"]
    assert [agent.role for agent in setup.agents] == cast
    assert setup.reasons["performance"] == "The question says “Kafka”: load and speed."
    assert setup.casting is None, "without a model nobody else can be asked"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("securty", 'There is no agent or role "securty". Did you mean "security"?'),
        ("kis", 'Did you mean "kiss"?'),
        ("judge", 'There is no agent or role "judge".'),
        ("ユーザー", "There are: architect, performance"),
        ("ユーザー", "operations, customer, design."),
    ],
)
def test_who_is_not_there_is_refused_with_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(BadInput) as refused:
        open_debate(replace(WISH, agents=[name, "architect"]), Settings(), delimiter="ab")

    assert hint in str(refused.value)


def test_no_agent_left_means_the_default_roster_with_a_warning() -> None:
    setup = open_debate(replace(WISH, agents=["  "]), Settings(), delimiter="ab")
    assert [agent.role for agent in setup.agents] == ["architect", "security", "simplicity"]
    assert "No agents were left" in setup.warnings[0]


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (replace(WISH, question="  \n "), "There is no question"),
        (replace(WISH, question="?"), "There is no question"),
        (replace(WISH, question="… ?! 🙂"), "There is no question"),
        (replace(WISH, question=":thinking_face: :+1::skin-tone-2: ?"), "There is no question"),
        (replace(WISH, question="x" * 4001), "4,001 characters; the most is 4,000"),
        (replace(WISH, rounds=0), "from 1 to 15, not 0"),
        (replace(WISH, format="brawl"), 'no format "brawl". There are: critique'),
    ],
)
def test_what_cannot_be_used_is_named(wish: DebateRequest, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        open_debate(wish, Settings(), delimiter="ab")

    assert words in str(caught.value)


@pytest.mark.parametrize(
    "wish",
    [
        replace(WISH, question=f"Why is {SECRET} bad?"),
        replace(WISH, context=f"We use {SECRET}."),
        replace(WISH, question=f"We use {SECRET}", format="review"),
    ],
)
def test_secrets_are_removed_from_a_question_and_the_person_is_warned(wish: DebateRequest) -> None:
    setup = open_debate(wish, Settings(), delimiter="ab")
    assert SECRET not in setup.model_dump_json()
    assert "[redacted]" in setup.model_dump_json()
    assert TAKEN_OUT in setup.warnings


def test_a_review_is_not_sealed_and_says_so() -> None:
    wish = replace(WISH, question="We move to Kafka.", format="review", sealed=True)
    setup = open_debate(wish, Settings(), delimiter="ab")
    assert (setup.sealed, NOT_SEALED in setup.warnings) == (False, True)


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
    debate = fold(log_of([DebateStarted(setup=open_debate(WISH, settings, delimiter="ab"))]))

    used = {agent.id: summarization_for(debate, agent.id).prompt for agent in debate.setup.agents}
    assert used == {"ann": anns, "bob": bobs, "cem": everybodys}
