"""Secrets of each kind, planted in every field that a person or a model can fill."""

import json
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, date, datetime
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

import pytest
from pydantic import BaseModel

import bot.store.tables
import core.store.tables
from bot.queue.rows import NewPost, Posts
from bot.store.records import ChannelSettings
from bot.testing import BotSpec, quick_workspace, running_bot
from core.debate.contributions import Note
from core.debate.debate_events import DebateStarted
from core.debate.log import Event, event_to_json
from core.debate.message_events import NoteAdded
from core.debate.people import Person, Place
from core.llm.prompt_text import quote
from core.redaction import SECRET_RULES, redact, without_secrets
from core.request import Part, PartKind
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.testing import ScriptedProvider, a_setup
from core.usage import Call, SentPart
from slack_on_loopback import run_workspace
from tests.security.planted_secrets import PLANTED
from tests.security.test_secrets import content

T = TypeVar("T")
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def planted(value: T, text: str) -> T:
    """The value with the text appended to each of its free texts."""

    def plant(part: object) -> object:
        match part:
            case Enum():
                return part
            case str():
                return f"{part} {text}"
            case BaseModel():
                names = type(part).model_fields
                return part.model_copy(update={name: plant(getattr(part, name)) for name in names})
            case Call() | SentPart():
                names = [field.name for field in fields(part)]
                return replace(part, **{name: plant(getattr(part, name)) for name in names})
            case Mapping():
                parts = cast("Mapping[object, object]", part)
                return {key: plant(item) for key, item in parts.items()}
            case list() | tuple():
                items = cast("Collection[object]", part)
                copies = [plant(item) for item in items]
                return tuple(copies) if isinstance(part, tuple) else copies
            case _:
                return part

    return cast("T", plant(value))


def filled(hint: Any) -> Any:
    """A value of the type with all its fields, at every depth; collections have one item."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        (hint,) = (part for part in parts if part is not NoneType)
        return filled(hint)
    if origin is Literal:
        return parts[0]
    if origin in {Annotated, tuple}:
        return filled(parts[0]) if origin is Annotated else (filled(parts[0]),)
    if origin is Mapping:
        return {filled(parts[0]): filled(parts[1])}
    if issubclass(hint, BaseModel):
        items = hint.model_fields.items()
        return hint.model_construct(**{name: filled(field.annotation) for name, field in items})
    if is_dataclass(hint):
        return cast("Any", hint)(**{field.name: filled(field.type) for field in fields(hint)})
    if issubclass(hint, Enum):
        return next(iter(hint))
    return NOON if hint is datetime else NOON.date() if hint is date else hint(1)


def each_kind_of_event() -> Iterator[Event]:
    """An event of each class that has texts, with one in each field that can have one."""
    events = map(filled, Event.kinds.values())
    return (event for event in events if planted(event, "x") != event)


EVENTS = list(each_kind_of_event())


@pytest.mark.parametrize("kind", PLANTED)
def test_a_secret_of_the_kind_is_known_in_any_text(kind: str) -> None:
    text, heart = PLANTED[kind]

    for around in ("{}", "It is {} today.", "({})", "a={}\nb=1", "„{}“ 中{}中"):
        assert heart not in redact(around.replace("{}", text)), around
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("kind", PLANTED)
def test_no_field_of_any_event_keeps_it(kind: str) -> None:
    text, heart = PLANTED[kind]

    for event in EVENTS:
        sown = planted(event, text)
        assert heart in event_to_json(sown), event.kind
        assert heart not in event_to_json(without_secrets(sown)), event.kind


@pytest.mark.parametrize("kind", PLANTED)
def test_neither_text_nor_label_of_any_part_brings_it_into_a_prompt(kind: str) -> None:
    text, heart = PLANTED[kind]

    for part in PartKind:
        prompt = quote(Part(kind=part, label=f"Notes {text}", text=f"See {text}"), "k7f3q9zz")
        assert heart not in prompt, part


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with await Database.open(f"sqlite+aiosqlite:///{tmp_path / 'moot.db'}") as opened:
        await core.store.tables.prepare(opened)
        await bot.store.tables.prepare(opened)
        yield opened


async def test_the_log_and_the_queue_and_settings_hold_no_kind_of_it(
    database: Database, tmp_path: Path
) -> None:
    store, posts = SqlDebateStore(database), Posts(database)
    place = Place(surface="slack", workspace="T1", channel="C1")
    for number, (text, _) in enumerate(PLANTED.values()):
        started = DebateStarted(setup=a_setup().model_copy(update={"question": text}))
        await store.create(f"d{number}", started, origin=f"o{number}", at=NOON)
        note = Note(id="n", author=Person(id="U1", name=text), text=text)
        await store.append(f"d{number}", NoteAdded(note=note), at=NOON)
        await posts.enqueue([a_post(number, {"text": text, "blocks": [{"text": {"text": text}}]})])
        settings = await ChannelSettings(database).get(place)
        await ChannelSettings(database).put(place, planted(settings, text))

    stored = content(tmp_path / "moot.db")
    assert b"[redacted]" in stored
    assert [kind for kind, (_, heart) in PLANTED.items() if heart.encode() in stored] == []


def a_post(number: int, payload: Mapping[str, Any]) -> NewPost:
    key = f"d{number}/e1/0"
    return NewPost(key=key, workspace="T1", channel="C1", method="post", payload=payload)


async def test_a_token_in_a_files_name_reaches_no_prompt_no_post_and_no_database(
    tmp_path: Path,
) -> None:
    token, heart = PLANTED["GitHub token"]
    model = ScriptedProvider()
    async with run_workspace(quick_workspace()) as workspace:
        spec = BotSpec(provider=model)
        async with running_bot(workspace, database=tmp_path / "moot.db", spec=spec) as team:
            await workspace.share_file(
                "dana",
                team.channel,
                f"{token}.txt",
                b"We lose about 20 jobs a week.",
                text="@Moot Kafka or PostgreSQL?",
            )
            board = await team.new_board()
            debate = await team.wait_for_end(board)
            posts = json.dumps(team.thread(board))
            stored = content(tmp_path / "moot.db")
    prompts = "".join(f"{part.label}{quote(part, 'k7f3q9zz')}" for part in parts_of(model))

    assert debate.evidence
    assert debate.evidence[0].reference.title == "[redacted]"
    assert heart not in posts
    assert heart.encode() not in stored
    assert heart not in prompts


def parts_of(model: ScriptedProvider) -> Iterator[Part]:
    return (part for request in model.requests for part in request.parts)


def test_each_mark_stands_in_what_its_pattern_finds() -> None:
    """Each planted kind is found by some rule, so the marks of the rules are right."""
    names = [rule.name for rule in SECRET_RULES]

    assert len(names) == len(set(names))
    for rule in SECRET_RULES:
        assert rule.marks, rule.name
        assert all(mark == mark.lower() for mark in rule.marks), rule.name


@pytest.mark.parametrize(
    "text",
    [
        "The token: a thing that opens doors.",
        "token_limit=100000 and max_tokens: 128000",
        "The password is required since 2019.",
        "Secret: we meet at 12.",
        "The commit is 4b1d0123456789abcdef0123456789abcdef0123",
        "We use key-value stores, e.g. key-0123.",
        "https://docs.example/page?signature=none",
        "Its.namespace.v1alpha1 is no token.",
    ],
)
def test_words_near_a_secrets_stay(text: str) -> None:
    assert redact(text) == text
