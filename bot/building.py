"""Builds the parts that all surfaces share: settings, model providers, and the database.

Only this module chooses providers and the store; an import contract in `pyproject.toml` checks it.
"""

import re
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
from core.capabilities import KEY_VARIABLES, KEYED, Record
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

#: Most models of servers and plugins in a menu.
_MOST_MODELS = 90
#: Seconds during which an answer in the thread can be edited before agents continue.
_CORRECT_SECONDS = 10.0


def database_url(location: str) -> str:
    """A database location as a URL: a path is an SQLite file."""
    if "://" in location:
        return re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", location)
    return url_of_file(Path(location).expanduser().absolute())


def database_place(location: str) -> str:
    """The place of a database, for people; no server address, which may contain a password."""
    return str(file_at(database_url(location)) or "the database")


def api_keys(environment: BotSettings) -> Mapping[str, str]:
    """The API keys that are set, by provider."""
    keys = {name: getattr(environment, f"{name}_api_key") for name in KEYED}
    return {name: key.get_secret_value() for name, key in keys.items() if key.get_secret_value()}


def build_providers(
    environment: BotSettings,
    records: Sequence[Record] = (),
    servers: Sequence[ModelServer] = (),
    stall: StallLimits = USUAL_STALL_LIMITS,
) -> Mapping[str, ModelProvider]:
    """All usable providers: those with a key, named servers, Ollama, and the offline engine."""
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
    extra_providers: Sequence[ModelProvider] = (),
    plugins: Plugins = NO_PLUGINS,
) -> ModelCalls:
    """Build the model calls, with the capabilities and prices of the settings.

    Args:
        environment: Keys and addresses.
        settings: Models, servers and prices.
        offline: Wraps the offline engine; None: the engine itself.
        extra_providers: Providers that settings cannot choose.
        plugins: Plugins, whose providers are added.
    """
    providers = dict(
        build_providers(environment, settings.models, settings.servers, settings.stall)
    )
    if offline is not None:
        providers["offline"] = offline(providers["offline"])
    providers |= {provider.name: provider for provider in extra_providers}
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
        from bot.links import FetchLinks  # noqa: PLC0415 - aiohttp loads slowly

        return await FetchLinks(settings.evidence.link_hosts)(reference, place, most_bytes)

    common: dict[SourceKind, Fetch] = {
        SourceKind.LINK: fetch_link,
        SourceKind.TEXT: fetch_text,
    }
    if tools is not None:
        common[SourceKind.TOOL] = tools
    return EvidenceReader(FileReader(settings.evidence), {**common, **(fetchers or {})})


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
    """Models to choose from: of providers with a key, named servers and plugins; or no model."""
    sets = list[ModelSet]()
    for name in [*api_keys(environment), OFFLINE]:
        if models := factory.DEFAULT_MODELS.get(name):
            agent = ModelChoice(provider=name, model=models.agent)
            judge = ModelChoice(provider=name, model=models.judge)
            sets.append(
                ModelSet(id=name, words=f"{name}: {models.agent}", agent=agent, judge=judge)
            )
    offline = sets.pop()
    in_use: tuple[ModelChoice | Agent, ...] = (
        *(settings.agent_model, settings.judge_model, *settings.mixed_models),
        *(*settings.judge_models, *settings.fallbacks, *settings.agents),
        *filter(None, (settings.judge, settings.summary_model)),
    )
    models_by_provider = {
        server.name: server.models
        for server in settings.servers
        if not server.key_variable or environment.key_in(server.key_variable)
    }
    models_by_provider |= {
        name: (served.model, *served.models) for name, served in plugins.providers.items()
    }
    choices = [
        ModelChoice(provider=provider, model=model)
        for provider, models in models_by_provider.items()
        for model in dict.fromkeys(
            (*models, *(choice.model for choice in in_use if choice.provider == provider))
        )
    ]
    # Slack's menus have at most 100 entries.
    for choice in choices[:_MOST_MODELS]:
        words = f"{choice.provider}: {choice.model}"
        sets.append(ModelSet(id=choice.full_name, words=words, agent=choice, judge=choice))
    return [*sets, replace(offline, words="No model: the offline engine")]


