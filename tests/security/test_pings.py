"""Text of models that looks like a ping notifies nobody, in all calls to the local Slack.

By Slack's rules a mention is active as `<!channel>`, `<@U…>` or `<!subteam^…>`, and the bare words
`@channel`, `@here` and `@everyone` where a message asks for names to be linked
(https://docs.slack.dev/messaging/formatting-message-text). None of these may arrive.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from bot.testing import BotSpec, quick_workspace, running_bot
from core.debate.turn import Act
from core.request import ModelRequest
from core.testing import ScriptedProvider, plausible_reply
from slack_on_loopback import run_workspace

PINGS = (
    "<!channel> <!here|here> <!everyone> <@U0ADA0001> <!subteam^S0ABC|@all> &lt;!channel&gt; "
    "@Everyone @HERE @channel @group"
)
ACTIVE = re.compile(
    r"<[!@](?:channel|here|everyone|group|subteam|[UW][A-Z0-9])"
    r"|(?<!\w)@(?:channel|here|everyone|group)(?![a-z0-9])",
    re.IGNORECASE,
)


def pinging(request: ModelRequest) -> str:
    """A reply of the right form with pings in all its words."""
    reply = plausible_reply(request)
    if request.answer is None:
        return f"{PINGS}\n\n# {PINGS}\n\n- `{PINGS}`\n\n{reply}"
    answer = json.loads(reply)
    if request.act is not Act.BALLOT:
        for field, value in answer.items():
            if isinstance(value, str) and field != "decision":
                answer[field] = f"{PINGS} {value}"
    return json.dumps(answer)


def words(value: object) -> Iterator[str]:
    """Every text in a message, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in cast("dict[str, object]", value).values():
            yield from words(item)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from words(item)


async def test_no_post_of_a_debate_pings_anybody(tmp_path: Path) -> None:
    async with (
        run_workspace(quick_workspace()) as workspace,
        running_bot(
            workspace,
            database=tmp_path / "moot.db",
            spec=BotSpec(provider=ScriptedProvider(pinging)),
        ) as team,
    ):
        board = await team.debate("Kafka or PostgreSQL?")
        await team.wait_for_end(board)
        sent = team.replies(board)

    # Slack looks for mentions in messages, not in files.
    posts = [dict[str, Any](message, files=[]) for message in sent]
    texts = [text for message in posts for text in words(message)]
    assert any("subteam" in text for text in texts)
    asker = workspace.user("dana").id
    assert not [text for text in texts if ACTIVE.search(text.replace(f"<@{asker}>", ""))]
