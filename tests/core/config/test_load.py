"""Configuration files: their settings, and errors with file, line and key."""

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from core.config.load import FileDefaults, LoadedFile, load, load_file
from core.config.writing import all_as_yaml, as_yaml, json_schema
from core.debate.agents import ContextMethod, ModelChoice, PromptText
from core.debate.people import Person, Place
from core.debate.rules import Clarifying, Ending, Termination, When
from core.debate.setup import Setup
from core.errors import ConfigurationBroken
from core.opening import DebateRequest, open_debate
from core.settings import CommonSettings, Settings

PROVIDERS = {
    "openai": "gpt-small",
    "anthropic": "claude-small",
    "offline": "offline-checklists",
    "compatible": "",
}
KNOWN = FileDefaults(providers=PROVIDERS)
REQUEST = DebateRequest(
    question="Kafka or PostgreSQL?", asked_by=Person(id="U1"), place=Place(surface="slack")
)
DIALECTIC_PROMPTS = ("prompts/ada", "prompts/ada-summary", "prompts/summary")
DIALECTIC = {
    "agents": [
        {
            "id": "agent-architect",
            "name": "Ada",
            "role": "architect",
            "model": "gpt-4",
            "provider": "openai",
            "temperature": 0.5,
            "systemPromptPath": "./prompts/ada.md",
            "summaryPromptPath": "./prompts/ada-summary.md",
            "summarization": {"threshold": 8000},
        },
        {
            "id": "agent-kiss",
            "name": "Kim",
            "role": "kiss",
            "enabled": False,
            "systemPromptPath": None,
        },
    ],
    "judge": {
        "id": "judge-main",
        "name": "Referee",
        "role": "generalist",
        "model": "gpt-4",
        "provider": "openai",
        "temperature": 0.3,
    },
    "debate": {
        "rounds": 2,
        "terminationCondition": {"type": "convergence", "threshold": 0.9},
        "synthesisMethod": "judge",
        "includeFullHistory": True,
        "timeoutPerRound": 300000.0,
        "summarization": {
            "enabled": True,
            "threshold": 5000,
            "maxLength": 2000,
            "method": "length-based",
            "promptPath": "./prompts/summary.md",
        },
        "interactiveClarifications": True,
        "clarificationsMaxPerAgent": 3,
    },
}


def read(file: str) -> PromptText:
    return PromptText(text=f"Text of {file}", source=file)


def loaded(text: str, name: str = "moot.yaml", defaults: FileDefaults = KNOWN) -> LoadedFile:
    return load(text, name, defaults, read)


def problems(text: str, name: str = "moot.yaml") -> list[str]:
    with pytest.raises(ConfigurationBroken) as caught:
        loaded(text, name)
    return str(caught.value).splitlines()


#: Every kind of setting.
RICH = """
default_model: {provider: openai}
summary_model: {provider: openai, model: gpt-6-luna}
fallbacks: [{provider: offline}]
agents:
  - {id: ann, role: security, icon: ":key:", temperature: 0.2, fallbacks: [], enabled: false,
     prompts: {persona: ann.md}, summarization: {threshold: 9, prompt_file: short.md}}
  - {id: bob, role: legal, name: Wizard, summarization: {method: full}}
judge: {name: Referee, provider: anthropic, summarization: {max_length: 10}}
debate:
  format: panel
  rounds: 4
  when: always
  termination: {type: fixed, min_rounds: 2}
  clarifications: {enabled: true, wait_seconds: 60}
  summarization: {threshold: 700, prompt_file: folder/summary.md}
vote: {exclude_self: true, weights: {ann: 0.5}}
limits: {turn_seconds: 9.5, debate_cost: 0.1, most_debate_cost: 2, day_cost: 5}
prompts: {critique: kind.md}
models: [{match: my-model, context_tokens: 1000}]
prices: {my-model: {input: 0.1, output: 2}}
"""


