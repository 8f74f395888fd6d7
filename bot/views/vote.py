"""Options and the vote: who stands where, all ballots, forms to vote and to edit options (pure)."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from bot.slack.blocks import Block, actions, button, confirmation
from bot.slack.ids import ActionId, CallbackId, FieldId, name_field, rank_field
from bot.slack.limits import CHART_BARS, CHART_LABEL, OPTION_TEXT
from bot.slack.mrkdwn import bare, bare_gist, gist, split
from bot.slack.payloads import FormSubmission
from bot.views.message import (
    PAGE_LIMIT,
    Field,
    Form,
    MessageView,
    context,
    form,
    header,
    item_list,
    line_text,
    name_of,
    section_text,
    sections,
    select,
    text_input,
)
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.verdict import Verdict
from core.debate.vote import GateReason, Option, OptionChange, OptionEdit, Tally
from core.figures import money, percent, quantity
from core.rules import voting
from core.rules.agreement import GAP_FROM, agreement
from core.rules.ending import ending_sentences as ended
from core.rules.ending import reopening_fault, round_reasons
from core.rules.gate import gate_after
from core.rules.options import (
    NAME_MAX_CHARS,
    after_edits,
    current_stance,
    is_listed,
    leading,
    listed_scores,
    named_options,
    options_of,
    short_names,
    supporters,
)
from core.rules.voting import is_people_vote_closed, is_uncounted
from core.transcript.cited import decision_line
from core.transcript.decision import cost_words, single_answer_words
from core.transcript.vote import (
    MEAN_PROBABILITY,
    NOBODY_VOTED,
    best_text_words,
    close_words,
    missing_ballots,
    moves_section,
    option_lines,
    option_rows,
    shares,
    team_vote_lines,
)

_NAMES_LIMIT = 1800
_MOVES_LIMIT = 1400
_QUESTION_LIMIT = 300
_OPTIONS_LIMIT = 1200
_HOW = (
    "\nSay what you would choose first; the other places may stay empty. People's ballots are "
    "counted beside the agents' own."
)
_AGAIN = " You have voted before; until the team decides you can change your ballot."
_PLACES = ("First choice", "Second choice", "Third choice")
_NOBODY = "*The team's vote*: nobody has cast a ballot yet. Anybody here can vote."
_NOBODY_DID = "*The team's vote*: nobody cast a ballot before the team decided."
_CELL_WIDTH = 100
_BALLOTS_LIMIT = 1400
_BY_OPTION_LIMIT = 1200
#: Options that the vote names in a line at least.
_LEAST_IN_LINE = 2
_REASON_LIMIT = 160
_BY_TEXT = (
    "A text gets one point for each text a ballot ranks below it{own}; the judge starts from the "
    "best."
)


def places_of(debate: Debate) -> int:
    """How many places a person's ballot has."""
    return min(len(_PLACES), len(options_of(debate).items))


def ballot_form(debate: Debate, by: str = "") -> Form:
    """Return the form to rank options, filled with this person's earlier ballot."""
    options = options_of(debate)
    words = option_labels(options.items)
    lines = list[str]()
    for option, agents in supporters(debate).items():
        names = ", ".join(name_of(debate, agent) for agent in agents)
        lines.append(f"• *{option_name(debate, option)}*" + (f" – {names}" if names else ""))
    mine = debate.people_ballots.get(by)
    choices = dict(enumerate(map(options.resolve, mine.options if mine else ())))
    fields = [
        select(
            Field(rank_field(place), _PLACES[place], optional=place > 0),
            words,
            choices.get(place, ""),
        )
        for place in range(places_of(debate))
    ]
    again = _AGAIN if choices else ""
    question = gist(debate.setup.question, _QUESTION_LIMIT)
    intro = f"*{question}*\n{item_list(lines, _OPTIONS_LIMIT)}{_HOW}{again}"
    return form(
        CallbackId.BALLOT_FORM,
        title="Your ballot",
        submit="Change ballot" if choices else "Cast ballot",
        blocks=[*sections(intro), *fields],
        metadata={"debate": debate.id},
    )


