"""Process settings from the environment and `.env`; only this module reads the environment.

The name of a variable is the field's alias, if it has one, else the field's name, in upper case.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    field_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.addresses import address_fault, is_loopback, sends_openly, with_scheme
from core.errors import ConfigurationBroken
from core.use_cases.limits import Bounds
from core.wrong_values import complaint

SLACK_API_URL = "https://slack.com/api/"
INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"


class Mode(StrEnum):
    """How Slack reaches the bot."""

    SOCKET = "socket"
    HTTP = "http"


class LogFormat(StrEnum):
    AUTO = "auto"
    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    """The lowest level of lines that are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


LowerCase = BeforeValidator(
    lambda value: value.strip().lower() if isinstance(value, str) else value
)


class BotSettings(Bounds, BaseSettings):
    """The settings of the environment. `slack_access` checks the tokens when they are needed."""

    model_config = SettingsConfigDict(
        extra="ignore", frozen=True, hide_input_in_errors=True, env_ignore_empty=True
    )

    #: Bot token, "xoxb-…": Slack app page → OAuth & Permissions.
    slack_bot_token: SecretStr = SecretStr("")
    #: App-level token, "xapp-…", for Socket Mode: Basic Information → App-Level Tokens.
    slack_app_token: SecretStr = SecretStr("")
    #: 32 hexadecimal digits, for HTTP mode: Basic Information → Signing Secret.
    slack_signing_secret: SecretStr = SecretStr("")
    #: The app's own credentials, for OAuth and many workspaces: Basic Information.
    slack_client_id: str = ""
    slack_client_secret: SecretStr = SecretStr("")
    #: Keys for the encryption of tokens in the database, separated by commas, newest first.
    moot_token_keys: SecretStr = SecretStr("")
    #: The public address of Moot, like "https://moot.example.com".
    moot_public_url: str = ""
    #: The public address of debate pages, like "https://moot.example.com"; empty: no pages.
    moot_pages_url: str = ""
    #: Days that a link to a page is valid.
    moot_pages_days: int = Field(default=14, ge=1, le=365)
    #: Whether programs may call over MCP, with people's tokens.
    moot_mcp: bool = False
    #: Days that a token is valid.
    moot_token_days: int = Field(default=90, ge=1, le=365)
    #: Ids of workspaces, separated by commas, in whose shared channels people of other
    #: organisations may start debates and answer. A channel's settings override it.
    moot_open_workspaces: str = ""
    #: Address of Slack's Web API, or of a proxy or a local Slack.
    slack_api_url: str = SLACK_API_URL

    #: A file path (SQLite) or a database URL.
    moot_database: str = "moot.db"
    #: Address of the HTTP server (events in HTTP mode, and /health).
    moot_host: str = "127.0.0.1"
    moot_port: int = Field(default=3000, ge=0, le=65535)
    #: Address of the metrics for Prometheus; without a port they are not served.
    moot_metrics_host: str = "127.0.0.1"
    moot_metrics_port: int | None = Field(default=None, ge=0, le=65535)
    #: Days after its end when a debate is deleted for good; None: never.
    moot_retention_days: int | None = Field(default=None, ge=1, le=36_500)
    #: Whether a proxy in front of Moot terminates TLS; required to listen on other than loopback.
    moot_behind_tls: bool = False
    moot_log_level: Annotated[LogLevel, LowerCase] = LogLevel.INFO
    moot_log_format: Annotated[LogFormat, LowerCase] = LogFormat.AUTO
    #: Base address of a trace collector (OTLP over HTTP); needs the extra "traces".
    otel_exporter_otlp_endpoint: str = ""
    #: YAML or JSON file with agents, judge, formats and prices.
    moot_config: Path | None = None

    openai_api_key: SecretStr = SecretStr("")
    openai_base_url: str = ""
    #: Model for embeddings, and a server with OpenAI's Embeddings API, for the search of decisions
    #: by meaning. Without a model, search is by words only.
    moot_embeddings_model: str = ""
    moot_embeddings_url: str = ""
    #: Key of that server. Without one, OpenAI gets `OPENAI_API_KEY`, and other servers get no key.
    moot_embeddings_key: SecretStr = SecretStr("")
    anthropic_api_key: SecretStr = SecretStr("")
    anthropic_base_url: str = ""
    openrouter_api_key: SecretStr = SecretStr("")
    moonshot_api_key: SecretStr = SecretStr("")
    #: Address of Ollama; empty: its default address.
    ollama_host: str = ""
    #: Packages whose plugins are loaded: "all", "none", or names separated by commas.
    moot_plugins: str = "all"
    #: All variables that are set, including those without a field.
    _variables: Mapping[str, str] = PrivateAttr(default_factory=dict[str, str])

    @field_validator("moot_open_workspaces")
    @classmethod
    def _check_workspaces(cls, text: str) -> str:
        for item in _comma_list(text):
            if not re.fullmatch(r"T[A-Z0-9]{2,20}", item):
                raise ValueError(f'"{item}" is no id of a workspace, like T0123456789')
        return text

    def take_variables(self, variables: Mapping[str, str | None]) -> None:
        """Store all variables, for keys of servers, for programs and for plugins."""
        self._variables = {name: value for name, value in variables.items() if value}

    def key_in(self, variable: str) -> str:
        """The key in a variable that the settings name; empty if it is not set or not a key."""
        value = self._variables.get(variable, "")
        return value if _MAY_BE_KEY.search(variable) and len(value) >= _SHORTEST_KEY else ""

    def plugin_variable(self, name: str) -> str:
        if not name.startswith(_PLUGIN_PREFIX):
            raise ConfigurationBroken(f"plugins may only read {_PLUGIN_PREFIX}…, not {name}")
        return self._variables.get(name, "")

    def for_program(self, variables: Sequence[str]) -> Mapping[str, str]:
        """The environment for another program: common variables, and these with keys."""
        common = {name: value for name in _COMMON if (value := self._variables.get(name))}
        return {**common, **{name: key for name in variables if (key := self.key_in(name))}}

    def misspelt(self) -> Sequence[str]:
        """A notice for each variable whose name is nearly one of Moot's."""
        names = variables()
        mine = {name for name in self._variables if name.startswith("MOOT_")}
        unknown = {name for name in mine - {*names} if not name.startswith(_PLUGIN_PREFIX)}
        near = {name: get_close_matches(name, names, n=1, cutoff=0.85) for name in sorted(unknown)}
        return [
            f"Moot has no variable {name}. Did you mean {match}?"
            for name, matches in near.items()
            for match in matches
        ]

    @property
    def embeddings_key(self) -> str:
        """The key for embeddings. `OPENAI_API_KEY` is sent to OpenAI only."""
        key = self.moot_embeddings_key.get_secret_value()
        return key or ("" if self.moot_embeddings_url else self.openai_api_key.get_secret_value())

    @property
    def pages(self) -> "PageSettings | None":
        base = self.moot_pages_url.strip().rstrip("/")
        holds = timedelta(days=self.moot_pages_days)
        return PageSettings(base=base, holds=holds) if base else None

    @property
    def token_lifetime(self) -> timedelta | None:
        """The lifetime of a token; None if MCP over HTTP is off."""
        return timedelta(days=self.moot_token_days) if self.moot_mcp else None

    @property
    def open_workspaces(self) -> frozenset[str]:
        """Workspaces in whose shared channels people of other organisations may take part."""
        return frozenset(_comma_list(self.moot_open_workspaces))

    @property
    def mcp_hosts(self) -> Sequence[str]:
        """Public host names of this installation, with the port unless it is the default."""
        addresses = (self.moot_public_url, self.moot_pages_url)
        return [host for address in addresses if (host := urlsplit(address.strip()).netloc)]

    @property
    def bounds(self) -> Bounds:
        return Bounds(**{name: getattr(self, name) for name in Bounds.model_fields})

    @property
    def secrets(self) -> tuple[str, ...]:
        fields = (getattr(self, name) for name in type(self).model_fields)
        values = [value.get_secret_value() for value in fields if isinstance(value, SecretStr)]
        keys = _comma_list(self.moot_token_keys.get_secret_value())
        return tuple(filter(None, (*values, *keys, *map(self.key_in, self._variables))))