def estimating(settings: Settings) -> Callable[[Setup], Estimate]:
    tables = Tables(models=settings.models, prices=settings.prices)
    return lambda setup: estimate(setup, tables)


def find_plugins(environment: BotSettings) -> Plugins:
    """Load the plugins of installed packages. Call it once, at the start of a program."""
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
    """Load the settings: built-in values, overridden by those of a file.

    Args:
        environment: Settings of the process; its keys decide the default models.
        file: A settings file; None: the one that the environment names, if any.
        clarify: Whether agents may ask people questions first; the file overrides it.
        plugins: Plugins of installed packages.

    Raises:
        ConfigurationBroken: The file is unusable. The message also names ignored plugins, which may
            be the reason.
    """
    check_proxies()
    choice = await factory.choose(api_keys(environment), environment.ollama_host or None)
    keyed = [name for name in KEYED if name in api_keys(environment)]
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
    defaults, path = defaults_with(plugins, built_in), file or environment.moot_config
    try:
        loaded = load_file(path, defaults) if path else LoadedFile(settings=defaults.settings)
    except ConfigurationBroken as error:
        raise ConfigurationBroken("\n".join((str(error), *plugins.left_out))) from None
    check_addresses(loaded.settings)
    playbooks = find_playbooks(path.parent if path else None, loaded.settings)
    changes = {
        "playbooks": playbooks.playbooks,
        "playbook_faults": tuple(playbooks.faults),
        "models": (*_free_models(loaded.settings), *loaded.settings.models),
    }
    settings = loaded.settings.model_copy(update=changes)
    notices = (f"{fault} The playbook is ignored." for fault in playbooks.faults)
    notices = (*environment.misspelt(), *loaded.notices, *notices)
    return replace(loaded, settings=settings, notices=notices)


def _free_models(settings: Settings) -> Sequence[Mapping[str, Any]]:
    """Capability records that make models of local servers free, unless they have a price."""
    priced = {key.partition("/")[0] for key in settings.prices} | {*settings.prices}
    # A price for a model name alone may apply to any server that lists no models.
    by_model = any("/" not in key for key in settings.prices)
    return [
        # "?*" matches every model, but not the server itself, whose call limit stays.
        {"provider": server.name, "match": "?*", "local": True}
        for server in settings.servers
        if is_loopback(urlsplit(server.base_url).hostname or "")
        and priced.isdisjoint({server.name, *server.models})
        and (server.models or not by_model)
    ]


def check_addresses(settings: Settings) -> None:
    for server in settings.servers:
        if fault := address_fault(server.base_url):
            raise ConfigurationBroken(f"The address of the server {server.name}: {fault}.")
    for server in settings.evidence.mcp_servers:
        fault = address_fault(server.url) if server.url else ""
        if server.key_variable and not fault and sends_openly(server.url):
            fault = f"the key in {server.key_variable} would be sent unencrypted; use https://"
        if fault:
            raise ConfigurationBroken(f"The address of the MCP server {server.name}: {fault}.")


def defaults_with(plugins: Plugins, base: Settings) -> FileDefaults:
    """The defaults of settings files: `base` with the roles, formats and models of plugins."""
    records = (
        record for provider in plugins.providers.values() for record in provider.capabilities
    )
    changes = {"roles": plugins.roles, "agendas": plugins.agendas, "models": tuple(records)}
    settings = base.model_copy(update=changes)
    models = {name: served.model for name, served in plugins.providers.items()}
    return FileDefaults(settings=settings, providers={**default_models(), **models})


