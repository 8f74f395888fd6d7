"""Configuration files: what they set, what is wrong with them and on which line."""

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
from core.config.source import read_source
from core.config.writing import all_as_yaml, as_yaml, json_schema
from core.debate.agents import ContextMethod, ModelChoice, PromptText
from core.debate.people import Person, Place
from core.debate.rules import Clarifying, Ending, Termination, When
from core.debate.setup import Setup
from core.errors import ConfigurationBroken
from core.opening import DebateRequest, open_debate
from core.settings import CommonSettings, Settings

PROVIDERS = {"openai": "gpt-small", "anthropic": "claude-small", "offline": "offline-checklists"}
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
            "model": "gpt-4",
            "provider": "openai",
            "temperature": 0.4,
            "enabled": False,
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
        "timeoutPerRound": 300000,
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


def test_every_setting_of_a_full_file_arrives() -> None:
    settings = loaded(
        """
        default_model: {provider: anthropic, model: claude-x}
        agents:
          - {id: ann, name: Ann, role: security, icon: ":key:", provider: openai, temperature: 0.2}
          - {id: bob, role: performance}
        judge: {name: Referee, provider: offline}
        debate:
          rounds: 4
          when: always
          termination: {type: fixed, min_rounds: 3}
          clarifications: {enabled: true, per_agent: 2, wait_seconds: 60, rounds: 2}
          summarization: {method: hierarchical, threshold: 900, max_length: 300}
        vote: {exclude_self: true, weights: {ann: 2}}
        limits: {turn_seconds: 9, round_seconds: 8.5, debate_seconds: 70, debate_cost: 0.1,
                 person_day_cost: 1, day_cost: 5, quorum: 1}
        prompts: {critique: strict.md}
        models: [{match: my-model, context_tokens: 1000}]
        prices: {my-model: {input: 0.1, output: 2}, claude-x: {input: 1, output: 2}}
        """
    ).settings

    ann, bob = settings.agents
    assert (ann.name, ann.role, ann.icon, ann.model) == ("Ann", "security", ":key:", "gpt-small")
    assert (bob.name, bob.provider, bob.model) == ("Performance", "anthropic", "claude-x")
    assert settings.judge
    assert (settings.judge.name, settings.judge.model) == ("Referee", "offline-checklists")
    assert (settings.rounds, settings.when) == (4, When.ALWAYS)
    assert settings.termination == Termination(ending=Ending.FIXED, min_rounds=3)
    assert settings.clarifying.model_dump() == {
        "enabled": True,
        "per_agent": 2,
        "wait_seconds": 60.0,
        "rounds": 2,
        "correct_seconds": 0.0,
    }
    assert settings.summarization.method is ContextMethod.HIERARCHICAL
    assert (settings.vote.exclude_self, settings.vote.weights) == (True, {"ann": 2.0})
    assert settings.limits.debate_cost == Decimal("0.1")
    assert (settings.limits.round_seconds, settings.limits.quorum) == (8.5, 1)
    assert settings.limits.day_cost == Decimal(5)
    assert settings.prompts["critique"].text == "Text of strict.md"
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


def test_fallbacks_arrive_for_all_and_for_one_agent() -> None:
    settings = loaded(
        """
        fallbacks: [{provider: openai}, {provider: offline}]
        agents:
          - {id: ann, role: security, fallbacks: [{provider: anthropic, model: claude-x}]}
          - {id: bob, role: security, fallbacks: []}
          - {id: cyd, role: security}
        judge: {fallbacks: [{provider: offline}]}
        prices: {claude-x: {input: 1, output: 1}}
        """
    ).settings

    offline = ModelChoice(provider="offline", model="offline-checklists")
    assert settings.fallbacks == (ModelChoice(provider="openai", model="gpt-small"), offline)
    assert [agent.fallbacks for agent in settings.agents] == [
        (ModelChoice(provider="anthropic", model="claude-x"),),
        (),
        None,
    ]
    assert settings.judge
    assert settings.judge.fallbacks == (offline,)