def variables() -> Sequence[str]:
    fields = BotSettings.model_fields.items()
    return [str(field.validation_alias or name).upper() for name, field in fields]


def read_settings(env_file: Path | None = Path(".env")) -> BotSettings:
    """Read the environment and `.env`; the environment overrides `.env`.

    Raises:
        ConfigurationBroken: Names each variable with an unusable value.
    """
    try:
        settings = BotSettings(_env_file=env_file)  # pyright: ignore[reportCallIssue]
    except ValidationError as error:
        problems = error.errors(include_url=False)
        lines = [complaint(str(problem["loc"][0]).upper(), problem) for problem in problems]
        raise ConfigurationBroken("\n".join(lines)) from None
    except UnicodeDecodeError:
        raise ConfigurationBroken(f"{env_file} is not UTF-8 text") from None
    if faults := _wrong_addresses(settings):
        raise ConfigurationBroken("\n".join(faults))
    variables = dotenv_values(env_file) if env_file else {}
    for name, value in variables.items():
        if "\0" in (value or ""):  # variables of the process cannot contain one
            raise ConfigurationBroken(
                f"{name} in {env_file} has a NUL character, which is not allowed."
            )
    settings.take_variables({**variables, **os.environ})  # noqa: TID251 - this is bot/settings.py
    return settings