def test_every_setting_of_a_full_file_arrives() -> None:
    settings = loaded(RICH).settings

    ann, bob = settings.agents
    assert (ann.name, ann.role, ann.icon, ann.model) == (
        "Security",
        "security",
        ":key:",
        "gpt-small",
    )
    assert (ann.temperature, ann.enabled, ann.fallbacks) == (0.2, False, ())
    assert ann.prompts["persona"].text == "Text of ann.md"
    assert ann.summarization
    assert (ann.summarization.threshold, ann.summarization.max_length) == (9, 2500)
    assert (bob.name, bob.provider, bob.fallbacks) == ("Wizard", "openai", None)
    assert bob.icon == ":scroll:", "that of its role"
    assert settings.judge
    assert (settings.judge.name, settings.judge.model) == ("Referee", "claude-small")
    assert (settings.format, settings.rounds, settings.when) == ("panel", 4, When.ALWAYS)
    assert settings.termination == Termination(ending=Ending.FIXED, min_rounds=2)
    assert (settings.clarifying.enabled, settings.clarifying.wait_seconds) == (True, 60.0)
    assert settings.summarization.threshold == 700
    assert (settings.vote.exclude_self, settings.vote.weights) == (True, {"ann": 0.5})
    assert settings.limits.debate_cost == Decimal("0.1")
    assert (settings.limits.turn_seconds, settings.limits.day_cost) == (9.5, Decimal(5))
    assert settings.prompts["critique"].text == "Text of kind.md"
    assert settings.models == ({"match": "my-model", "context_tokens": 1000},)
    assert settings.prices["my-model"].input == Decimal("0.1")


#: A value of every setting that file and program share, none of them the usual one.
UNUSUAL = {
    "summary_model": {"provider": "openai", "model": "gpt-6-luna"},
    "shadow_model": {"provider": "openai", "model": "gpt-6-luna"},
    "agents": [{"id": "ann", "role": "security"}],
    "casting": False,
    "servers": [{"name": "own", "base_url": "http://127.0.0.1:1/v1"}],
    "vote": {"exclude_self": False},
    "limits": {"quorum": 1},
    "outcomes": {"ask_after_days": 7},
    "calls_at_once": 3,
    "stall": {"first_token": 90, "between_tokens": 30},
    "landing": {"records": [{"name": "files", "folder": "/srv/decisions"}]},
    "evidence": {"link_hosts": ["docs.example.com"], "pages": 3},
    "fallbacks": [{"provider": "offline"}],
    "prompts": {"critique": "strict.md"},
    "models": [{"match": "my-model", "context_tokens": 1000}],
    "prices": {"my-model": {"input": 0.1, "output": 2}},
}


@pytest.mark.parametrize("name", CommonSettings.model_fields)
def test_no_setting_of_a_file_is_taken_and_forgotten(name: str) -> None:
    settings = loaded(json.dumps({name: UNUSUAL[name]}), "moot.json").settings

    assert getattr(settings, name) != getattr(KNOWN.settings, name)


