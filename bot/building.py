"""Builds what Slack, terminal and demo need: settings, model providers, the database.

Only here providers and the store are picked, for every surface (`pyproject.toml`).
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import core.store.tables
from bot.addresses import address_fault, is_loopback, sends_openly
from bot.plugins import NO_PLUGINS, PluginKind, Plugins, discover
from bot.settings import BotSettings
from core.acts.take import Turns
from core.capabilities import Record
from core.clock import SystemClock
from core.config.load import FileDefaults, LoadedFile, load_file
from core.config.playbooks import find_playbooks
from core.debate.agents import EXAMPLE, OFFLINE, Agent
from core.debate.evidence import SourceKind, SourceReference, SourceText
from core.debate.people import Place
from core.debate.rules import Clarifying
from core.debate.setup import Setup
from core.debate.turn import RESERVED_IDS
from core.errors import ConfigurationBroken, StoreMissing
from core.estimate import Estimate, estimate
from core.evidence.reading import EvidenceReader, Fetch, FetchedFile, FileReader, fetch_text
from core.evidence.tools import CAN_ASK, NOT_INSTALLED, FetchTools
from core.llm.budget import caps_of
from core.llm.call import ModelCalls, Tables
from core.llm.known_models import cheapest, dearest, strongest
from core.llm.providers import factory
from core.llm.providers.embeddings import OpenAIEmbedder
from core.ports import ModelProvider, SourceReader
from core.proxies import check_proxies
from core.rules.formats.registry import FORMATS
from core.settings import (
    ROLE_ALIASES,
    ROLES,
    USUAL_STALL_LIMITS,
    ModelChoice,
    ModelServer,
    Settings,
    StallLimits,
)
from core.store.database import Database, file_at, url_of_file
from core.store.debates import SqlDebateStore
from core.use_cases.choices import ModelSet

#: Models of named servers that a menu shows.
_MOST_SERVED = 90
#: Seconds in which an answer in the thread can be edited before agents go on.
_CORRECT_SECONDS = 10.0
#: The variable with each provider's key.
KEY_VARIABLES = {name: f"{name.upper()}_API_KEY" for name in factory.KEYED}


def database_url(location: str) -> str:
    """A database location as a URL: a path is an SQLite file."""
    if "://" in location:
        return location.replace("postgresql://", "postgresql+psycopg://", 1)
    return url_of_file(Path(location).expanduser().absolute())


def database_place(location: str) -> str:
    """Where a database is, for people; of a server no address: it may hold a password."""
    return str(file_at(database_url(location)) or "the database")


def api_keys(environment: BotSettings) -> Mapping[str, str]:
    """The API keys that are set, by provider."""
    keys = {name: getattr(environment, f"{name}_api_key") for name in factory.KEYED}
    return {name: key.get_secret_value() for name, key in keys.items() if key.get_secret_value()}


def build_providers(
    environment: BotSettings,
    records: Sequence[Record] = (),
    servers: Sequence[ModelServer] = (),
    stall: StallLimits = USUAL_STALL_LIMITS,
) -> Mapping[str, ModelProvider]:
    """Every provider that can be used: those with a key, Ollama, and offline."""
    openai = environment.openai_base_url
    addresses = {"anthropic": environment.anthropic_base_url, "openai": openai}
    access = {name: (key, addresses.get(name)) for name, key in api_keys(environment).items()}
    access |= {"ollama": ("", environment.ollama_host), "offline": ("", None)}
    if openai:
        access[factory.COMPATIBLE] = environment.openai_api_key.get_secret_value(), openai
    build = partial(factory.build, records=tuple(records), stall=stall)
    providers = {name: build(name, key, url or None) for name, (key, url) in access.items()}
    for server in servers:
        key = environment.key_in(server.key_variable)
        if key or not server.key_variable:
            providers[server.name] = factory.build_server(server, key, tuple(records), stall=stall)
    return providers


def build_calls(
    environment: BotSettings,
    settings: Settings,
    offline: Callable[[ModelProvider], ModelProvider] | None = None,
    *,
    more: Sequence[ModelProvider] = (),
    plugins: Plugins = NO_PLUGINS,
) -> ModelCalls:
    """What asks models, with the settings' own capabilities and prices.

    Args:
        environment: Keys and addresses.
        settings: What they say about models and prices.
        offline: Makes what stands in the offline engine's place; None: the engine itself.
        more: Providers that settings cannot choose.
        plugins: What installed packages bring.
    """
    built = build_providers(environment, settings.models, settings.servers, settings.stall)
    providers = dict(built)
    if offline is not None:
        providers["offline"] = offline(providers["offline"])
    providers |= {provider.name: provider for provider in more}
    providers |= {name: served.provider for name, served in plugins.providers.items()}
    tables = Tables(models=settings.models, prices=settings.prices)
    return ModelCalls(providers, SystemClock(), tables=tables, parallel=settings.calls_at_once)


def build_tools(settings: Settings, environment: BotSettings) -> FetchTools:
    return FetchTools(
        settings.evidence, key_in=environment.key_in, environment=environment.for_program
    )


def build_reader(
    settings: Settings,
    tools: FetchTools | None = None,
    fetchers: Mapping[SourceKind, Fetch] | None = None,
) -> EvidenceReader:
    async def fetch_link(
        reference: SourceReference, place: Place, most_bytes: int
    ) -> FetchedFile | SourceText:
        from bot.links import FetchLinks  # noqa: PLC0415 - no command waits for aiohttp

        return await FetchLinks(settings.evidence.link_hosts)(reference, place, most_bytes)

    everywhere: dict[SourceKind, Fetch] = {
        SourceKind.LINK: fetch_link,
        SourceKind.TEXT: fetch_text,
    }
    if tools is not None:
        everywhere[SourceKind.TOOL] = tools
    return EvidenceReader(FileReader(settings.evidence), {**everywhere, **(fetchers or {})})


def build_turns(
    calls: ModelCalls, settings: Settings, store: SqlDebateStore, reader: SourceReader
) -> Turns:
    clock = SystemClock()
    return Turns(
        calls,
        lambda debate: caps_of(debate, settings.limits, clock.now()),
        secret=store.secret,
        reservations=store,
        reader=reader,
    )


def build_embedder(environment: BotSettings) -> OpenAIEmbedder | None:
    if not environment.moot_embeddings_model:
        return None
    return OpenAIEmbedder(
        environment.embeddings_key,
        environment.moot_embeddings_model,
        environment.moot_embeddings_url,
    )


def model_sets(
    environment: BotSettings, settings: Settings, plugins: Plugins = NO_PLUGINS
) -> Sequence[ModelSet]:
    """Models on offer: of providers with a key, of named servers, of plugins, and no model."""
    sets = list[ModelSet]()
    for name in [*api_keys(environment), OFFLINE]:
        if models := factory.DEFAULT_MODELS.get(name):
            agent = ModelChoice(provider=name, model=models.agent)
            judge = ModelChoice(provider=name, model=models.judge)
            sets.append(
                ModelSet(id=name, words=f"{name}: {models.agent}", agent=agent, judge=judge)
            )
    nothing = sets.pop()
    named: tuple[ModelChoice | Agent, ...] = (
        *(settings.agent_model, settings.judge_model, *settings.mixed_models),
        *(*settings.judge_models, *settings.fallbacks, *settings.agents),
        *filter(None, (settings.judge, settings.summary_model)),
    )
    there = {
        server.name: server.models
        for server in settings.servers
        if not server.key_variable or environment.key_in(server.key_variable)
    }
    there |= {name: (served.model, *served.models) for name, served in plugins.providers.items()}
    served = [
        ModelChoice(provider=provider, model=model)
        for provider, models in there.items()
        for model in dict.fromkeys(
            (*models, *(choice.model for choice in named if choice.provider == provider))
        )
    ]
    # A menu has room for 100.
    for choice in served[:_MOST_SERVED]:
        words = f"{choice.provider}: {choice.model}"
        sets.append(ModelSet(id=choice.full_name, words=words, agent=choice, judge=choice))
    return [*sets, replace(nothing, words="No model: the offline engine")]


def estimating(settings: Settings) -> Callable[[Setup], Estimate]:
    tables = Tables(models=settings.models, prices=settings.prices)
    return lambda setup: estimate(setup, tables)


def find_plugins(environment: BotSettings) -> Plugins:
    """The plugins of installed packages; call it once, at the start of a program."""
    reserved = {
        PluginKind.ROLE: {*ROLES, *ROLE_ALIASES, *RESERVED_IDS},
        PluginKind.FORMAT: FORMATS,
        PluginKind.PROVIDER: {*factory.PROVIDER_NAMES, EXAMPLE},
        PluginKind.SINK: (),
    }
    return discover(environment.moot_plugins, environment.plugin_variable, reserved)


async def load_settings(
    environment: BotSettings,
    file: Path | None = None,
    *,
    clarify: bool = False,
    plugins: Plugins = NO_PLUGINS,
) -> LoadedFile:
    """The settings in force: built in, then the file's.

    Args:
        environment: Its keys decide the default models.
        file: A configuration file; None: the one the environment names, if it names one.
        clarify: Whether agents may ask people first; the file overrides it.
        plugins: Of installed packages.

    Raises:
        ConfigurationBroken: Names the plugins that were left out, too.
    """
    check_proxies()
    choice = await factory.choose(api_keys(environment), environment.ollama_host or None)
    keyed = [name for name in factory.KEYED if name in api_keys(environment)]
    mixed = strongest(keyed)
    agent = ModelChoice(provider=choice.provider, model=choice.models.agent)
    judge = ModelChoice(provider=choice.provider, model=choice.models.judge)
    built_in = Settings(
        agent_model=mixed[0] if mixed else agent,
        judge_model=mixed[0] if mixed else judge,
        mixed_models=mixed,
        strongest_model=dearest(mixed),
        judge_models=mixed,
        background_models=tuple(cheapest(keyed)),
        clarifying=Clarifying(enabled=clarify, correct_seconds=_CORRECT_SECONDS),
    )
    defaults, path = known_with(plugins, built_in), file or environment.moot_config
    try:
        loaded = load_file(path, defaults) if path else LoadedFile(settings=defaults.settings)
    except ConfigurationBroken as error:
        raise ConfigurationBroken("\n".join((str(error), *plugins.left_out))) from None
    check_addresses(loaded.settings)
    playbooks = find_playbooks(path.parent if path else None, loaded.settings)
    own = {
        "playbooks": playbooks.playbooks,
        "playbook_faults": tuple(playbooks.faults),
        "models": (*_free_models(loaded.settings), *loaded.settings.models),
    }
    settings = loaded.settings.model_copy(update=own)
    left_out = (f"{fault} The playbook is left out." for fault in playbooks.faults)
    return replace(loaded, settings=settings, notices=(*loaded.notices, *left_out))


def _free_models(settings: Settings) -> Sequence[Mapping[str, Any]]:
    """Records of models at servers of this machine: they cost nothing, unless priced."""
    priced = {key.partition("/")[0] for key in settings.prices} | {*settings.prices}
    # A price by a model's name alone may be that of any server which lists no models.
    by_model = any("/" not in key for key in settings.prices)
    return [
        # Any model, but not the server as such: it takes as many calls at once as are set.
        {"provider": server.name, "match": "?*", "local": True}
        for server in settings.servers
        if is_loopback(urlsplit(server.base_url).hostname or "")
        and priced.isdisjoint({server.name, *server.models})
        and (server.models or not by_model)
    ]


def check_addresses(settings: Settings) -> None:
    for server in settings.servers:
        if why := address_fault(server.base_url):
            raise ConfigurationBroken(f"The address of the server {server.name}: {why}.")
    for server in settings.evidence.mcp_servers:
        why = address_fault(server.url) if server.url else ""
        if server.key_variable and not why and sends_openly(server.url):
            why = f"what {server.key_variable} holds would travel unencrypted; use https://"
        if why:
            raise ConfigurationBroken(f"The address of the MCP server {server.name}: {why}.")


def known_with(plugins: Plugins, base: Settings) -> FileDefaults:
    """What a settings file is checked against: what is built in and what plugins bring."""
    records = (
        record for provider in plugins.providers.values() for record in provider.capabilities
    )
    brought = {"roles": plugins.roles, "agendas": plugins.agendas, "models": tuple(records)}
    settings = base.model_copy(update=brought)
    served = {name: served.model for name, served in plugins.providers.items()}
    return FileDefaults(settings=settings, providers={**usual_models(), **served})


def usual_models() -> Mapping[str, str]:
    """Every provider with the model it serves agents with when none is named."""
    named = {name: models.agent for name, models in factory.DEFAULT_MODELS.items()}
    return {name: named.get(name, "") for name in factory.PROVIDER_NAMES}


def check_providers(
    setup: Setup, environment: BotSettings, servers: Sequence[ModelServer] = ()
) -> None:
    """Make sure that every agent's model can be asked, before anything is started."""
    background = (setup.summarizer, setup.facilitator, setup.shadow_agent)
    for who, provider in _served((*setup.agents, setup.judge, *filter(None, background))):
        check_choice(who, provider, environment, servers)


