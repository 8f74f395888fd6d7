"""A quiet thread: one post per agent and round, everything else folded away, and nothing lost."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bot.slack.blocks import READ_ALL
from bot.slack.ids import ActionId
from bot.testing import BotSpec, Message, Team, key_of, quick_workspace, running_bot, team_at_work
from core.debate.turn import Act
from core.request import ModelRequest
from core.testing import ScriptedProvider, a_verdict_reply, plausible_reply
from slack_on_loopback import run_workspace
from tests.scenarios.test_starting import form_of, form_values
from tests.seen import seen_in, texts_of

QUESTION = "Should we use Kafka or PostgreSQL as our job queue? It must keep every job."
_WORDS = re.compile(r"\w[\w'.-]*")
_SPEECHES = {
    *(Act.PROPOSAL, Act.REFINEMENT, Act.GATHER, Act.PLAN, Act.FORMULATE),
    *(Act.DEBATE, Act.ADJUST, Act.REBUTTAL, Act.STATEMENT),
}
_FILL = (
    "The team runs two databases already, and each of them is backed up every night to another "
    "region, restored once a month on a Friday morning by whoever is on call, and known by heart."
)


def as_long_as_a_models(request: ModelRequest) -> str:
    """Replies of the length and form that the prompts ask for."""
    if request.act is Act.CRITIQUE:
        return (
            "Its strongest point is that nothing new has to be run.\n\n"
            f"- **serious** – “one table” says nothing about retries. {_FILL}\n"
            f"- **minor** – no figure for the load is given. {_FILL}\n"
            f"- **minor** – nobody is named who watches the depth of the queue. {_FILL} {_FILL}\n\n"
            "In short: “one table” says nothing about retries.\n"
            "- No figure for the load is given.\n"
            "- Nobody is named who watches the depth of the queue."
        )
    if request.act is Act.SYNTHESIS:
        return json.dumps(
            a_verdict_reply(
                solution=f"{_FILL}\n\n{_FILL} {_FILL}",
                implementation=f"1. Create the table. {_FILL}\n2. Watch it. {_FILL}",
                reasons=[f"{n} is known to the team and cheap to run." for n in ("A", "B", "C")],
            )
        )
    if request.act in _SPEECHES:
        return (
            f"**PostgreSQL, with one row per job and a lease, says {request.role}.**\n\n## Why\n\n"
            f"- Nothing new has to be run by two people. {_FILL}\n"
            f"- A job and its effect commit together. {_FILL}\n"
            f"- A load of 500 jobs a second is far below its limits. {_FILL}\n\n"
            f"## How\n\n{_FILL} {_FILL}\n\n## Requirements\n\n{_FILL} {_FILL}\n\n"
            f"In short: PostgreSQL, with one row per job and a lease, says {request.role}.\n"
            "- Nothing new has to be run by two people.\n"
            "- A job and its effect commit together.\n"
            "- A load of 500 jobs a second is far below its limits."
        )
    return plausible_reply(request)


def words(texts: Iterator[str]) -> int:
    return sum(len(_WORDS.findall(text)) for text in texts)


def shares(team: Team, board: str) -> Sequence[Message]:
    """The agents' posts."""
    return [
        reply for reply in team.replies(board) if re.search(r"/r\d+/[a-z]+/.*/0$", key_of(reply))
    ]


def buttons_of(message: Message) -> Sequence[str]:
    rows = [block["elements"] for block in message["blocks"] if block["type"] == "actions"]
    return [element["action_id"] for elements in rows for element in elements]


def wordy(*, rounds: int = 3, provider: ScriptedProvider | None = None) -> BotSpec:
    return BotSpec(provider=provider or ScriptedProvider(as_long_as_a_models), rounds=rounds)


async def choose(team: Team, **fields: str | Sequence[str]) -> None:
    """Set what holds in the channel."""
    await team.type("settings")
    view = await form_of(team)
    await team.workspace.submit("dana", view["id"], form_values(**fields))


@pytest.mark.parametrize(("form", "posts"), [("critique", 11), ("council", 8), ("panel", 11)])
async def test_a_default_debate_is_at_most_twelve_posts_and_1500_words(form: str, posts: int):
    async with team_at_work(spec=wordy()) as team:
        await choose(team, format=form)
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        replies = team.replies(board)
        print(form, len(replies), words(seen_in(replies)))  # noqa: T201
        assert debate.setup.format == form
        assert len(replies) <= posts
        assert words(seen_in(replies)) <= 1500
        for agent in debate.setup.agents:
            own = [
                share for share in shares(team, board) if share["username"].startswith(agent.name)
            ]
            assert own
            assert all(message["icons"]["emoji"] == agent.icon for message in own)
        for share in shares(team, board):
            assert "*PostgreSQL, with one row per job and a lease, says " in share["text"]
            assert "• Nothing new has to be run by two people." in share["text"]
            on_others = share["text"].count("\n:speech_balloon:")
            assert on_others in {"critique": {2}, "council": {0, 2}, "panel": {0}}[form]
        heads = [share["text"].partition("\n")[0] for share in shares(team, board)]
        rounds = [head.partition(":")[0] for head in heads]
        assert rounds == sorted(rounds)
        if form == "council":  # what became of the positions comes after all of them
            half = len(heads) // 2
            assert heads[:half] == ["Round 1: position"] * half
            assert heads[half:] == ["Round 1: adjusted position"] * half


