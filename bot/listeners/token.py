"""`/debate token`: tokens for one's own programs, told to nobody else and once only."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.listeners.context import ListenerContext, place
from bot.listeners.typed import Order
from bot.slack.mrkdwn import literal
from bot.slack.payloads import Command
from bot.store.personal_tokens import PersonalToken
from bot.views.message import MessageView, notice
from bot.views.words import moment
from core.errors import BadInput
from core.figures import quantity
from core.redaction import redact

NO_TOKENS = (
    "Programs cannot call Moot here: whoever runs it has not switched MCP on (MOOT_MCP), so there "
    "are no tokens. Nothing was done."
)
_NAME_LIMIT = 40


async def make_token(context: ListenerContext, command: Command, order: Order) -> MessageView:
    holds, now = _validity(context), context.clock.now()
    await context.check_colleague(command.user_id, place(command.team_id, command.channel_id))
    draft = PersonalToken(
        id="",
        workspace=command.team_id,
        person=command.user_id,
        number=0,
        name=redact(order.words)[:_NAME_LIMIT],
        made_at=now,
        expires_at=now + holds,
        used_at=None,
    )
    most = context.acts.start.bounds.tokens_per_person
    token = await context.records.tokens.make(draft, origin=command.trigger_id, most=most)
    if not token:
        raise BadInput(
            f"You have {most} tokens, as many as one person may. No token was made. "
            "`/debate token list` shows them, `/debate token revoke N` ends one."
        )
    return new_token(token, draft.expires_at)


async def list_tokens(context: ListenerContext, command: Command, _order: Order) -> MessageView:
    _validity(context)
    now = context.clock.now()
    return token_list(await context.records.tokens.of(command.team_id, command.user_id, now))


async def end_tokens(context: ListenerContext, command: Command, order: Order) -> MessageView:
    _validity(context)
    number = None if order.words.lower() == "all" else int(order.words)
    ended = await context.records.tokens.revoke(command.team_id, command.user_id, number)
    if not ended and number:
        raise BadInput(
            f"You have no token {number}; nothing was done. `/debate token list` shows yours."
        )
    return revocation(ended)


def _validity(context: ListenerContext) -> timedelta:
    if context.operator.token_holds is None:
        raise BadInput(NO_TOKENS)
    return context.operator.token_holds


def new_token(token: str, until: datetime) -> MessageView:
    return notice(
        f":key: Your token, shown this once:\n```{token}```\n"
        "Put it where your editor or program keeps its secrets: it calls Moot with it over MCP and "
        f"may do there what you may do here, in your name, until {moment(until)}. Never post it. "
        "Ask whoever runs Moot for the address to call; it ends in `/mcp`. "
        "`/debate token list` shows your tokens, `/debate token revoke N` ends one at once."
    )


def token_list(tokens: Sequence[PersonalToken]) -> MessageView:
    if not tokens:
        return notice("You have no tokens. `/debate token` makes one for your programs.")
    lines = list[str]()
    for token in tokens:
        name = f" {literal(token.name)}" if token.name else ""
        used = f"used {moment(token.used_at)}" if token.used_at else "never used"
        ends = f"made {moment(token.made_at)}, ends {moment(token.expires_at)}"
        lines.append(f"• *{token.number}*{name} (`{token.id}`): {used}; {ends}")
    return notice("\n".join(["*Your tokens*", *lines]))


def revocation(count: int) -> MessageView:
    if not count:
        return notice("You have no tokens; nothing was changed.")
    it = "it" if count == 1 else "them"
    return notice(f"{quantity(count, 'token')} ended: nothing can be done with {it} any more.")
