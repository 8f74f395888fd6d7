"""Text of models and people is inert in documents and on terminals."""

import io
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.terminal.files import tell
from bot.terminal.screen import LineScreen, LiveScreen, event_lines
from core.debate.contributions import Contribution, Failure
from core.debate.debate_events import DebateStarted
from core.debate.log import Event, RecordedEvent, fold
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade, TurnFailed
from core.debate.verdict import Verdict
from core.testing import a_setup, log_of
from core.transcript.decision import adr, decision_text
from core.transcript.explain import explanation
from core.transcript.markdown import inert, inert_line, visible
from core.transcript.record import record_json
from core.transcript.report import report
from core.transcript.words import bullets, nested, quotation, table

PIECES = [
    "<img src=x onerror=alert(1)>",
    "<script>",
    "</td>",
    "<!--",
    "-->",
    "<?x?>",
    "<https://evil.example>",
    "![x](https://evil.example/p.png)",
    "\\![x](https://evil.example/p.png)",
    "![x][y]",
    "[y]: https://evil.example/p.png",
    "[y]:\njavascript:alert(1)",
    "[x](javascript:alert(1))",
    "[x]( javascript:alert(1))",
    "[x](\njavascript:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](data:text/html,x)",
    "&lt;b&gt;",
    "&#60;b&#62;",
    "`",
    "``",
    "```",
    "````",
    "~~~",
    "```json",
    "\\",
    "\\`",
    "\n",
    "\n\n",
    "\n# A",
    "\n  ## B",
    "\n===",
    "\n---",
    "\n- ",
    "\n  ",
    "\n    ",
    "\n> ",
    "\n1. ",
    "\t",
    "|",
    "| a | b |\n|---|---|\n",
    "a",
    " ",
    "\x1b[2J",
    "\x9b31m",
    "\u202e",
    "\r",
    "\u2028",
    "\x0c",
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=14).map("".join)
PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
#: Beginnings of a list's line, and texts that may follow.
MARKERS = ("", "- ", "-   ", "1. ", "2. ", "10. ", "1) ", "- - ", "-", "-\t", "> ")
INDENTS = ("", "", " ", "  ", "   ", "    ", "     ", "\t")
WORDS = ("a", "  b", "", "```", "```sh", "~~~", "````", "# c", "---", "===")
fenced_lists = st.lists(
    st.tuples(*map(st.sampled_from, (INDENTS, MARKERS, WORDS))).map("".join), max_size=9
).map("\n".join)


def all_tokens(text: str) -> Sequence[Token]:
    """Every token a reader of Markdown sees, those inside lines too."""
    tokens = PARSER.parse(text)
    return [item for token in tokens for item in (token, *(token.children or ()))]


def check(text: str) -> None:
    """Check that a document loads nothing, runs nothing and hides nothing."""
    tokens = all_tokens(text)
    assert not {token.type for token in tokens} & {"html_block", "html_inline", "image"}, text
    for token in tokens:
        if token.type == "link_open":
            assert str(token.attrs["href"]).startswith(("http://", "https://", "mailto:", "#")), (
                text
            )
    assert text == visible(text)


@given(texts)
@example("".join(PIECES))
@example("- a\n  ```\n  b\n<img src=x>")
@example("a\\`<img src=x>`")
@example("`\n`<img src=x>`")
@example("a ` b\n\n| `c | <img src=x>` |")
@example("#")
@example("a\n##\nb")
@example("a\n\u2028\n===")
@example("\u202e\u2028\n===")
def test_no_text_does_anything_in_a_document_and_none_swallows_what_follows(text: str) -> None:
    document = f"#### Said\n\n{nested(text, 4)}\n\n#### After\n"

    check(document)
    tokens = PARSER.parse(document)
    heads = [
        (token.tag, token.level, after.content)
        for token, after in pairwise(tokens)
        if token.type == "heading_open"
    ]
    assert heads[-1] == ("h4", 0, "After")
    assert all(tag > "h4" for tag, level, _ in heads[1:-1] if not level)


