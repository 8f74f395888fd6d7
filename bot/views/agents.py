"""Views of the agents, of a review's subject and of its findings (pure)."""

from collections.abc import Iterator, Sequence

from bot.slack.mrkdwn import bare, gist, link, literal
from bot.views.message import icon, is_offline, item_list, name_of, title
from core.debate.agents import EXAMPLE, Agent
from core.debate.contributions import FindingStatus, ReviewFinding
from core.debate.state import Debate, Status
from core.figures import quantity
from core.rules import casting
from core.rules.formats import review
from core.rules.formats.review import (
    answered_words,
    changed_texts,
    current_findings,
    open_findings_words,
    references,
    struck_count,
    struck_words,
)
from core.transcript.cited import link_citations
from core.transcript.words import model_count_words

_LIMIT = 1000
_REASON_LIMIT = 80
_MODEL_LIMIT = 60


def agent_list(debate: Debate) -> str:
    agents, reasons = debate.setup.agents, debate.setup.reasons
    if casting.is_due(debate) and debate.status is Status.RUNNING:
        return "*Agents*\n_Being chosen for this question …_"
    # If all agents have the same model, one line below the list names it.
    shared_model = model_count_words(agents).rstrip(".")
    names = {
        agent.id: f"{icon(agent)} {literal(title(agent))}{'' if shared_model else _model(agent)}"
        for agent in agents
    }
    if reasons:
        head = "*Agents, chosen for this question*"
        texts = {agent.id: gist(reasons.get(agent.id, ""), _REASON_LIMIT) for agent in agents}
        text = item_list([f"{name}: {texts[item]}" for item, name in names.items()], _LIMIT)
    else:
        head, text = "*Agents*", item_list(names.values(), _LIMIT, " · ")
    foot = f"\n_{shared_model}:_{_model(agents[0])}" if shared_model else ""
    if all(map(is_offline, agents)):
        foot = f"\n:warning: _{quantity(len(agents), 'point')} of view, no model: checklists only_"
    return f"{head}\n{text}{foot}"


def _model(agent: Agent) -> str:
    if is_offline(agent) or agent.provider == EXAMPLE:
        return ""
    return f" `{literal(bare(agent.model, _MODEL_LIMIT)).replace('`', '')}`"


_TITLE_LIMIT = 80
_SUBJECT_LIMIT = 500
_WORDS_LIMIT = 600
_WRONG_LIMIT = 200
#: Most characters of all findings in the verdict's short form.
_LINES_LIMIT = 1400


def subject_line(debate: Debate) -> str:
    """The subject of a review and the versions that its author handed in; else empty."""
    if debate.setup.format != review.NAME:
        return ""
    titles = [
        link(reference.address, reference.title)
        if reference.address.startswith("https://")
        else gist(reference.title, _TITLE_LIMIT)
        for reference in references(debate)
    ]
    new_versions = [
        f"{gist(source.reference.title, _TITLE_LIMIT)} ({source.id})"
        for source in changed_texts(debate)
    ]
    lines = [item_list(titles, _SUBJECT_LIMIT, ", ")]
    lines += (
        [f"Handed in since: {item_list(new_versions, _SUBJECT_LIMIT, ', ')}"]
        if new_versions
        else []
    )
    return f"*Subject*\n{chr(10).join(lines)}" if titles else ""


def finding_counts(debate: Debate) -> str:
    """The numbers of open, resolved and struck out findings; empty before the first review."""
    if debate.setup.format != review.NAME or not review.FORMAT.positions(debate):
        return ""
    findings = current_findings(debate)
    resolved = sum(finding.status is FindingStatus.RESOLVED for finding in findings)
    texts = [open_findings_words(findings) or "none open"]
    texts += [f"{quantity(resolved, 'finding')} resolved"] if resolved else []
    texts += [words] if (words := answered_words(findings)) else []
    texts += [f"{struck} struck out"] if (struck := struck_count(debate)) else []
    return f"*Findings*: {'; '.join(texts)}"


def findings_in_short(debate: Debate, findings: Sequence[ReviewFinding], most: int) -> str:
    """Return the `most` gravest open findings, and the number of the other ones."""
    open_findings = [finding for finding in findings if finding.is_open]
    lines = [f"• {finding_line(debate, finding)}" for finding in open_findings]
    texts = [item_list(lines[:most], _LINES_LIMIT)]
    others = len(open_findings) - most
    texts += [f"• … and {quantity(others, 'more finding')}"] if others > 0 else []
    texts += [f"_{struck_words(debate)}_"] if struck_words(debate) else []
    return "\n".join(filter(None, texts))


def finding_line(debate: Debate, finding: ReviewFinding, *, whole: bool = False) -> str:
    """A finding in one line: severity, place and fault.

    `whole`: also the quoted words, the proposed change, the status and the agents who raised it.
    """
    citation, limit = finding.citation, (10 if whole else 1) * _WRONG_LIMIT

    def short(text: str) -> str:
        return gist(link_citations(text, ()), limit)

    place = ", ".join(filter(None, (citation.source, citation.place)))
    location = (
        link(citation.address, place)
        if citation.address.startswith("https://")
        else gist(place, 200)
    )
    number = f" {finding.number}" if finding.number else ""
    name = f"*{finding.severity.value.capitalize()}{number}*"
    if not whole:
        return f"{name} ({location}): {short(finding.wrong)}"
    line = f"{name} “{gist(citation.words, _WORDS_LIMIT)}” ({location}): {short(finding.wrong)}"
    line += f" _To mend it_: {short(finding.mend)}" if finding.mend else ""
    line += f" – *{finding.status.value}*"
    line += f": {short(finding.why)}" if finding.why else ""
    line += "".join(f"\n> {gist(change, limit)}" for change in finding.changed)
    agents = ", ".join(name_of(debate, agent) for agent in finding.raised_by)
    return f"{line} _({agents})_" if agents else line


def finding_lines(findings: Sequence[ReviewFinding], most: int) -> Iterator[str]:
    """Return an agent's findings, one line each, without those that were struck out."""
    for item in [finding for finding in findings if finding.counts][:most]:
        status = "" if item.status is FindingStatus.OPEN else f", {item.status.value}"
        name = f"{item.severity.value.capitalize()}{status}"
        wrong = gist(link_citations(item.wrong, ()), 150)
        yield f"*{name}* “{gist(item.citation.words, 80)}”: {wrong}"
