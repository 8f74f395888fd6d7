"""A secret of each kind that people paste: a text with it, and the part that must be removed."""

from collections.abc import Mapping

_HEX = "0123456789abcdef"
_ALNUM = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0UvWxYz" * 3
_HASH = _HEX * 4


def _whole(secret: str) -> tuple[str, str]:
    return secret, secret[-12:]


#: By kind: the text, and the part that is certainly secret.
PLANTED: Mapping[str, tuple[str, str]] = {
    "Slack bot token": _whole("xoxb-1234567890-1234567890123-" + _ALNUM[:24]),
    "Slack user token": _whole("xoxp-1234567890-1234567890123-" + _ALNUM[:24]),
    "Slack app token": _whole("xapp-1-A0123456789-1234567890123-" + _HASH),
    "Slack webhook": _whole("https://hooks.slack.com/services/T01234567/B01234567/" + _ALNUM[:24]),
    "OpenAI key": _whole("sk-proj-" + _ALNUM[:48]),
    "Anthropic key": _whole("sk-ant-api03-" + _ALNUM[:93] + "AA"),
    "Groq key": _whole("gsk_" + _ALNUM[:52]),
    "xAI key": _whole("xai-" + _ALNUM[:80]),
    "Perplexity key": _whole("pplx-" + _ALNUM[:48]),
    "Hugging Face token": _whole("hf_" + _ALNUM[:34]),
    "AWS access key": _whole("AKIAIOSFODNN7EXAMPLE"),
    "AWS secret key": (f"aws_secret_access_key = {_ALNUM[:40]}", _ALNUM[28:40]),
    "Azure storage key": (f"AccountKey={_ALNUM[:86]}==;EndpointSuffix=x", _ALNUM[74:86]),
    "Azure client secret": _whole("abc8Q~" + _ALNUM[:34]),
    "Azure signature": (f"https://a.blob.example/b?sig={_ALNUM[:43]}%3D", _ALNUM[31:43]),
    "Google API key": _whole("AIza" + _ALNUM[:35]),
    "Google client secret": _whole("GOCSPX-" + _ALNUM[:28]),
    "Google access token": _whole("ya29." + _ALNUM[:60]),
    "GitHub token": _whole("ghp_" + _ALNUM[:36]),
    "GitHub fine-grained token": _whole("github_pat_" + _ALNUM[:82]),
    "GitLab token": _whole("glpat-" + _ALNUM[:20]),
    "npm token": _whole("npm_" + _ALNUM[:36]),
    "PyPI token": _whole("pypi-AgEIcHlwaS5vcmc" + _ALNUM[:70]),
    "Stripe key": _whole("sk_live_" + _ALNUM[:24]),
    "webhook secret": _whole("whsec_" + _ALNUM[:32]),
    "SendGrid key": _whole("SG." + _ALNUM[:22] + "." + _ALNUM[:43]),
    "Mailgun key": _whole("key-" + _HASH[:32]),
    "Mailchimp key": (_HASH[:32] + "-us12", _HASH[20:32]),
    "Twilio key": _whole("SK" + _HASH[:32]),
    "Telegram token": _whole("1234567890:A" + _ALNUM[:34]),
    "Discord webhook": _whole("https://discord.com/api/webhooks/123456789012345678/" + _ALNUM[:68]),
    "DigitalOcean token": _whole("dop_v1_" + _HASH),
    "Shopify token": _whole("shpat_" + _HASH[:32]),
    "Databricks token": _whole("dapi" + _HASH[:32]),
    "HashiCorp Vault token": _whole("hvs." + _ALNUM[:95]),
    "JSON Web Token": _whole("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + _ALNUM[:43]),
    "private key": (
        f"-----BEGIN PRIVATE KEY-----\n{_ALNUM[:64]}\n-----END PRIVATE KEY-----",
        _ALNUM[52:64],
    ),
    "address with password": ("postgresql://ann:correct1horse@db.example/moot", "correct1horse"),
    "authorization header": (f"Authorization: Bearer {_ALNUM[:30]}", _ALNUM[18:30]),
    "SECRET_KEY": ("SECRET_KEY='django1insecure-horse'", "insecure-horse"),
    "token by name": (f"token: {_HEX}", _HEX[4:]),
    "spoken password": ("the password is correct1horse", "correct1horse"),
}