@given(texts)
@example("".join(PIECES))
@example("```<img src=x>| a | b |\n|---|---|\n<img src=x>")
@example("~~~ a | b\n|---|---|\n<img src=x>")
def test_no_line_cell_or_quotation_does_anything(text: str) -> None:
    check(inert_line(text))
    check(bullets([text, "b"]))
    check(table(("A", "B"), [(text, "b")]))
    check(quotation(text))


def code(text: str) -> Sequence[str]:
    """The text of each fenced block, without invisible space."""
    fences = (token.content.splitlines() for token in PARSER.parse(text) if token.type == "fence")
    return ["\n".join(line.rstrip() for line in lines).strip("\n") for lines in fences]


@given(fenced_lists)
@example("1. ```sh\n   a\n   ```\n2. b\n\nc")
@example("- a\n  ```\n  b\nc")
@example("- ```\n- a\n  ```\n  b\n  ```")
@example("a\n\n    ```\nb")
@example("- a\n      ```\nb\n2. c\n\nd")
@example("-      ~~~\na")
@example("> a\n10. b\n    ```\nc")
@example("a\n    ---\n===\n2. ```")
@example("```\na\n ")
@example("1.   b\n    ```")
@example("  -   b\n     ```")
@example("   -     b\n    ```")
@example("- - \n    - \n    ```")
def test_what_is_code_in_a_list_is_code_in_a_document_and_nothing_else_is(text: str) -> None:
    assert code(inert(text)) == code(text)


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("1. ```sh\n   a\n   ```\n2. b", "1. ```sh\n   a\n   ```\n2. b"),
        ("1. ```sh\n   a\n2. b", "1. ```sh\n   a\n   ```\n2. b"),
        (
            "1. a\n   - b\n      ```\n      if:\n        c\n      ```\n     d\n   - e\n2. f",
            "1. a\n   - b\n     ```\n     if:\n       c\n     ```\n     d\n   - e\n2. f",
        ),
        ("a\n- ~~~\n  b", "a\n\n- ~~~\n  b\n  ~~~"),
    ],
)
def test_a_fence_in_a_list_stands_in_its_item_and_is_closed_there(text: str, output: str) -> None:
    assert inert(text) == output


def test_an_item_after_text_that_left_its_list_stays_an_item() -> None:
    output = inert("1. a\n   ```\n   x\n   ```\n   b\n2. c\n3. d")

    lines = [token.content for token in PARSER.parse(output) if token.type == "inline"]
    assert lines == ["a", "b", "c", "d"]


def test_headings_after_a_fence_that_is_none_lie_below_the_documents() -> None:
    assert nested("a\n\n    ```\n\n# b", 4) == "a\n\n    ```\n\n##### b"


@pytest.mark.parametrize(
    "text",
    [
        *("```sh rm -r build", "~~~ about", "1. ~~~ about", "```"),
        *("> ``` about", "- > ~~~ about", "> - > 1. ```"),
    ],
)
def test_no_line_is_hidden_as_the_name_of_a_language(text: str) -> None:
    (content,) = (
        token.content for token in PARSER.parse(bullets([text])) if token.type == "inline"
    )

    assert unescape(content) == text.lstrip("->1. ")


@pytest.mark.parametrize(
    "text",
    [
        "Use `List<String>` where latency < 50 ms & cost > 3.",
        "See [the docs](https://docs.example/a) and **that**.",
        "```python\nif a < b:\n    print('<b>')\n```",
        "> said\n\n1. one\n2. two",
        "1. one\n   - `two`\n\n     more\n10. three",
        "- a | b\n\n      code",
        "- [ ] one\n- [x] two [1]\n\n---\n\n### A\n\n2 * 3 * 4, a_b_c, $5 | $6",
        "| a | b |\n| :--- | ---: |\n| `x` | y \\| z |",
        "~~a~~ _b_ __c__ \\*d\\* &copy; <https://docs.example/a>, write to a@b.example",
    ],
)
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    assert inert(text) == text


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("[b.example](https://c.example/)", "b.example (<https://c.example/>)"),
        ("[a](/b)", "[a]&#40;/b)"),
        ("![a](https://b.example/c.png)", "&#33;[a](https://b.example/c.png)"),
        ("![a](/c.png)", "&#33;[a]&#40;/c.png)"),
        ("<foo:bar>", "&lt;foo:bar>"),
        ("ask @dana (@team/x)", "ask @&#8203;dana (@&#8203;team/x)"),
        ("`@dana` <b>", "`@dana` &lt;b>"),
        ("a\n     # b", "a\n\\# b"),
        ("a\n    ===", "a\n\\==="),
    ],
)
def test_what_is_active_becomes_text(text: str, output: str) -> None:
    assert inert(text) == output
    if "\n" not in text:
        assert inert_line(text) == output