def team_count(debate: Debate) -> str:
    """What the team would choose, and how far that is from the agents' choice."""
    if lines := [line_text(debate, line) for line in team_vote_lines(debate)]:
        return item_list(lines, _NAMES_LIMIT)
    # Older versions took ballots on the agents' texts: the report has them.
    if len(options_of(debate).items) <= 1 or debate.people_ballots:
        return ""
    return _NOBODY_DID if is_people_vote_closed(debate) else _NOBODY


def people_votes(debate: Debate) -> Sequence[str]:
    """What stands beside the agents' count."""
    moves = section_text(debate, moves_section(debate), _MOVES_LIMIT)
    return [*filter(None, (team_count(debate), moves))]


def ballot_button(debate: Debate) -> list[Block]:
    """Return the button that opens the form; none where there is nothing to choose."""
    if len(options_of(debate).items) <= 1 or is_people_vote_closed(debate):
        return []
    text = "Cast or change your ballot"
    label = f"{text}: choose between the options yourself"
    return [actions("ballot", button(text, ActionId.BALLOT, debate.id, label=label))]


def vote(debate: Debate, tally: Tally, *, superseded: str = "") -> MessageView:
    """Return the post that shows the result: by option in words, as a chart and in figures.

    `superseded`: why it counts no more, as safe mrkdwn; empty while it does.
    """
    texts = [superseded, outcome(debate, tally), _missing(debate)]
    blocks = [header("The vote"), *in_figures(debate, tally, superseded)]
    if not superseded:
        beside = people_votes(debate)
        texts += beside
        blocks += [block for words in beside for block in sections(words)]
        blocks += ballot_button(debate)
    blocks += context(*each_ballot(debate, tally))
    # Edited when people vote: an edit takes less text than a post.
    text = split("\n".join(["The vote", *filter(None, texts)]), PAGE_LIMIT)[0]
    return MessageView(text=text, blocks=blocks)


def in_figures(debate: Debate, tally: Tally, heading: str = "") -> list[Block]:
    """Return the result as a chart and a table; above them the heading and what they do not say."""
    texts = (heading, _beside_table(debate, tally), _missing(debate))
    blocks = sections("\n".join(filter(None, texts)))
    return [*blocks, *_options_table(debate, tally)] if tally.options else blocks


def each_ballot(debate: Debate, tally: Tally) -> Sequence[str]:
    """Return what every agent's ballot says, and how ballots are counted."""
    ballots = list[str]()
    for ballot in voting.counted_ballots(debate, tally):
        ranking = ", ".join(name_of(debate, position) for position in ballot.ranking)
        share_text = gist(shares(debate, ballot.probabilities), _OPTIONS_LIMIT)
        share_text = f"{share_text}; " if share_text else ""
        ballots.append(f"{name_of(debate, ballot.voter)}: {share_text}ranked {ranking}")
    own = ", the voter's own left out" if debate.setup.vote.exclude_self else ""
    rules = [*([MEAN_PROBABILITY] if tally.options else []), _BY_TEXT.format(own=own)]
    return [item_list(ballots, _BALLOTS_LIMIT), " ".join(rules)]


def _options_table(debate: Debate, tally: Tally) -> list[Block]:
    """How likely agents hold each option the best, as a chart, and who stands where."""
    head, options = option_rows(debate)
    means = {score.option: score.mean_probability for score in tally.options}
    names = [bare(name, NAME_MAX_CHARS) or "–" for name, *_ in options.values()]
    bars = [round(100 * means.get(option, 0.0)) for option in options]
    aligned = ["right" if column in {1, 4} else "left" for column in range(len(head))]
    table: Block = {
        "column_settings": [{"align": side} for side in aligned],
        "rows": [
            [{"text": bare(str(cell), _CELL_WIDTH) or "–", "type": "raw_text"} for cell in row]
            for row in (head, *options.values())
        ],
        "type": "table",
    }
    return [*_chart(short_names(names, CHART_LABEL), bars), table]


