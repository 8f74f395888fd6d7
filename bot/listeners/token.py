"""`/debate token`: tokens for one's own programs, told to nobody else and once only."""

from datetime import timedelta

from bot.listeners.context import ListenerContext, place
from bot.listeners.typed import Order
from bot.slack.payloads import Command
from bot.store.personal_tokens import PersonalToken
from bot.views.message import MessageView
from bot.views.personal_tokens import new_token, revocation, token_list
from core.errors import BadInput
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
