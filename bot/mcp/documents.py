"""Resources: a debate's report, decision record and whole log, under `moot://` addresses."""

import re

from mcp_types import Resource, ResourceTemplate, TextResourceContents

from bot.mcp.caller_debates import CallerDebates
from bot.mcp.results import DOCUMENTS, address_of
from core.errors import BadInput
from core.events import fold
from core.transcript.adr import adr
from core.transcript.markdown import inert_line, visible
from core.transcript.record import record_json
from core.transcript.report import report

_MARKDOWN, _JSON = "text/markdown", "application/json"
_KINDS = {
    "report": ("The whole debate as a report", _MARKDOWN),
    "adr": ("The decision as a decision record (ADR)", _MARKDOWN),
    "record": ("Every event of the debate", _JSON),
}
_ADDRESS = re.compile(rf"moot://debates/([a-z0-9-]{{1,40}})/({'|'.join(DOCUMENTS)})")
#: Debates whose reports are offered without being asked for.
_MOST_OFFERED = 20
_LONGEST_NAME = 120


def templates() -> list[ResourceTemplate]:
    """Return how the addresses of documents are made."""
    return [
        ResourceTemplate(
            name=name,
            title=_KINDS[name][0],
            description=f"{_KINDS[name][0]}, by the debate's id.",
            uri_template=address_of("{debate_id}", name),
            mime_type=_KINDS[name][1],
        )
        for name in DOCUMENTS
    ]


async def offered(debates: CallerDebates) -> list[Resource]:
    """Return the reports of the newest debates the caller may see."""
    return [
        Resource(
            name=f"report of {one.id}",
            title=inert_line(one.setup.question)[:_LONGEST_NAME],
            uri=address_of(one.id, "report"),
            mime_type=_MARKDOWN,
        )
        for one in await debates.newest(_MOST_OFFERED, running_only=False)
    ]


async def read(debates: CallerDebates, address: str) -> TextResourceContents:
    """Return a document of a debate the caller may see.

    Raises:
        BadInput: It is no address of one, or there is no such debate.
        StoreError: The database failed.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        shown = visible(address)[:_LONGEST_NAME]
        raise BadInput(
            f"There is no resource “{shown}”. Addresses look like "
            f"{address_of('dabc2345', 'report')}; the last part is one of {', '.join(DOCUMENTS)}."
        )
    log = await debates.log(found[1])
    match found[2]:
        case "report":
            text = report(fold(log))
        case "adr":
            text = adr(fold(log))
        case _:
            text = record_json(log)
    return TextResourceContents(uri=address, mime_type=_KINDS[found[2]][1], text=text)
