"""Words and layout that all surfaces share: agents, turns, usage, sections as Markdown (pure).

Texts of sections are Markdown by models and people. The code that shows them must make them safe.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.capabilities import KEY_VARIABLES
from core.debate.agents import EXAMPLE, OFFLINE, Agent, ModelChoice
from core.debate.contributions import Contribution, Summary
from core.debate.evidence import SourceKind
from core.debate.people import Person
from core.debate.setup import Setup
from core.debate.state import Debate, roster
from core.debate.turn import ENGINE, PLAYBOOK, RESERVED_IDS, Act, Turn
from core.debate.verdict import Verdict
from core.debate.vote import Ballot
from core.figures import listed, money, number, quantity
from core.rules.confidence import Confidence
from core.rules.history.material import reads_letters
from core.rules.judging import judge_of, winning_makers
from core.settings import Settings
from core.transcript.markdown import inert, inert_line
from core.usage import Usage

#: Texts that can call agents by their letters.
LetteredText = Contribution | Summary | Ballot | Verdict
_READINGS = {
    SourceKind.REGISTER: "Search for earlier decisions",
    SourceKind.DECISION: "Reading of an earlier decision",
}
#: Letters as in prompts: "Position B", "B's critique". Prompts of summaries have single letters.
_LETTER = re.compile(r"\b[Pp]osition(?:s|en)? [A-Z]\b|(?<![\w'’])[A-Z]['’]s\b")
_LETTER_ALONE = re.compile(r"(?<![\w'’+#&-])(?:[B-HJ-Z]|A(?=[:,]|['’]s))(?![\w+#&-])")


def name_of(debate: Debate, agent: str) -> str:
    if agent == ENGINE:
        return "Moot"
    if agent == PLAYBOOK:
        return "the playbook"
    return debate.setup.agent(agent).name if agent in {*roster(debate), *RESERVED_IDS} else agent


def letters_words(debate: Debate, texts: Iterable[LetteredText]) -> str:
    """The key to agents' letters: `A is Security, B is Legal.`; empty if no text uses letters.

    Texts whose author saw no letters are ignored.
    """
    for text in texts:
        if isinstance(text, Contribution) and not reads_letters(debate, text.turn):
            continue
        pattern = _LETTER_ALONE if isinstance(text, Summary) else _LETTER
        if pattern.search(text.model_dump_json(exclude={"call"}).replace("\\n", " ")):
            agents = debate.setup.agents
            names = [f"{debate.setup.letter(agent.id)} is {agent.name}" for agent in agents]
            return f"{', '.join(names)}."
    return ""


def act_words(turn: Turn) -> str:
    blind = turn.act is Act.BALLOT and not turn.round
    return "Blind ballot" if blind else turn.act.label


def work_words(debate: Debate, turn: Turn) -> str:
    """The work of a turn. Readings of earlier decisions have names of their own."""
    if turn.act is Act.READING:
        kind = debate.references[int(turn.target or 1) - 1].kind
        return _READINGS.get(kind, act_words(turn))
    return act_words(turn)


def confidence(verdict: Verdict) -> str:
    """`fair (70 of 100)`, or `not given` with the reason, if there is one.

    In debates of older versions it is the judge's own number, without a word.
    """
    if verdict.confidence is None:
        return ": ".join(["not given", *verdict.rests_on])
    figure = f"{verdict.confidence} of 100"
    if not verdict.rests_on:
        return f"{figure}, by the judge's own estimate"
    word = Confidence(percent=verdict.confidence, rests_on=verdict.rests_on).word
    return f"{word} ({figure})"


def confidence_words(verdict: Verdict) -> str:
    rests_on = "; ".join(verdict.rests_on) if verdict.confidence is not None else ""
    text = f"Confidence: {confidence(verdict)}."
    return f"{text} It rests on this: {inert_line(rests_on)}." if rests_on else text


def turn_words(debate: Debate, turn: Turn) -> str:
    """The turn in words: `Ann: critique of Bob, round 1`."""
    work = work_words(debate, turn).lower()
    if turn.target in roster(debate):
        work += f" of {name_of(debate, turn.target or '')}"
    agent = "Auditor" if turn.act is Act.AUDIT else name_of(debate, turn.agent)
    return f"{agent}: {work}, {turn.when}"


def seconds_taken(debate: Debate) -> float:
    """Seconds from the start to the end, or to the newest event."""
    return ((debate.ended_at or debate.now) - debate.started_at).total_seconds()


def tokens_words(usage: Usage) -> str:
    """Tokens in one line: `1,200 tokens in (400 cached), 80 out`."""
    cached = f" ({number(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    words = f"{quantity(usage.input_tokens, 'token')} in{cached}, {number(usage.output_tokens)} out"
    return f"{words} (estimated for {_estimated(usage)})" if usage.estimated_attempts else words


def estimated_words(usage: Usage) -> str:
    """How many requests have estimated tokens, as a part of a sentence; empty if none has."""
    if not usage.estimated_attempts:
        return ""
    return f"the tokens of {_estimated(usage)} are estimated, because none were reported"


def spent_words(usage: Usage) -> str:
    """The cost, and what of it rests on estimated tokens."""
    words = estimated_words(usage)
    return f"{money(usage.cost)} ({words})" if words else money(usage.cost)


def _estimated(usage: Usage) -> str:
    return f"{number(usage.estimated_attempts)} of {quantity(usage.attempts, 'request')}"


def usage_words(usage: Usage) -> str:
    return f"{tokens_words(usage)}, {quantity(usage.attempts, 'request')}, {money(usage.cost)}"


def calls_words(debate: Debate) -> str:
    """Calls and cost: `9 model calls (11 requests with those repeated or failed), $0.10`.

    A call has an outcome in the log. Requests are all requests to models, with retries, repairs,
    and those of failed turns.
    """
    if debate.calls and all(call.provider == OFFLINE for call in debate.calls):
        return f"no model call, {money(debate.usage.cost)}"
    requests, calls = debate.usage.attempts, quantity(len(debate.calls), "model call")
    if requests != len(debate.calls):
        calls += f" ({quantity(requests, 'request')} with those repeated or failed)"
    return f"{calls}, {money(debate.usage.cost)}"


def blocks(*texts: str) -> str:
    """Join blocks of Markdown; empty ones are left out."""
    return "\n\n".join(filter(None, texts))


def titled(title: str, *texts: str, level: int = 2) -> str:
    """Blocks of Markdown under a heading; empty without blocks."""
    body = blocks(*texts)
    return f"{'#' * level} {title}\n\n{body}" if body else ""


def bullets(items: Iterable[str]) -> str:
    """A Markdown list; each item is one inert line."""
    return "\n".join(f"- {inert_line(item)}" for item in items)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; each cell is one inert line. Empty without rows."""
    cells = [[inert_line(str(cell)).replace("|", "\\|") for cell in row] for row in (head, *rows)]
    cells.insert(1, ["---"] * len(head))
    return "\n".join(f"| {' | '.join(line)} |" for line in cells) if cells[2:] else ""