#: Content of a file, and the beginning of its first problem after the name of the file.
PROBLEMS = [
    ("debate:\n  roundz: 3", 'line 2: debate.roundz is no setting. Did you mean "rounds"?'),
    ("\nvotes: {}", 'line 2: votes is no setting. Did you mean "vote"?'),
    ("agents:\n- id: a\n  rolle: x",
     'line 3: agents[0].rolle is no setting. Did you mean "role"?'),
    ("debate: {qqq: 1}", "line 1: debate.qqq is no setting. There are: format, rounds, "),
    ("rounds: 3", 'line 1: rounds is no setting. Did you mean "debate.rounds"?'),
    ("debate: {agents: []}",
     'line 1: debate.agents is no setting. Did you mean "agents" at the top of the file?'),
    ("prices:\n  m:\n    input: 1\n    output: 2\n    cach: 1",
     'line 5: prices.m.cach is no setting. Did you mean "cached"?'),
    ("debate: {clarifying: {}}", "line 1: debate.clarifying is no setting."),
    ("debate: {format: critic}", 'line 1: debate.format: there is no format "critic". Did you'),
    ("prompts: {critik: x}", 'line 1: prompts.critik is no prompt. Did you mean "critique"?'),
    ("agents:\n- name: Ann", "line 2: agents[0].id is missing."),
    ("agents:\n- id: a\n- id: a", 'line 3: agents[1].id: another agent has the id "a".'),
    ("agents:\n- id: judge", 'line 2: agents[0].id: "judge" is reserved for Moot itself.'),
    ("agents:\n- id: a/b", 'line 2: agents[0].id: "a/b" may only have letters'),
    ("agents:\n- {id: a, role: architekt}",
     'line 2: agents[0].role: there is no role "architekt". Did you mean "architect"?'),
    ("agents:\n- {id: a, role: wizard}",
     'line 2: agents[0].role: there is no role "wizard". There are: architect, performance, '),
    ("debate:\n  rounds: 0", "line 2: debate.rounds must be 1 or more."),
    ("debate: {summarization: {method: magic}}",
     "line 1: debate.summarization.method must be 'full', 'length', 'rounds' or"),
    ("limits: {most_debate_cost: 2, debate_cost: null}",
     "line 1: limits.debate_cost: is above limits.most_debate_cost."),
    ("models:\n- {match: x, contxt: 5}", "line 2: models[0].contxt is no setting. There are: m"),
    ("models:\n- {match: x, context_token: 5, input_tokens: -1}",
     'line 2: models[0].context_token is no setting. Did you mean "context_tokens"?'),
    ("servers:\n- {name: lab, base_url: 'http://lab/v1', api_key: k}",
     "line 2: servers[0].api_key is no setting. There are: name, base_url, key_variable"),
    ("debate: 3", "line 1: debate must be a table of keys and values."),
    ("prompts: {critique: {text: Be kind., source: x}}",
     "line 1: prompts.critique must be the name of a file."),
    ("default_model: {provider: openia}",
     'line 1: default_model.provider: there is no provider "openia". Did you mean "openai"?'),
    ("default_model: {provider: openai, model: gpt-6.1-tera}",
     'line 1: default_model.model: Moot knows no model "gpt-6.1-tera" of openai. Did you'),
    ("agents: [{id: ann, provider: anthropic, model: nonsense}]",
     'line 1: agents[0].model: Moot knows no model "nonsense" of anthropic. If it is new'),
    ("judge: {provider: anthropic, model: claude-sonet-5-5}", "line 1: judge.model: "),
    ("fallbacks: [{model: x}]", "line 1: fallbacks[0]: a fallback needs a provider"),
    ("agents: [{id: ann, fallbacks: [{provider: antropic}]}]",
     "line 1: agents[0].fallbacks[0].provider: there is no provider"),
    ("servers: [{name: a, base_url: models.example.com/v1}]",
     "line 1: servers[0].base_url must begin with https:// or http://."),
    ("servers: [{name: a, base_url: http://x, key_variable: FOO}]",
     "line 1: servers[0].key_variable must be in capitals and contain KEY, TOKEN or SECRET."),
    ("servers: [{name: A b, base_url: http://x, key_variable: FOO}]",
     "line 1: servers[0].name must have lower case letters, digits and hyphens only"),
    ("default_model: {provider: compatible}",
     'line 1: default_model: name a model of "compatible" too.'),
    ("agents: [{id: a}, {id: b, fallbacks: [{provider: compatible}]}]",
     'line 1: agents[1].fallbacks: name a model of "compatible" too.'),
    ("servers: [{name: openai, base_url: http://x}]",
     'line 1: servers[0].name: a provider has the name "openai"'),
    ("servers: [{name: a, base_url: http://x}, {name: a, base_url: http://y}]",
     'line 1: servers[1].name: another server has the name "a"'),
    ("servers: [{name: a, base_url: http://x}]\ndefault_model: {provider: a}",
     'line 2: default_model: name a model of "a" too'),
    ("debate:\n  rounds: 2\n  rounds: 3",
     "line 3: debate.rounds is set twice; first on line 2."),
    ("debate: {rounds: [", "line 1: the file ends in the middle of a value"),
    ("a: [1\nb: 2", "line 2: "),
    ("1: x", "line 1: the key 1 must be text; put it in quotes."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), PROBLEMS)
def test_a_problem_names_file_line_key_and_the_nearest_name(text: str, problem: str) -> None:
    assert problems(text)[0].startswith(f"moot.yaml, {problem}")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("zzz: 1\nlimits:\n  debate_cost: x\ndebate:\n  rouns: 2\nqqq: 1", (1, 3, 5, 6)),
        # A misspelt key hides no other problem.
        ("debate:\n  rouns: 2\n  format: cirtique\ndefault_model: {provider: openia}", (2, 3, 4)),
    ],
)
def test_all_problems_are_listed_in_the_order_of_their_lines(
    text: str, numbers: tuple[int, ...]
) -> None:
    lines = problems(text)

    assert [line.split(":")[0] for line in lines] == [f"moot.yaml, line {n}" for n in numbers]


def test_a_number_of_json_is_one() -> None:
    text = '{"stall": {"first_token": 1.2e2, "between_tokens": 3E1}}'

    stall = loaded(text, "moot.json").settings.stall

    assert (stall.first_token, stall.between_tokens) == (120, 30)


