"""Commands in one process: what they print, where, and with which exit code."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from bot.building import open_store
from bot.cli import app
from bot.terminal.debating import show_result
from bot.terminal.files import write_file
from bot.terminal.options import DebateCommand
from core.clock import SystemClock
from core.config.playbooks import built_in, built_in_text
from core.debate.debate_events import DebateStarted
from core.debate.log import RecordedEvent, event_from_json, fold
from core.debate.state import Debate, Status
from core.errors import BadInput
from core.testing import a_setup
from core.transcript.evaluation import Criterion
from tests.core.transcript.test_transcript import a_log
from tests.vendors.script import Say, VendorRequest
from tests.vendors.server import Vendor

QUESTION = "Kafka or PostgreSQL for our job queue? No job may be lost."
#: Their checklists agree on the question.
THREE = ("--agents", "architect,security,simplicity")
OWN = built_in_text("rfc-review").replace("title: RFC review", "title: Our review")


class Moot:
    """The command line, with a database of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runner = CliRunner(env={"MOOT_DATABASE": str(folder / "moot.db")})

    def __call__(
        self, *words: str, typed: str = "", env: Mapping[str, str] | None = None
    ) -> Result:
        return self._runner.invoke(app, words, input=typed, env=env)

    def debate(self, *words: str) -> str:
        """The id of a debate of one round."""
        result = self("debate", QUESTION, "--rounds", "1", *words)
        assert result.exit_code == 0, result.output
        return result.stderr.split("moot show ")[1].split()[0]


@pytest.fixture
def moot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Moot:
    monkeypatch.chdir(tmp_path)
    return Moot(tmp_path)


def folded(file: str) -> Debate:
    """What the events of a written record add up to."""
    record: dict[str, Any] = json.loads(Path(file).read_text(encoding="utf-8"))
    return fold(
        RecordedEvent(
            debate_id=record["debate_id"],
            seq=event["seq"],
            at=datetime.fromisoformat(event["at"]),
            event=event_from_json(json.dumps(event["event"])),
        )
        for event in record["events"]
    )


def test_the_decision_is_on_stdout_and_progress_on_stderr(moot: Moot) -> None:
    result = moot("debate", QUESTION, "--rounds", "1", *THREE)

    assert result.exit_code == 0
    assert "# Reasoning and solution" in result.stdout
    assert "Round" not in result.stdout
    for line in (
        "Round 1 of 1: proposal (3 turns)",
        "Round 1 of 1: critique (6 turns)",
        "Architect: critique of Security, round 1: done",
        "Synthesis: the judge writes the verdict",
        f"Saved in {moot.folder / 'moot.db'}. Show it again with: moot show d",
    ):
        assert line in result.stderr


def test_options_reach_the_debate(moot: Moot) -> None:
    Path("problem.md").write_text(f"\n{QUESTION}\n", encoding="utf-8")
    result = moot(
        *("debate", "--problem-file", "problem.md", "--rounds", "2", "--agents", "finance, kiss"),
        *("--context", "We are five people.", "--format", "critique", "--verbose"),
        *("--output", "record.json"),
    )
    setup = folded("record.json").setup

    assert result.exit_code == 0
    assert (setup.question, setup.context) == (QUESTION, "We are five people.")
    assert [agent.role for agent in setup.agents] == ["finance", "simplicity"]
    assert setup.rounds == 2
    assert "done (carried over)" in result.stderr
    assert "Prompts of Finance: built-in" in result.stderr
    assert "In all: " in result.stderr


def test_a_question_comes_from_standard_input_or_behind_two_dashes(moot: Moot) -> None:
    for words in (["-"], ["--problem-file", "-"]):
        assert moot("debate", *words, typed="Kafka or\nSQS?\n").exit_code == 0
        blank = moot("debate", *words, typed=" \n")
        assert "The text on standard input is blank." in str(blank.exception)
    assert moot("debate", "--rounds", "1", "--", "-5 degrees or +5?").exit_code == 0
    assert "Before one that begins with a dash put --." in " ".join(
        moot("debate", "--help").stdout.replace("│", " ").split()
    )
    listed = moot("list").stdout
    assert (listed.count("Kafka or SQS?"), listed.count("-5 degrees or +5?")) == (2, 1)


