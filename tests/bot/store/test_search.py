"""Debates are found by their words, in the channels asked for and no others."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.store.search import DebateWords
from bot.store.tables import Channel, prepare
from core.store.database import Database

HERE, THERE = Channel("T1", "C1"), Channel("T1", "C2")


@pytest.fixture
async def words(location: str) -> AsyncIterator[DebateWords]:
    async with await Database.open(location) as database:
        await prepare(database)
        yield DebateWords(database)


async def ids(words: DebateWords, text: str, *channels: str) -> list[str]:
    return [hit.debate_id for hit in await words.find("T1", channels, text, 10)]


async def test_all_words_must_be_there_in_any_case_and_cut_short(words: DebateWords) -> None:
    await words.put("d1", HERE, "Kafka or PostgreSQL for our jobs?")
    await words.put("d2", HERE, "Kafka or SQS?")
    assert sorted(await ids(words, "kafka", "C1")) == ["d1", "d2"]
    assert await ids(words, "KAFKA postg", "C1") == ["d1"]
    assert await ids(words, "kafka unicorn", "C1") == []


async def test_words_are_found_in_another_inflection(words: DebateWords) -> None:
    await words.put("d1", HERE, "The licence is too expensive for this query.")
    assert await ids(words, "licences", "C1") == ["d1"]
    assert await ids(words, "queries licensing", "C1") == []
    assert await ids(words, "queries expensively", "C1") == ["d1"]


async def test_other_channels_and_workspaces_are_left_out(words: DebateWords) -> None:
    await words.put("d1", HERE, "Kafka?")
    await words.put("d2", THERE, "Kafka!")
    await words.put("d3", Channel("T2", "C1"), "Kafka.")
    assert await ids(words, "kafka", "C1") == ["d1"]
    assert sorted(await ids(words, "kafka", "C1", "C2")) == ["d1", "d2"]
    assert await ids(words, "kafka") == []


async def test_words_with_a_nul_are_found_too(words: DebateWords) -> None:
    await words.put("d1", HERE, "Kafka\0or SQS?")
    assert await ids(words, "kafka", "C1") == ["d1"]
    assert await ids(words, "sqs", "C1") == ["d1"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(max_size=40))
async def test_anything_can_be_looked_for(words: DebateWords, text: str) -> None:
    await words.put("d1", HERE, "Kafka?")
    assert set(await ids(words, text, "C1")) <= {"d1"}