SERVER = "name: a, channels: ['*'], tools: [{name: t}]"
LOG = "name: a, url: https://x, secret_variable: A_SECRET"
#: A section, its content, and words of its only problem.
IN_SECTIONS = [
    *(("evidence", f"mcp_servers: [{servers}]", words) for servers, words in [
        (f"{{{SERVER}}}", "mcp_servers[0]: needs a command or a url, one of the two"),
        (f"{{{SERVER}, command: [a], url: http://b}}", "needs a command or a url, one of the two"),
        (f"{{{SERVER}, url: http://b, variables: [A_KEY]}}", "only a command is handed variables"),
        (f"{{{SERVER}, command: [a], key_variable: A_KEY}}", "only a url is sent a key"),
        (f"{{{SERVER}, command: [a], variables: [HOME]}}", "[0].variables[0]"),
        (f"{{{SERVER}, command: [a]}}, {{{SERVER}, url: http://b}}", 'has the name "a"'),
        ("{name: a, command: [a], tools: [{name: t}]}", "[0].channels is missing"),
        ("{name: a, command: [a], channels: [], tools: [{name: t}]}", "[0].channels"),
        ("{name: a, command: [a], channels: ['*'], tools: []}", "[0].tools"),
        ("{name: a, command: [a], channels: ['#team'], tools: [{name: t}]}",
         '[0].channels[0]: "#team" is no id of a channel'),
        # A list whose items are wrong is not called empty.
        ("{name: a, url: http://b, channels: ['*'], tools: [{name: x, nam: y}]}",
         "tools[0].nam is no setting"),
        (f'{{{SERVER}, command: [a, "b\\0c"]}}', "[0].command[1]: has a NUL character"),
        (f"{{{SERVER}, comand: [a]}}", 'comand is no setting. Did you mean "command"?'),
    ]),
    ("evidence", "link_hosts: ['https://docs.example.com/x']", "must be a host, like docs.exam"),
    *(("landing", text, words) for text, words in [
        ("webhooks: [{name: a, url: ftp://x, secret_variable: A_SECRET}]", "must begin with https://"),
        ("webhooks: [{name: a, url: https://x, secret_variable: A}]", "secret_variable"),
        (f"webhooks: [{{{LOG}, events: [begun]}}]", "must be 'started'"),
        (f"webhooks: [{{{LOG}, channels: [general]}}]", '"general" is no id of a channel'),
        (f"webhooks: [{{{LOG}, old_secret_variable: A_SECRET}}]",
         "is the variable of the newer secret"),
        ("records: [{name: a}]", "needs a folder or a repository"),
        ("records: [{name: a, folder: /a, repository: https://x}]", "one of the two"),
        ("records: [{name: a, folder: a/b}]", "must be an absolute path"),
        ("records: [{name: a, folder: /a, token_variable: A_TOKEN}]", "only a repository is sent"),
        ('records: [{name: a, repository: "git@x:a/b"}]', "there is no SSH"),
        ("records: [{name: a, repository: https://x, branch: main}]", "with {debate} in it"),
        ('records: [{name: a, repository: https://x, branch: "a/{debate}.lock"}]', "{debate}"),
        ("records: [{name: a, repository: https://x, path: a/../b}]", "has an empty part"),
        ("records: [{name: a, repository: https://x, path: /etc}]", "path"),
        ('records: [{name: a, repository: https://x, author: "A"}]', "author"),
        (r'records: [{name: a, repository: https://x, author: "A <a\0@b>"}]', "author"),
        (r'records: [{name: a, repository: "https://x/\0y"}]', "repository: has a NUL character"),
        (r'records: [{name: a, folder: "/a\x00b"}]', "folder: has a NUL character"),
        ("records: [{name: a, folder: /a}, {name: a, folder: /b}]", 'has the name "a"'),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("section", "text", "words"), IN_SECTIONS)
def test_a_server_or_a_receiver_that_cannot_be_used_is_named(
    section: str, text: str, words: str
) -> None:
    (line,) = problems(f"{section}:\n  {{{text}}}")

    assert line.startswith(f"moot.yaml, line 2: {section}.")
    assert words in line


def test_keys_taken_over_from_elsewhere_in_the_file_have_the_line_they_stand_on() -> None:
    lines = problems("agents:\n- &x {id: a, temperature: 3}\n- {<<: *x, id: b}")

    assert lines[1].startswith("moot.yaml, line 2: agents[1].temperature must be")


@pytest.mark.parametrize(
    "text", ["agents: &a [*a]", "{a: " * 900 + "}" * 900, '{"a": ' + "[" * 900 + "]" * 900 + "}"]
)
def test_a_file_that_is_nested_too_deeply_is_refused(text: str) -> None:
    assert problems(text) == ["moot.yaml is nested too deeply."]


def test_misplaced_values_are_problems_and_no_crash() -> None:
    agents = "agents:\n- {id: a, prompts: 3, systemPromptPath: x}\n"

    assert len(problems(f"{agents}limits: 3\ndebate: {{timeoutPerRound: 1}}")) >= 2


@given(st.text(max_size=60))
def test_any_text_gives_settings_or_a_readable_error(text: str) -> None:
    for name in ("moot.yaml", "moot.json"):
        try:
            loaded(text, name)
        except ConfigurationBroken as error:
            assert str(error).startswith(name)  # noqa: PT017 - either way is fine


def test_a_file_of_dialectic_is_accepted_unchanged() -> None:
    file = loaded(json.dumps(DIALECTIC, indent=2), "debate-config.json")
    settings = file.settings

    assert [agent.role for agent in settings.agents] == ["architect", "simplicity"]
    assert [agent.enabled for agent in settings.agents] == [True, False]
    ada = settings.agents[0]
    assert ada.prompts["persona"].source == "./prompts/ada.md"
    assert ada.prompts["summary"].source == "./prompts/ada-summary.md"
    assert ada.summarization
    assert (ada.summarization.threshold, ada.summarization.max_length) == (8000, 2000)
    assert settings.judge
    assert (settings.judge.id, settings.judge.name) == ("judge", "Referee")
    assert settings.termination.ending is Ending.CONVERGED
    assert settings.limits.round_seconds == 300
    assert settings.clarifying.enabled
    assert settings.clarifying.per_agent == 3
    assert settings.summarization.prompt
    assert settings.summarization.method is ContextMethod.LENGTH
    (notice,) = file.notices
    assert "debate.terminationCondition.threshold: is not used: rounds end by options" in notice


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("debate", "synthesisMethod"), "merge", "Moot has no such setting: the agents vote"),
        (("debate", "includeFullHistory"), False, "Moot has no such setting"),
        (("debate", "terminationCondition"), {"type": "quality"}, '"quality" is not supported'),
        (("debate", "clarificationsMaxIterations"), 3, "Moot has no such setting"),
        (("orchestratorType",), "ai", "Moot has no such setting"),
        (("debate", "trace"), True, "Moot has no such setting"),
        (("agents", 0, "tools"), {"any": ["thing"]}, "Moot has no such setting"),
        (("judge", "tools"), {}, "Moot has no such setting"),
        (
            ("agents", 0, "systemPrompt"),
            "You are Ann.",
            "this text is not used. Put it into a file",
        ),
    ],
)
def test_settings_that_only_dialectic_has_are_reported(
    path: tuple[str | int, ...], value: object, words: str
) -> None:
    values = json.loads(json.dumps(DIALECTIC))
    del values["debate"]["terminationCondition"]
    place = values
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value

    (notice,) = loaded(json.dumps(values), "debate-config.json").notices

    assert notice.startswith("debate-config.json, line 1: ")
    assert f"{path[-1]}: {words}" in notice


