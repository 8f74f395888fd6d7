"""Links that people paste into the form: what becomes of each, and what is refused in words."""

from collections.abc import Sequence

import pytest

from bot.slack.evidence import linked_references, written_links
from core.debate.evidence import SourceKind, SourceReference
from core.debate.people import Person
from core.errors import BadInput

HERE = "C0HERE"
TEAM = "https://team.slack.com"
ANN = Person(id="U1", name="Ann")


def linked(typed: str) -> tuple[SourceReference, ...]:
    hosts = ("docs.example.com", "*.example.org")
    return linked_references(typed, HERE, workspace_url=f"{TEAM}/", hosts=hosts, by=ANN)


def test_a_message_stands_for_the_thread_it_is_in() -> None:
    reply = f"{TEAM}/archives/C0HERE/p1700000000123456?thread_ts=1700000000.000100&cid=C0HERE"
    alone, in_thread = linked(f"{TEAM}/archives/C0HERE/p1700000000123456\n{reply}")

    assert {reference.kind for reference in (alone, in_thread)} == {SourceKind.THREAD}
    assert alone.fetch == "C0HERE/1700000000.123456/"
    assert in_thread.fetch == "C0HERE/1700000000.000100/"
    assert in_thread.address == reply


def test_files_and_pages_are_told_apart_and_nothing_is_there_twice() -> None:
    file, page = f"{TEAM}/files/U1/F0OFFER/the%20offer.pdf", "https://docs.example.com/queues"
    references = linked(f"<{file}|offer>, {page} https://a.example.org/x\n{file}")

    assert [
        (reference.kind.value, reference.title, reference.fetch) for reference in references
    ] == [
        ("file", "the offer.pdf", "F0OFFER"),
        ("link", page, page),
        ("link", "https://a.example.org/x", "https://a.example.org/x"),
    ]
    assert all(reference.by == ANN for reference in references)


@pytest.mark.parametrize(
    ("typed", "fetch"),
    [
        ("https://Team.Slack.com/archives/C0HERE/p1700000000123456", "C0HERE/1700000000.123456/"),
        (f"{TEAM}/archives/C0HERE/p1700000000123456/", "C0HERE/1700000000.123456/"),
        (f"{TEAM}/files/U1/F0OFFER/", "F0OFFER"),
        (f"{TEAM}/files/U1/F0OFFER/offer.pdf/", "F0OFFER"),
    ],
)
def test_capitals_in_the_host_and_a_slash_at_the_end_change_nothing(typed: str, fetch: str) -> None:
    assert [reference.fetch for reference in linked(typed)] == [fetch]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (f"{TEAM}/archives/C0ELSE/p1700000000123456", "a message of another channel"),
        (f"{TEAM}/archives/C0HERE/p1700000000123456?thread_ts=../1", "leads to no message"),
        (f"{TEAM}/admin", "leads to no message and no file"),
        ("https://other.slack.com/archives/C0HERE/p1700000000123456", "Pages of other.slack.com"),
        ("https://example.org/", "Pages of example.org are not read here"),
        ("see the handbook", "“see” is no link"),
        ("file:///etc/passwd", "is no link"),
        ("https://[::1", "is no link"),
        ("\n".join(f"https://docs.example.com/{n}" for n in range(51)), "There are 51 links; 50"),
    ],
)
def test_what_cannot_be_a_source_is_refused_in_words(typed: str, words: str) -> None:
    with pytest.raises(BadInput) as error:
        linked(typed)

    assert words in str(error.value)


def test_words_link_to_what_may_be_a_source_and_say_why_the_rest_is_none() -> None:
    text = (
        f"As <{TEAM}/archives/C0HERE/p1700000000123456|said>, see https://docs.example.com/queues, "
        "https://example.net/x and https://example.net/y, or https://[::1."
    )
    links = written_links(
        text,
        HERE,
        workspace_url=f"{TEAM}/",
        hosts=("docs.example.com",),
        by=ANN,
        thread="1700000000.000100",
    )

    assert [reference.fetch for reference in links.references] == [
        "C0HERE/1700000000.123456/",
        "https://docs.example.com/queues",
    ]
    (why,) = links.refusals
    assert "Pages of example.net are not read here" in why


def test_the_thread_that_words_stand_in_is_no_source_of_its_own() -> None:
    link = f"{TEAM}/archives/C0HERE/p1700000000123456?thread_ts=1700000000.000100&cid=C0HERE"
    root = "1700000000.000100"
    text = f"As I said: {link}"

    links = written_links(text, HERE, workspace_url=TEAM, hosts=(), by=ANN, thread=root)

    assert not links.references
    assert not links.refusals


KEY = "sk-ant-" + "api03-abcdefghijklmnop1234"


@pytest.mark.parametrize(
    "link",
    [
        f"https://docs.example.com/x?token={KEY}",
        f"https://docs.example.com/x?token={KEY.replace('-', '%2D')}",
        "https://ann:hunter22@docs.example.com/x",
        "https://ann@docs.example.com/x",
        f"{TEAM}/files/U1/F0OFFER/{KEY}.txt",
    ],
)
def test_a_link_with_a_secret_is_no_source_however_it_is_given(link: str) -> None:
    with pytest.raises(BadInput, match="looks like another secret") as error:
        linked(link)
    links = written_links(
        f"See {link}", HERE, workspace_url=TEAM, hosts=("docs.example.com",), by=ANN
    )

    assert (links.references, links.refusals) == ((), (str(error.value),))
    assert KEY not in str(error.value)
    assert "hunter22" not in str(error.value)


def test_of_more_links_than_are_looked_at_their_author_is_told() -> None:
    def references(count: int) -> tuple[int, Sequence[str]]:
        text = " ".join(f"https://docs.example.com/{n}" for n in range(count))
        links = written_links(text, HERE, workspace_url=TEAM, hosts=("docs.example.com",), by=ANN)
        return len(links.references), links.refusals

    assert references(50) == (50, ())
    assert references(60) == (
        50,
        ("Of one text the first 50 links are looked at; more are not read.",),
    )