#: Shorter values are not treated as secrets: logs would redact them in ordinary text.
_SHORTEST_KEY = 6
#: Variables without secrets that most programs need.
_COMMON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")
#: Prefix of the variables of plugins.
_PLUGIN_PREFIX = "MOOT_PLUGIN_"
#: Names of variables that may hold the key of a server; `core.settings.ModelServer` asks for one.
_MAY_BE_KEY = re.compile(r"KEY|TOKEN|SECRET")


def check_listening(settings: BotSettings, mode: Mode) -> None:
    """Refuse to serve private data unencrypted on other addresses than loopback.

    Private are requests of Slack, debate pages and tokens. Without them, only health and readiness
    are served, which anybody may read.

    Raises:
        ConfigurationBroken: Private data would be sent unencrypted.
    """
    if is_loopback(settings.moot_host) or settings.moot_behind_tls:
        return
    private_data = {
        "requests of Slack": mode is Mode.HTTP,
        "pages of debates (MOOT_PAGES_URL)": settings.pages,
        "people's tokens (MOOT_MCP)": settings.moot_mcp,
    }
    if unencrypted := [name for name, is_served in private_data.items() if is_served]:
        alternative = ", or use Socket Mode (SLACK_APP_TOKEN), which needs no open port"
        raise ConfigurationBroken(
            f"MOOT_HOST={settings.moot_host} can be reached from other machines, and Moot speaks "
            f"plain HTTP: {unencrypted[0]} would travel unencrypted. Put a proxy that ends TLS in "
            f"front and set MOOT_BEHIND_TLS=true{alternative if mode is Mode.HTTP else ''}."
        )


def _wrong_addresses(settings: BotSettings) -> Sequence[str]:
    """Faults of addresses that may not be called, or to which a token would go unencrypted."""
    addresses = {
        "SLACK_API_URL": settings.slack_api_url,
        "OPENAI_BASE_URL": settings.openai_base_url,
        "MOOT_EMBEDDINGS_URL": settings.moot_embeddings_url,
        "ANTHROPIC_BASE_URL": settings.anthropic_base_url,
        # Ollama itself accepts the variable without http://.
        "OLLAMA_HOST": settings.ollama_host and with_scheme(settings.ollama_host),
        "OTEL_EXPORTER_OTLP_ENDPOINT": settings.otel_exporter_otlp_endpoint,
    }
    faults = {name: address_fault(url) for name, url in addresses.items() if url}
    if not faults.get("SLACK_API_URL") and sends_openly(settings.slack_api_url):
        faults["SLACK_API_URL"] = "the token would be sent unencrypted; use https://"
    if settings.pages and not _PAGES_URL.fullmatch(settings.pages.base):
        faults["MOOT_PAGES_URL"] = (
            'it must be the public address of Moot, like "https://moot.example.com"'
        )
    return [f"{name} cannot be used: {fault}." for name, fault in faults.items() if fault]


@dataclass(frozen=True, kw_only=True)
class PageSettings:
    #: The public address, without a slash at its end.
    base: str
    #: Lifetime of a link.
    holds: timedelta


@dataclass(frozen=True, kw_only=True)
class OAuthAccess:
    """Checked credentials for the installation of the app by workspaces."""

    client_id: str
    client_secret: str = field(repr=False)
    #: Newest first; `Cipher` checks them.
    token_keys: tuple[str, ...] = field(repr=False)
    #: Without a slash at its end.
    public_url: str

    @property
    def install_url(self) -> str:
        return f"{self.public_url}{INSTALL_PATH}"

    @property
    def redirect_url(self) -> str:
        return f"{self.public_url}{REDIRECT_PATH}"


@dataclass(frozen=True, kw_only=True)
class SlackAccess:
    """Checked credentials for one Slack app."""

    #: Empty with OAuth, as each workspace has its own.
    bot_token: str = ""
    #: Empty in HTTP mode.
    app_token: str = ""
    #: Empty in Socket Mode.
    signing_secret: str = ""
    api_url: str = SLACK_API_URL
    #: None: there is one workspace, and its token is in the settings.
    oauth: OAuthAccess | None = None