def test_an_imported_file_means_the_same_in_our_words() -> None:
    theirs = json.dumps(DIALECTIC)
    ours = as_yaml(loaded(theirs, "debate-config.json").file)

    assert "timeoutPerRound" not in ours
    assert yaml.safe_load(ours)["limits"] == {"round_seconds": 300}
    assert loaded(ours).settings == loaded(theirs, "debate-config.json").settings


def test_no_cap_is_still_none_when_a_file_is_written_again() -> None:
    ours = as_yaml(loaded("limits: {debateCost: null}").file)

    assert yaml.safe_load(ours) == {"limits": {"debate_cost": None}}
    assert loaded(ours).settings.limits.debate_cost is None


@pytest.mark.parametrize(
    "text", ["", RICH, "limits: {debate_cost: null}", json.dumps(DIALECTIC)], ids=lambda t: t[:9]
)
def test_all_settings_are_shown_as_a_file_that_means_the_same(text: str, tmp_path: Path) -> None:
    usual = {"openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5", "offline": "checklists"}
    base = Settings(
        agent_model=ModelChoice(provider="openai", model="gpt-6-luna"),
        judge_model=ModelChoice(provider="anthropic", model="claude-sonnet-5-5"),
        clarifying=Clarifying(enabled=True),
    )
    defaults = FileDefaults(settings=base, providers=usual)
    for name in ("ann", "short", "kind", "folder/summary", *DIALECTIC_PROMPTS):
        (tmp_path / f"{name}.md").parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.md").write_text(f"Text of {name}.", encoding="utf-8")
    file = tmp_path / "moot.yaml"
    file.write_text(text, encoding="utf-8")
    first = load_file(file, defaults).settings

    text_of_all = all_as_yaml(first, tmp_path)
    file.write_text(text_of_all, encoding="utf-8")
    again = load_file(file, defaults).settings

    assert all_as_yaml(again, tmp_path) == text_of_all
    assert Draft202012Validator(json_schema()).is_valid(yaml.safe_load(text_of_all))
    for request in (REQUEST, replace(REQUEST, format="panel")):
        assert opened(request, again) == opened(request, first)


