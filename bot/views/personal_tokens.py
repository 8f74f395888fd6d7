"""What a person is told of their tokens; a token itself once, when it is made (pure)."""

from collections.abc import Sequence
from datetime import datetime

from bot.slack.mrkdwn.escape import literal
from bot.store.personal_tokens import PersonalToken
from bot.views.message import MessageView, notice_of
from bot.views.words import moment
from core.figures import quantity


def new_token(token: str, until: datetime) -> MessageView:
    return notice_of(
        f":key: Your token, shown this once:\n```{token}```\n"
        "Put it where your editor or program keeps its secrets: it calls Moot with it over MCP and "
        f"may do there what you may do here, in your name, until {moment(until)}. Never post it. "
        "Ask whoever runs Moot for the address to call; it ends in `/mcp`. "
        "`/debate token list` shows your tokens, `/debate token revoke N` ends one at once."
    )


def token_list(tokens: Sequence[PersonalToken]) -> MessageView:
    if not tokens:
        return notice_of("You have no tokens. `/debate token` makes one for your programs.")
    lines = list[str]()
    for token in tokens:
        name = f" {literal(token.name)}" if token.name else ""
        used = f"used {moment(token.used_at)}" if token.used_at else "never used"
        ends = f"made {moment(token.made_at)}, ends {moment(token.expires_at)}"
        lines.append(f"• *{token.number}*{name} (`{token.id}`): {used}; {ends}")
    return notice_of("\n".join(["*Your tokens*", *lines]))


def revocation(count: int) -> MessageView:
    if not count:
        return notice_of("You have no tokens; nothing was changed.")
    it = "it" if count == 1 else "them"
    return notice_of(f"{quantity(count, 'token')} ended: nothing can be done with {it} any more.")
