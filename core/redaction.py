"""Secrets, and signs nobody sees, out of text before it is sent or kept; pseudonyms (pure)."""

import hashlib
import hmac
import re

_EMOJI = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_ONE_EMOJI = f"{_EMOJI}[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
_INVISIBLE = (
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # fillers, joiners
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # zero width, bidi
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # variation selectors, which can carry hidden bytes
    "\U000e0000-\U000e007f"  # tags, which can carry hidden text
    "\ud800-\udfff"  # half characters, which cannot be sent
    "]"
)

# Scripts whose letters a joiner binds or parts: Arabic and Syriac to Thaana, those of India, Khmer.
_JOINED = (
    "[\u0600-\u085f\u08a0-\u0dff\u0f00-\u109f\u1780-\u17ff\u1800-\u18af\ufb50-\ufdff\ufe70-\ufefc]"
)
#: A joiner that is part of how a word is spelled, as in Persian and Sinhala.
SPELLING_JOINER = f"(?<={_JOINED})[\u200c\u200d](?={_JOINED})"

_INVISIBLE_SIGN = re.compile(_INVISIBLE)
_KEEP_OR_DROP = re.compile(
    f"({_ONE_EMOJI}(?:\u200d{_ONE_EMOJI})*|[0-9#*]\ufe0f\u20e3|{SPELLING_JOINER})|{_INVISIBLE}"
)


#: Stands where a secret was.
REDACTED = "[redacted]"

# Where a word could hold a prefix ("task-force" holds "sk-"), the secret must stand at the edge of
# a word or look like nothing but a secret; others are found even with letters around them. Parts
# are bounded or possessive, so that no text is read again from each of its characters.
_SECRETS = re.compile(
    r"""
    (?:
    -----BEGIN\ [A-Z0-9 ]{0,40}?(?:PRIVATE\ KEY|CERTIFICATE)[A-Z0-9 ]{0,40}-----
        (?:[^"]*?-----END\ [A-Z0-9 ]{1,60}-----|[^"]*)      # PEM; one cut off goes to its end,
                                                            # but not out of a quoted text
    | (?<![A-Za-z0-9+/=\s])[A-Za-z0-9+/=\s]*+              # the end of a PEM that began elsewhere
        -----END\ [A-Z0-9 ]{0,40}?(?:PRIVATE\ KEY|CERTIFICATE)[A-Z0-9 ]{0,40}-----
    | xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}              # Slack: bot, user, refresh tokens
    | (?:(?<![A-Za-z0-9])xapp-|xapp-[0-9]-)[A-Za-z0-9-]{8,} # Slack: app-level tokens
    | (?:(?<![A-Za-z0-9])sk-|sk-(?:proj|ant|or|svcacct|admin)-)[A-Za-z0-9_-]{16,}  # providers
    | (?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,64}[0-9])[A-Za-z0-9_-]{8,}  # short ones hold a digit
    | (?:AKIA|ASIA)(?=[A-Z]{0,15}[0-9])[A-Z0-9]{16,}        # AWS access keys
    | (?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])
    | (?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]*?eyJ[A-Za-z0-9_-]{8})[A-Za-z0-9_-]++  # JWT
        \.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*
    | (?:(?<![A-Za-z0-9])gh[oprsu]_|github_pat_|glpat-)[A-Za-z0-9_-]{20,}  # GitHub, GitLab
    | gh[oprsu]_[A-Za-z0-9]{20,}
    | (?i:(?<=Authorization:\ Bearer\ )|(?<=Authorization:\ Basic\ ))[\w.~+/=-]{8,}  # HTTP headers
    | (?i:(?<=Bearer\ ))(?=[A-Za-z._~+/=-]{0,64}\d)[\w.~+/=-]{8,}
    | (?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16,}  # Stripe
    | [rs]k_(?:live|test)_(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{16,}
    | AIza[A-Za-z0-9_-]{35,}                                # Google
    | (?<![A-Za-z0-9])(?:hf|gsk|npm)_[A-Za-z0-9]{20,}       # Hugging Face, Groq, npm
    | (?<![A-Za-z0-9])xai-[A-Za-z0-9]{20,}                  # xAI
    | (?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}  # SendGrid
    | (?<![A-Za-z0-9])moot_[0-9a-f]{8,}_[0-9a-f]{16,}       # our own
    | (?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}     # who knows it may post
    )
    (?:\.?[A-Za-z0-9_-]++)*+                                # another one may follow at once
    | (?<=://)[^\s/:@]{0,64}:[^\s/]{1,256}(?=@)             # name and password in an address
    | (?P<named>(?i:passwor[dt]|passwd|pwd|api[_-]?key|client_secret|(?:access|auth)_token)
        ["']?[ ]?[:=][ ]?["']?)                             # what is said to be one, with a digit
        (?=[^\s"'\d]{0,256}\d)[^\s"',;&<>\[\]()]{8,}
    """,
    re.VERBOSE | re.DOTALL,
)
#: Every secret above holds one of these, in lower case. To look for them takes a hundredth of the
#: time; signs of other scripts, which may count as these letters, are left to the pattern.
_MARKS = (
    *("-----", "xox", "xapp-", "sk-", "akia", "asia", "eyj", "github_pat_", "glpat-", "bearer "),
    *("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "basic ", "k_live_", "k_test_", "aiza", "hf_"),
    *("gsk_", "npm_", "xai-", "sg.", "moot_", "hooks.slack.com", "://", "passwor", "passwd"),
    *("pwd", "api_key", "api-key", "apikey", "client_secret", "access_token", "auth_token"),
)
#: The name before a password stays, so that people see what is gone.
_HIDDEN = rf"\g<named>{REDACTED}"


def redact(text: str) -> str:
    """The text with every known kind of secret replaced by `[redacted]`.

    Known are Slack tokens (`xox?-`, `xapp-`) and webhooks, keys of model providers (`sk-`), AWS
    access keys, JSON Web Tokens, what HTTP authorizes with, PEM blocks, tokens of GitHub, GitLab,
    Stripe, Google, npm, SendGrid and Hugging Face, passwords in addresses, and what follows a name
    such as `password:` or `api_key=` where a digit is in it. Redacting twice changes
    nothing. Quotation marks stay: what was JSON still is. Where signs that nobody sees, which
    copying can bring in, stand in a secret, they go from the whole text: it would be whole again
    wherever they are left out.
    """
    if _is_plain(text):
        lower = text.lower()
        if not any(mark in lower for mark in _MARKS):
            return text
    redacted = _SECRETS.sub(_HIDDEN, text)
    if not _INVISIBLE_SIGN.search(text):
        return redacted
    bare = _SECRETS.sub(_HIDDEN, clean(text))
    return redacted if bare == clean(redacted) else bare


def clean(text: str) -> str:
    """The text without characters nobody sees; emoji stay whole."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    if _is_plain(lines):
        return lines
    return _KEEP_OR_DROP.sub(lambda found: found[1] or "", lines)


def _is_plain(text: str) -> bool:
    """Whether it is ASCII with nothing hidden, as most texts are: seen sooner than by a pattern."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()


def pseudonym(secret: bytes, who: str) -> str:
    """A stable name for somebody that tells nothing without the secret: 32 hexadecimal digits.

    Args:
        secret: The installation's own.
        who: An id.
    """
    return hmac.new(secret, who.encode(), hashlib.sha256).hexdigest()[:32]
