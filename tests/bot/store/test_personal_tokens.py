"""Tokens are kept as hashes, hold for a time, and are their owner's alone, on both databases."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from sqlalchemy import select

from bot.store.personal_tokens import PersonalToken, PersonalTokens
from bot.store.tables import PERSONAL_TOKENS, prepare
from core.store.database import Database

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
MOST = 3
WANTED = PersonalToken(
    id="",
    workspace="T1",
    person="U1",
    number=0,
    name="laptop",
    made_at=NOON,
    expires_at=NOON + timedelta(days=1),
    used_at=None,
)
origins = map(str, count())


@pytest.fixture
async def database(location: str) -> AsyncIterator[Database]:
    async with await Database.open(location) as opened:
        await prepare(opened)
        yield opened


@pytest.fixture
def tokens(database: Database) -> PersonalTokens:
    return PersonalTokens(database)


async def new_token(
    tokens: PersonalTokens, request: PersonalToken = WANTED, origin: str = ""
) -> str:
    return await tokens.make(request, origin=origin or next(origins), most=MOST)


async def test_a_token_is_its_owners_and_what_is_kept_opens_nothing(
    database: Database, tokens: PersonalTokens
) -> None:
    token = await new_token(tokens)
    assert re.fullmatch(r"moot_[0-9a-f]{16}_[0-9a-f]{64}", token)
    token_found = await tokens.find(token, NOON)
    assert token_found
    assert (token_found.workspace, token_found.person, token_found.number, token_found.name) == (
        "T1",
        "U1",
        1,
        "laptop",
    )
    rows = await database.read(lambda c: c.execute(select(PERSONAL_TOKENS)).all())
    assert token.rpartition("_")[2] not in str(rows)


async def test_what_is_no_token_is_nobodys(tokens: PersonalTokens) -> None:
    token = await new_token(tokens)
    other = await new_token(tokens)
    mixed = f"{token[:21]}_{other.rpartition('_')[2]}"
    for bearer in ("", "moot_", token[:-1], f"{token}0", token.upper(), mixed, f" {token}", "\0"):
        assert await tokens.find(bearer, NOON) is None, bearer


async def test_a_token_ends_with_its_time_and_makes_room(tokens: PersonalTokens) -> None:
    token = await new_token(tokens)
    assert await tokens.find(token, WANTED.expires_at - timedelta(seconds=1))
    assert await tokens.find(token, WANTED.expires_at) is None
    assert [token.number for token in await tokens.of("T1", "U1", NOON)] == [1]
    assert not await tokens.of("T1", "U1", WANTED.expires_at)
    later = replace(WANTED, made_at=WANTED.expires_at, expires_at=NOON + timedelta(days=9))
    for _ in range(MOST):
        assert await new_token(tokens, later)
    assert not await new_token(tokens, later)
    await tokens.purge(later.expires_at + timedelta(seconds=1))
    assert not await tokens.of("T1", "U1", NOON)


async def test_nobody_has_more_than_they_may_even_at_the_same_moment(
    tokens: PersonalTokens,
) -> None:
    tokens_made = await asyncio.gather(*(new_token(tokens) for _ in range(3 * MOST)))
    assert len([text for text in tokens_made if text]) == MOST
    assert [token.number for token in await tokens.of("T1", "U1", NOON)] == [1, 2, 3]
    assert await new_token(tokens, replace(WANTED, person="U2"))
    assert await new_token(tokens, replace(WANTED, workspace="T2"))


async def test_a_request_that_comes_again_makes_no_second_token(tokens: PersonalTokens) -> None:
    assert await new_token(tokens, origin="1.2.3")
    assert not await new_token(tokens, origin="1.2.3")
    assert len(await tokens.of("T1", "U1", NOON)) == 1


async def test_a_revoked_token_ends_at_once_and_others_stay(tokens: PersonalTokens) -> None:
    first, second = await new_token(tokens), await new_token(tokens)
    others = await new_token(tokens, replace(WANTED, person="U2"))
    assert await tokens.revoke("T1", "U1", 1) == 1
    assert await tokens.revoke("T1", "U1", 1) == 0
    assert await tokens.find(first, NOON) is None
    assert await tokens.find(second, NOON)
    assert await tokens.revoke("T1", "U1") == 1
    assert await tokens.find(second, NOON) is None
    assert await tokens.find(others, NOON)
    await tokens.leave("T1")
    assert await tokens.find(others, NOON) is None


async def test_when_a_token_was_used_is_known_to_the_minute(tokens: PersonalTokens) -> None:
    token = await new_token(tokens)
    for seconds in (0, 30, 61):
        await tokens.find(token, NOON + timedelta(seconds=seconds))
    (entry,) = await tokens.of("T1", "U1", NOON)
    assert entry.used_at == NOON + timedelta(seconds=61)
