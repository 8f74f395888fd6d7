"""The files for compose, systemd, Kubernetes and HTTP mode are correct."""

import configparser
import copy
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from bot.settings import INSTALL_PATH, REDIRECT_PATH, variables
from bot.slack.connection.http import EVENTS_PATH
from tests.frame.files import ROOT, modules, read

DOCKERFILE = re.sub(r"\\\n", " ", read("Dockerfile"))
COMPOSE: dict[str, Any] = yaml.safe_load(read("compose.yaml"))
BOT: dict[str, Any] = COMPOSE["services"]["moot"]
POSTGRES: dict[str, Any] = COMPOSE["services"]["postgres"]
OBJECTS: list[dict[str, Any]] = list(yaml.safe_load_all(read("deploy/kubernetes.yaml")))
DEPLOYMENT, POLICY, SERVICE = OBJECTS
POD: dict[str, Any] = DEPLOYMENT["spec"]["template"]["spec"]
MANIFEST: dict[str, Any] = yaml.safe_load(read("manifest.yaml"))
HTTP_MANIFEST: dict[str, Any] = yaml.safe_load(read("manifest.http.yaml"))
SCHEMA: dict[str, Any] = json.loads(read("tests/frame/slack_schema/manifest.schema.1.0.0.json"))
HOST = "https://moot.example.com"
ANYWHERE = "0.0.0.0"  # noqa: S104 - of the container
#: Seconds that `bot.app.running` takes to stop at most.
STOP_SECONDS = 10


def entry_point() -> list[str]:
    return json.loads(re.findall(r"^ENTRYPOINT (.+)$", DOCKERFILE, re.MULTILINE)[0])


@pytest.mark.parametrize(
    ("host", "understood"), [(None, ANYWHERE), ("", ANYWHERE), ("127.0.0.1", "127.0.0.1")]
)
def test_in_the_image_an_empty_host_is_the_whole_container(
    host: str | None, understood: str
) -> None:
    env = {"PATH": "/usr/bin:/bin"} | ({} if host is None else {"MOOT_HOST": host})
    command = [*entry_point(), "printenv", "MOOT_HOST"]
    process = subprocess.run(command, env=env, check=True, capture_output=True, text=True)  # noqa: S603 - the image's own
    assert process.stdout == f"{understood}\n"


def test_the_entry_point_passes_words_on_and_leaves_no_shell_behind() -> None:
    # A program below a waiting shell is not process 1 and gets no signal to stop.
    command = [*entry_point(), "sh", "-c", 'echo $$; echo "$1"', "sh", "two words"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - the image's own
        text, _ = process.communicate(timeout=300)
    assert text.splitlines() == [str(process.pid), "two words"]


def test_compose_opens_the_port_to_this_machine_only() -> None:
    assert BOT["ports"] == ["127.0.0.1:3000:3000"]
    assert "ports" not in POSTGRES


def test_the_example_of_an_environment_lists_every_variable_once_empty_and_explained() -> None:
    parts = re.split(r"^(?=#)", read(".env.example"), flags=re.MULTILINE)
    named = [name for part in parts for name in re.findall(r"^([A-Z_]+)=", part, re.MULTILINE)]
    assert sorted(named) == sorted(variables())
    for name in named:
        part = next(part for part in parts if f"\n{name}=" in part)
        assert re.search(rf"^{name}=$", part, re.MULTILINE), name
        assert re.match(r"# .{5,}\n", part), name


@pytest.mark.parametrize("file", ["compose.yaml", "deploy/moot.service", "deploy/kubernetes.yaml"])
def test_variables_exist(file: str) -> None:
    named = set(re.findall(r"\b(?:MOOT|SLACK)_[A-Z_]+", read(file)))
    assert named
    assert named <= set(variables())


def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # pyright: ignore[reportAttributeAccessIssue] - as configparser says
    parser.read_string(read("deploy/moot.service"))
    return parser


def test_the_unit_runs_what_the_page_installs() -> None:
    program, *words = unit()["Service"]["ExecStart"].split()
    assert words == ["run"]
    assert program in read("docs/deploy.md")
    assert f"python3 -m venv {program.removesuffix('/bin/moot')}\n" in read("docs/deploy.md")
    environment = unit()["Service"]["EnvironmentFile"]
    assert f"install -D -m 600 .env {environment}" in read("docs/deploy.md")


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("no systemd here")
    text = read("deploy/moot.service").replace("/usr/local/lib/moot/bin/moot", "/bin/true")
    (tmp_path / "moot.service").write_text(text, encoding="utf-8")
    command = [program, "verify", str(tmp_path / "moot.service")]
    process = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - systemd's
    assert "moot.service" not in process.stderr


def test_whoever_stops_it_gives_it_the_time_it_takes() -> None:
    assert int(unit()["Service"]["TimeoutStopSec"]) > STOP_SECONDS
    assert int(BOT["stop_grace_period"].removesuffix("s")) > STOP_SECONDS
    assert POD["terminationGracePeriodSeconds"] > STOP_SECONDS


def test_kubernetes_sets_no_variable_of_its_own() -> None:
    """A Service called moot would set MOOT_PORT to an address."""
    assert SERVICE["metadata"]["name"] == "moot"
    assert "MOOT_PORT" in variables()
    assert POD["enableServiceLinks"] is False


def test_the_manifest_for_http_is_the_other_one_with_addresses() -> None:
    manifest = copy.deepcopy(MANIFEST)
    address = HOST + EVENTS_PATH
    manifest["settings"]["socket_mode_enabled"] = False
    manifest["settings"]["event_subscriptions"]["request_url"] = address
    manifest["settings"]["interactivity"]["request_url"] = address
    for command in manifest["features"]["slash_commands"]:
        command["url"] = address
    manifest["oauth_config"]["redirect_urls"] = [HOST + REDIRECT_PATH]
    assert manifest == HTTP_MANIFEST
    jsonschema.Draft7Validator(SCHEMA).validate(HTTP_MANIFEST)


def test_the_proxy_of_the_page_passes_on_what_slack_and_browsers_ask() -> None:
    passed = re.findall(r"location (/\S+) \{", read("docs/deploy.md"))
    assert passed
    for path in (EVENTS_PATH, INSTALL_PATH, REDIRECT_PATH):
        assert path.startswith(passed[0])


def test_nobody_is_sent_to_a_package_of_another_moot() -> None:
    paths = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *modules("bot", "core")]
    sent = r"pip install ['\"]?moot"
    assert [str(item) for item in paths if re.search(sent, item.read_text(encoding="utf-8"))] == []
