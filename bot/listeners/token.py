"""`/debate token`: tokens for one's own programs, told to nobody else and once only."""

from bot.listeners.context import ListenerContext
from bot.listeners.typed import ListTokens, MakeToken, OnTokens, RevokeTokens
from bot.slack.payloads import Command
from bot.store.personal_tokens import PersonalToken
from bot.views.message import MessageView
from bot.views.personal_tokens import listed, made, revoked
from core.errors import BadInput
from core.redaction import redact

NO_TOKENS = (
    "Programs cannot call Moot here: whoever runs it has not switched MCP on (MOOT_MCP), so there "
    "are no tokens. Nothing was done."
)
_NAME_LIMIT = 40


async def on_tokens(context: ListenerContext, command: Command, typed: OnTokens) -> MessageView:
    """Make, list or revoke tokens of who typed it.

    Raises:
        BadInput: There are none here, the person has as many as they may, or none with the number.
    """
    if context.token_holds is None:
        raise BadInput(NO_TOKENS)
    team, person, now = command.team_id, command.user_id, context.clock.now()
    match typed:
        case MakeToken(name=name):
            wanted = PersonalToken(
                id="",
                workspace=team,
                person=person,
                number=0,
                name=redact(name)[:_NAME_LIMIT],
                made_at=now,
                expires_at=now + context.token_holds,
                used_at=None,
            )
            most = context.start.bounds.tokens_per_person
            token = await context.tokens.make(wanted, origin=command.trigger_id, most=most)
            if not token:
                raise BadInput(
                    f"You have {most} tokens, as many as one person may. No token was made. "
                    "`/debate token list` shows them, `/debate token revoke N` ends one."
                )
            return made(token, wanted.expires_at)
        case ListTokens():
            return listed(await context.tokens.of(team, person, now))
        case RevokeTokens(number=number):
            if not (gone := await context.tokens.revoke(team, person, number)) and number:
                raise BadInput(
                    f"You have no token {number}; nothing was done. `/debate token list` shows "
                    "yours."
                )
            return revoked(gone)
