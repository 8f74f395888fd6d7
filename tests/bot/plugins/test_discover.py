"""Plugins are found among installed packages; what cannot be used is named and left out."""

from pathlib import Path

import pytest

from bot.plugins.discover import ALL, NONE, PluginKind, Plugins, discover
from core.debate.turn import Act
from core.errors import ConfigurationBroken, ProviderError
from core.request import ModelRequest
from core.settings import ROLES

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
    (R, "X = {'id': 'f'}", "it is no core.debate.agents.Role"),
    (R, ROLE.replace("You look.", " ").replace("wcag", "f"), "it has no prompt"),
    (R, ROLE, "its id is wcag"),
    (R, ROLE.replace("prompt=", "icon='x', prompt="), "icon must fit the pattern"),
    (F, ROLE, "it is no core.debate.agenda.Agenda"),
    (F, agenda("ballot", "adjust"), "ballot cannot be on an agenda"),
    (F, agenda("proposal", "debate"), "the last position agents take is"),
    (F, agenda("plan", "adjust"), "it begins with proposal or gather"),
    (F, agenda("gather", "adjust", HEARS), "adjust hears debate, which does not come before"),
    (
        F,
        agenda("gather", "adjust", prompts="'adjust': '{{ nobody }}'"),
        "its prompt of adjust cannot be used: it uses nobody",
    ),
    (P, "def X(variable):\n    raise ValueError('no key')", "ValueError: no key"),
    (P, "X = lambda variable: 1", "it makes no core.ports.ServedModels"),
    (P, PROVIDER.replace("async def close", "def close"), "lacks async def complete or close"),
    (P, PROVIDER.replace('{"match": "*"}', '{"size": 1}'), "size is not known"),
    (P, PROVIDER.replace('model="m-1"', 'model=""'), "it names no model"),
    (S, SINK.replace("async def publish", "def pub"), "makes nothing with async def publish"),
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
    assert [plugin.is_allowed for plugin in plugins.found] == [False, bool(used)]
    with pytest.raises(ConfigurationBroken, match=r"names moot-other, .* moot-wcag"):
        plugins_of("moot-other")


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
    with pytest.raises(ProviderError, match="returned no ModelReply"):
        await mute.provider.complete(request)
    await lost.provider.close()
    assert lost.capabilities == ({"match": "*", "provider": "lost"},)
