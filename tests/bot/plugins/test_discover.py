"""Plugins are found among installed packages; what cannot be used is named and left out."""

from pathlib import Path

import pytest

from bot.plugins.discover import ALL, NONE, PluginKind, Plugins, discover, installed_entry_points
from core.debate.turn import Act
from core.errors import ConfigurationBroken, ProviderError
from core.request import ModelRequest
from core.settings import ROLES

ROLE = (
    "from core.debate.agents import Role\nROLE = Role(id='wcag', name='WCAG', prompt='You look.')\n"
)
TAKEN = {
    PluginKind.ROLE: ROLES,
    PluginKind.FORMAT: {"panel"},
    PluginKind.PROVIDER: {"openai"},
    PluginKind.SINK: (),
}
PROVIDER = """
from core.ports import ServedModels
class Provider:
    name = "any"
    async def complete(self, request, on_first_token=lambda: None):
        return BODY
    async def close(self):
        raise OSError("already closed")
def serve(variable):
    return ServedModels(provider=Provider(), model="m-1", capabilities=({"match": "*"},))
"""
SINK = """
class Sink:
    def __init__(self, where):
        self.where = where
    async def publish(self, debate, recorded): ...
    async def turns_began(self, debate, turns): ...
def listen(variable):
    return Sink(variable("MOOT_PLUGIN_WHERE"))
"""


