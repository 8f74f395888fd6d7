"""Personal access tokens, of which only hashes are stored.

A token is a public id and 256 random bits. Nobody can guess it, so SHA-256 is enough; slow hashes
are for passwords that people choose. The database does not reveal tokens.
"""

import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, delete, select, update

from bot.store.tables import PERSONAL_TOKENS, TableUser
from core.store.tables import insert_new

#: Begins every token, so that people and scanners for secrets, such as `core/redaction.py`,
#: recognise it.
PREFIX = "moot_"
_TOKEN = re.compile(rf"{PREFIX}([0-9a-f]{{16}})_([0-9a-f]{{64}})", re.ASCII)
_ID_BYTES, _SECRET_BYTES = 8, 32
#: The time of last use is stored at most once in this time.
_USED_WITHIN = timedelta(minutes=1)
_TABLE = PERSONAL_TOKENS.c


@dataclass(frozen=True, kw_only=True)
class PersonalToken:
    """A token without its secret."""

    #: Public: identifies the token in logs.
    id: str
    workspace: str
    #: Slack's id.
    person: str
    #: Its number among the owner's tokens, from 1.
    number: int
    name: str
    made_at: datetime
    expires_at: datetime
    used_at: datetime | None


class PersonalTokens(TableUser):
    async def make(self, token: PersonalToken, *, origin: str, most: int) -> str:
        """Make a token, store its hash, and return it in plain text.

        Returns an empty text if the person has `most` tokens, or the request made one already.

        Args:
            token: Its fields; id and number are set here.
            origin: Id of the request, which makes one token even if it arrives twice.
            most: The most unexpired tokens of a person.
        """
        token_id, secret = secrets.token_hex(_ID_BYTES), secrets.token_hex(_SECRET_BYTES)
        mine = (_TABLE.workspace == token.workspace) & (_TABLE.person == token.person)
        values = {**asdict(token), "id": token_id, "hash": _hash(secret), "origin": origin}

        def insert(connection: Connection) -> bool:
            old = _TABLE.expires_at <= token.made_at
            connection.execute(delete(PERSONAL_TOKENS).where(mine & old))
            if connection.execute(select(_TABLE.id).where(_TABLE.origin == origin)).first():
                return False
            numbers = set(connection.execute(select(_TABLE.number).where(mine)).scalars())
            # Unique numbers keep simultaneous requests within the bound.
            free = (number for number in range(1, most + 1) if number not in numbers)
            return any(
                insert_new(connection, PERSONAL_TOKENS, {**values, "number": number})
                for number in free
            )

        return f"{PREFIX}{token_id}_{secret}" if await self._database.write(insert) else ""

    async def of(self, workspace: str, person: str, now: datetime) -> Sequence[PersonalToken]:
        query = (
            select(PERSONAL_TOKENS)
            .where(_TABLE.workspace == workspace, _TABLE.person == person)
            .where(_TABLE.expires_at > now)
            .order_by(_TABLE.number)
        )
        rows = await self._database.read(lambda c: c.execute(query).mappings().all())
        return [_token(row) for row in rows]

    async def find(self, bearer: str, now: datetime) -> PersonalToken | None:
        """Return the token of a bearer string; None if it is invalid, revoked or expired."""
        match = _TOKEN.fullmatch(bearer)
        if match is None:
            return None
        query = select(PERSONAL_TOKENS).where(_TABLE.id == match[1])
        row = await self._database.read(lambda c: c.execute(query).mappings().first())
        if row is None or not hmac.compare_digest(str(row["hash"]), _hash(match[2])):
            return None
        token = _token(row)
        if token.expires_at <= now:
            return None
        if token.used_at is None or now - token.used_at >= _USED_WITHIN:
            used = update(PERSONAL_TOKENS).where(_TABLE.id == token.id).values(used_at=now)
            await self._database.write(lambda c: c.execute(used))
        return token

    async def revoke(self, workspace: str, person: str, number: int | None = None) -> int:
        """Delete a person's token with this number, or all tokens; return the count."""
        deletion = delete(PERSONAL_TOKENS).where(
            _TABLE.workspace == workspace, _TABLE.person == person
        )
        if number is not None:
            deletion = deletion.where(_TABLE.number == number)
        return await self._database.write(lambda c: c.execute(deletion).rowcount)

    async def leave(self, workspace: str) -> None:
        deletion = delete(PERSONAL_TOKENS).where(_TABLE.workspace == workspace)
        await self._database.write(lambda c: c.execute(deletion))

    async def purge(self, before: datetime) -> None:
        deletion = delete(PERSONAL_TOKENS).where(_TABLE.expires_at < before)
        await self._database.write(lambda c: c.execute(deletion))


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _token(row: Any) -> PersonalToken:
    return PersonalToken(**{name: row[name] for name in PersonalToken.__dataclass_fields__})