async def test_everything_an_agent_wrote_and_was_told_is_there_folded_or_behind_the_button():
    async with team_at_work(spec=wordy(rounds=1)) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        texts = [
            contribution.text
            for contribution in debate.contributions.values()
            if not contribution.carried_from
        ]
        assert len(texts) == 12
        own = shares(team, board)
        assert len(own) == 3
        folds = [
            block for message in own for block in message["blocks"] if block["type"] == "container"
        ]
        assert len(folds) == 3
        for fold in folds:
            assert (fold["is_collapsible"], fold["default_collapsed"]) == (True, True)
        assert not [message for message in own if ActionId.READ_ALL.value in buttons_of(message)]
        check_share("\n".join(texts_of(own[0]["blocks"], opened=True)))
        (verdict,) = team.posts(board, "headline")
    (fold,) = (block for block in verdict["blocks"] if block["type"] == "container")
    inside = "\n".join(texts_of(fold["child_blocks"], opened=True))
    assert "*Implementation*" in inside
    assert "*Requirements*" in inside
    assert inside.count("; ranked ") == 3  # the agents' ballots
    assert "*Implementation*" not in "\n".join(texts_of(verdict["blocks"], opened=False))


def check_share(read: str) -> None:
    assert read.count("*Proposal*") == read.count("*Refined proposal*") == 1
    assert read.count("*Critique of") == 2
    assert read.count(" on this: critique of") == 2


async def test_what_does_not_fit_into_a_message_is_behind_a_button():
    def longer(request: ModelRequest) -> str:
        reply = as_long_as_a_models(request)
        is_long = request.act in {*_SPEECHES, Act.CRITIQUE}
        return reply.replace(_FILL, " ".join([_FILL] * 3)) if is_long else reply

    async with team_at_work(spec=wordy(rounds=1, provider=ScriptedProvider(longer))) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        own = shares(team, board)
        folded = "\n".join(texts_of(own[0]["blocks"], opened=True))
        assert "*Refined proposal*" in folded
        await team.workspace.click("alex", team.channel, own[0]["ts"], ActionId.READ_ALL.value)
        window = await form_of(team, "alex")
        assert window["title"]["text"] == READ_ALL
        check_share("\n".join(texts_of(window["blocks"], opened=True)))


@pytest.mark.slow
async def test_a_workspace_that_takes_no_folds_gets_buttons_and_is_asked_once(tmp_path: Path):
    file = tmp_path / "moot.db"
    async with run_workspace(quick_workspace()) as workspace:
        workspace.faults.refuse_blocks("container")
        async with running_bot(workspace, database=file, spec=wordy(rounds=1)) as team:
            board = await team.debate(QUESTION)
            await team.wait_for_end(board)
            own = shares(team, board)
            assert len(own) == 3
            assert all(buttons_of(message).count(ActionId.READ_ALL.value) == 1 for message in own)
            verdict = team.verdict(board)
            await team.workspace.click("alex", team.channel, verdict, ActionId.READ_ALL.value)
            read = "\n".join(texts_of((await form_of(team, "alex"))["blocks"], opened=True))
            assert "*Implementation*" in read
            assert len(workspace.calls.of("chat.postMessage", "invalid_blocks")) == 1
        # After a restart folds are tried once more.
        async with running_bot(workspace, database=file, spec=wordy(rounds=1)) as team:
            board = await team.debate("And which cloud should we use for it?")
            await team.wait_for_end(board)
            assert len(shares(team, board)) == 3
            assert len(workspace.calls.of("chat.postMessage", "invalid_blocks")) == 2


async def test_a_channel_may_have_every_turn_as_a_post_of_its_own():
    async with team_at_work(spec=wordy()) as team:
        await choose(team, every_turn=["yes"])
        phrase = "every turn is a post of its own"
        await team.workspace.wait_for(
            lambda: [o for o in team.workspace.messages(team.channel) if phrase in o["text"]]
        )
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        spoken = [
            contribution
            for contribution in debate.contributions.values()
            if not contribution.carried_from
        ]
        print("every turn", len(team.replies(board)), words(seen_in(team.replies(board))))  # noqa: T201
        assert len(shares(team, board)) == len(spoken)
        assert not [
            block
            for reply in team.replies(board)
            for block in reply.get("blocks", ())
            if block["type"] == "container"
        ]
