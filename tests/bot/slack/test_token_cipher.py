"""Tokens at rest: the newest key encrypts, every key decrypts, and no placeholder is a key."""

from base64 import urlsafe_b64encode

import pytest

from bot.slack.install.tokens import Cipher, TokenUnreadable
from core.errors import ConfigurationBroken

TOKEN = "xoxb-1234567890-abc"
#: Fixed, because tests are named after what they try.
OLD, NEW = (urlsafe_b64encode(bytes(range(first, first + 32))).decode() for first in (0, 100))


def test_a_new_key_in_front_encrypts_and_the_old_one_still_opens() -> None:
    stored, both = Cipher([OLD]).encrypt(TOKEN), Cipher([NEW, OLD])

    assert TOKEN not in stored
    assert both.decrypt(stored) == TOKEN
    assert Cipher([NEW]).decrypt(both.encrypt(TOKEN)) == TOKEN
    assert Cipher([NEW]).decrypt(both.renew(stored)) == TOKEN
    assert Cipher([NEW]).renew(stored) == stored, "its key may come back"


@pytest.mark.parametrize("stored", ["", "xoxb-plain", "gAAAAA", Cipher([OLD]).encrypt(TOKEN)])
def test_what_no_key_opens_is_not_taken_for_a_token(stored: str) -> None:
    with pytest.raises(TokenUnreadable, match="MOOT_TOKEN_KEYS") as caught:
        Cipher([NEW]).decrypt(stored)
    assert not stored or stored not in str(caught.value)


@pytest.mark.parametrize(
    "key", ["", "changeme", "a" * 44, "A" * 43 + "=", NEW[:-2], NEW + "ä", "0123456789abcdef" * 2]
)
def test_what_is_no_key_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ConfigurationBroken, match="A key in MOOT_TOKEN_KEYS") as caught:
        Cipher([OLD, key])
    assert not key or key not in str(caught.value)
    assert OLD not in str(caught.value)


def test_without_any_key_one_is_told_how_to_make_one() -> None:
    with pytest.raises(ConfigurationBroken, match=r"missing or empty.*generate_key"):
        Cipher([])