def csv_cell(text: str) -> str:
    """A text for a CSV cell; an apostrophe before it prevents a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def quotation(text: str) -> str:
    """People's text as a Markdown quotation, so that it cannot look like the report's own text."""
    return "\n".join(f"> {line}".rstrip() for line in inert(text.strip()).split("\n") if text)


def nested(text: str, level: int) -> str:
    """Inert Markdown; its headings are below a heading of `level`."""
    return inert(text.strip(), level)


@dataclass(frozen=True, kw_only=True)
class ResultLine:
    text: str
    label: str = ""
    #: The author of the text. Without a label the text continues after the person's name.
    by: Person | None = None
    #: The turn whose post has details.
    turn: Turn | None = None
    is_warning: bool = False


@dataclass(frozen=True, kw_only=True)
class ResultSection:
    """A titled part of a result: a text, lines, a table. Empty parts are not shown."""

    title: str
    text: str = ""
    lines: Sequence[ResultLine] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    #: Moot's own text below the rest, as safe Markdown.
    note: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.text.strip() or self.lines or self.rows or self.note)


def lines_of(texts: Iterable[str]) -> Sequence[ResultLine]:
    return tuple(ResultLine(text=text) for text in texts if text)


def line_words(line: ResultLine) -> str:
    """A line as Markdown: `Note 1, Sam: No Kafka people.`; `Sam added the option "SQS".`."""
    person = line.by.display_name if line.by else ""
    if person and not line.label:
        return f"{person} {line.text}"
    label = ", ".join(filter(None, (line.label, person)))
    return f"{label}: {line.text}" if label else line.text


def as_markdown(section: ResultSection, level: int) -> str:
    return titled(inert_line(section.title), body_words(section, level), level=level)


def body_words(section: ResultSection, level: int) -> str:
    """The section as Markdown without its heading."""
    return blocks(
        nested(section.text, level),
        bullets(map(line_words, section.lines)),
        table(section.head, section.rows),
        section.note,
    )


_AFTER_SENTENCE = re.compile(r"(?<=[.!?…]) ")
#: The end of a sentence where a text can be cut, but not after "am 3." or "approx.".
_CUT = re.compile(r"(?<=[^\W\d][.!?…]|[)”%][.!?…]) (?=[A-ZÀ-Þ“(*])")
_PAIRS = ("“”", "()")
#: The mark after a text that is cut after a sentence.
CUT = " …"
#: Marks around a sentence that are ignored in comparisons.
_MARKS = "*_ -•.!?…"
#: Sentences with fewer words may be repeated.
_LONG_ENOUGH = 6


def few_words(text: str, most: int) -> str:
    """The first words of the text, at most `most`, on one line; a cut text ends with an ellipsis.

    It is cut after a sentence if one fits. Otherwise it is cut after a word, but not inside a quote
    or brackets, which are left out.
    """
    words = text.split()
    if len(words) <= most:
        return text
    if sentences := whole_sentences(text, most):
        return sentences
    short = " ".join(words[: max(0, most)])
    for opening, closing in _PAIRS:
        if short.count(opening) > short.count(closing):
            short = short.rpartition(opening)[0]
    short = short.rstrip(" ~.,:;–(")
    return f"{short}…" if short else ""


def whole_sentences(text: str, most: int) -> str:
    """The first sentences of a text, at most `most` words; empty if the first one does not fit."""
    words = text.split()
    if len(words) <= most:
        return text
    # The ellipsis counts as a word.
    room = " ".join(words[: max(0, most - 1)])
    sentences = [room[: cut.start()] for cut in _CUT.finditer(f"{room} A")]
    complete = [
        text for text in sentences if all(text.count(a) == text.count(b) for a, b in _PAIRS)
    ]
    return f"{complete[-1]}{CUT}" if complete else ""


def new_sentences(text: str, earlier: set[str]) -> str:
    """The sentences of the text that are not in `earlier`; they are added to it.

    Short sentences, such as "Yes.", are always kept.
    """
    new = list[str]()
    for sentence in _AFTER_SENTENCE.split(text):
        bare = sentence.strip(_MARKS).casefold()
        if bare and bare not in earlier:
            new.append(sentence)
        if len(bare.split()) >= _LONG_ENOUGH:
            earlier.add(bare)
    return " ".join(new)


def shared_words(texts: Sequence[str], most: int) -> Sequence[str]:
    """The first sentences of each text, at most `most` words together.

    Long texts get the words that short texts do not use. A text whose first sentence does not fit
    becomes empty.
    """
    shares, remaining = [0] * len(texts), most
    lengths = [len(text.split()) for text in texts]
    for place, index in enumerate(sorted(range(len(texts)), key=lengths.__getitem__)):
        shares[index] = min(lengths[index], remaining // (len(texts) - place))
        remaining -= shares[index]
    return [whole_sentences(text, share) for text, share in zip(texts, shares, strict=True)]


#: The variables of all keys, as alternatives.
ANY_KEY = listed([*KEY_VARIABLES.values()], "or")
NO_MODEL = (
    "NO MODEL IS SET UP: the offline engine answers from checklists, and no AI is asked. Set "
    f"{ANY_KEY}, start Ollama, or name a model of your own server as `default_model` in the "
    "settings file."
)
#: Replaces the list of models for example debates that were written by hand.
EXAMPLE_WORDS = "none: this debate was written by hand, as an example. No AI model was asked."


def usual_models_words(settings: Settings) -> str:
    own_agents = [agent for agent in settings.agents if agent.enabled]
    judges = settings.judge_models or (settings.judge or settings.judge_model,)
    agents = own_agents or settings.mixed_models or (settings.agent_model,)
    if all(choice.provider == OFFLINE for choice in (*agents, *judges)):
        return NO_MODEL
    names = _names(agents)
    distribution = "for every agent"
    if len(names) > 1:
        distribution = "dealt to the agents in turn"
        if own_agents:
            distribution = "as the settings give them to the agents"
    texts = [f"{' and '.join(names)}, {distribution}"]
    if settings.judge_models:
        texts.append("one whose maker's agents did not win judges")
    else:
        texts.append(f"{judges[0].full_name} judges")
    background = settings.background_model({choice.provider for choice in (*agents, *judges)})
    if background:
        texts.append(f"{background.full_name} sums up and chooses agents")
    return f"Models: {'; '.join(texts)}."


def debate_models_words(setup: Setup, *, to_be_cast: bool = False) -> str:
    """The models of a debate, or a clear warning if no model is asked.

    With `to_be_cast` a model has not chosen the agents yet.
    """
    if all(agent.provider == OFFLINE for agent in (*setup.agents, setup.judge)):
        return NO_MODEL
    if all(agent.provider == EXAMPLE for agent in setup.agents):
        return EXAMPLE_WORDS
    judge = "of a maker whose agents did not win" if setup.judge_models else setup.judge.full_name
    parts = [f"judge: {judge}"]
    if setup.summarizer:
        parts.append(f"summaries: {setup.summarizer.full_name}")
    if setup.shadow_agent:
        parts.append(f"alone, unseen until the verdict: {setup.shadow_agent.full_name}")
    if to_be_cast and setup.casting:
        models = _names(setup.casting.models)
        remark = ", dealt to the agents in turn" if len(models) > 1 else ""
        return f"{'; '.join([' and '.join(models) + remark, *parts])}."
    agents = ", ".join(f"{agent.name}: {agent.full_name}" for agent in setup.agents)
    return f"{'; '.join([agents, *parts])}. {model_count_words(setup.agents)}".strip()


def judge_words(debate: Debate) -> str:
    """The model that judged, and the rule that chose it, if any; empty if no model judged."""
    call = debate.verdict.call if debate.verdict else None
    if call is None:
        return ""
    makers, judge = winning_makers(debate), judge_of(debate)
    was_dealt = debate.setup.judge_models and makers and judge.maker not in makers
    if was_dealt and call.provider == judge.provider:
        return f"{call.model_name}, none of whose maker's agents won the vote"
    return call.model_name


def model_count_words(agents: Iterable[Agent]) -> str:
    """`3 points of view, 1 model.` if several agents share one model; else empty."""
    agents = tuple(agents)
    is_shared = len(_names(agents)) == 1 and agents[0].provider != OFFLINE
    return f"{len(agents)} points of view, 1 model." if is_shared and len(agents) > 1 else ""


def _names(choices: Iterable[ModelChoice]) -> list[str]:
    return list(dict.fromkeys(choice.full_name for choice in choices))
