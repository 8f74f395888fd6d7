"""What loading a provider leaves for its first reply to load: nothing of the SDK."""

import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from core.clock import SystemClock
from core.llm.call import ModelCalls
from core.llm.providers import factory
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.openai import OPENROUTER, OpenAIProvider
from core.llm.providers.sdk_loading import load
from core.models import Agent
from core.ports import LoadsSlowly, ModelProvider
from core.settings import ModelChoice, Settings
from tests.frame.files import ROOT

#: Asks a vendor on the loopback once, in a process of its own, where nothing is loaded yet.
FIRST_REPLY = """
import asyncio, sys
from core.llm.providers import factory
from tests.vendors.server import Vendor
from core.models import Act
from core.request import ModelRequest, Part, PartKind

async def main(name, path):
    async with Vendor() as vendor:
        provider = factory.build(name, "sk-test", vendor.url + path)
        await provider.load()
        loaded = set(sys.modules)
        await provider.complete(ModelRequest(
            model="any", act=Act.PROPOSAL, role="architect", system="", delimiter="~",
            parts=(Part(kind=PartKind.TASK, label="Task", text="Propose."),),
            max_output_tokens=100,
        ))
        await provider.close()
        late = sorted(set(sys.modules) - loaded)
        print([one for one in late if not one.startswith("importlib")])

asyncio.run(main(*sys.argv[1:]))
"""
NO_REHEARSAL = """
import asyncio, sys
from core.llm.providers import factory

connected = []
sys.addaudithook(lambda event, given: event == "socket.connect" and connected.append(given[1]))

async def main():
    for name in factory.KEYED:
        provider = factory.build(name, "sk-test")
        await provider.load(rehearse=False)
        await provider.close()
    print([one for one in ("openai", "anthropic", "aiohttp") if one in sys.modules], connected)

asyncio.run(main())
"""
#: Asks a vendor without a rehearsal, and says which of these packages of the SDK that took.
TYPED = """
import asyncio, sys
from core.llm.providers import factory
from tests.vendors.server import Vendor
from core.models import Act
from core.request import ModelRequest

async def main(name, path, *typed):
    async with Vendor() as vendor:
        provider = factory.build(name, "sk-test", vendor.url + path)
        await provider.load(rehearse=False)
        await provider.complete(ModelRequest(
            model="any", act=Act.PROPOSAL, role="architect", system="Propose.", delimiter="~~",
            parts=(),
        ))
        await provider.close()
    print([one for one in sys.modules if one.startswith(typed)])

asyncio.run(main(*sys.argv[1:]))
"""
#: Asks OpenAI for embeddings, and says the same.
EMBEDDED = """
import asyncio, json, sys
from core.llm.providers.embeddings import OpenAIEmbedder
from tests.vendors.script import Reject
from tests.vendors.server import Vendor, always

async def main():
    body = json.dumps({"data": [{"index": 0, "embedding": [1.0]}]})
    async with Vendor(always(Reject(status=200, body=body))) as vendor:
        embedder = OpenAIEmbedder("sk-test", "m", f"{vendor.url}/v1")
        found = await embedder.embed(["a queue"])
        await embedder.close()
    typed = ("openai.resources.", "openai.types.create_embedding", "openai.types.beta.")
    print(found, [one for one in sys.modules if one.startswith(typed)])

asyncio.run(main())
"""
#: Asks the same server with the SDK's typed resources, once ours is loaded.
TYPED_AFTERWARDS = """
import asyncio
from core.llm.providers import factory
from tests.vendors.server import Vendor

async def main():
    await factory.build("openai", "sk-test").load()
    await factory.build("anthropic", "sk-test").load()
    import anthropic, openai
    from anthropic.types import Message, beta
    from openai.types import chat, responses
    async with Vendor() as vendor, openai.AsyncOpenAI(
        api_key="sk-test", base_url=f"{vendor.url}/v1"
    ) as client:
        asked = await client.chat.completions.create(
            model="any", messages=[{"role": "user", "content": "Propose."}]
        )
    print(isinstance(asked, chat.ChatCompletion), responses.Response.__name__)
    async with Vendor() as vendor, anthropic.AsyncAnthropic(
        api_key="sk-test", base_url=vendor.url
    ) as client:
        asked = await client.messages.create(
            model="any", max_tokens=9, messages=[{"role": "user", "content": "Propose."}]
        )
    print(isinstance(asked, Message), beta.BetaMessage.__name__, anthropic.__version__ > "0")
    print(anthropic.AnthropicVertex.__name__, anthropic._exceptions.__name__)

asyncio.run(main())
"""
#: Imports aiohttp in one thread while the SDK is loaded, and does not find it, in another.
MEANWHILE = """
import asyncio, sys, threading
from core.llm.providers.sdk_loading import load

tried, found = threading.Event(), threading.Event()

def make():
    try:
        import aiohttp
    except ModuleNotFoundError:
        outcome = "hidden"
    else:
        outcome = "there"
    tried.set()
    found.wait()
    return outcome

async def main():
    making = asyncio.create_task(load("openai", make))
    await asyncio.to_thread(tried.wait)
    import aiohttp
    found.set()
    print(await making, aiohttp.__name__)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("provider", "path"), [("openai", "/v1"), ("openrouter", "/v1"), ("anthropic", "")]
)
def test_the_first_reply_loads_nothing_any_more(provider: str, path: str) -> None:
    command = [sys.executable, "-c", FIRST_REPLY, provider, path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.stdout == "[]\n", done.stderr


def test_who_does_not_want_it_gets_the_sdk_alone_without_a_rehearsal() -> None:
    command = [sys.executable, "-c", NO_REHEARSAL]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.stdout == "['openai', 'anthropic'] []\n", done.stderr


@pytest.mark.parametrize(
    ("provider", "path", "unwanted"),
    [
        ("openai", "/v1", ["resources.", "types.responses.response", "types.beta.", "lib.azure"]),
        ("openrouter", "/v1", ["resources.", "types.responses.response", "types.beta."]),
        ("anthropic", "", ["resources.beta.", "types.beta.organization.analytics", "lib.vertex"]),
    ],
)
def test_asking_loads_little_of_the_sdk(provider: str, path: str, unwanted: list[str]) -> None:
    sdk = "anthropic" if provider == "anthropic" else "openai"
    command = [sys.executable, "-c", TYPED, provider, path, *(f"{sdk}.{one}" for one in unwanted)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.stdout == "[]\n", done.stderr


def test_asking_for_embeddings_loads_none_of_the_typed_resources() -> None:
    command = [sys.executable, "-c", EMBEDDED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.stdout == "[[1.0]] []\n", done.stderr


def test_what_is_read_late_of_an_sdk_is_there_for_others() -> None:
    command = [sys.executable, "-c", TYPED_AFTERWARDS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.stdout.splitlines() == [
        "True Response",
        "True BetaMessage True",
        "AnthropicVertex anthropic._exceptions",
    ], done.stderr


def test_aiohttp_is_hidden_from_an_sdk_and_from_nobody_else() -> None:
    command = [sys.executable, "-c", MEANWHILE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.stdout == "hidden aiohttp\n", done.stderr


@pytest.mark.parametrize("name", [*factory.KEYED, "ollama", "offline"])
def test_whatever_takes_long_to_load_can_be_loaded_before_it_is_asked(name: str) -> None:
    provider = factory.build(name, "sk-test")
    assert isinstance(provider, LoadsSlowly) == (name != "ollama")


async def test_a_rehearsal_is_answered_at_an_address_with_tls() -> None:
    answers = list[str]()

    async def ask(http: httpx2.AsyncClient) -> None:
        answers.append((await http.post("https://vendor.invalid/v1/any")).text)

    await load("openai", object, ([{"delta": "a"}], ask))
    assert answers == ['data: {"delta": "a"}\n\n']


async def test_without_room_for_a_socket_the_sdk_is_loaded_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The path of a Unix socket is 108 characters long at most.
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    provider = AnthropicProvider("sk-test")
    await provider.load()
    await provider.close()
    assert list(folder.iterdir()) == []


async def test_only_the_providers_in_use_are_loaded() -> None:
    class Loading(OpenAIProvider):
        is_loaded = False

        async def load(self, *, rehearse: bool = True) -> None:
            self.is_loaded = rehearse

    ours, other = Loading("sk-test"), Loading("sk-test", dialect=OPENROUTER)
    providers: dict[str, ModelProvider] = {
        "openai": ours,
        "openrouter": other,
        "offline": factory.build("offline"),
    }
    await ModelCalls(providers, SystemClock()).load({"openai", "offline"})
    assert (ours.is_loaded, other.is_loaded) == (True, False)


def test_settings_name_the_providers_that_debates_ask() -> None:
    agent = Agent(
        id="ann",
        name="Ann",
        role="architect",
        provider="openrouter",
        model="m",
        fallbacks=(ModelChoice(provider="workshop", model="m"),),
    )
    absent = agent.model_copy(update={"provider": "moonshot", "fallbacks": (), "enabled": False})
    settings = Settings(
        agents=(agent, absent),
        agent_model=ModelChoice(provider="anthropic", model="m"),
        judge_model=ModelChoice(provider="anthropic", model="m"),
        fallbacks=(ModelChoice(provider="openai", model="m"),),
    )
    assert settings.providers == {"openrouter", "workshop", "anthropic", "openai"}
