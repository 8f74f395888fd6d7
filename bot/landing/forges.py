"""Where servers of Git show commits and open pull requests; only of those that are known (pure)."""

import re
from urllib.parse import quote, urlsplit

_ADDRESS = re.compile(r"https://[^\s\"'<>|]{1,500}")


def commit_link(repository: str, commit: str) -> str:
    """Return the page of a commit; empty where nobody knows it."""
    match _forge_of(repository):
        case "github":
            return f"{_page_of(repository)}/commit/{commit}"
        case "gitlab":
            return f"{_page_of(repository)}/-/commit/{commit}"
        case _:
            return ""


def pull_link(repository: str, base: str, branch: str) -> str:
    """Return the page on which a pull request is opened; empty where nobody knows it."""
    match _forge_of(repository):
        case "github":
            return f"{_page_of(repository)}/compare/{quote(base)}...{quote(branch)}?expand=1"
        case "gitlab":
            source = f"merge_request%5Bsource_branch%5D={quote(branch, safe='')}"
            target = f"merge_request%5Btarget_branch%5D={quote(base, safe='')}"
            return f"{_page_of(repository)}/-/merge_requests/new?{source}&{target}"
        case _:
            return ""


def suggested_link(repository: str, said: str) -> str:
    """Return the page that a server names after a push, if it is one of the repository itself."""
    page = _page_of(repository)
    found = (one.rstrip(".,)") for one in _ADDRESS.findall(said))
    return next((one for one in found if one.startswith(f"{page}/")), "")


def _forge_of(repository: str) -> str:
    """The kind of server, by its name: nobody asks it."""
    host = urlsplit(repository).hostname or ""
    first = host.split(".")[0]
    return first if first in {"github", "gitlab"} else ""


def _page_of(repository: str) -> str:
    return repository.removesuffix("/").removesuffix(".git")