def test_problems_stand_in_the_order_of_their_lines_with_each_list_once() -> None:
    lines = problems("zzz: 1\nlimits:\n  debate_cost: x\ndebate:\n  rouns: 2\nqqq: 1")

    assert [line.split(":")[0] for line in lines] == [
        f"moot.yaml, line {number}" for number in (1, 3, 5, 6)
    ]
    assert "There are: " in lines[0]
    assert lines[3] == "moot.yaml, line 6: qqq is no setting."


def test_a_playbook_in_the_place_of_settings_is_known_for_one() -> None:
    assert "moot playbook check" in problems("name: x\ntitle: X\nformat: panel")[-1]


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("default_model: {provider: openia}", "default_model.provider", 'mean "openai"?'),
        (
            "default_model: {provider: openai, model: gpt-6.1-tera}",
            "default_model.model",
            'openai has no model "gpt-6.1-tera" that Moot knows. Did you mean "gpt-6.1-terra"?',
        ),
        (
            "judge: {provider: anthropic, model: claude-sonet-5-5}",
            "judge.model",
            'Did you mean "claude-sonnet-5-5"?',
        ),
        (
            "agents: [{id: ann, provider: anthropic, model: nonsense}]",
            "agents[0].model",
            "name its price under `prices`",
        ),
        ("fallbacks: [{model: x}]", "fallbacks[0]", "a fallback needs a provider"),
        (
            "agents: [{id: ann, fallbacks: [{provider: antropic}]}]",
            "agents[0].fallbacks[0].provider",
            'mean "anthropic"?',
        ),
    ],
)
def test_names_that_mean_nothing_are_told_with_the_nearest_ones(
    text: str, where: str, words: str
) -> None:
    (line,) = problems(text)

    assert line.startswith("moot.yaml, line 1: ")
    assert where in line
    assert words in line


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("debate:\n  roundz: 3", 'line 2: debate.roundz is no setting. Did you mean "rounds"?'),
        ("\nvotes: {}", 'line 2: votes is no setting. Did you mean "vote"?'),
        (
            "agents:\n- id: a\n  rolle: x",
            'line 3: agents[0].rolle is no setting. Did you mean "role"?',
        ),
        ("debate: {qqq: 1}", "line 1: debate.qqq is no setting. There are: format, rounds, "),
        ("rounds: 3", 'line 1: rounds is no setting. Did you mean "debate.rounds"?'),
        (
            "debate: {agents: []}",
            'line 1: debate.agents is no setting. Did you mean "agents" at the top of the file?',
        ),
        ("judge:\n  promts: {}", 'line 2: judge.promts is no setting. Did you mean "prompts"?'),
        (
            "prices:\n  m:\n    input: 1\n    output: 2\n    cach: 1",
            'line 5: prices.m.cach is no setting. Did you mean "cached"?',
        ),
        ("debate: {format: critic}", 'line 1: debate.format: there is no format "critic". Did you'),
        ("prompts: {critik: x}", 'line 1: prompts.critik is no prompt. Did you mean "critique"?'),
        (
            "agents:\n- {id: a, provider: opnai}",
            'line 2: agents[0].provider: there is no provider "opnai". Did you mean "openai"?',
        ),
        ("agents:\n- name: Ann", "line 2: agents[0].id is missing."),
        ("agents:\n- id: a\n- id: a", 'line 3: agents[1].id: another agent has the id "a".'),
        ("agents:\n- id: judge", 'line 2: agents[0].id: "judge" is taken by Moot itself.'),
        ("agents:\n- id: a/b", 'line 2: agents[0].id: "a/b" may only have letters'),
        ("debate:\n  rounds: 0", "line 2: debate.rounds must be 1 or more."),
        ("debate:\n  rounds: three", "line 2: debate.rounds must be a whole number."),
        ("debate:\n  rounds: true", "line 2: debate.rounds must be a whole number."),
        (
            "agents:\n- {id: a, temperature: 3}",
            "line 2: agents[0].temperature must be",
        ),
        ("limits: {debate_cost: -1}", "line 1: limits.debate_cost must be"),
        ("limits: {debate_cost: .inf}", "line 1: limits.debate_cost must be a finite number."),
        (
            "debate: {summarization: {method: magic}}",
            "line 1: debate.summarization.method must be 'full', 'length', 'rounds' or",
        ),
        ("models:\n- {match: x, contxt: 5}", "line 2: models[0]: contxt is not known."),
        ("debate: 3", "line 1: debate must be a table of keys and values."),
        ("prompts: {critique: 3}", "line 1: prompts.critique must be the name of a file."),
        (
            "prompts: {critique: {text: Be kind., source: x}}",
            "line 1: prompts.critique must be the name of a file.",
        ),
        (
            "debate: {termination: {min_rounds: 0}}",
            "line 1: debate.termination.min_rounds must be 1 or more.",
        ),
        ("debate: {clarifying: {}}", "line 1: debate.clarifying is no setting."),
        (
            "debate:\n  rounds: 2\n  rounds: 3",
            "line 3: debate.rounds is here a second time; first on",
        ),
        ("a: [1\nb: 2", "line 2: "),
        ("1: x", "line 1: the key 1 must be text; put it in quotes."),
    ],
)
def test_a_problem_names_file_line_key_and_the_nearest_name(text: str, problem: str) -> None:
    lines = problems(text)

    assert lines[0].startswith(f"moot.yaml, {problem}")