def opened(request: DebateRequest, settings: Settings) -> Setup:
    setup = open_debate(request, settings, delimiter="ab")
    return Setup.model_validate_json(setup.model_dump_json())


def test_the_highest_cap_bounds_also_the_usual_one() -> None:
    settings = loaded("limits: {most_debate_cost: 2}").settings

    assert opened(REQUEST, settings).limits.debate_cost == Decimal(2)


def test_an_unusable_prompt_file_is_reported_with_the_prompt_used_instead(
    tmp_path: Path,
) -> None:
    files = {"ann": b"You are Ann.\n", "blank": b" \n", "binary": b"\xff\xfe\x00", "all": b"So."}
    for name, content in files.items():
        (tmp_path / f"{name}.md").write_bytes(content)
    text = """
prompts: {critique: all.md}
debate: {summarization: {prompt_file: all.md}}
agents:
- {id: ann, name: Ann, summarization: {prompt_file: lost.md}, prompts: {persona: ann.md,
   critique: blank.md, proposal: gone.md, refinement: binary.md}}
"""
    (tmp_path / "moot.yaml").write_text(text, encoding="utf-8")
    settings = load_file(tmp_path / "moot.yaml", KNOWN).settings

    persona = PromptText(text="You are Ann.\n", source=str(tmp_path / "ann.md"))
    assert settings.agents[0].prompts == {"persona": persona}
    words = [warning.partition(":")[0] for warning in settings.warnings]
    assert words == [
        "The prompt file blank.md (Ann, critique) cannot be used",
        "The prompt file gone.md (Ann, proposal) cannot be used",
        "The prompt file binary.md (Ann, refinement) cannot be used",
        "The prompt file lost.md (Ann, summaries) cannot be used",
    ]
    assert settings.agents[0].summarization
    assert settings.agents[0].summarization.prompt == settings.summarization.prompt


SERVERS = """
servers:
  - {name: groq, base_url: "https://api.groq.com/openai/v1", key_variable: GROQ_API_KEY}
  - {name: workshop, base_url: "http://10.0.0.7:8000/v1", api: responses}
"""


def test_agents_can_be_at_servers_of_ones_own() -> None:
    agents = """
default_model: {provider: workshop, model: qwen-4}
fallbacks: [{model: groq/llama-4}]
judge: {model: groq/openai/gpt-oss}
agents:
  - {id: ada, role: architect, model: groq/llama-4, fallbacks: [{model: workshop/qwen-4}]}
  - {id: sam, role: security, provider: openai, model: gpt-6-luna}
  - {id: kim, role: simplicity}
"""
    settings = loaded(SERVERS + agents).settings
    groq, workshop = settings.servers

    assert (groq.api, workshop.api) == ("chat", "responses")
    assert (groq.key_variable, workshop.key_variable) == ("GROQ_API_KEY", "")
    assert [(agent.provider, agent.model) for agent in settings.agents] == [
        ("groq", "llama-4"),
        ("openai", "gpt-6-luna"),
        ("workshop", "qwen-4"),
    ]
    assert settings.agents[0].fallbacks == (ModelChoice(provider="workshop", model="qwen-4"),)
    assert settings.fallbacks == (ModelChoice(provider="groq", model="llama-4"),)
    assert settings.judge
    assert (settings.judge.provider, settings.judge.model) == ("groq", "openai/gpt-oss")