_APP_PAGE = "https://api.slack.com/apps → your app →"
_HEX = re.compile(r"[0-9a-f]{32}")
_HEX_WORDS = "is 32 characters long, digits and letters a to f"
#: Variable → pattern, description of the pattern, and place of the value on Slack's pages.
_REQUIRED: Mapping[str, tuple[re.Pattern[str], str, str]] = {
    "SLACK_BOT_TOKEN": (
        re.compile(r"(xoxb-|xoxe\.xoxb-)[\w-]+"),
        'begins with "xoxb-"',
        "OAuth & Permissions → Bot User OAuth Token",
    ),
    "SLACK_APP_TOKEN": (
        re.compile(r"xapp-[\w-]+"),
        'begins with "xapp-"',
        "Basic Information → App-Level Tokens (scope connections:write)",
    ),
    "SLACK_SIGNING_SECRET": (_HEX, _HEX_WORDS, "Basic Information → Signing Secret"),
    "SLACK_CLIENT_ID": (
        re.compile(r"\d{1,20}\.\d{1,20}"),
        "is two numbers with a dot between",
        "Basic Information → App Credentials",
    ),
    "SLACK_CLIENT_SECRET": (_HEX, _HEX_WORDS, "Basic Information → App Credentials"),
}
_API_URL = re.compile(r"https?://[^\s/]+(/\S*)?")
_PAGES_URL = re.compile(r"(https://[^\s/?#@]+|http://(localhost|127\.0\.0\.1)(:\d+)?)(/[\w.~/-]*)?")
_PUBLIC_URL = re.compile(r"https://[^\s/?#]+|http://(localhost|127\.0\.0\.1)(:\d+)?")


def default_mode(settings: BotSettings) -> Mode:
    """HTTP if there is a signing secret and no app token; else Socket Mode."""
    has_app_token = bool(_plain(settings.slack_app_token))
    has_signing_secret = bool(_plain(settings.slack_signing_secret))
    return Mode.HTTP if has_signing_secret and not has_app_token else Mode.SOCKET


def slack_access(settings: BotSettings, mode: Mode) -> SlackAccess:
    values = {
        "SLACK_BOT_TOKEN": _plain(settings.slack_bot_token),
        "SLACK_APP_TOKEN": _plain(settings.slack_app_token),
        "SLACK_SIGNING_SECRET": _plain(settings.slack_signing_secret),
        "SLACK_CLIENT_ID": settings.slack_client_id.strip(),
        "SLACK_CLIENT_SECRET": _plain(settings.slack_client_secret),
    }
    is_oauth = bool(values["SLACK_CLIENT_ID"] or values["SLACK_CLIENT_SECRET"])
    required = ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"]
    if is_oauth:  # workspaces install the app themselves
        required = ["SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET", "SLACK_SIGNING_SECRET"]
    elif mode is Mode.HTTP:
        required = ["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"]
    problems = [*_wrong_credentials({variable: values[variable] for variable in required})]
    oauth = None
    if is_oauth:
        oauth = OAuthAccess(
            client_id=values["SLACK_CLIENT_ID"],
            client_secret=values["SLACK_CLIENT_SECRET"],
            token_keys=tuple(_comma_list(_plain(settings.moot_token_keys))),
            public_url=settings.moot_public_url.strip().rstrip("/"),
        )
        problems += _unfit_for_oauth(oauth, mode, values)
    if not _API_URL.fullmatch(settings.slack_api_url):
        problems.append("SLACK_API_URL has the wrong form: it must begin with http:// or https://")
    if problems:
        raise ConfigurationBroken("\n".join(problems))
    used = {variable: values[variable] if variable in required else "" for variable in values}
    return SlackAccess(
        bot_token=used["SLACK_BOT_TOKEN"],
        app_token=used["SLACK_APP_TOKEN"],
        signing_secret=used["SLACK_SIGNING_SECRET"],
        api_url=settings.slack_api_url,
        oauth=oauth,
    )


def _wrong_credentials(values: Mapping[str, str]) -> Iterator[str]:
    for variable, value in values.items():
        pattern, form, place = _REQUIRED[variable]
        if not pattern.fullmatch(value) or len(set(value)) == 1:
            state = "has the wrong form" if value else "is missing or empty"
            yield f"{variable} {state}: it {form}. Find it on {_APP_PAGE} {place}"


def _unfit_for_oauth(oauth: OAuthAccess, mode: Mode, values: Mapping[str, str]) -> Iterator[str]:
    if mode is not Mode.HTTP or values["SLACK_APP_TOKEN"]:
        yield "OAuth needs HTTP mode: leave SLACK_APP_TOKEN empty."
    if values["SLACK_BOT_TOKEN"]:
        yield (
            "SLACK_BOT_TOKEN is one workspace's; with SLACK_CLIENT_ID every workspace that "
            "installs Moot has its own. Leave one of the two empty."
        )
    if not _PUBLIC_URL.fullmatch(oauth.public_url):
        yield (
            "MOOT_PUBLIC_URL is missing or has the wrong form: it is the public address of Moot, "
            'like "https://moot.example.com".'
        )


def _comma_list(text: str) -> list[str]:
    """The items of a comma-separated list."""
    return [item for item in map(str.strip, text.split(",")) if item]


def _plain(secret: SecretStr) -> str:
    return secret.get_secret_value().strip()