class Site:
    """A folder of installed packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._count = 0

    def install(self, group: str, name: str, code: str, *, object: str) -> None:  # noqa: A002 - what it is called in an entry point
        """Install a package of version 1.0 with one module and one entry point."""
        self._count += 1
        module = f"moot_test_plugin_{self.folder.name}_{self._count}".replace("-", "_")
        (self.folder / f"{module}.py").write_text(code, encoding="utf-8")
        about = self.folder / f"{module}-1.0.dist-info"
        about.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: moot-{name}", "Version: 1.0"]
        (about / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")
        text = f"[{group}]\n{name} = {module}:{object}\n"
        (about / "entry_points.txt").write_text(text, encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.syspath_prepend(str(tmp_path))
    return Site(tmp_path)


def plugins_of(allowed: str = ALL) -> Plugins:
    return discover(installed_entry_points(), allowed, {"MOOT_PLUGIN_WHERE": "here"}.get, TAKEN)  # pyright: ignore[reportArgumentType] - a name that is not set has no part here


def test_nothing_installed_is_nothing_found() -> None:
    assert plugins_of() == Plugins()


def test_a_role_is_found_with_the_package_it_comes_from(site: Site) -> None:
    site.install("moot.roles", "wcag", ROLE, object="ROLE")

    plugins = plugins_of()

    assert [(plugin.title, plugin.fault) for plugin in plugins.found] == [
        ("role wcag of moot-wcag 1.0", "")
    ]
    assert [(role.id, role.source) for role in plugins.roles] == [("wcag", "moot-wcag 1.0")]


BROKEN = {
    "import-error": ("import there_is_no_such_module", "ModuleNotFoundError: No module named"),
    "exits": ("raise SystemExit('bye')", "SystemExit: bye"),
    "no-such-name": ("", "AttributeError"),
    "wrong-shape": ("ROLE = {'id': 'wcag'}", "it is no core.debate.agents.Role"),
    "no-prompt": (ROLE.replace("You look.", " "), "it has no prompt"),
    "other-name": (ROLE.replace("'wcag'", "'other'"), "its id is other"),
    "bad-icon": (ROLE.replace("prompt=", "icon='x', prompt="), "icon must fit the pattern"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_named_and_the_others_are_used(site: Site, case: str) -> None:
    code, why = BROKEN[case]
    site.install("moot.roles", "wcag", code, object="ROLE")
    site.install("moot.roles", "zebra", ROLE.replace("'wcag'", "'zebra'"), object="ROLE")

    plugins = plugins_of()

    assert [role.id for role in plugins.roles] == ["zebra"]
    [text] = plugins.left_out
    assert text.startswith("The role wcag of moot-wcag 1.0 is left out: ")
    assert why in text


def test_a_taken_name_is_left_out(site: Site) -> None:
    site.install("moot.roles", "security", ROLE.replace("'wcag'", "'security'"), object="ROLE")

    assert "its name is taken" in plugins_of().left_out[0]


def test_a_name_is_given_once(site: Site) -> None:
    site.install("moot.roles", "wcag", ROLE, object="ROLE")
    more = site.folder / "another-1.0.dist-info"
    more.mkdir()
    about = "Metadata-Version: 2.1\nName: zzz\nVersion: 1.0\n"
    (more / "METADATA").write_text(about, encoding="utf-8")
    text = "[moot.roles]\nwcag = somewhere:ROLE\n"
    (more / "entry_points.txt").write_text(text, encoding="utf-8")

    plugins = plugins_of()

    assert [role.source for role in plugins.roles] == ["moot-wcag 1.0"]
    assert plugins.left_out == ["The role wcag of zzz 1.0 is left out: its name is taken."]


@pytest.mark.parametrize(
    ("allowed", "used"), [(NONE, []), ("moot-wcag", ["wcag"]), ("Moot_WCAG", ["wcag"])]
)
def test_what_is_not_allowed_is_not_even_imported(
    site: Site, allowed: str, used: list[str]
) -> None:
    site.install("moot.roles", "wcag", ROLE, object="ROLE")
    site.install("moot.roles", "noisy", "raise AssertionError('imported')", object="ROLE")

    plugins = plugins_of(allowed)

    assert [role.id for role in plugins.roles] == used
    assert not plugins.left_out
    assert [plugin.is_allowed for plugin in plugins.found] == [False, bool(used)]


def test_an_allowed_package_that_is_not_there_is_an_error(site: Site) -> None:
    site.install("moot.roles", "wcag", ROLE, object="ROLE")

    with pytest.raises(ConfigurationBroken, match=r"names moot-other, .* moot-wcag"):
        plugins_of("moot-other")


@pytest.mark.parametrize(
    ("phases", "why"),
    [
        ("[{'act': 'ballot'}, {'act': 'adjust'}]", "ballot cannot be on an agenda"),
        ("[{'act': 'proposal'}, {'act': 'debate'}]", "the last position agents take is"),
        ("[{'act': 'plan'}, {'act': 'adjust'}]", "it begins with proposal or gather"),
        (
            "[{'act': 'gather'}, {'act': 'adjust', 'hears': ['debate']}]",
            "adjust hears debate, which does not come before",
        ),
    ],
)
def test_an_agenda_nobody_could_follow_is_left_out(site: Site, phases: str, why: str) -> None:
    code = "from core.debate.agenda import Agenda\n"
    code += f"F = Agenda.model_validate({{'name': 'f', 'words': 'w', 'phases': {phases}}})\n"
    site.install("moot.formats", "f", code, object="F")

    plugins = plugins_of()

    assert not plugins.agendas
    assert why in plugins.left_out[0]


def test_an_agenda_with_a_prompt_that_cannot_be_rendered_is_left_out(site: Site) -> None:
    code = (
        "from core.debate.agenda import Agenda, Phase\n"
        "from core.debate.turn import Act\n"
        "F = Agenda(name='f', words='w', prompts={Act.ADJUST: '{{ nobody }}'},\n"
        "    phases=(Phase(act=Act.GATHER), Phase(act=Act.ADJUST)))\n"
    )
    site.install("moot.formats", "f", code, object="F")

    assert "its prompt of adjust cannot be used: it uses nobody" in plugins_of().left_out[0]


async def test_a_provider_that_fails_fails_one_call(site: Site) -> None:
    request = ModelRequest(
        model="m-1", act=Act.PROPOSAL, role="wcag", system="", parts=(), delimiter="d"
    )
    site.install("moot.providers", "lost", PROVIDER.replace("BODY", "{}['x']"), object="serve")
    site.install("moot.providers", "mute", PROVIDER.replace("BODY", "'text'"), object="serve")

    providers = plugins_of().providers

    with pytest.raises(ProviderError, match=r"provider lost of the plugin .* failed: KeyError"):
        await providers["lost"].provider.complete(request)
    with pytest.raises(ProviderError, match="returned no ModelReply"):
        await providers["mute"].provider.complete(request)
    await providers["lost"].provider.close()
    assert providers["lost"].capabilities == ({"match": "*", "provider": "lost"},)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def serve(variable):\n    raise ValueError('no key')", "ValueError: no key"),
        ("def serve(variable):\n    return object()", "it makes no core.ports.ServedModels"),
        (PROVIDER.replace("async def close", "def close"), "lacks async def complete or close"),
        (PROVIDER.replace('{"match": "*"}', '{"size": 1}'), "size is not known"),
        (PROVIDER.replace('model="m-1"', 'model=""'), "it names no model"),
    ],
)
def test_a_provider_that_cannot_be_made_is_left_out(site: Site, code: str, why: str) -> None:
    site.install("moot.providers", "house", code, object="serve")

    assert why in plugins_of().left_out[0]


def test_a_sink_is_made_with_what_the_environment_says_for_it(site: Site) -> None:
    site.install("moot.sinks", "journal", SINK, object="listen")
    site.install(
        "moot.sinks", "deaf", SINK.replace("async def publish", "def pub"), object="listen"
    )

    plugins = plugins_of()

    assert [sink.name for sink in plugins.sinks] == ["journal of moot-journal 1.0"]
    assert "it makes nothing with async def publish" in plugins.left_out[0]
