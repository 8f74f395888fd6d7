"""Every message is one Slack accepts, whatever agents and people write, and pings nobody."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.slack.blocks import without_newer
from bot.views import notices
from bot.views.board import board
from bot.views.decision import outcome_form, outcome_post
from bot.views.group_post import full_turn_texts, group_post, turn_posts
from bot.views.message import MessageView, full_blocks
from bot.views.verdict import headline, short_text, shortcomings, verdict_posts
from bot.views.vote import vote_post
from core.debate.agents import Agent
from core.debate.contributions import Contribution, Failure, Note, NoteOutcome
from core.debate.evidence import Citation, CitationStatus
from core.debate.people import Person
from core.debate.people_events import DecisionRecorded, OutcomeGiven
from core.debate.setup import Setup
from core.debate.state import Debate
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import (
    BallotCast,
    ContributionMade,
    OptionsMerged,
    TurnFailed,
    VoteTallied,
)
from core.debate.verdict import (
    Decision,
    DecisionKind,
    DecisionOutcome,
    Judgement,
    OutcomeKind,
    Requirement,
    RequirementStatus,
    Verdict,
)
from core.debate.vote import Ballot, Option, Options, QuestionKind
from core.rules.options import options_of
from core.rules.voting import count
from core.testing import a_setup
from slack_on_loopback.blocks import block_problems
from slack_on_loopback.rules import check_message_blocks
from tests.bot.plays import CALL, a_debate, a_verdict
from tests.core.rules.formats.debates import AGENTS, options, voted

#: What chat.update takes; the board is edited with it.
UPDATE_TEXT = 4000
#: What views write themselves: people by their ids, and moments.
OURS = re.compile(r"<@U1>|<@U2>|<!date\^\d+\^[^<>]*>")
MENTION = re.compile(r"<[!@#][^>]*>|@(?:channel|here|everyone|group)(?![a-z0-9])", re.IGNORECASE)
NASTY = (
    '<!channel> <@U9> @here "\\" & ```x``` [https://a.example](https://b.example) *_~`|\n\n- a\n'
)

A_QUOTE = Citation(source="e1", words="Jobs are lost.", status=CitationStatus.VERIFIED)

short = st.sampled_from(
    ["", "x", NASTY, '"' * 300, "\\" * 300, "&" * 300, "名" * 200, "Word. " * 50]
)


def repeated(text: str, size: int) -> str:
    return text * (size // len(text))


long = st.builds(
    repeated,
    st.sampled_from(["Word. ", NASTY, '"', "\\", "& ", "\n", "| a | b |\n|---|---|\n", "```\nx\n"]),
    st.integers(0, 9000),
)
lists = st.lists(short, max_size=12).map(tuple)


def check(message: MessageView) -> None:
    """Slack takes it, as does a workspace that has no newer blocks."""
    for payload in (message.payload, without_newer(message.payload)):
        check_message_blocks(json.loads(json.dumps(payload["blocks"])))
    assert 0 < len(message.text) <= UPDATE_TEXT
    assert not MENTION.findall(OURS.sub("", json.dumps(message.payload, ensure_ascii=False)))


def agents(count: int, name: str) -> tuple[Agent, ...]:
    return tuple(
        Agent(id=f"a{n}", name=f"{name}{n}", role=name, icon=name, provider="x", model=name)
        for n in range(count)
    )


@st.composite
def setups(draw: st.DrawFn) -> Setup:
    roster = agents(draw(st.sampled_from([1, 2, 3, 25])), draw(short))
    changed: dict[str, Any] = {
        "question": draw(long) or "?",
        "context": draw(long),
        "agents": roster,
        "judge": roster[0].model_copy(update={"id": "judge"}),
        "warnings": draw(lists),
    }
    return a_setup().model_copy(update=changed)


def a_contribution(agent: str, text: str, act: Act = Act.PROPOSAL) -> Contribution:
    return Contribution(turn=Turn(act=act, round=1, agent=agent), text=text, call=CALL)


def some_options(names: Sequence[str], setup: Setup) -> Options:
    """Options of these names; every agent stands for the first one."""
    return Options(
        turn=Turn(act=Act.OPTIONS, round=0, agent=SUMMARIZER),
        question_kind=QuestionKind.CHOICE,
        items=tuple(Option(id=f"o{at}", name=name) for at, name in enumerate(names, start=1)),
        stances={agent.id: "o1" for agent in setup.agents},
    )


@st.composite
def debates(draw: st.DrawFn) -> Debate:
    """The middle of a debate with everything as long as it comes."""
    setup = draw(setups())
    text, reason = draw(long), draw(short)
    events: list[Any] = []
    for agent in setup.agents:
        failed = Turn(act=Act.CRITIQUE, round=1, agent=agent.id, target=setup.agents[0].id)
        contribution = a_contribution(agent.id, text).model_copy(update={"warnings": (reason,) * 3})
        events += [
            ContributionMade(contribution=contribution),
            TurnFailed(failure=Failure(turn=failed, reason=reason)),
        ]
    names = draw(st.lists(st.sampled_from(["x", NASTY, "名" * 80, '"' * 80]), max_size=12))
    events.append(OptionsMerged(options=some_options(names, setup)))
    return a_debate(*events, setup=setup)


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    notes = (NoteOutcome(note="n1", used=False, explanation=draw(short)),)
    texts: dict[str, Any] = {
        name: draw(long) for name in ("decision", "solution", "implementation", "dissent")
    }
    points = ("tradeoffs", "recommendations", "unmet_requirements", "open_questions", "warnings")
    points = (*points, "overturned_by", "reasons", "rests_on")
    listed: dict[str, Any] = {name: draw(lists) for name in points}
    phrases = draw(st.lists(short, max_size=2))
    judged: dict[str, Any] = {
        "option": draw(st.sampled_from(["", "o1"])),
        # The verdict hangs on a single source.
        "citations": draw(st.sampled_from([(), (A_QUOTE,)])),
        "requirements": tuple(
            Requirement(text=text, words=text, status=RequirementStatus.UNKNOWN) for text in phrases
        ),
        "criteria": tuple(Judgement(option="o1", criterion=text, words=text) for text in phrases),
    }
    return a_verdict(**texts, **listed, **judged, notes=notes, partial=draw(st.booleans()))


@given(debates(), lists)
def test_a_board_fits_whatever_the_debate_holds(debate: Debate, remarks: Sequence[str]):
    links = {"Report": "https://files.example/r"}
    for message in (board(debate, remarks=remarks, links=links), *notices.question_posts(debate)):
        check(message)
    for failure in debate.failures.values():
        check(notices.turn_failure_line(debate, failure))


@given(debates(), long)
@example(a_debate(), "")
def test_a_contribution_fits_and_is_complete(debate: Debate, text: str):
    messages = turn_posts(debate, a_contribution(debate.setup.agents[0].id, text))
    for message in messages:
        check(message)
    text_shown = "".join(message.text for message in messages)
    assert text_shown.count("Word.") == text.count("Word.")


@pytest.mark.parametrize("first", ["", "Word. " * 900, NASTY * 40, '"' * 6000, "| a | b |\n" * 300])
@pytest.mark.parametrize("other", ["", "**Word.** And.\n\n- Word. And.\n" * 200])
def test_a_share_of_a_round_fits_and_all_of_it_can_be_read(first: str, other: str):
    lost = Turn(act=Act.CRITIQUE, round=1, agent="architect", target="security")
    debate = a_debate(TurnFailed(failure=Failure(turn=lost, reason=first or "No.")))
    speaker = debate.setup.agents[0].id
    refined = a_contribution(speaker, other, Act.REFINEMENT)
    contributions = [a_contribution(speaker, first), refined]
    check(group_post(debate, contributions, tuple(debate.failures.values())))
    blocks = full_blocks(full_turn_texts(debate, contributions[0].turn, contributions), 100)
    assert block_problems(blocks, "modal") == []
    if len(blocks) < 100:
        text = "".join(block["text"]["text"] for block in blocks)
        assert text.count("Word.") >= first.count("Word.") + other.count("Word.")


@given(debates(), verdicts())
def test_a_verdict_fits_and_is_complete(debate: Debate, reached: Verdict):
    messages = verdict_posts(debate, reached)
    quiet = replace(debate, setup=debate.setup.model_copy(update={"quiet": True}))
    for message in (*messages, headline(debate, reached), headline(quiet, reached)):
        check(message)
    text = "".join(message.text for message in messages)
    assert text.count("Word.") >= reached.solution.count("Word.")


@given(verdicts(), st.lists(short, min_size=2, max_size=6))
@example(
    a_verdict(
        decision="Word. " * 50,
        warnings=("x " * 18, "Word. " * 50, "x"),
        rests_on=("Word. " * 50,),
        partial=True,
    ),
    ["", "Word. " * 50, ""],
)
def test_the_short_form_has_150_words_and_an_order(reached: Verdict, names: Sequence[str]):
    ballots = [voted(1, agent, o1=0.6, o2=0.4) for agent in AGENTS]
    debate = a_debate(options(*(name[:40] or "x" for name in names)), *ballots)
    positions: dict[str, str] = dict.fromkeys(AGENTS, "o1")
    cast = [*debate.ballots.values()]
    debate = debate.replace(tally=count(positions, cast, options=options_of(debate)))
    text = short_text(debate, reached)
    assert len(text.split()) <= 150, text
    assert "100): ." not in text
    heads = ("\n• ", "*Dissent*", "*What would overturn it*", "*Vote*", "*Confidence*")
    # What went wrong stands above the decision, in three lines at most.
    above = len(shortcomings(debate, reached).splitlines()[:3])
    below = "\n".join(text.splitlines()[above:])
    places = [below.index(head) for head in heads if head in below]
    assert places == sorted(places)


def test_long_objections_remove_no_reason_from_the_verdict():
    reasons = ("It is known.", "It is there.", "It is cheap.")
    ballots = [voted(1, agent, o1=0.6, o2=0.4) for agent in AGENTS]
    debate = a_debate(options("PostgreSQL", "Kafka"), *ballots)
    tally = count(
        dict.fromkeys(AGENTS, "o1"), [*debate.ballots.values()], options=options_of(debate)
    )
    long = f"{'so ' * 140}on."
    reached = a_verdict(reasons=reasons, dissent=long, overturned_by=(long,))
    text = short_text(debate.replace(tally=tally), reached)
    assert "*Dissent*: in the whole verdict.\n" in text
    assert "*What would overturn it*: in the whole verdict.\n" in text
    assert all(f"• {reason}" in text for reason in reasons)


@given(setups(), st.integers(0, 2**32))
@example(a_setup().model_copy(update={"agents": agents(25, '"' * 300)}), 73542)
@example(a_setup().model_copy(update={"agents": agents(40, '"' * 300)}), 73542)
@example(a_setup().model_copy(update={"agents": agents(30, "&" * 300)}), 47544)
def test_a_vote_fits_for_any_roster(setup: Setup, seed: int):
    dice = Random(seed)
    ids = tuple(agent.id for agent in setup.agents)
    names = [NASTY, "名" * 80, *(f"{n} & {'<' * 60}" for n in range(dice.randint(0, 10)))]
    merged = OptionsMerged(options=some_options(names[: dice.choice([0, 12])], setup))
    items = options_of(a_debate(merged, setup=setup))
    votes = [
        BallotCast(
            ballot=Ballot(
                turn=Turn(act=Act.BALLOT, round=number, agent=voter),
                ranking=tuple(dice.sample(ids, len(ids))),
                probabilities={item.id: dice.random() + 0.01 for item in items.items},
            )
        )
        for voter in ids[: dice.randint(0, len(ids))]
        for number in (0, 1)
    ]
    final = [vote.ballot for vote in votes if vote.ballot.turn.round]
    positions = dict.fromkeys(ids, "o1" if items.items else "")
    tally = count(positions, final, abstained=ids, options=items)
    debate = a_debate(merged, *votes, VoteTallied(tally=tally), setup=setup)
    check(vote_post(debate, tally))
    # In a quiet debate the vote is a part of the verdict.
    quiet = replace(debate, setup=setup.model_copy(update={"quiet": True}))
    for long in (0, 1, 4):
        reached = a_verdict(decision=NASTY * 4 * long or "x", reasons=(NASTY * long,) * 3)
        check(headline(quiet, reached))


@given(question=long, why=long, kind=st.sampled_from(OutcomeKind))
def test_how_a_decision_turned_out_fits(question: str, why: str, kind: OutcomeKind):
    decision = Decision(kind=DecisionKind.ACCEPT, by=Person(id="U1"), why=why, origin="V1")
    outcome = DecisionOutcome(kind=kind, by=Person(id="U2"), why=why, decision="V1", origin="V2")
    events = [DecisionRecorded(decision=decision), OutcomeGiven(outcome=outcome)]
    debate = a_debate(*events, setup=a_setup().model_copy(update={"question": question or "?"}))
    check(outcome_post(debate))
    check(board(debate))
    outcome_form(debate, outcome.model_copy(update={"why": why[:600]}), again_after=30)


def test_people_are_named_by_mention_and_only_if_their_id_is_one():
    for author, words in (("U2", "<@U2>"), ("<!channel>", "&lt;!channel&gt;")):
        note = Note(id="n", author=Person(id=author), text="Hm.")
        setup = a_setup().model_copy(update={"asked_by": note.author})
        assert words in json.dumps(board(a_debate(setup=setup)).payload)
