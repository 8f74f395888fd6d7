"""The addresses Moot may call and listen on; with insecure settings it does not start."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.addresses import address_fault, is_loopback, with_scheme
from bot.settings import BotSettings, Mode, check_listening, read_settings, slack_access, variables
from core.config.load import FileDefaults, load_file
from core.errors import ConfigurationBroken
from core.use_cases.choices import ChannelChoices, Choices
from tests.command_line import moot

METADATA = [
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.169.254.:80/",
    "http://169.254.170.2/v2/credentials",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[fd00:ec2::254]/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://METADATA.google.internal./",
    "http://100.100.100.200/",
    "169.254.169.254:80",
    "http://168.63.129.16/machine/",
    "http://192.0.0.192/",
    "http://[::169.254.169.254]/",
    "http://[64:ff9b:1::a9fe:a9fe]/",
    "http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/",
    "http://169\u3002254\uff61169\uff0e254/",
    "http://\uff11\uff16\uff19.254.169.254/",
    "http://metadata。google。internal/",
    "http://169.254.16\u00ad9.254/",
    "http://169.254.169\u200b.254/",
    "http://meta\u2060data.google.internal/",
]
FINE = [
    "https://api.openai.com/v1",
    "http://127.0.0.1:11434",
    "http://localhost:8080/v1",
    "127.0.0.1:11434",
    "ollama",
    "http://10.0.0.7:8000/v1",
    "http://[::1]:8000",
    "https://models.example:8443/v1?x=1",
]
STRANGE = [
    "file:///etc/passwd",
    "models.example/v1",
    "127.0.0.1:4318",
    "gopher://127.0.0.1:70/",
    "https://ann:secret@models.example/",
    "http://",
    "http://a b/",
    "http://a\\@169.254.169.254/",
    "https://models.example:port/",
    "http://[::1",
    "http://169.254.169%2e254/",
    "http://%31%36%39.254.169.254/",
]
ANYWHERE = ".".join("0000")
SECRET = "0123456789abcdef0123456789abcdef"
#: Settings for many workspaces, without the key that encrypts their tokens.
INSTALLABLE = {
    "SLACK_BOT_TOKEN": "",
    "SLACK_CLIENT_ID": "1234.5678",
    "SLACK_CLIENT_SECRET": SECRET,
    "MOOT_PUBLIC_URL": "https://moot.example",
}
VARIABLES = variables()


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("url", METADATA)
def test_addresses_that_hand_out_credentials_are_refused(url: str) -> None:
    assert "their own credentials" in address_fault(with_scheme(url))


@pytest.mark.parametrize("url", FINE)
def test_usual_addresses_are_fine(url: str) -> None:
    assert address_fault(with_scheme(url)) == ""


@pytest.mark.parametrize("url", STRANGE)
def test_what_is_no_address_of_a_server_is_refused(url: str) -> None:
    assert address_fault(url)


@given(st.text(max_size=40))
def test_any_text_is_judged_without_stumbling(text: str) -> None:
    for url in (text, f"http://{text}", f"http://{text}:80/x"):
        assert isinstance(address_fault(url), str)
    assert isinstance(is_loopback(text), bool)


@given(st.integers(0, 0xFFFF), st.sampled_from(["{a}.{b}.{c}.{d}", "{n}", "0x{n:x}", "{a}.{r}"]))
def test_no_spelling_of_a_link_local_address_passes(low: int, form: str) -> None:
    number = (169 << 24) + (254 << 16) + low
    spelled = form.format(a=169, b=254, c=low >> 8, d=low & 255, n=number, r=number & 0xFFFFFF)
    assert address_fault(f"http://{spelled}/")


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"])
def test_a_model_servers_address_is_checked_at_the_start(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, METADATA[0])
    with pytest.raises(ConfigurationBroken, match=variable):
        read_settings(None)


def test_slacks_token_is_not_sent_unencrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_API_URL", "http://proxy.example/api/")
    with pytest.raises(ConfigurationBroken, match="unencrypted"):
        read_settings(None)


def test_a_channels_settings_name_no_address_and_no_file() -> None:
    fields = {*Choices.model_fields, *ChannelChoices.model_fields}
    assert not {
        name for name in fields if any(w in name for w in ("url", "file", "path", "prompt"))
    }
    sent = {"base_url": METADATA[0], "prompts": {"persona": "/etc/passwd"}, "choices": {"url": "x"}}
    assert ChannelChoices.model_validate(sent) == ChannelChoices()


@pytest.mark.parametrize("key", ["base_url", "url", "api_key", "endpoint"])
def test_a_settings_file_names_no_address_and_no_key(tmp_path: Path, key: str) -> None:
    file = tmp_path / "moot.yaml"
    file.write_text(f"default_model:\n  provider: offline\n  {key}: {METADATA[0]}\n", "utf-8")
    with pytest.raises(ConfigurationBroken, match=key):
        load_file(file, FileDefaults())


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "::1", "LOCALHOST"])
def test_loopback_may_be_listened_to(host: str) -> None:
    check_listening(BotSettings.model_validate({"moot_host": host}), Mode.HTTP)


@pytest.mark.parametrize("host", [ANYWHERE, "::", "10.0.0.7", "moot.example", "0"])
def test_a_public_address_needs_a_word_about_tls(host: str) -> None:
    with pytest.raises(ConfigurationBroken, match="MOOT_BEHIND_TLS=true"):
        check_listening(BotSettings.model_validate({"moot_host": host}), Mode.HTTP)
    settings = {"moot_host": host, "moot_behind_tls": True}
    check_listening(BotSettings.model_validate(settings), Mode.HTTP)


def test_pages_beyond_this_machine_need_a_word_about_tls() -> None:
    settings = {"moot_host": ANYWHERE, "moot_pages_url": "https://moot.example.com"}
    with pytest.raises(ConfigurationBroken, match="MOOT_BEHIND_TLS=true"):
        check_listening(BotSettings.model_validate(settings), Mode.SOCKET)
    check_listening(BotSettings.model_validate({**settings, "moot_behind_tls": True}), Mode.SOCKET)
    check_listening(BotSettings.model_validate({**settings, "moot_host": "127.0.0.1"}), Mode.SOCKET)


@pytest.mark.parametrize(
    "address",
    [
        "http://moot.example.com",
        "https://a@b.example",
        "moot.example.com",
        "https://x/?a",
        "file:/",
    ],
)
def test_pages_are_found_at_an_address_with_tls(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("MOOT_PAGES_URL", address)
    with pytest.raises(ConfigurationBroken, match="MOOT_PAGES_URL cannot be used"):
        read_settings(None)
    monkeypatch.setenv("MOOT_PAGES_URL", "https://intranet.example.com/moot/")
    pages = read_settings(None).pages
    assert pages
    assert pages.base == "https://intranet.example.com/moot"


@pytest.mark.parametrize("host", [ANYWHERE, "::", "127.0.0.1"])
def test_in_socket_mode_only_health_is_served_and_any_address_will_do(host: str) -> None:
    check_listening(BotSettings.model_validate({"moot_host": host}), Mode.SOCKET)


@pytest.mark.parametrize("secret", ["", " ", "secret", "0" * 32, SECRET[:31], SECRET + "0"])
def test_http_mode_does_not_start_on_a_secret_that_is_none(secret: str) -> None:
    settings = {"slack_bot_token": "xoxb-1-abc", "slack_signing_secret": secret}
    with pytest.raises(ConfigurationBroken, match="SLACK_SIGNING_SECRET"):
        slack_access(BotSettings.model_validate(settings), Mode.HTTP)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"SLACK_SIGNING_SECRET": ""}, "SLACK_SIGNING_SECRET"),
        ({"SLACK_BOT_TOKEN": "xoxp-1-abc"}, "SLACK_BOT_TOKEN"),
        ({"MOOT_HOST": ANYWHERE}, "MOOT_BEHIND_TLS"),
        ({"OPENAI_BASE_URL": METADATA[0]}, "OPENAI_BASE_URL"),
        ({"MOOT_BEHIND_TLS": "perhaps"}, "MOOT_BEHIND_TLS"),
        ({"MOOT_DEBATES_PER_PERSON": "0"}, "MOOT_DEBATES_PER_PERSON"),
        (INSTALLABLE, "MOOT_TOKEN_KEYS is missing or empty"),
        (INSTALLABLE | {"MOOT_TOKEN_KEYS": "changeme"}, "A key in MOOT_TOKEN_KEYS cannot be used"),
        (INSTALLABLE | {"SLACK_CLIENT_SECRET": ""}, "SLACK_CLIENT_SECRET is missing"),
        (INSTALLABLE | {"MOOT_PUBLIC_URL": "http://moot.example"}, "MOOT_PUBLIC_URL"),
    ],
    ids=str,
)
def test_a_misconfigured_bot_exits_with_four_and_words(
    tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    good = {"SLACK_BOT_TOKEN": "xoxb-1-abc", "SLACK_SIGNING_SECRET": SECRET}
    process = moot("run", "--mode", "http", folder=tmp_path, env={**good, **variables})
    assert process.returncode == 4
    assert words in process.stderr
    assert "Traceback" not in process.stderr
    assert SECRET not in process.stderr
