"""Encrypts stored tokens with keys that are not in the database."""

import base64
import binascii
from collections.abc import Sequence
from contextlib import suppress

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from core.errors import ConfigurationBroken

_KEY_BYTES = 32
#: A key made by a generator has about 28 different bytes among 32; one made up has few.
_FEWEST_DIFFERENT = 16
_HOW = (
    "Make one with: python -c 'from cryptography.fernet import Fernet; "
    "print(Fernet.generate_key().decode())'"
)


class TokenUnreadable(ConfigurationBroken):
    """No key that is configured opens a stored token."""


class Cipher:
    """Encrypts with the first key and decrypts with any: a new key goes in front of the old ones.

    Source: https://cryptography.io/en/latest/fernet/#cryptography.fernet.MultiFernet
    """

    def __init__(self, keys: Sequence[str]) -> None:
        """Raises `ConfigurationBroken` where there is no key, or one cannot be used."""
        if not keys:
            raise ConfigurationBroken(f"MOOT_TOKEN_KEYS is missing or empty. {_HOW}")
        fernets = [_fernet(key) for key in keys]
        self._newest, self._fernet = fernets[0], MultiFernet(fernets)

    def encrypt(self, token: str) -> str:
        return self._fernet.encrypt(token.encode()).decode()

    def renew(self, stored: str) -> str:
        """Encrypt it with the first key; unchanged where the first opens it, or none does."""
        with suppress(InvalidToken):
            self._newest.decrypt(stored.encode())
            return stored
        with suppress(InvalidToken):
            return self._fernet.rotate(stored.encode()).decode()
        return stored

    def decrypt(self, stored: str) -> str:
        """Raises `TokenUnreadable`."""
        try:
            return self._fernet.decrypt(stored.encode()).decode()
        except InvalidToken:
            raise TokenUnreadable(
                "A stored token was encrypted with a key that is not among MOOT_TOKEN_KEYS. Put "
                "the old key back behind the new one, or install Moot there again."
            ) from None


def _fernet(key: str) -> Fernet:
    try:
        raw_key = base64.urlsafe_b64decode(key.encode("ascii"))
    except (binascii.Error, ValueError):
        raw_key = b""
    if len(raw_key) != _KEY_BYTES or len(set(raw_key)) < _FEWEST_DIFFERENT:
        raise ConfigurationBroken(f"A key in MOOT_TOKEN_KEYS cannot be used. {_HOW}")
    return Fernet(key)