def _chart(labels: Sequence[str], values: Sequence[int]) -> list[Block]:
    """A bar for each label; none where all are empty, or labels alike."""
    if not any(values) or len(set(labels)) < len(labels):
        return []
    labels, unit = list(labels[:CHART_BARS]), "Percent"
    data = [{"label": label, "value": value} for label, value in zip(labels, values, strict=False)]
    axes = {"categories": labels, "y_label": unit}
    chart = {"type": "bar", "series": [{"name": unit, "data": data}], "axis_config": axes}
    return [
        {
            "type": "data_visualization",
            "block_id": "chart/percent",
            "title": "How likely agents hold each option the best",
            "chart": chart,
        }
    ]


def outcome(debate: Debate, tally: Tally, noted: Collection[str] = ()) -> str:
    """The vote by option, then whose text was ranked best, without a tie-break noted elsewhere."""
    lines = [line_text(debate, line) for line in option_lines(debate, tally)]
    parts = (
        item_list(lines if tally.voters else [], _BY_OPTION_LIMIT),
        _beside_table(debate, tally, noted),
    )
    return "\n".join(filter(None, parts))


def _beside_table(debate: Debate, tally: Tally, noted: Collection[str] = ()) -> str:
    """What the table by option does not say: how close it was, whose text was ranked best."""
    if not tally.winners or not tally.voters:
        return NOBODY_VOTED
    best = gist(best_text_words(debate, tally, noted), _BY_OPTION_LIMIT)
    return "\n".join(filter(None, (_close(debate, tally), best)))


def _close(debate: Debate, tally: Tally) -> str:
    text = gist(close_words(debate, tally), _BY_OPTION_LIMIT) if tally.voters else ""
    return f":warning: {text}" if text else ""


def in_a_line(debate: Debate, tally: Tally) -> str:
    """The vote by option in a line, the best ones named; by text in debates of older versions."""
    lines = [line_text(debate, line) for line in option_lines(debate, tally, short=True)]
    if not lines or not tally.voters:
        return outcome(debate, tally)
    # The runner-up, and whatever an agent puts first.
    scores = listed_scores(options_of(debate), tally.options)
    named = [
        line
        for place, (line, score) in enumerate(zip(lines, scores, strict=True))
        if place < _LEAST_IN_LINE or score.first_choices
    ]
    more = len(lines) - len(named)
    others = [f"{quantity(more, 'more option')}"] if more > 0 else []
    parts = (f"*Vote*: {'; '.join([*named, *others])}", _close(debate, tally))
    return "\n".join(filter(None, parts))


def _missing(debate: Debate) -> str:
    """Whose ballots are missing, and why."""
    missing = [
        f"{name_of(debate, agent)} ({gist(why, _REASON_LIMIT).rstrip('.')})"
        for agent, why in missing_ballots(debate).items()
    ]
    return f"Without a ballot: {item_list(missing, 800, '; ')}." if missing else ""


_LIST_LIMIT = 1200
_HOLDERS_LIMIT = 300
_SENTENCE_LIMIT = 500
#: Whose first choice an option is; and where nobody may be told.
_NOBODYS_CHOICE = {False: "nobody's first choice", True: "sealed"}
#: Letters from which on a word of an option's name must stand in the decision.
_LONG_WORD = 3


def option_labels(items: Sequence[Option]) -> dict[str, str]:
    """What the options are called in a menu, by their ids; no two alike."""
    names = short_names([bare_gist(item.name, len(item.name) + 1) for item in items], OPTION_TEXT)
    return dict(zip((item.id for item in items), names, strict=True))


def option_name(debate: Debate, option: str) -> str:
    """What the option is called, safe; empty if there is no such option."""
    return gist(options_of(debate).name(option), 2 * NAME_MAX_CHARS)