def test_a_file_that_grows_for_ever_is_refused() -> None:
    layers = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 9))

    assert "too large" in problems(f"l0: &l0 [x]\n{layers}")[0]


@pytest.mark.parametrize("name", ["moot.yaml", "moot.json"])
@pytest.mark.parametrize("depth", [100, 900, 100_000])
def test_a_file_that_is_nested_too_deeply_is_refused(name: str, depth: int) -> None:
    assert problems('{"a": ' + "[" * depth + "]" * depth + "}", name)[0].startswith(name)


@pytest.mark.parametrize(
    "text",
    [
        f"agents: {'[' * 5000}{']' * 5000}",
        "agents: " + "{a: " * 5000,
        "\n".join(f"{'  ' * depth}a:" for depth in range(200)),
        "a: " + "x" * 1_000_001,
    ],
    ids=["brackets", "braces without an end", "lines", "a long text"],
)
def test_what_would_take_long_to_read_is_refused_unread(text: str) -> None:
    assert problems(text) == ["moot.yaml is too large or too deeply nested."]


def test_a_file_that_holds_itself_is_refused() -> None:
    assert "too large or too deeply nested" in problems("agents: &a [*a]")[0]


def test_misplaced_values_are_problems_and_no_crash() -> None:
    agents = "agents:\n- {id: a, prompts: 3, systemPromptPath: x}\n"

    assert len(problems(f"{agents}limits: 3\ndebate: {{timeoutPerRound: 1}}")) >= 2


def test_a_prompt_in_the_file_itself_is_pointed_out() -> None:
    file = loaded("agents:\n- {id: ann, systemPrompt: You are Ann.}")

    assert "agents[0].systemPrompt: put the text into a file" in file.notices[0]


@given(st.text(max_size=60))
def test_any_text_is_settings_or_a_problem_in_words(text: str) -> None:
    for name in ("moot.yaml", "moot.json"):
        try:
            loaded(text, name)
        except ConfigurationBroken as error:
            assert str(error).startswith(name)  # noqa: PT017 - either way is fine


def test_a_file_of_dialectic_is_accepted_as_it_is() -> None:
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
    ("key", "value", "notice"),
    [
        ("synthesisMethod", "merge", "Moot has no such switch: the agents vote"),
        ("includeFullHistory", False, "Moot has no such switch"),
        ("terminationCondition", {"type": "quality"}, '"quality" is not there'),
    ],
)
def test_what_dialectic_has_and_moot_lacks_is_said(key: str, value: object, notice: str) -> None:
    file = loaded(json.dumps({"debate": {key: value}}), "debate-config.json")

    assert file.notices[0].startswith(f"debate-config.json, line 1: debate.{key}: {notice}")


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
    ("section", "key"),
    [
        ((), "orchestratorType"),
        (("debate",), "orchestratorType"),
        (("debate",), "clarificationsMaxIterations"),
        ((), "trace"),
        (("debate",), "trace"),
        (("debate",), "tools"),
        (("agents", 0), "tools"),
        (("judge",), "tools"),
    ],
)
def test_what_dialectic_can_have_anywhere_is_noticed_and_not_refused(
    section: tuple[str | int, ...], key: str
) -> None:
    values = json.loads(json.dumps(DIALECTIC))
    place = values
    for step in section:
        place = place[step]
    place[key] = {"any": ["thing"]}

    file = loaded(json.dumps(values), "debate-config.json")

    notices = [notice for notice in file.notices if "says nothing" not in notice]
    (notice,) = [notice for notice in notices if "threshold" not in notice]
    assert f"{key}: Moot has no such switch: " in notice