def default_models() -> Mapping[str, str]:
    """Provider → the default model of agents; empty if the provider has none."""
    defaults = {name: models.agent for name, models in factory.DEFAULT_MODELS.items()}
    return {name: defaults.get(name, "") for name in factory.PROVIDER_NAMES}


def check_providers(
    setup: Setup, environment: BotSettings, servers: Sequence[ModelServer] = ()
) -> None:
    """Raise `ConfigurationBroken` if a model of a debate lacks its key or address."""
    background = (setup.summarizer, setup.facilitator, setup.shadow_agent)
    for label, provider in _providers_in_use(
        (*setup.agents, setup.judge, *filter(None, background))
    ):
        check_choice(label, provider, environment, servers)


def check_settings(settings: Settings, environment: BotSettings) -> None:
    """Check that every model and MCP server of the settings has its key.

    Raises:
        ConfigurationBroken: A variable is not set, or the MCP SDK is not installed.
    """
    agents = (*settings.agents, *([settings.judge] if settings.judge else []))
    for label, provider in (
        ("The default model of agents", settings.agent_model.provider),
        ("The default model of the judge", settings.judge_model.provider),
        *(("A fallback", fallback.provider) for fallback in settings.fallbacks),
        *_providers_in_use(agent for agent in agents if agent.enabled),
    ):
        check_choice(label, provider, environment, settings.servers)
    for server in settings.evidence.mcp_servers:
        for variable in filter(None, (*server.variables, server.key_variable)):
            if not environment.key_in(variable):
                raise ConfigurationBroken(
                    f"The MCP server {server.name} needs {variable}, which is not set."
                )
    if settings.evidence.mcp_servers and not CAN_ASK:
        raise ConfigurationBroken(f"The settings list MCP servers, and {NOT_INSTALLED}.")


def _providers_in_use(agents: Iterable[Agent]) -> Iterator[tuple[str, str]]:
    """The providers of agents and their fallbacks, each with a label for error messages."""
    for agent in agents:
        yield agent.name, agent.provider
        for fallback in agent.fallbacks or ():
            yield f"A fallback of {agent.name}", fallback.provider


def check_choice(
    label: str, provider: str, environment: BotSettings, servers: Sequence[ModelServer]
) -> None:
    missing = ""
    for server in servers:
        is_asked = server.name == provider and server.key_variable
        if is_asked and not environment.key_in(server.key_variable):
            missing = server.key_variable
    if provider in KEYED and provider not in api_keys(environment):
        missing = KEY_VARIABLES[provider]
    if provider == factory.COMPATIBLE and not environment.openai_base_url:
        missing = "OPENAI_BASE_URL"
    if missing:
        raise ConfigurationBroken(f"{label} uses {provider}, but {missing} is not set.")


@asynccontextmanager
async def open_store(location: str) -> AsyncGenerator[SqlDebateStore]:
    """Open the debates; `location` is a file path (SQLite) or a database URL."""
    async with await Database.open(database_url(location)) as database:
        await core.store.tables.prepare(database)
        yield SqlDebateStore(database)


@asynccontextmanager
async def open_records(location: str) -> AsyncGenerator[SqlDebateStore]:
    """Open the debates for reading, even while the bot writes.

    A missing database is not created: the store is then empty.

    Raises:
        ConfigurationBroken: The location is malformed.
        StoreError: The database cannot be opened, or another version of Moot created it.
    """
    async with AsyncExitStack() as stack:
        try:
            store = await stack.enter_async_context(open_read_only(location))
        except StoreMissing:
            empty = Path(stack.enter_context(TemporaryDirectory())) / "empty.db"
            store = await stack.enter_async_context(open_store(str(empty)))
        yield store


@asynccontextmanager
async def open_read_only(location: str) -> AsyncGenerator[SqlDebateStore]:
    """Open an existing database of debates for reading, even while another process writes."""
    async with await Database.open_read_only(database_url(location)) as database:
        await core.store.tables.check(database)
        yield SqlDebateStore(database)
