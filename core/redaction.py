"""Secrets out of text before it reaches a prompt, the database or a log; pseudonyms (pure)."""

import hashlib
import hmac
import re

#: Stands where a secret was.
REDACTED = "[redacted]"

# Where a word could hold a prefix ("task-force" holds "sk-"), the secret must stand at the edge of
# a word or look like nothing but a secret; others are found even with letters around them. Parts
# are bounded or possessive, so that no text is read again from each of its characters.
_SECRETS = re.compile(
    r"""
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
    | (?<=Authorization:\ Bearer\ )[\w.~+/=-]{8,}           # HTTP headers
    | (?<=Bearer\ )(?=[A-Za-z._~+/=-]{0,64}\d)[\w.~+/=-]{8,}
    | (?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16,}  # Stripe
    | [rs]k_(?:live|test)_(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{16,}
    | AIza[A-Za-z0-9_-]{35,}                                # Google
    | (?<=://)[^\s/:@]{0,64}:[^\s/]{1,256}(?=@)             # name and password in an address
    """,
    re.VERBOSE | re.DOTALL,
)


def redact(text: str) -> str:
    """The text with every known kind of secret replaced by `[redacted]`.

    Known are Slack tokens (`xox?-`, `xapp-`), keys of model providers (`sk-`), AWS access keys,
    JSON Web Tokens, bearer tokens, PEM blocks, tokens of GitHub, GitLab, Stripe and Google, and
    passwords in addresses. Redacting twice changes nothing. Quotation marks stay: what was JSON
    still is.
    """
    return _SECRETS.sub(REDACTED, text)


def pseudonym(secret: bytes, who: str) -> str:
    """A stable name for somebody that tells nothing without the secret: 32 hexadecimal digits.

    Args:
        secret: The installation's own.
        who: An id.
    """
    return hmac.new(secret, who.encode(), hashlib.sha256).hexdigest()[:32]