#: What `show` has to say of every kind of setting.
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


@pytest.mark.parametrize("cost", ["3", "null"])
def test_a_cap_above_the_highest_one_is_a_contradiction(cost: str) -> None:
    (line,) = problems(f"limits: {{most_debate_cost: 2, debate_cost: {cost}}}")

    assert line == "moot.yaml, line 1: limits.debate_cost: is above limits.most_debate_cost."


def test_the_highest_cap_bounds_also_the_usual_one() -> None:
    settings = loaded("limits: {most_debate_cost: 2}").settings

    assert opened(REQUEST, settings).limits.debate_cost == Decimal(2)


def test_a_prompt_file_is_found_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "ann.md").write_text("You are Ann.\n", encoding="utf-8")
    (tmp_path / "blank.md").write_text(" \n", encoding="utf-8")
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "moot.yaml").write_text(
        "agents:\n- id: ann\n  name: Ann\n  prompts:\n    persona: ann.md\n    critique: blank.md\n"
        "    proposal: gone.md\n    refinement: binary.md\n",
        encoding="utf-8",
    )
    settings = load_file(tmp_path / "moot.yaml", KNOWN).settings

    assert settings.agents[0].prompts == {
        "persona": PromptText(text="You are Ann.\n", source=str(tmp_path / "ann.md"))
    }
    assert [warning.split(" cannot")[0] for warning in settings.warnings] == [
        "The prompt file blank.md (Ann, critique)",
        "The prompt file gone.md (Ann, proposal)",
        "The prompt file binary.md (Ann, refinement)",
    ]
    assert all("The built-in prompt takes its place." in warning for warning in settings.warnings)


