"""Plugins are found among installed packages; what cannot be used is named and left out."""

import asyncio
from decimal import Decimal
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.plugins import ALL, NONE, PluginKind, Plugins, QueuedSink, discover, run_sinks
from core.debate.debate_events import DebateStarted
from core.debate.log import RecordedEvent, fold
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.errors import ConfigurationBroken, ProviderError
from core.request import ModelRequest
from core.settings import ROLES
from core.telling import Sinks
from core.testing import RecordingSink, a_setup, log_of
from core.usage import Usage

TAKEN = {
    PluginKind.ROLE: ROLES,
    PluginKind.FORMAT: {"panel"},
    PluginKind.PROVIDER: {"openai"},
    PluginKind.SINK: (),
}
ROLE = "from core.debate.agents import Role\nX = Role(id='wcag', name='WCAG', prompt='You look.')\n"
PROVIDER = """
from core.ports import ServedModels
class Provider:
    name = "any"
    async def complete(self, request, on_first_token=lambda: None):
        return BODY
    async def close(self):
        raise OSError("already closed")
def X(variable):
    return ServedModels(provider=Provider(), model="m-1", capabilities=({"match": "*"},))
"""
SINK = """
class Sink:
    def __init__(self, where):
        self.where = where
    async def publish(self, debate, recorded): ...
    async def turns_began(self, debate, turns): ...
def X(variable):
    return Sink(variable("MOOT_PLUGIN_WHERE"))
"""
AGENDA = """
from core.debate.agenda import Agenda
X = Agenda.model_validate({'name': 'f', 'words': 'w', 'phases': [PHASES], 'prompts': {PROMPTS}})
"""


