"""How much a default debate says and whom it notifies, accepted and recorded: loud, and quiet.

`pytest tests/scenarios/test_notifications.py -s` prints a table of it.
"""

import sys
from dataclasses import dataclass

import pytest

from bot.slack.ids import ActionId
from bot.testing import BotSpec, Team, team_at_work
from core.debate.rules import Clarifying
from core.debate.turn import Act
from core.request import ModelRequest
from core.testing import ScriptedProvider
from slack_on_loopback import Workspace
from tests.notified import notifications
from tests.scenarios.test_deciding import chosen_why, decide, files_of
from tests.scenarios.test_quiet import QUESTION, as_long_as_a_models, choose, words
from tests.seen import seen_in


@dataclass(frozen=True)
class Noise:
    """What one debate is for its channel."""

    posts: int
    words: int
    #: Notifications of who asked, of who answered a question, of somebody else in the channel.
    asker: int
    answerer: int
    other: int

    def __str__(self) -> str:
        return f"{self.posts} | {self.words:,} | {self.asker} | {self.answerer} | {self.other}"


def everybody_changes_their_mind(request: ModelRequest) -> str:
    """The longest posts: each shows the first answer, too."""
    reply = as_long_as_a_models(request)
    return reply.replace("**PostgreSQL", "**Kafka") if request.act is Act.PROPOSAL else reply


def who(workspace: Workspace, name: str) -> str:
    return workspace.user(name).id


async def noise(team: Team, form: str, *, every_turn: bool) -> Noise:
    """Hold a debate in which Dana asks, Alex answers the agents' question, and Dana accepts."""
    await choose(team, format=form, every_turn=["yes"] if every_turn else [])
    board = await team.debate(QUESTION)
    await team.wait_for_card(board)
    await team.say("1: A thousand a second.", board, user="alex")
    debate = await team.wait_for_end(board, seconds=60)
    assert debate.setup.quiet != every_turn
    assert len(debate.answers) == 1
    await decide(team, board, ActionId.ACCEPT, chosen_why("We know it."))
    await team.workspace.wait_for(lambda: len(files_of(team, board)) == 4)
    await team.wait_until_sent()
    counts = notifications(team.thread(board))
    dana, alex, sam = (counts.get(who(team.workspace, name), 0) for name in ("dana", "alex", "sam"))
    text = words(seen_in(team.replies(board)))
    return Noise(len(team.replies(board)), text, dana, alex, sam)


@pytest.mark.parametrize(
    "form",
    ["critique", *(pytest.param(form, marks=pytest.mark.slow) for form in ("council", "panel"))],
)
async def test_a_quiet_debate_notifies_who_takes_part_far_less_and_nobody_else(form: str):
    clarifying = Clarifying(enabled=True, wait_seconds=600)
    models = ScriptedProvider(everybody_changes_their_mind)
    spec = BotSpec(provider=models, rounds=3, clarifying=clarifying)
    async with team_at_work(spec=spec) as team:
        before = await noise(team, form, every_turn=True)
        after = await noise(team, form, every_turn=False)
    sys.stdout.write(f"\n| {form} | {before} |\n| | {after} |\n")
    # The card with the questions is one of them, and what the team decided.
    assert after.posts <= 12
    assert after.asker <= 14
    assert after.words <= 1500
    assert after.other == before.other == 0
    # Nobody is notified more often than there are posts; the asker of the board's mention, too.
    assert after.answerer < after.asker <= after.posts + 2
    assert after.answerer <= after.posts
    if form != "panel":  # its turns are few: an agent makes one statement a round
        assert after.asker * 2 <= before.asker
        assert after.answerer * 2 <= before.answerer