def test_the_prompt_for_everybody_takes_the_place_of_one_that_cannot_be_used(
    tmp_path: Path,
) -> None:
    (tmp_path / "all.md").write_text("Criticise.", encoding="utf-8")
    (tmp_path / "short.md").write_text("Sum up.", encoding="utf-8")
    (tmp_path / "moot.yaml").write_text(
        "prompts: {critique: all.md}\ndebate: {summarization: {prompt_file: short.md}}\n"
        "agents:\n- {id: ann, prompts: {critique: gone.md},"
        " summarization: {prompt_file: lost.md}}\n",
        encoding="utf-8",
    )
    warnings = load_file(tmp_path / "moot.yaml", KNOWN).settings.warnings

    assert [warning.rpartition(". ")[2] for warning in warnings] == [
        "The prompt file all.md takes its place.",
        "The prompt file short.md takes its place.",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("debate: {rounds: [", "the file ends in the middle of a value"),
        ("limits: {debate_cost: much}", "must be a number, as 1.50."),
    ],
)
def test_what_is_wrong_is_said_in_plain_words(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "moot.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationBroken, match=words):
        load_file(tmp_path / "moot.yaml", KNOWN)


def test_weights_for_nobody_are_doubted() -> None:
    file = loaded("agents: [{id: ann, role: legal}]\nvote: {weights: {bob: 2}}")

    assert "vote.weights.bob: no agent here has this id." in file.notices[0]


@pytest.mark.parametrize(
    ("role", "hint"),
    [("architekt", 'Did you mean "architect"?'), ("wizard", "There are: architect, performance, ")],
)
def test_an_unknown_role_is_refused_with_the_nearest_name(role: str, hint: str) -> None:
    with pytest.raises(ConfigurationBroken) as refused:
        loaded(f"agents:\n  - id: ann\n    role: {role}")

    assert f'line 3: agents[0].role: there is no role "{role}". {hint}' in str(refused.value)


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
OFFLINE_BASE = FileDefaults(providers=PROVIDERS)


@pytest.mark.parametrize(
    ("more", "base", "judge", "mixed"),
    [
        ("", OFFLINE_BASE, "one/small", ["one/small", "one/large", "two/other"]),
        ("default_model: two/other", OFFLINE_BASE, "two/other", []),
        ("default_model: offline/x", OFFLINE_BASE, "offline/x", []),
        ("", None, "openai/gpt-6", []),
    ],
)
def test_models_of_servers_are_dealt_where_there_is_no_other(
    more: str, base: FileDefaults | None, judge: str, mixed: list[str]
) -> None:
    provider, _, model = more.removeprefix("default_model: ").partition("/")
    text = f"default_model: {{provider: {provider}, model: {model}}}" if more else ""
    agent = ModelChoice(provider="openai", model="gpt-6")
    keyed = FileDefaults(
        settings=Settings(agent_model=agent, judge_model=agent), providers=PROVIDERS
    )
    settings = loaded(THREE_SERVERS + text, defaults=base or keyed).settings

    assert settings.judge_model.full_name == judge
    assert [choice.full_name for choice in settings.mixed_models] == mixed


def test_a_model_that_its_server_does_not_list_is_told() -> None:
    text = (
        THREE_SERVERS
        + "summary_model: {provider: one, model: smal}\nshadow_model: {model: three/x}"
    )
    notices = loaded(text).notices

    (notice,) = [notice for notice in notices if "none of the models" in notice]
    where = "moot.yaml, line 6: summary_model.model"
    assert notice == f'{where}: "smal" is none of the models of one. Did you mean "small"?'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("servers: [{name: openai, base_url: x}]", 'a provider has the name "openai"'),
        (
            "servers: [{name: a, base_url: x}, {name: a, base_url: y}]",
            'servers[1].name: another server has the name "a"',
        ),
        ("servers: [{name: Groq, base_url: x}]", "servers[0].name"),
        ("servers: [{name: a, base_url: x, key_variable: PATH}]", "servers[0].key_variable"),
        ("servers: [{name: a}]", "servers[0].base_url is missing"),
        ("servers: [{name: a, base_url: x, api: messages}]", "servers[0].api"),
        (
            "servers: [{name: a, base_url: x}]\ndefault_model: {provider: a}",
            'name a model of "a" too',
        ),
        ("default_model: {provider: groq, model: m}", 'there is no provider "groq"'),
    ],
)
def test_a_server_that_cannot_be_used_is_named(text: str, words: str) -> None:
    with pytest.raises(ConfigurationBroken) as caught:
        loaded(text)

    assert words in str(caught.value)


TOOLS = """
evidence:
  mcp_servers:
    - name: docs
      command: [npx, -y, some-server, /srv/docs]
      variables: [DOCS_TOKEN]
      channels: [C0123456789, terminal]
      tools:
        - {name: search, arguments: {query: "{words}", maxResults: 3}, title: the handbook}
        - {name: list, read_only: true}
    - {name: web, url: "https://mcp.example.com/mcp", key_variable: WEB_KEY, channels: ["*"],
       seconds: 5, tools: [{name: find, arguments: {q: "{question}"}}]}
"""


def test_mcp_servers_arrive_and_are_printed_as_they_were_written() -> None:
    docs, web = loaded(TOOLS).settings.evidence.mcp_servers
    again = loaded(all_as_yaml(loaded(TOOLS).settings, Path())).file

    # Arguments are the server's: their names stay.
    assert docs.tools[0].arguments == {"query": "{words}", "maxResults": 3}
    assert (docs.tools[1].read_only, web.seconds) == (True, 5)
    assert again.evidence.mcp_servers == (docs, web)