class Site:
    """A folder of installed packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, kind: PluginKind, name: str, code: str, package: str = "") -> None:
        """Install a package of version 1.0 with one module and one entry point, X."""
        package = package or f"moot-{name}"
        module = f"{self.folder.name}_{package}".replace("-", "_")
        (self.folder / f"{module}.py").write_text(code, encoding="utf-8")
        about = self.folder / f"{module}-1.0.dist-info"
        about.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
        (about / "METADATA").write_text(metadata, encoding="utf-8")
        text = f"[{kind.value}]\n{name} = {module}:X\n"
        (about / "entry_points.txt").write_text(text, encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.syspath_prepend(str(tmp_path))
    return Site(tmp_path)


def plugins_of(allowed: str = ALL) -> Plugins:
    return discover(allowed, {"MOOT_PLUGIN_WHERE": "here"}.get, TAKEN)  # pyright: ignore[reportArgumentType] - a name that is not set has no part here


def agenda(first: str, last: str, more: str = "", prompts: str = "") -> str:
    phases = f"{{'act': '{first}'}}, {{'act': '{last}'{more}}}"
    return AGENDA.replace("PHASES", phases).replace("PROMPTS", prompts)


R, F, P, S = PluginKind.ROLE, PluginKind.FORMAT, PluginKind.PROVIDER, PluginKind.SINK
HEARS = ", 'hears': ['debate']"
BROKEN: tuple[tuple[PluginKind, str, str], ...] = (
    (R, "import there_is_no_such_module", "ModuleNotFoundError: No module named"),
    (R, "raise SystemExit('bye')", "SystemExit: bye"),
    (R, "", "AttributeError"),
    (R, "X = {'id': 'f'}", "it is not a core.debate.agents.Role"),
    (R, ROLE.replace("You look.", " ").replace("wcag", "f"), "it has no prompt"),
    (R, ROLE, "its name is wcag"),
    (R, ROLE.replace("prompt=", "icon='x', prompt="), "icon must fit the pattern"),
    (F, ROLE, "it is not a core.debate.agenda.Agenda"),
    (F, agenda("ballot", "adjust"), "ballot cannot be on an agenda"),
    (F, agenda("proposal", "debate"), "the last position must be"),
    (F, agenda("plan", "adjust"), "the first act must be proposal or gather"),
    (F, agenda("gather", "adjust", HEARS), "adjust hears debate, which is not an earlier act"),
    (
        F,
        agenda("gather", "adjust", prompts="'adjust': '{{ nobody }}'"),
        "its prompt of adjust cannot be used: it uses nobody",
    ),
    (P, "def X(variable):\n    raise ValueError('no key')", "ValueError: no key"),
    (P, "X = lambda variable: 1", "it is not a core.ports.ServedModels"),
    (P, PROVIDER.replace("async def close", "def close"), "lacks async def complete or close"),
    (P, PROVIDER.replace('{"match": "*"}', '{"size": 1}'), "size is not known"),
    (P, PROVIDER.replace('model="m-1"', 'model=""'), "it names no default model"),
    (S, SINK.replace("async def publish", "def pub"), "its sink lacks async def publish"),
)


@pytest.mark.parametrize(("kind", "code", "why"), BROKEN)
def test_a_broken_plugin_is_named_and_the_others_are_used(
    site: Site, kind: PluginKind, code: str, why: str
) -> None:
    site.install(kind, "f", code)
    site.install(PluginKind.ROLE, "zebra", ROLE.replace("'wcag'", "'zebra'"))

    plugins = plugins_of()

    assert [(role.id, role.source) for role in plugins.roles] == [("zebra", "moot-zebra 1.0")]
    (text,) = plugins.left_out
    assert text.startswith(f"The {kind.name.lower()} f of moot-f 1.0 is left out: ")
    assert why in text


def test_a_name_is_given_once(site: Site) -> None:
    site.install(PluginKind.ROLE, "wcag", ROLE)
    site.install(PluginKind.ROLE, "wcag", ROLE, package="zzz")
    site.install(PluginKind.ROLE, "security", ROLE.replace("'wcag'", "'security'"))

    plugins = plugins_of()

    assert [role.source for role in plugins.roles] == ["moot-wcag 1.0"]
    assert plugins.left_out == [
        "The role security of moot-security 1.0 is left out: its name is taken.",
        "The role wcag of zzz 1.0 is left out: its name is taken.",
    ]


@pytest.mark.parametrize(
    ("allowed", "used"), [(NONE, []), ("moot-wcag", ["wcag"]), ("Moot_WCAG", ["wcag"])]
)
def test_what_is_not_allowed_is_not_even_imported(
    site: Site, allowed: str, used: list[str]
) -> None:
    site.install(PluginKind.ROLE, "wcag", ROLE)
    site.install(PluginKind.ROLE, "noisy", "raise AssertionError('imported')")

    plugins = plugins_of(allowed)

    assert [role.id for role in plugins.roles] == used
    assert not plugins.left_out
    assert [plugin.is_allowed for plugin in plugins.entries] == [False, bool(used)]
    with pytest.raises(ConfigurationBroken, match=r"names moot-other, .* moot-wcag"):
        plugins_of("moot-other")


async def test_a_reply_of_a_provider_has_the_right_types(site: Site) -> None:
    request = ModelRequest(
        model="m-1", act=Act.PROPOSAL, role="wcag", system="", parts=(), delimiter="d"
    )
    imports = "from core.request import ModelReply\nfrom core.usage import Usage\n"
    fields = {"float": "usage=Usage(cost=0.25)", "number": "usage=Usage(), request_id=5"}
    for name, values in fields.items():
        body = f"ModelReply(text='Yes.', model='m-1', {values})"
        site.install(PluginKind.PROVIDER, name, imports + PROVIDER.replace("BODY", body))

    providers = plugins_of().providers

    reply = await providers["float"].provider.complete(request)
    assert (Usage(cost=Decimal(1)) + reply.usage).cost == Decimal("1.25")
    with pytest.raises(ProviderError, match="failed: ValidationError"):
        await providers["number"].provider.complete(request)


async def test_a_provider_that_fails_fails_one_call(site: Site) -> None:
    request = ModelRequest(
        model="m-1", act=Act.PROPOSAL, role="wcag", system="", parts=(), delimiter="d"
    )
    site.install(PluginKind.PROVIDER, "lost", PROVIDER.replace("BODY", "{}['x']"))
    site.install(PluginKind.PROVIDER, "mute", PROVIDER.replace("BODY", "'text'"))
    site.install(PluginKind.SINK, "journal", SINK)

    plugins = plugins_of()
    lost, mute = plugins.providers["lost"], plugins.providers["mute"]

    assert [sink.name for sink in plugins.sinks] == ["journal of moot-journal 1.0"]
    with pytest.raises(ProviderError, match=r"provider lost of the plugin .* failed: KeyError"):
        await lost.provider.complete(request)
    with pytest.raises(ProviderError, match="did not return a ModelReply"):
        await mute.provider.complete(request)
    await lost.provider.close()
    assert lost.capabilities == ({"match": "*", "provider": "lost"},)


LOG = log_of([DebateStarted(setup=a_setup())])
DEBATE = fold(LOG)


class Raising(RecordingSink):
    """Hears everything, then raises."""

    def __init__(self, *errors: BaseException) -> None:
        super().__init__()
        self._errors = list(errors)

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        await super().publish(debate, recorded)
        if self._errors:
            raise self._errors.pop(0)


class Stuck(RecordingSink):
    """Never returns until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        await self.go_on.wait()
        await super().publish(debate, recorded)