@pytest.mark.parametrize("text", ["> " * 25 + "a", "- " * 30 + "a", "*a* " * 4000])
def test_what_is_too_much_to_be_formatting_is_shown_as_it_is(text: str) -> None:
    (fence,) = PARSER.parse(inert(text))
    assert (fence.type, fence.content.rstrip()) == ("fence", text.rstrip())
    check(inert_line(text))
    content = "".join(
        token.content for token in all_tokens(inert_line(text)) if token.type == "text"
    )
    assert content.count("a") == text.count("a")


BAD = (
    "\x1b[2J\x1b]0;owned\x07 ![p](https://evil.example/p.png) <img src=https://evil.example/q>\n"
    "# Decision\n\n```sql\nselect 1"
)


def a_log() -> Sequence[RecordedEvent]:
    """A debate in which everybody writes active markup."""
    setup = a_setup(rounds=1).model_copy(update={"question": BAD, "context": BAD})
    setup = setup.model_copy(update={"warnings": (BAD,)})
    events: list[Event] = [
        ContributionMade(
            contribution=Contribution(
                turn=Turn(act=Act.PROPOSAL, round=1, agent=agent.id), text=BAD, warnings=(BAD,)
            )
        )
        for agent in setup.agents
    ]
    failed = Failure(
        turn=Turn(act=Act.CRITIQUE, round=1, agent=setup.agents[0].id, target=setup.agents[1].id),
        reason=BAD,
    )
    return log_of([DebateStarted(setup=setup), *events, TurnFailed(failure=failed)])


def test_report_and_decision_record_hold_every_contribution_and_nothing_active() -> None:
    debate = fold(a_log())
    verdict = Verdict(
        decision=BAD, solution=BAD, implementation=BAD, dissent=BAD, tradeoffs=(BAD,),
        recommendations=(BAD,), confidence=50, warnings=(BAD,), open_questions=(BAD,),
        overturned_by=(BAD,),
    )  # fmt: skip
    debate = replace(debate, verdict=verdict)
    for text in (report(debate), adr(debate), decision_text(debate)):
        check(text)
    tokens = [token for token in PARSER.parse(report(debate)) if "): Proposal:**" in token.content]
    assert len(tokens) == len(debate.contributions)


def test_the_record_keeps_every_sign() -> None:
    assert "\\u001b[2J" in record_json(a_log())


def test_the_terminal_gets_no_escape_sequence(capsys: pytest.CaptureFixture[str]) -> None:
    log = a_log()
    out = io.StringIO()
    for screen in (LineScreen(out), LiveScreen(out)):
        for entry in log:
            for line in event_lines(fold(log), entry.event, verbose=True):
                screen.say(line)
        screen.show(BAD)
        screen.close()
    tell(BAD)
    output = out.getvalue() + capsys.readouterr().err + explanation(log)
    assert "owned" in output
    assert "\x1b[2J" not in output
    assert "\x1b]0" not in output
    assert "\x07" not in output


@pytest.mark.parametrize("text", ["~~~ ~~~x\ncode\n~~~", "~~~ ~\ncode\n~~~", "``` x\n~~~\n```"])
def test_a_fence_ends_whatever_its_info_says(text: str) -> None:
    tokens = MarkdownIt().parse(f"{inert(text)}\n\n## Decision")
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h2"]
