"""Text of unknown origin → text that Slack shows and obeys in nothing (pure).

Everything that Slack could read as a command is escaped, mentions of groups are broken up, signs
that nobody sees are dropped, and links are made only where their label tells where they lead.

Sources: https://docs.slack.dev/messaging/formatting-message-text (escaping, links, mentions);
OWASP Top 10 for LLM Applications (invisible characters).
"""

import re
from urllib.parse import urlsplit

from core.redaction import SPELLING_JOINER
from core.transcript.markdown import misleads

#: Breaks up what Slack would otherwise read as one word or sign; nobody sees it.
GAP = "\u200b"
#: A link that was made here: `<https://…>` or `<https://…|label>`.
LINK = re.compile(r"<(?:https?://|mailto:)[^<>|\s]+(?:\|[^<>\n]*)?>")
_FENCE = "```"
#: Longer addresses stay text.
LONGEST_URL = 500
#: Longer words for a link stand beside its address, where nobody takes them for one.
_LONGEST_LABEL = 300

_NEW_LINES = re.compile("\r\n?|[\u0085\u2028\u2029\v\f]")
# Controls, joiners, marks that change direction, tags: what is there and cannot be seen.
_UNSEEN = re.compile(
    "[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# Flags of regions are spelled in tags, families with joiners: emoji are kept whole. So are words of
# scripts in which joiners are part of the spelling.
_KEPT_WHOLE = re.compile(f"\U0001f3f4[\U000e0061-\U000e007a]{{3,6}}\U000e007f|{SPELLING_JOINER}")
_LONE_JOINER = re.compile("(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d")
_SURROGATE = re.compile("[\ud800-\udfff]")
_GROUP_MENTION = re.compile(r"@(?=(?:channel|here|everyone|group)(?![a-z0-9]))", re.IGNORECASE)
# The same where a cut may follow, which would make "@everyone" of "@everyone00".
_BEGUN_GROUP_MENTION = re.compile(r"@(?=channel|here|everyone|group)", re.IGNORECASE)
_BARE_URL = re.compile(r"https?://[^\s<>|\"`]+", re.IGNORECASE)
_AFTER_URL = ".,;:!?*_~]}'\u201d\u2019"


def clean(text: str) -> str:
    """The text without signs that nobody sees, with plain line ends."""
    if text.isascii() and text.isprintable():
        return text  # names and short lines, mostly
    text = _NEW_LINES.sub("\n", _SURROGATE.sub("\ufffd", text))
    whole = _KEPT_WHOLE.findall(text)
    parts = [_LONE_JOINER.sub("", _UNSEEN.sub("", part)) for part in _KEPT_WHOLE.split(text)]
    return "".join(part + sign for part, sign in zip(parts, [*whole, ""], strict=True))


def literal(text: str) -> str:
    """Clean text as mrkdwn that shows it as it is and pings nobody.

    Every `&`, `<` and `>` becomes an entity, so `<!channel>`, `<@U…>` and `<!subteam^…>` are only
    letters; `@here` and the like are broken up; three backticks do not open a block of code.
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _GROUP_MENTION.sub(f"@{GAP}", text).replace("``", f"`{GAP}`")


def bare(text: str, limit: int) -> str:
    """One line for places where Slack shows signs as they are (names, cells).

    Nothing is escaped there, so angle brackets are left out. `limit` is at least 1.
    """
    line = " ".join(clean(text).replace("<", " ").replace(">", " ").split())
    line = _BEGUN_GROUP_MENTION.sub(f"@{GAP}", line)
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def plain(text: str) -> str:
    """What a person typed as safe mrkdwn; addresses become links, blocks of code stay."""
    *pieces, last = clean(text).split(_FENCE)
    if len(pieces) % 2:  # the last fence closes nothing: it is only a sign
        last = _FENCE.join((pieces.pop(), last))
    texts = list[str]()
    for index, piece in enumerate((*pieces, last)):
        if index % 2:
            code = literal(piece.strip("\n"))
            texts.append(f"{_FENCE}\n{code}\n{_FENCE}" if code.strip() else "")
        else:
            texts.append(with_links(piece).strip())
    return "\n".join(filter(None, texts))


def with_links(text: str) -> str:
    """Clean text as safe mrkdwn in which bare addresses are links."""
    end, result = 0, ""
    for match in _BARE_URL.finditer(text):
        url = match.group()
        # What ends the sentence around it is not part of the address.
        while url[-1] in _AFTER_URL or (url[-1] == ")" and url.count(")") > url.count("(")):
            url = url[:-1]
        result += literal(text[end : match.start()]) + link(url)
        end = match.start() + len(url)
    return result + literal(text[end:])


def link(url: str, label: str = "") -> str:
    """A link that leads where it says; text where that cannot be had. `label` is clean text.

    Only http, https and mailto become links; none to a host under `.invalid`, with which links
    to posts of ours begin until they are filled in. A label that names another address than the
    link's is dropped, so that the address itself is seen.
    """
    label = " ".join(label.split())
    if not _may_link(url) or len(label) > _LONGEST_LABEL:
        return literal(f"{label} ({url})" if label and label != url else url)
    target = url
    for sign, code in (("<", "%3C"), (">", "%3E"), ("|", "%7C")):
        target = target.replace(sign, code)
    target = _GROUP_MENTION.sub("%40", target.replace("&", "&amp;"))
    if not label or misleads(label, url) or label == url:
        return f"<{target}>"
    return f"<{target}|{literal(label)}>"


def _may_link(url: str) -> bool:
    """Known schemes only; nothing before an `@` that could pass for the host."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if len(url) > LONGEST_URL or re.search(r"\s", url):
        return False
    if parts.scheme == "mailto":
        return "@" in parts.path
    if not host or host.rstrip(".").endswith(".invalid"):
        return False
    return parts.scheme in {"http", "https"} and "@" not in parts.netloc
