"""Signatures of webhooks, as the Standard Webhooks specification has them (pure).

Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping, Sequence

from core.errors import ConfigurationBroken

_PREFIX = "whsec_"
#: Bytes of a secret, at least and at most, as the specification asks.
_SHORTEST, _LONGEST = 24, 64


def secret_of(written: str, variable: str) -> bytes:
    """Return the bytes of a secret as it is written: `whsec_` and base64.

    Args:
        written: What the variable holds.
        variable: Its name, for the error.

    Raises:
        ConfigurationBroken: It is missing or no such secret; the secret is not in the words.
    """
    how = (
        f"Put `{_PREFIX}` and {_SHORTEST} to {_LONGEST} random bytes in base64 there, for example "
        f"with: echo {_PREFIX}$(openssl rand -base64 32)"
    )
    if not written:
        raise ConfigurationBroken(f"{variable} is not set. {how}")
    try:
        found = base64.b64decode(written.strip().removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise ConfigurationBroken(f"{variable} is no secret of a webhook. {how}") from None
    if not written.strip().startswith(_PREFIX) or not _SHORTEST <= len(found) <= _LONGEST:
        raise ConfigurationBroken(f"{variable} is no secret of a webhook. {how}")
    return found


def signed_headers(
    message_id: str, timestamp: int, body: bytes, secrets: Sequence[bytes]
) -> Mapping[str, str]:
    """Return the headers of a message.

    Args:
        message_id: The same for every attempt.
        timestamp: Seconds since 1970, of this attempt.
        body: As it is sent.
        secrets: The newest first; while one takes another's place, both sign.
    """
    signed = f"{message_id}.{timestamp}.".encode() + body
    made = [hmac.new(secret, signed, hashlib.sha256).digest() for secret in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{base64.b64encode(one).decode()}" for one in made),
    }