def check_settings(settings: Settings, environment: BotSettings) -> None:
    """Make sure that every model and every MCP server the settings name can be asked.

    Raises:
        ConfigurationBroken: Names who needs which variable, or says that nothing that asks MCP
            servers is installed.
    """
    agents = (*settings.agents, *([settings.judge] if settings.judge else []))
    for who, provider in (
        ("The default model of agents", settings.agent_model.provider),
        ("The default model of the judge", settings.judge_model.provider),
        *(("A fallback", fallback.provider) for fallback in settings.fallbacks),
        *_served(agent for agent in agents if agent.enabled),
    ):
        check_choice(who, provider, environment, settings.servers)
    for server in settings.evidence.mcp_servers:
        for variable in filter(None, (*server.variables, server.key_variable)):
            if not environment.key_in(variable):
                raise ConfigurationBroken(
                    f"The MCP server {server.name} needs {variable}, which is not set."
                )
    if settings.evidence.mcp_servers and not CAN_ASK:
        raise ConfigurationBroken(f"The settings list MCP servers, and {NOT_INSTALLED}.")


def _served(agents: Iterable[Agent]) -> Iterator[tuple[str, str]]:
    """Who asks which provider, in words."""
    for agent in agents:
        yield agent.name, agent.provider
        for fallback in agent.fallbacks or ():
            yield f"A fallback of {agent.name}", fallback.provider


