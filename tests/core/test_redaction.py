"""Redaction removes secrets and changes nothing else.

`tests/security/planted_secrets.py` has a secret of each vendor.
"""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.redaction import REDACTED, clean, redact

PEM = """-----BEGIN RSA PRIVATE KEY-----
MIIEowIBAAKCAQEAtest
-----END RSA PRIVATE KEY-----"""
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLW9mLXRlc3Q"


@pytest.mark.parametrize(
    "secret",
    [
        *("xoxe.xoxp-1-abcdefghij", "sk-abcdefgh12345", "Bearer abcdefghij0123456789"),
        *("ASIAIOSFODNN7EXAMPLE", PEM.partition("-----END")[0], "password: correct1horse"),
        *("authorization: bearer abcdefghijk", "Authorization: Basic YW5uOmh1bnRlcjI="),
        *("DB_PASSWORD='correct1horse'", '"passwort": "correct1horse"', "passwd=correct1horse"),
        *("pwd: correct1horse", "api-key=correct1horse", "apikey: correct1horse"),
        *("API_KEY=correct1horse", "client_secret=correct1horse", "access_token=correct1horse"),
        *("auth_token: correct1horse", "rk_test_abcdefghij0123456789"),
        *(f"gh{kind}_abcdefghijklmnopqrstuvwxyz0123456789" for kind in "orsu"),
        *("moot_0123456789abcdef_0123456789abcdef", "postgresql://ann:correct1horse@"),
        "MIIEowIBAAKCAQEAtest-----END EC PRIVATE KEY-----",
    ],
)
def test_a_secret_is_replaced_at_any_place_in_a_text(secret: str) -> None:
    for around in ("{}", "the token is {}.", '"key": "{}"', "a={}&b=1"):
        redacted = redact(around.format(secret))

        assert REDACTED in redacted, around
        assert secret.strip()[-12:] not in redacted, around


#: Secrets that are recognized within a word, too: no word contains such text.
ANYWHERE = [
    "xoxb-1234567890-abcdefghij",
    "xoxe.xoxp-1-abcdefghij",
    "xapp-1-A0123-4567-abcdef",
    "sk-ant-api03-abcdefghijklmnop_1-2",
    "sk-proj-abcdefghijklmnop1234",
    "AKIAIOSFODNN7EXAMPLE",
    JWT,
    PEM,
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0abcdefghij_klmnop",
    "glpat-abcdefghij0123456789",
    "sk_live_abcdefghij0123456789",
    "AIzaSyA-abcdefghijklmnopqrstuvwxyz01234",
    "https://ann:hunter2hunter2@",
]
#: Characters around a pasted secret: letters of several scripts, quotes, marks, line ends.
EDGES = st.text(st.sampled_from("aZ9é中яß\"'`*_-=:.,;<>()[]{}|\\ \n\r\t\u200b\u2028/&"), max_size=6)


@given(st.sampled_from(ANYWHERE), EDGES, EDGES)
@example("AKIAIOSFODNN7EXAMPLE", "", "W")
@example("AKIAIOSFODNN7EXAMPLE", "key", "")
@example("https://ann:hunter2hunter2@", "", "x@db.example/")
def test_a_secret_is_replaced_whatever_text_is_around_it(
    secret: str, before: str, after: str
) -> None:
    redacted = redact(before + secret + after)

    assert REDACTED in redacted
    assert secret.removesuffix("@")[-12:] not in redacted


def heart_of(secret: str) -> str:
    """Return the part of a secret that must be removed. The header of a PEM may be left."""
    return "CAQEAtest" if secret == PEM else secret.removesuffix("@")[-12:]


@given(
    st.sampled_from(ANYWHERE), st.sampled_from(ANYWHERE), EDGES.filter(lambda text: len(text) < 3)
)
@example("sk_live_abcdefghij0123456789", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "")
@example(JWT, JWT, "")
def test_no_secret_saves_the_one_that_follows_it(first: str, second: str, between: str) -> None:
    redacted = redact(first + between + second)

    for secret in (first, second):
        assert heart_of(secret) not in redacted


@given(
    st.sampled_from(ANYWHERE),
    st.integers(1, 60),
    st.sampled_from("\u200b\u200d\u2060\ufeff\u00ad\u202e\x00\x1b"),
)
@example("xoxb-1234567890-abcdefghij", 18, "\u200b")
def test_no_sign_that_nobody_sees_saves_a_secret(secret: str, at: int, sign: str) -> None:
    """Reports and prompts drop invisible characters, which would restore the secret there."""
    at = at % (len(secret) - 1) + 1

    redacted = redact(f"It is {secret[:at]}{sign}{secret[at:]} today")

    assert heart_of(secret) not in clean(redacted)
    assert clean(redacted).startswith("It is ")


@given(st.integers(30, len(PEM) - 30))
def test_a_key_over_two_messages_is_in_neither(cut: int) -> None:
    assert "EowIBAAKCAQEAtest"[-8:] not in redact(PEM[:cut]) + redact(PEM[cut:])


@pytest.mark.parametrize(
    "text",
    [
        "HEADQUARTERS OF ASIAPACIFICREGIONALSALES",
        "a maxapp-settings-dialog and the risk_test_configurationmanager",
        "Should we use sk-learn or scikit?",
        "The task-force-of-the-architecture-board meets on risk-management-questions.",
        "AKIA is a Japanese magazine. xoxo, your team",
        "SG. and the rest of the team",
        "Password: should people choose one, or get a passkey?",
        "password: [redacted]",
        "-----BEGIN A LIST-----",
        "eyJ is how a token starts.",
        "Bearer authentication or sk-learn-contrib?",
        "the bearer of this letter; basic authorization",
        "npm_config_registry and hf_transfer",
        "https://db.example:5432/a@b",
        # Invisible characters that hide no secret are kept.
        "a\u200bb\r\nc, and a family: \U0001f468\u200d\U0001f469",
    ],
)
def test_words_that_only_look_alike_stay(text: str) -> None:
    assert redact(text) == text


@given(st.text())
def test_redacting_twice_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_redacted_json_stays_json_and_addresses_lose_only_name_and_password() -> None:
    text = json.dumps({"said": PEM.partition("-----END")[0], "at": {"token": "xoxb-1-abcdefgh"}})
    assert json.loads(redact(text)) == {"said": REDACTED, "at": {"token": REDACTED}}
    address = redact("postgresql://moot:hunter2@db.example:5432/moot")
    assert address == f"postgresql://{REDACTED}@db.example:5432/moot"


def test_of_plain_text_only_signs_that_nobody_sees_go() -> None:
    signs = [chr(code) for code in range(128)]
    hidden = {sign for sign in signs if not (sign.isprintable() or sign in "\t\n\r")}

    removed_signs = {sign for sign in signs if clean(f"a{sign}b") == "ab"}
    taken_out = {sign for sign in signs if redact(f"xoxb-12345678{sign}9012") == REDACTED}

    assert removed_signs == hidden
    assert hidden <= taken_out