def who_stands_where(debate: Debate) -> str:
    """Every option with the agents who hold it best and their shares; then the widest gap."""
    agents_by_option = supporters(debate)
    if not agents_by_option:
        return ""
    shares_by_agent = {agent.id: current_stance(debate, agent.id) for agent in debate.setup.agents}
    stated = {agent: shares for agent, shares in shares_by_agent.items() if shares}
    lines = list[str]()
    for option, drafted in agents_by_option.items():
        option_shares = [shares.get(option, 0.0) for shares in shares_by_agent.values()]
        if not is_listed(options_of(debate), option, *option_shares, len(drafted)):
            continue
        # Stated shares count more than the option of the draft.
        names = (
            _with_share(debate, agent, shares, option)
            for agent, shares in shares_by_agent.items()
            if (leading(shares) == option if shares else agent in drafted)
        )
        text = item_list(names, _HOLDERS_LIMIT, ", ") or _NOBODYS_CHOICE[debate.is_sealed]
        lines.append(f"• *{option_name(debate, option)}* – {text}")
    level = [name_of(debate, agent) for agent, shares in stated.items() if not leading(shares)]
    if level:
        lines.append(f"• _Undecided between the best two_ – {', '.join(level)}")
    how = agreement(stated)
    if how.spread > GAP_FROM:
        widest = [shares.get(how.widest, 0.0) for shares in stated.values()]
        lines.append(
            f"Widest gap: *{option_name(debate, how.widest)}*, "
            f"{percent(min(widest))} to {percent(max(widest))}."
        )
    return f"*Options*\n{item_list(lines, _LIST_LIMIT)}"


def _with_share(debate: Debate, agent: str, shares: Mapping[str, float], option: str) -> str:
    """An agent's name with its share of an option, as far as it has stated any."""
    share = f" {percent(shares[option])}" if shares.get(option) else ""
    before = " (before the vote)" if shares and is_uncounted(debate, agent) else ""
    return f"{name_of(debate, agent)}{share}{before}"


def how_it_goes(debate: Debate) -> Iterator[str]:
    """Why the debate is held or its rounds ended, in a sentence each, the newest last."""
    first = gate_after(debate, 0)
    # While a split is debated, the list of options says what it is about now.
    is_split = first is not None and first.reason is GateReason.SPLIT
    yield from map(_sentence, (*round_reasons(debate)[int(is_split) :][-2:], *ended(debate)))


def ending_text(debate: Debate) -> str:
    """What ended the rounds and how many were really held, as safe mrkdwn."""
    return " ".join(map(_sentence, ended(debate)))


def how_it_went(debate: Debate) -> str:
    """The same, and before it why rounds were held."""
    return " ".join(map(_sentence, (*round_reasons(debate), *ended(debate))))


def single_answer(debate: Debate) -> str:
    """What one model, asked alone, answered, and its cost; empty before the verdict."""
    words = single_answer_words(debate)
    return gist(f"{words} {cost_words(debate)}", _SENTENCE_LIMIT) if words else ""


def decided_on(debate: Debate, verdict: Verdict, limit: int) -> str:
    """The decision on one safe line, with the option's name before it where it is not named."""
    text = gist(decision_line(verdict), limit)
    name = option_name(debate, verdict.option)
    if not name or _is_named(name, text):
        return text
    return f"{name}: {text}"


def _is_named(name: str, sentence: str) -> bool:
    """Whether a sentence has an option's name, or its longer words in their order."""
    name_words, words = (re.findall(r"\w+", text.casefold()) for text in (name, sentence))
    rest = iter(words)
    longer = [word for word in name_words if len(word) >= _LONG_WORD or word.isdigit()]
    return name.casefold() in sentence.casefold() or (
        len(longer) > 1 and all(word in rest for word in longer)
    )


def anyway_buttons(debate: Debate) -> list[Block]:
    """The button that has the skipped debate held; none where nothing was skipped."""
    if debate.reopened_by or reopening_fault(debate):
        return []
    first = gate_after(debate, 0)
    cost = f" It is expected to cost {money(first.saved)} more." if first and first.saved else ""
    ends = " This verdict then counts no more." if debate.verdict else ""
    text = f"The agents criticise each other's answers and vote again.{ends}{cost}"
    asking = confirmation("Debate it anyway?", text, confirm="Debate it", deny="Leave it")
    label = "Debate anyway: have the rounds held that were skipped"
    action = ActionId.DEBATE_ANYWAY
    return [button("Debate anyway", action, debate.id, label=label, confirm=asking)]


