"""Options and the vote: results, ballots, and forms to vote and to edit options (pure)."""

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
from core.rules.ending import ending_sentences, reopening_fault, round_reasons
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
#: Options that the one-line result names at least.
_LEAST_IN_LINE = 2
_REASON_LIMIT = 160
_BY_TEXT = (
    "A text gets one point for each text a ballot ranks below it{own}; the judge starts from the "
    "best."
)


def ballot_ranks(debate: Debate) -> int:
    """The number of ranks on a person's ballot."""
    return min(len(_PLACES), len(options_of(debate).items))


def ballot_form(debate: Debate, person_id: str = "") -> Form:
    """Return the form to rank options, filled with this person's earlier ballot."""
    options = options_of(debate)
    words = option_labels(options.items)
    lines = list[str]()
    for option, agents in supporters(debate).items():
        names = ", ".join(name_of(debate, agent) for agent in agents)
        lines.append(f"• *{option_name(debate, option)}*" + (f" – {names}" if names else ""))
    mine = debate.people_ballots.get(person_id)
    choices = dict(enumerate(map(options.resolve, mine.options if mine else ())))
    fields = [
        select(
            Field(rank_field(place), _PLACES[place], optional=place > 0),
            words,
            choices.get(place, ""),
        )
        for place in range(ballot_ranks(debate))
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
    """The team's choice, and its distance from the agents' choice."""
    if lines := [line_text(debate, line) for line in team_vote_lines(debate)]:
        return item_list(lines, _NAMES_LIMIT)
    # Ballots of older versions ranked the agents' texts. Only the report shows them.
    if len(options_of(debate).items) <= 1 or debate.people_ballots:
        return ""
    return _NOBODY_DID if is_people_vote_closed(debate) else _NOBODY


def people_votes(debate: Debate) -> Sequence[str]:
    """The people's votes and the moves between options, shown beside the agents' count."""
    moves = section_text(debate, moves_section(debate), _MOVES_LIMIT)
    return [*filter(None, (team_count(debate), moves))]


def ballot_button(debate: Debate) -> list[Block]:
    """Return the button that opens the ballot; empty if people cannot vote."""
    if len(options_of(debate).items) <= 1 or is_people_vote_closed(debate):
        return []
    text = "Cast or change your ballot"
    label = f"{text}: choose between the options yourself"
    return [actions("ballot", button(text, ActionId.BALLOT, debate.id, label=label))]


def vote_post(debate: Debate, tally: Tally, *, superseded: str = "") -> MessageView:
    """Return the post that shows the result: by option in words, as a chart and in figures.

    `superseded`: why the vote counts no more, as safe mrkdwn; empty while it counts.
    """
    texts = [superseded, tally_text(debate, tally), _missing(debate)]
    blocks = [header("The vote"), *tally_blocks(debate, tally, superseded)]
    if not superseded:
        votes = people_votes(debate)
        texts += votes
        blocks += [block for words in votes for block in sections(words)]
        blocks += ballot_button(debate)
    blocks += context(*ballot_lines(debate, tally))
    # Cut because ballots edit the post, and an edit takes less text than a post.
    text = split("\n".join(["The vote", *filter(None, texts)]), PAGE_LIMIT)[0]
    return MessageView(text=text, blocks=blocks)


def tally_blocks(debate: Debate, tally: Tally, heading: str = "") -> list[Block]:
    """Return the result as a chart and a table, below the heading and what they do not show."""
    texts = (heading, _beside_table(debate, tally), _missing(debate))
    blocks = sections("\n".join(filter(None, texts)))
    return [*blocks, *_options_table(debate, tally)] if tally.options else blocks


def ballot_lines(debate: Debate, tally: Tally) -> Sequence[str]:
    """Return the agents' ballots in words, and how ballots are counted."""
    ballots = list[str]()
    for ballot in voting.counted_ballots(debate):
        ranking = ", ".join(name_of(debate, position) for position in ballot.ranking)
        share_text = gist(shares(debate, ballot.probabilities), _OPTIONS_LIMIT)
        share_text = f"{share_text}; " if share_text else ""
        ballots.append(f"{name_of(debate, ballot.voter)}: {share_text}ranked {ranking}")
    own = ", the voter's own left out" if debate.setup.vote.exclude_self else ""
    rules = [*([MEAN_PROBABILITY] if tally.options else []), _BY_TEXT.format(own=own)]
    return [item_list(ballots, _BALLOTS_LIMIT), " ".join(rules)]


def _options_table(debate: Debate, tally: Tally) -> list[Block]:
    """A chart and a table of the options with the agents' probabilities."""
    head, options = option_rows(debate)
    means = {score.option: score.mean_probability for score in tally.options}
    names = [bare(name, NAME_MAX_CHARS) or "–" for name, *_ in options.values()]
    bars = [round(100 * means.get(option, 0.0)) for option in options]
    sides = ["right" if column in {1, 4} else "left" for column in range(len(head))]
    table: Block = {
        "column_settings": [{"align": side} for side in sides],
        "rows": [
            [{"text": bare(str(cell), _CELL_WIDTH) or "–", "type": "raw_text"} for cell in row]
            for row in (head, *options.values())
        ],
        "type": "table",
    }
    return [*_chart(short_names(names, CHART_LABEL), bars), table]


def _chart(labels: Sequence[str], values: Sequence[int]) -> list[Block]:
    """A bar for each label; empty if all values are 0 or two labels are the same."""
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


def tally_text(debate: Debate, tally: Tally, shown_notes: Collection[str] = ()) -> str:
    """The vote by option, then the text that was ranked best.

    `shown_notes` are shown elsewhere: a tie-break among them is not repeated.
    """
    lines = [line_text(debate, line) for line in option_lines(debate, tally)]
    parts = (
        item_list(lines if tally.voters else [], _BY_OPTION_LIMIT),
        _beside_table(debate, tally, shown_notes),
    )
    return "\n".join(filter(None, parts))


def _beside_table(debate: Debate, tally: Tally, shown_notes: Collection[str] = ()) -> str:
    """What the table of options does not show: how close it was, and the text ranked best."""
    if not tally.winners or not tally.voters:
        return NOBODY_VOTED
    best = gist(best_text_words(debate, tally, shown_notes), _BY_OPTION_LIMIT)
    return "\n".join(filter(None, (_close(debate, tally), best)))


def _close(debate: Debate, tally: Tally) -> str:
    text = gist(close_words(debate, tally), _BY_OPTION_LIMIT) if tally.voters else ""
    return f":warning: {text}" if text else ""


def tally_line(debate: Debate, tally: Tally) -> str:
    """The vote in one line, with the best options; by text in debates of older versions."""
    lines = [line_text(debate, line) for line in option_lines(debate, tally, short=True)]
    if not lines or not tally.voters:
        return tally_text(debate, tally)
    # Name the best two, and every option that an agent ranks first.
    scores = listed_scores(options_of(debate), tally.options)
    shown = [
        line
        for place, (line, score) in enumerate(zip(lines, scores, strict=True))
        if place < _LEAST_IN_LINE or score.first_choices
    ]
    count = len(lines) - len(shown)
    others = [f"{quantity(count, 'more option')}"] if count > 0 else []
    parts = (f"*Vote*: {'; '.join([*shown, *others])}", _close(debate, tally))
    return "\n".join(filter(None, parts))


def _missing(debate: Debate) -> str:
    """The agents without a ballot, with reasons."""
    missing = [
        f"{name_of(debate, agent)} ({gist(reason, _REASON_LIMIT).rstrip('.')})"
        for agent, reason in missing_ballots(debate).items()
    ]
    return f"Without a ballot: {item_list(missing, 800, '; ')}." if missing else ""


_LIST_LIMIT = 1200
_HOLDERS_LIMIT = 300
_SENTENCE_LIMIT = 500
#: Shown for an option that no agent prefers, by whether the debate is sealed.
_NOBODYS_CHOICE = {False: "nobody's first choice", True: "sealed"}
#: Words of an option's name with at least this many letters must be in the decision.
_LONG_WORD = 3


def option_labels(items: Sequence[Option]) -> dict[str, str]:
    """Labels of options in a menu, by id; no two are the same."""
    names = short_names([bare_gist(item.name, len(item.name) + 1) for item in items], OPTION_TEXT)
    return dict(zip((item.id for item in items), names, strict=True))


def option_name(debate: Debate, option: str) -> str:
    """The option's escaped name; empty if there is no such option."""
    return gist(options_of(debate).name(option), 2 * NAME_MAX_CHARS)


def agents_by_option(debate: Debate) -> str:
    """Every option with the agents that prefer it and their shares; then the widest gap."""
    supporters_by_option = supporters(debate)
    if not supporters_by_option:
        return ""
    shares_by_agent = {agent.id: current_stance(debate, agent.id) for agent in debate.setup.agents}
    shares_stated = {agent: shares for agent, shares in shares_by_agent.items() if shares}
    lines = list[str]()
    for option, preferring in supporters_by_option.items():
        option_shares = [shares.get(option, 0.0) for shares in shares_by_agent.values()]
        if not is_listed(options_of(debate), option, *option_shares, len(preferring)):
            continue
        # Stated shares replace the option that the draft preferred.
        names = (
            _with_share(debate, agent, shares, option)
            for agent, shares in shares_by_agent.items()
            if (leading(shares) == option if shares else agent in preferring)
        )
        text = item_list(names, _HOLDERS_LIMIT, ", ") or _NOBODYS_CHOICE[debate.is_sealed]
        lines.append(f"• *{option_name(debate, option)}* – {text}")
    level = [
        name_of(debate, agent) for agent, shares in shares_stated.items() if not leading(shares)
    ]
    if level:
        lines.append(f"• _Undecided between the best two_ – {', '.join(level)}")
    result = agreement(shares_stated)
    if result.spread > GAP_FROM:
        widest = [shares.get(result.widest, 0.0) for shares in shares_stated.values()]
        lines.append(
            f"Widest gap: *{option_name(debate, result.widest)}*, "
            f"{percent(min(widest))} to {percent(max(widest))}."
        )
    return f"*Options*\n{item_list(lines, _LIST_LIMIT)}"


def _with_share(debate: Debate, agent: str, shares: Mapping[str, float], option: str) -> str:
    """An agent's name, with its share of the option if it has stated one."""
    share = f" {percent(shares[option])}" if shares.get(option) else ""
    before = " (before the vote)" if shares and is_uncounted(debate, agent) else ""
    return f"{name_of(debate, agent)}{share}{before}"


def round_notes(debate: Debate) -> Iterator[str]:
    """Sentences on why rounds are held or have ended, the newest last."""
    first = gate_after(debate, 0)
    # Not the split as a reason: the list of options shows it in its present state.
    is_split = first is not None and first.reason is GateReason.SPLIT
    yield from map(
        _sentence, (*round_reasons(debate)[int(is_split) :][-2:], *ending_sentences(debate))
    )


def ending_text(debate: Debate) -> str:
    """What ended the rounds, and how many were held, as safe mrkdwn."""
    return " ".join(map(_sentence, ending_sentences(debate)))


def rounds_summary(debate: Debate) -> str:
    """Why rounds were held and what ended them, as safe mrkdwn."""
    return " ".join(map(_sentence, (*round_reasons(debate), *ending_sentences(debate))))


def single_answer(debate: Debate) -> str:
    """The answer of a single model and its cost; empty before the verdict."""
    words = single_answer_words(debate)
    return gist(f"{words} {cost_words(debate)}", _SENTENCE_LIMIT) if words else ""


def decision_in_short(debate: Debate, verdict: Verdict, limit: int) -> str:
    """The decision on one safe line, after the option's name if the decision lacks it."""
    text = gist(decision_line(verdict), limit)
    name = option_name(debate, verdict.option)
    if not name or _is_named(name, text):
        return text
    return f"{name}: {text}"


def _is_named(name: str, sentence: str) -> bool:
    """Whether a sentence contains an option's name, or its longer words in the same order."""
    name_words, words = (re.findall(r"\w+", text.casefold()) for text in (name, sentence))
    remaining = iter(words)
    longer = [word for word in name_words if len(word) >= _LONG_WORD or word.isdigit()]
    return name.casefold() in sentence.casefold() or (
        len(longer) > 1 and all(word in remaining for word in longer)
    )


def debate_anyway_buttons(debate: Debate) -> list[Block]:
    """The button to hold rounds that were skipped; empty if none were."""
    if debate.reopened_by or reopening_fault(debate):
        return []
    first = gate_after(debate, 0)
    cost = f" It is expected to cost {money(first.saved)} more." if first and first.saved else ""
    ends = " This verdict then counts no more." if debate.verdict else ""
    text = f"The agents criticise each other's answers and vote again.{ends}{cost}"
    dialog = confirmation("Debate it anyway?", text, confirm="Debate it", deny="Leave it")
    label = "Debate anyway: have the rounds held that were skipped"
    action = ActionId.DEBATE_ANYWAY
    return [button("Debate anyway", action, debate.id, label=label, confirm=dialog)]


def _sentence(text: str) -> str:
    return gist(text, _SENTENCE_LIMIT)


_HOW_OPTIONS = (
    "Agents compare and vote on these options. What you change is shown in the thread and holds "
    "from their next turn on."
)
#: The form's field for each kind of change other than a renaming.
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


def submitted_edits(debate: Debate, submission: FormSubmission, by: Person) -> Sequence[OptionEdit]:
    """Return the edits of the form: renames first, then the merge, then the new option."""

    def edit(change: OptionChange, part: str, **fields: str) -> OptionEdit:
        return OptionEdit(change=change, by=by, origin=f"{submission.view_id}/{part}", **fields)

    # Compare with the names that the form showed, because another form may have changed some.
    count = submission.metadata.get("edits", "")
    then = debate.option_edits[: int(count)] if count.isdecimal() else debate.option_edits
    names = {item.id: item.name for item in after_edits(named_options(debate), then).items}
    new_names = {item: submission.text_of(name_field(item)) for item in names}
    edits = [
        edit(OptionChange.RENAME, item, option=item, name=name)
        for item, name in new_names.items()
        if name_field(item) in submission.values and name != names[item]
    ]
    option, target = submission.choice(FieldId.MERGED), submission.choice(FieldId.MERGED_INTO)
    if option or target:
        edits.append(edit(OptionChange.MERGE, "merge", option=option, into=target))
    if name := submission.text_of(FieldId.NEW_OPTION):
        edits.append(edit(OptionChange.ADD, "add", name=name))
    return edits


def edit_field(edit: OptionEdit) -> str:
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
