"""The repository's front: what GitHub reads of it."""

import yaml

from tests.frame.files import ROOT


def test_the_workflow_runs_the_script_of_ci():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    steps = workflow["jobs"]["check"]["steps"]
    assert steps[-1] == {"run": ".ci/run"}
    assert workflow["permissions"] == {"contents": "read"}
    assert (ROOT / ".ci/run").stat().st_mode & 0o100


def test_each_issue_template_says_what_it_is_for():
    templates = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md"))
    assert [template.stem for template in templates] == ["bug", "wish"]
    for template in templates:
        head = yaml.safe_load(template.read_text("utf-8").split("---")[1])
        assert set(head) == {"name", "about"}