def _sentence(text: str) -> str:
    return gist(text, _SENTENCE_LIMIT)


_HOW_OPTIONS = (
    "Agents compare and vote on these options. What you change is shown in the thread and holds "
    "from their next turn on."
)
#: What the fields for merging two and for a new one are, by what they do.
_FIELDS = {OptionChange.MERGE: FieldId.MERGED_INTO, OptionChange.ADD: FieldId.NEW_OPTION}


def options_form(debate: Debate) -> Form:
    items = options_of(debate).items
    names = option_labels(items)
    renaming = [
        text_input(
            Field(
                name_field(item.id),
                f"Option {number}",
                "" if number > 1 else "Type over a name to rename the option.",
            ),
            value=item.name[:NAME_MAX_CHARS],
            most=NAME_MAX_CHARS,
        )
        for number, item in enumerate(items, start=1)
    ]
    merging = [
        select(Field(FieldId.MERGED, "Merge this option …", optional=True), names),
        select(
            Field(
                FieldId.MERGED_INTO,
                "… into this one",
                "For two that are the same: votes for either count for it.",
                optional=True,
            ),
            names,
        ),
    ]
    adding = text_input(
        Field(FieldId.NEW_OPTION, "Add an option", optional=True), most=NAME_MAX_CHARS
    )
    return form(
        CallbackId.OPTIONS_FORM,
        title="Options",
        submit="Change options",
        blocks=[
            *sections(f"*{gist(debate.setup.question, _QUESTION_LIMIT)}*\n{_HOW_OPTIONS}"),
            *renaming,
            *(merging if len(items) > 1 else []),
            adding,
        ],
        metadata={"debate": debate.id, "edits": str(len(debate.option_edits))},
    )


def edits_in(debate: Debate, submitted: FormSubmission, by: Person) -> Sequence[OptionEdit]:
    """Return the edits of the form: renames first, then the merge, then the new option."""

    def edit(change: OptionChange, part: str, **fields: str) -> OptionEdit:
        return OptionEdit(change=change, by=by, origin=f"{submitted.view_id}/{part}", **fields)

    # Compared with the names that the form showed: another form may have changed some since.
    count = submitted.metadata.get("edits", "")
    then = debate.option_edits[: int(count)] if count.isdecimal() else debate.option_edits
    names = {item.id: item.name for item in after_edits(named_options(debate), then).items}
    typed = {item: submitted.text_of(name_field(item)) for item in names}
    edits = [
        edit(OptionChange.RENAME, item, option=item, name=name)
        for item, name in typed.items()
        if name_field(item) in submitted.values and name != names[item]
    ]
    merged, into = submitted.choice(FieldId.MERGED), submitted.choice(FieldId.MERGED_INTO)
    if merged or into:
        edits.append(edit(OptionChange.MERGE, "merge", option=merged, into=into))
    if added := submitted.text_of(FieldId.NEW_OPTION):
        edits.append(edit(OptionChange.ADD, "add", name=added))
    return edits


def field_of(edit: OptionEdit) -> str:
    return _FIELDS.get(edit.change) or name_field(edit.option)


def context_form(debate: Debate) -> Form:
    field = Field(
        FieldId.CONTEXT,
        "What should the agents know?",
        "It is shown in the thread and reaches the next turns; the decision says what became "
        "of it.",
    )
    return form(
        CallbackId.ADD_CONTEXT_FORM,
        title="Add context",
        submit="Add",
        blocks=[
            *sections(f"*{gist(debate.setup.question, _QUESTION_LIMIT)}*"),
            text_input(field, multiline=True),
        ],
        metadata={"debate": debate.id},
    )