def check_choice(
    who: str, provider: str, environment: BotSettings, servers: Sequence[ModelServer]
) -> None:
    missing = ""
    for server in servers:
        is_asked = server.name == provider and server.key_variable
        if is_asked and not environment.key_in(server.key_variable):
            missing = server.key_variable
    if provider in factory.KEYED and provider not in api_keys(environment):
        missing = KEY_VARIABLES[provider]
    if provider == factory.COMPATIBLE and not environment.openai_base_url:
        missing = "OPENAI_BASE_URL"
    if missing:
        raise ConfigurationBroken(f"{who} uses {provider}, but {missing} is not set.")


@asynccontextmanager
async def open_store(location: str) -> AsyncGenerator[SqlDebateStore]:
    """Open the log of debates; `location` is a file path (SQLite) or a database URL."""
    async with await Database.open(database_url(location)) as database:
        await core.store.tables.prepare(database)
        yield SqlDebateStore(database)


@asynccontextmanager
async def open_records(location: str) -> AsyncGenerator[SqlDebateStore]:
    """Open the log of debates to read it, also while the bot is writing to it.

    Where there is no database there are no debates, and none is made.

    Raises:
        ConfigurationBroken: The location cannot be understood.
        StoreError: It cannot be opened, or another version of the program made it.
    """
    async with AsyncExitStack() as opened:
        try:
            store = await opened.enter_async_context(look_into(location))
        except StoreMissing:
            empty = Path(opened.enter_context(TemporaryDirectory())) / "empty.db"
            store = await opened.enter_async_context(open_store(str(empty)))
        yield store


@asynccontextmanager
async def look_into(location: str) -> AsyncGenerator[SqlDebateStore]:
    """Open the log of debates for reading only, whoever writes to it."""
    async with await Database.open_read_only(database_url(location)) as database:
        await core.store.tables.check(database)
        yield SqlDebateStore(database)