def test_a_disabled_agent_is_refused_and_a_single_agent_is_reported(moot: Moot) -> None:
    (moot.folder / "moot.yaml").write_text(
        "agents: [{id: ann, role: data}, {id: bob, role: legal, enabled: false}]", encoding="utf-8"
    )
    words = ("debate", QUESTION, "--rounds", "1", "--config", "moot.yaml")
    refused = moot(*words, "--agents", "ann,legal").exception

    assert 'The agent "legal" is disabled in the settings. There are: ann.' in str(refused)
    assert "Warning: One agent alone is no debate" in moot(*words).stderr


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "words"), [(b"n\n", ()), (b"y\n", ()), (b"", ("--yes",))])
def test_a_dear_debate_is_asked_about_on_a_terminal(
    tmp_path: Path, typed: bytes, words: tuple[str, ...]
) -> None:
    """Over a real pseudo-terminal: standard input has to be one."""
    (tmp_path / "moot.yaml").write_text(
        "default_model: {provider: openai, model: gpt-6.1-sol}\nlimits: {turn_seconds: 0.5}\n"
        "prices: {gpt-6.1-sol: {input: 40, output: 100}}\n",
        encoding="utf-8",
    )
    ours, theirs = os.openpty()
    environment = {
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "MOOT_DATABASE": str(tmp_path / "moot.db"),
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    }
    command = (sys.executable, "-c", "from bot.cli import main; main()", "debate", QUESTION)
    options = ("--config", "moot.yaml", "--rounds", "1", "--agents", "data,legal", *words)
    os.write(ours, typed)
    result = subprocess.run(  # noqa: S603 - our own program
        (*command, *options),
        cwd=tmp_path,
        env=environment,
        stdin=theirs,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    os.close(ours)
    os.close(theirs)

    models = "Models: Data modelling: openai/gpt-6.1-sol, Legal: openai/gpt-6.1-sol; judge: "
    assert f"{models}openai/gpt-6.1-sol" in result.stderr
    assert "2 points of view, 1 model." in result.stderr
    assert "It stops before it costs more than its cap, $5.00." in result.stderr
    assert ("Start it?" in result.stderr) is (not words)
    if typed == b"n\n":
        assert result.returncode == 2
        assert "Nothing was started, and nothing was spent." in result.stderr
    else:  # nobody answers at that address
        assert result.returncode == 3


def test_questions_are_asked_on_the_terminal(moot: Moot) -> None:
    result = moot(
        *("debate", QUESTION, "--rounds", "1", "--clarify", "--output", "record.json"),
        typed="About 10 a day\n",
    )
    debate = folded("record.json")
    items = [item for card in debate.clarifications.values() for item in card.items]

    assert result.exit_code == 0
    assert len(items) >= 2
    assert f"1. {items[0].question}" in result.stderr
    assert debate.answers[1].text == "About 10 a day"
    assert debate.answers[2].text == ""
    assert debate.status is Status.CONCLUDED


def test_a_verdict_is_accepted_before_anybody_says_how_it_turned_out(moot: Moot) -> None:
    debate_id = moot.debate(*THREE)

    early = moot("outcome", debate_id, "held")
    assert f"First type: moot accept {debate_id}" in str(early.exception)
    passed = moot("revisit", debate_id, "--on", "2020-01-01")
    assert "has passed" in str(passed.exception)
    rejected = moot("reject", debate_id, "--because", "Too dear.")
    assert f"Recorded: debate {debate_id} is rejected" in rejected.stderr
    accepted = moot("accept", debate_id, "--because", "It is cheap after all.")
    assert f"Recorded: debate {debate_id} is accepted" in accepted.stderr
    assert "It is cheap after all." in moot("export", debate_id, "--format", "adr").stdout
    assert "Nobody has said how" in moot("outcome", debate_id).stderr
    assert "Recorded: held" in moot("outcome", debate_id, "held").stderr
    assert moot("outcome", debate_id).stdout.startswith("held")
    later = moot("revisit", debate_id, "--on", "2999-01-31")
    assert "2999" in later.stderr


def test_reading_commands_create_no_database_and_name_the_one_they_looked_for(
    moot: Moot,
) -> None:
    shown, asked = moot("show", "dabc2345"), moot("ask", "why did we choose", "Kafka?")

    where = str(moot.folder / "moot.db")
    assert where in moot("list").stderr
    assert str(shown.exception) == (
        f"There is no debate dabc2345 in {where}. `moot list` lists all debates."
    )
    assert f"No decision on this is known in {where}." in asked.stderr
    assert "moot debate 'why did we choose Kafka?'" in asked.stderr
    assert where in str(moot("outcome", "dabc2345").exception)
    assert f"No accepted decision is known in {where}." in moot("calibration").stderr
    assert not Path(where).exists()


def test_an_unreadable_source_is_reported_and_without_any_source_no_model_is_asked(
    moot: Moot,
) -> None:
    Path("zero.md").write_text("", encoding="utf-8")
    Path("load.md").write_text("We run 50 jobs a second.", encoding="utf-8")
    none = moot("debate", QUESTION, "--rounds", "1", "--source", "zero.md")
    [held] = json.loads(moot("list", "--json").stdout)
    assert none.exit_code == 1
    assert "No source that was given could be read (zero.md: " in none.stdout
    assert '"kind":"contribution_made"' not in moot("show", held["id"], "--json").stdout

    debate_id = moot.debate("--report", "report.md", "--source", "zero.md", "--source", "load.md")
    decision = moot("show", debate_id).stdout
    adr = moot("export", debate_id, "--format", "adr").stdout
    words = "A source that was given could not be read: zero.md: "
    assert all(words in text for text in (decision, adr, Path("report.md").read_text("utf-8")))
    assert decision.index(words) < decision.index("Confidence:")


@pytest.mark.parametrize("words", [("debate", QUESTION, "--rounds", "1"), ("eval", "-e", "data")])
def test_where_no_model_can_be_asked_the_exit_code_is_3(moot: Moot, words: tuple[str, ...]) -> None:
    Path("quick.yaml").write_text("limits: {turn_seconds: 2}\n", encoding="utf-8")
    Path("moot.yaml").write_text(
        "default_model: {provider: ollama, model: none}\nlimits: {turn_seconds: 1}\n",
        encoding="utf-8",
    )
    ended = [moot.debate("--config", "quick.yaml")] if words[0] == "eval" else []
    env = {"OLLAMA_HOST": "http://127.0.0.1:9"}
    result = moot(*words, *ended, "--config", "moot.yaml", env=env)

    assert result.exit_code == 3
    if ended:
        assert "there are no scores" in result.stdout
        assert "Warning: Data modelling could not score the debate" in result.stderr
    else:
        assert result.stdout == ""
        assert "The debate failed to go on." in result.stderr
        assert "Go on with: moot debate --resume d" in result.stderr


def test_records_can_be_listed_shown_explained_and_exported(moot: Moot) -> None:
    debate_id = moot.debate(*THREE)
    [listed] = moot("list").stdout.splitlines()

    assert listed.split("\t")[:2] == [debate_id, "concluded"]
    assert listed.endswith(QUESTION)
    text = moot("show", debate_id, "--metrics").stdout
    assert f"Debate {debate_id}: concluded" in text
    assert "| Architect | offline/offline-checklists |" in text
    assert "Summaries: 2, " in text
    assert "[r1/critique/architect/security]" in moot("explain", debate_id).stdout
    explanation = moot("explain", debate_id, "r1/critique/architect/security").stdout
    assert explanation.count("[r1/") == 1
    assert "answered in " in explanation
    assert isinstance(moot("explain", debate_id, "critique").exception, BadInput)
    assert moot("report", debate_id).stdout.startswith("# Debate report")
    assert "## Decision" in moot("export", debate_id, "--format", "adr").stdout
    assert moot("export", debate_id, "-f", "md", "-o", "x/report.md").stdout == ""
    assert Path("x/report.md").read_text(encoding="utf-8") == moot("report", debate_id).stdout
    resumed = moot("debate", "--resume", debate_id)
    assert resumed.exit_code == 0
    assert resumed.stdout in moot("show", debate_id).stdout


def test_all_debates_of_a_person_can_be_exported_into_a_folder(moot: Moot) -> None:
    ids = {moot.debate(), moot.debate()}
    record = json.loads(moot("export", min(ids), "--format", "json").stdout)
    person = record["events"][0]["event"]["setup"]["asked_by"]["id"]

    moot("export", "--person", person, "--format", "json", "--output", "all")
    assert {path.name for path in Path("all").iterdir()} == {f"{name}.json" for name in ids}
    nobodys = moot("export", "--person", "U0NOBODY", "--output", "none")
    assert "Wrote 0 debates into none." in nobodys.stderr
    assert "Name the folder" in str(moot("export", "--channel", "C1").exception)
    assert "Name one debate" in str(moot("export").exception)


def scores(request: VendorRequest) -> Say:
    """A vendor's scores of any debate, by the criteria that the prompt names."""
    prompt = json.dumps(request.body)
    marks = [
        {"criterion": criterion.value, "score": 6, "reason": "It says so."}
        for criterion in Criterion
        if json.dumps(f'"{criterion.value}":')[1:-1] in prompt
    ]
    return Say(text=json.dumps({"scores": marks}))


async def test_a_finished_debate_can_be_scored(moot: Moot) -> None:
    debate_id = await asyncio.to_thread(moot.debate)
    async with Vendor(scores) as vendor:
        env = {"ANTHROPIC_API_KEY": "sk-ant-test", "ANTHROPIC_BASE_URL": vendor.url}
        words = ("eval", debate_id, "-e", "security,finance", "-f")
        texts = {
            form: (await asyncio.to_thread(moot, *words, form, env=env)).stdout
            for form in ("md", "json", "csv")
        }
    assert all("requirements" in text.lower() for text in texts.values())
    marks = json.loads(texts["json"])["marks"]
    assert [mark["evaluator"] for mark in marks] == ["security", "finance"]


def test_a_configuration_can_be_checked_imported_and_shown(moot: Moot) -> None:
    theirs = {"debate": {"rounds": 2, "timeoutPerRound": 60000, "synthesisMethod": "merge"}}
    Path("debate-config.json").write_text(json.dumps(theirs), encoding="utf-8")
    checked = moot("config", "check", "debate-config.json")
    imported = moot("config", "import", "debate-config.json", "-o", "moot.yaml")

    assert checked.exit_code == 0
    assert checked.stdout.startswith("debate-config.json can be used.")
    words = "Notice: debate-config.json, line 1: debate.synthesisMethod: Moot has no such setting"
    assert words in imported.stderr
    assert yaml.safe_load(Path("moot.yaml").read_text(encoding="utf-8")) == {
        "debate": {"rounds": 2},
        "limits": {"round_seconds": 60},
    }
    text = moot("config", "show", "--config", "moot.yaml").stdout
    Path("shown.yaml").write_text(text, encoding="utf-8")
    settings = yaml.safe_load(text)
    assert (settings["debate"]["rounds"], settings["limits"]["round_seconds"]) == (2, 60.0)
    assert moot("config", "check", "shown.yaml").exit_code == 0
    assert moot("config", "show", "--config", "shown.yaml").stdout == text
    assert json.loads(moot("config", "schema").stdout)["title"] == "SettingsFile"


def test_settings_and_checks_can_be_had_as_json(moot: Moot) -> None:
    Path("bad.yaml").write_text("debate:\n  roundz: 3\n", encoding="utf-8")
    Path("good.yaml").write_text("debate: {rounds: 2}\n", encoding="utf-8")
    good, bad = (moot("config", "check", f"{name}.yaml", "--json") for name in ("good", "bad"))
    shown = moot("config", "show", "--config", "good.yaml", "--json")
    doctor = moot("doctor", "--json")

    assert json.loads(good.stdout)["usable"] is True
    assert json.loads(good.stdout)["notices"] == []
    assert bad.exit_code == 4
    assert json.loads(bad.stdout)["problems"] == [
        'bad.yaml, line 2: debate.roundz is no setting. Did you mean "rounds"?'
    ]
    webhook = "landing: {webhooks: [{name: a, url: %s, secret_variable: A_SECRET}]}\n"
    Path("open.yaml").write_text(webhook % "http://a.example/x", encoding="utf-8")
    Path("keyless.yaml").write_text(webhook % "https://a.example/x", encoding="utf-8")
    refused = moot("config", "check", "open.yaml", "--json")
    assert (refused.exit_code, "unencrypted; use https://" in refused.stdout) == (4, True)
    Path("pulled.yaml").write_text("default_model: {provider: ollama}\n", encoding="utf-8")
    assert moot("config", "check", "pulled.yaml").exit_code == 0, "it may run where one is pulled"
    keyless = moot("config", "check", "keyless.yaml")
    assert (keyless.exit_code, "The webhook a: A_SECRET" in keyless.stderr) == (0, True)
    assert json.loads(shown.stdout)["debate"]["rounds"] == 2
    assert json.loads(doctor.stdout)["well"] is (doctor.exit_code == 0)
    Path("shown.json").write_text(shown.stdout, encoding="utf-8")
    assert moot("config", "check", "shown.json").exit_code == 0


def test_playbooks_can_be_listed_shown_and_checked(moot: Moot) -> None:
    Path("moot.yaml").write_text("debate:\n  rounds: 2\n")
    Path("playbooks").mkdir()
    Path("playbooks/own.yaml").write_text(OWN)
    Path("playbooks/broken.yaml").write_text("name: x\nrouns: 2\n")

    def playbook(*words: str) -> Result:
        return moot("playbook", *words, "--config", "moot.yaml")

    listed, broken = playbook("list"), playbook("check")
    fault = 'broken.yaml, line 2: rouns is no key of a playbook. Did you mean "rounds"?'
    assert "rfc-review (playbooks/own.yaml, instead of the built-in one)" in listed.stdout
    assert "vendor-choice (built in)" in listed.stdout
    assert (listed.exit_code, fault in listed.stderr) == (0, True)
    assert (broken.exit_code, fault in broken.stderr) == (4, True)
    assert len(json.loads(playbook("list", "--json").stdout)) == len(built_in())
    assert playbook("show", "rfc-review").stdout == OWN
    assert playbook("show", "build-or-buy").stdout == built_in_text("build-or-buy")
    shown = json.loads(playbook("show", "build-or-buy", "--json").stdout)
    assert shown["title"] == "Build or buy"

    Path("playbooks/broken.yaml").unlink()
    mended = playbook("check")
    assert mended.exit_code == 0
    assert mended.stdout == "playbooks/own.yaml can be used: Our review.\n"
    assert playbook("check", "playbooks/own.yaml").exit_code == 0
    assert json.loads(playbook("check", "moot.yaml", "--json").stdout)["usable"] is False


def test_a_report_in_place_of_a_folder_is_refused_before_a_debate_is_held(moot: Moot) -> None:
    for folder in (".", "/"):
        assert f"{folder} is a folder" in str(moot("debate", "x", "--report", folder).exception)


def test_a_report_that_cannot_be_written_is_only_a_warning(tmp_path: Path) -> None:
    target = tmp_path / "folder.md"
    target.mkdir()
    show_result(fold(a_log()), DebateCommand(question=["x"], report=target), "{}", "moot.db")

    assert list(target.iterdir()) == []


async def test_a_debate_of_slack_is_not_taken_up_here(moot: Moot) -> None:
    async with open_store(str(moot.folder / "moot.db")) as store:
        started = DebateStarted(setup=a_setup())
        await store.create("dabc2345", started, origin="x", at=SystemClock().now())
    result = await asyncio.to_thread(moot, "debate", "--resume", "dabc2345")
    assert "belongs to slack and cannot be resumed here" in str(result.exception)


def test_a_written_file_can_be_read_by_whom_the_umask_allows(tmp_path: Path) -> None:
    before = os.umask(0o022)
    write_file(tmp_path / "x.md", "text")
    os.umask(before)

    assert (tmp_path / "x.md").stat().st_mode & 0o777 == 0o644
    assert [path.name for path in tmp_path.iterdir()] == ["x.md"]


def test_a_debate_all_agree_on_is_skipped_and_can_be_held_all_the_same(moot: Moot) -> None:
    result = moot("debate", QUESTION, "--when", "split", *THREE)
    debate_id = result.stderr.split("moot show ")[1].split()[0]
    again = moot("debate", "--resume", debate_id, "--when", "always")

    assert "the debate was skipped." in result.stdout
    command = f"moot debate --resume {debate_id} --when always"
    assert f"To have it debated anyway: {command}" in result.stderr
    assert again.exit_code == 0
    assert "wants the debate all the same." in again.stderr
    assert "Round 1 of 3: critique (6 turns)" in again.stderr
    assert "wanted the debate all the same." in again.stdout
    assert "all the same with" not in again.stderr