async def test_sinks_hear_what_the_first_one_took_and_nothing_else() -> None:
    main, other = RecordingSink(), RecordingSink()
    queued = QueuedSink("other", other)
    turns = (Turn.model_validate({"act": "ballot", "round": 1, "agent": "a"}),)

    async with run_sinks([queued]):
        await Sinks(main, queued).publish(DEBATE, LOG[0])
        await Sinks(main, queued).turns_began(DEBATE, turns)
        with pytest.raises(OSError, match="full"):
            await Sinks(Raising(OSError("full")), queued).publish(DEBATE, LOG[0])

    assert other.events == main.events == [LOG[0]]
    assert other.began == main.began == [turns]
    assert other.debates == [DEBATE]


async def test_a_sink_that_raises_hears_the_next_event_and_costs_the_others_nothing() -> None:
    bad, good = Raising(*[ValueError("no room")] * 2, SystemExit("bye")), RecordingSink()
    queued, other = QueuedSink("journal of moot-journal 1.0", bad), QueuedSink("good", good)

    with capture_logs() as logs:
        async with run_sinks([queued, other]):
            for _ in range(4):
                await Sinks(RecordingSink(), queued, other).publish(DEBATE, LOG[0])

    assert len(bad.events) == len(good.events) == 4
    assert queued.fault == "it raised SystemExit"
    reasons = [log["reason"] for log in logs if log["event"] == "plugin failed"]
    assert reasons == ["it raised ValueError"] * 2 + ["it raised SystemExit"]


async def test_a_stuck_sink_holds_nobody_up_and_loses_what_does_not_fit() -> None:
    main, stuck = RecordingSink(), Stuck()
    queued = QueuedSink("stuck", stuck, room=3)

    async with run_sinks([queued]):
        for _ in range(10):
            await Sinks(main, queued).publish(DEBATE, LOG[0])
        assert len(main.events) == 10
        stuck.go_on.set()

    assert queued.dropped == 7
    assert len(stuck.events) == 3


async def test_a_sink_that_takes_too_long_is_given_up() -> None:
    queued = QueuedSink("stuck", Stuck(), patience=0.001)
    async with run_sinks([queued]):
        await queued.publish(DEBATE, LOG[0])
        await queued.drain()
    assert queued.fault == "it took longer than 0.001 s"