THREE_SERVERS = """
servers:
  - {name: one, base_url: "http://127.0.0.1:1/v1", models: [small, large]}
  - {name: two, base_url: "http://10.0.0.7:8000/v1", models: [other]}
  - {name: three, base_url: "http://10.0.0.8:8000/v1"}
"""


@pytest.mark.parametrize(
    ("usual", "more", "judge", "mixed"),
    [
        ("offline", "", "one/small", ["one/small", "one/large", "two/other"]),
        ("offline", "default_model: {provider: two, model: other}", "two/other", []),
        ("openai", "", "openai/usual", []),
    ],
)
def test_models_of_servers_are_dealt_where_there_is_no_other(
    usual: str, more: str, judge: str, mixed: list[str]
) -> None:
    choice = ModelChoice(provider=usual, model="usual")
    base = Settings(agent_model=choice, judge_model=choice)
    defaults = FileDefaults(settings=base, providers=PROVIDERS)
    settings = loaded(THREE_SERVERS + more, defaults=defaults).settings

    assert settings.judge_model.full_name == judge
    assert [choice.full_name for choice in settings.mixed_models] == mixed


def test_an_agent_takes_the_model_of_its_provider_from_those_that_are_dealt() -> None:
    sol = ModelChoice(provider="openai", model="gpt-6.1-sol")
    opus = ModelChoice(provider="anthropic", model="claude-opus-5-5")
    mixed = (sol, opus)
    base = Settings(agent_model=sol, judge_model=sol, mixed_models=mixed, judge_models=mixed)
    text = "agents: [{id: a, role: legal, provider: anthropic}, {id: b, role: security}]"
    defaults = FileDefaults(settings=base, providers=PROVIDERS)
    settings = loaded(text, defaults=defaults).settings

    assert [agent.full_name for agent in settings.agents] == [opus.full_name, sol.full_name]
    assert settings.judge_models == mixed
    named = loaded(f"{text}\njudge: {{provider: openai}}", defaults=defaults).settings
    assert named.judge_models == (), "a judge that is named judges"


TOOLS = """
evidence:
  mcp_servers:
    - name: docs
      command: [npx, -y, some-server, /srv/docs]
      variables: [DOCS_TOKEN]
      channels: [C0123456789, terminal]
      tools:
        - name: search
          arguments: {query: "{words}", maxResults: 3, in: {groupBy: team}}
          title: the handbook
        - {name: list, read_only: true}
    - {name: web, url: "https://mcp.example.com/mcp", key_variable: WEB_KEY, channels: ["*"],
       seconds: 5, tools: [{name: find, arguments: {q: "{question}"}}]}
"""


def test_mcp_servers_arrive_and_are_printed_as_they_were_written() -> None:
    docs, web = loaded(TOOLS).settings.evidence.mcp_servers
    again = loaded(all_as_yaml(loaded(TOOLS).settings, Path())).file

    # Arguments are the server's: their names stay.
    arguments = {"query": "{words}", "maxResults": 3, "in": {"groupBy": "team"}}
    assert docs.tools[0].arguments == arguments
    assert (docs.tools[1].read_only, web.seconds) == (True, 5)
    assert again.evidence.mcp_servers == (docs, web)


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        (
            "agents: [{id: ann, role: legal}]\nvote: {weights: {bob: 2}}",
            "line 2: vote.weights.bob: no agent here has this id.",
        ),
        (
            THREE_SERVERS + "summary_model: {provider: one, model: smal}",
            'line 6: summary_model.model: "smal" is none of the models of one. Did you mean "smal',
        ),
        (
            TOOLS.replace("{words}", "{topic}"),
            "line 9: evidence.mcp_servers[0].tools[0]: {topic} is not replaced: only {quest",
        ),
    ],
)
def test_a_value_that_is_probably_a_mistake_is_doubted(text: str, notice: str) -> None:
    assert loaded(text).notices[0].startswith(f"moot.yaml, {notice}")


@pytest.mark.parametrize("name", ["gone.yaml", "."])
def test_an_unreadable_settings_file_is_reported_in_plain_words(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationBroken, match=r"There is no file|cannot be read: is a dir"):
        load_file(tmp_path / name, KNOWN)
