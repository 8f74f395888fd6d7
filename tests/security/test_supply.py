"""The dependencies of the program, and its container."""

import re

from tests.frame.files import ROOT, read
from tools.licences import DOCUMENT, licence_of, shipped_packages, updated_document

LOCKS = sorted(path.name for path in ROOT.glob("requirements*.lock"))
DOCKERFILE = read("Dockerfile")


def test_the_container_installs_only_what_the_locks_name() -> None:
    installs = re.findall(r"pip install[^\n\\]*", DOCKERFILE)

    assert installs
    assert all("--require-hashes" in install or "--no-index" in install for install in installs)


def test_the_container_runs_as_nobody_special() -> None:
    user = re.findall(r"^USER (\S+)", DOCKERFILE, re.MULTILINE)[-1]

    assert user.isdigit()
    assert int(user) >= 10_000
    assert DOCKERFILE.index("USER") < DOCKERFILE.index("\nCMD")


def test_the_container_holds_no_secret_and_writes_only_its_data() -> None:
    assert not re.search(r"(?i)(?:token|secret|key|password)\s*=\s*\S", DOCKERFILE)
    assert "COPY . " not in DOCKERFILE
    assert re.findall(r"^VOLUME (\S+)", DOCKERFILE, re.MULTILINE) == ["/data"]
    assert "/data" in re.findall(r"MOOT_DATABASE=(\S+)", DOCKERFILE)[0]


def test_secrets_are_kept_out_of_git_and_of_the_image() -> None:
    ignored = read(".gitignore").splitlines()
    assert ".env" in ignored
    assert any(
        line.startswith("moot.db") or line.endswith(".db") or "*.db" in line for line in ignored
    )


#: Licences that were looked at: all let Moot be used, changed and passed on.
LOOKED_AT = {
    *("MIT", "MIT-0", "MIT-CMU", "ISC", "PSF-2.0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause"),
    *("MPL-2.0", "LGPL-3.0-only"),
}


def test_everything_shipped_has_a_licence_that_was_looked_at() -> None:
    licences = {name: licence_of(name) for name in shipped_packages()}

    assert len(licences) > 50
    unknown = {
        name: licence
        for name, licence in licences.items()
        if not set(re.split(r" (?:AND|OR) ", licence)) <= LOOKED_AT
    }
    assert unknown == {}


def test_the_list_of_licences_is_up_to_date() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")

    assert updated_document(text) == text, "run `make docs`"