SERVER = "name: a, channels: ['*'], tools: [{name: t}]"


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (f"{{{SERVER}}}", "[0]: needs a command or a url, one of the two"),
        (f"{{{SERVER}, command: [a], url: b}}", "[0]: needs a command or a url, one of the two"),
        (f"{{{SERVER}, url: b, variables: [A_KEY]}}", "only a command is handed variables"),
        (f"{{{SERVER}, command: [a], key_variable: A_KEY}}", "only a url is sent a key"),
        (f"{{{SERVER}, command: [a], variables: [HOME]}}", "[0].variables[0]"),
        (f"{{{SERVER}, command: [a]}}, {{{SERVER}, url: b}}", 'has the name "a"'),
        ("{name: a, command: [a], tools: [{name: t}]}", "[0].channels is missing"),
        ("{name: a, command: [a], channels: [], tools: [{name: t}]}", "[0].channels"),
        ("{name: a, command: [a], channels: ['*'], tools: []}", "[0].tools"),
        (
            "{name: a, command: [a], channels: ['#team'], tools: [{name: t}]}",
            '[0].channels[0]: "#team" is no id of a channel',
        ),
        (f"{{{SERVER}, command: [a], seconds: 0}}", "[0].seconds"),
        (f'{{{SERVER}, command: [a, "b\\0c"]}}', "[0].command[1]: has a NUL character"),
        (f"{{{SERVER}, comand: [a]}}", 'comand is no setting. Did you mean "command"?'),
    ],
)
def test_an_mcp_server_that_cannot_be_asked_is_named(server: str, words: str) -> None:
    with pytest.raises(ConfigurationBroken) as caught:
        loaded(f"evidence:\n  mcp_servers: [{server}]")

    assert f"evidence.mcp_servers{words}" in str(caught.value) or words in str(caught.value)
    assert "line 2" in str(caught.value)


def test_a_placeholder_that_means_nothing_is_doubted() -> None:
    file = loaded(TOOLS.replace("{words}", "{topic}"))

    (notice,) = [notice for notice in file.notices if "{topic}" in notice]
    assert notice.endswith("{topic} stays as it is: there are {question}, {words}.")
    assert "evidence.mcp_servers[0].tools[0]" in notice


def test_servers_are_printed_as_they_were_written() -> None:
    again = loaded(all_as_yaml(loaded(SERVERS).settings, Path())).file

    assert again.servers == loaded(SERVERS).settings.servers


@pytest.mark.parametrize(
    "server",
    [
        "{name: a, url: https://x, channels: [general], tools: [{name: x}]}",
        "{name: a, url: https://x, channels: ['*'], tools: [{name: x, nam: y}]}",
    ],
)
def test_a_list_whose_items_are_wrong_is_not_called_empty(server: str) -> None:
    with pytest.raises(ConfigurationBroken) as caught:
        loaded(f"evidence: {{mcp_servers: [{server}]}}")

    assert "at least" not in str(caught.value)


@pytest.mark.parametrize(
    ("yaml", "fault"),
    [
        ("webhooks: [{name: a, url: ftp://x, secret_variable: A_SECRET}]", "begins with https://"),
        ("webhooks: [{name: a, url: https://x, secret_variable: A}]", "secret_variable"),
        (
            "webhooks: [{name: a, url: https://x, secret_variable: A_SECRET, events: [begun]}]",
            "must be 'started'",
        ),
        (
            "webhooks: [{name: a, url: https://x, secret_variable: A_SECRET, channels: [general]}]",
            '"general" is no id of a channel',
        ),
        (
            (
                "webhooks: [{name: a, url: https://x, secret_variable: A_SECRET, "
                "old_secret_variable: A_SECRET}]"
            ),
            "is the variable of the newer secret",
        ),
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
        ("records: [{name: a, folder: /a, pull: true}]", "is no setting"),
    ],
)
def test_what_cannot_land_is_a_fault_that_is_named(yaml: str, fault: str) -> None:
    line = problems(f"landing: {{{yaml}}}")[0]
    assert "landing." in line
    assert fault in line


def test_keys_that_are_merged_again_and_again_are_refused_before_they_grow() -> None:
    layers = ["l0: &l0 {a: 1, b: 2}"]
    layers += [f"l{n}: &l{n} {{<<: [{', '.join([f'*l{n - 1}'] * 9)}]}}" for n in range(1, 9)]
    assert "too large" in problems("\n".join(layers))[0]


def test_json_with_a_sign_that_yaml_refuses_is_read_without_lines() -> None:
    file = read_source('{"a": "delete: \x7f"}', "moot.json")

    assert (file.values, file.marks) == ({"a": "delete: \x7f"}, {})


def test_a_folder_in_place_of_a_file_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationBroken, match="cannot be read: is a directory"):
        load_file(tmp_path, KNOWN)
